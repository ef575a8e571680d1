"""The schema as numbered migrations: append-only, each one atomic, each one leaving `user_version`.

Owns the shape of the tables. A database newer than the last migration is refused untouched. Tables whose name
starts with `task_` hold notes of running tasks: outside recall, backup and export (SPEC 3).
"""

from __future__ import annotations

from memvault.errors import SchemaNewer
from memvault.store.connection import Database

_FIRST = (
    "CREATE TABLE setting(name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    # The claim (SPEC 2) in its current version, its state, and beside it usage, verification, flags.
    """CREATE TABLE memory(
        row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, version INTEGER NOT NULL,
        kind TEXT NOT NULL, scope TEXT NOT NULL, project TEXT,
        subject TEXT, attribute TEXT, value TEXT, content TEXT NOT NULL,
        why TEXT, how_to_apply TEXT, conditions TEXT, context TEXT, about TEXT,
        sensitivity TEXT NOT NULL, valid_from TEXT, valid_to TEXT, expires_at TEXT, failure TEXT,
        authority TEXT NOT NULL, confidence REAL NOT NULL, status TEXT NOT NULL,
        created_at TEXT NOT NULL, updated_at TEXT NOT NULL, supersedes TEXT,
        verified_at TEXT, last_used_at TEXT, usage_count INTEGER NOT NULL DEFAULT 0,
        observations INTEGER NOT NULL DEFAULT 1, flags TEXT NOT NULL DEFAULT '[]',
        claim_key BLOB, content_key BLOB NOT NULL, language TEXT NOT NULL, terms BLOB NOT NULL)""",
    "CREATE INDEX memory_claim ON memory(claim_key) WHERE claim_key IS NOT NULL",
    "CREATE INDEX memory_content ON memory(content_key)",
    "CREATE INDEX memory_updated ON memory(updated_at, row)",
    "CREATE INDEX memory_status ON memory(status, updated_at)",
    "CREATE INDEX memory_project ON memory(project, scope) WHERE project IS NOT NULL",
    # What a context always holds, and its index: chosen for every task, so never by a scan.
    "CREATE INDEX memory_standing ON memory(kind, project) WHERE kind IN ('policy', 'preference')",
    """CREATE INDEX memory_constraint ON memory(project) WHERE kind = 'fact' AND lower(attribute) IN
        ('constraint', 'constraints', 'requirement', 'requirements', '约束', '限制', '要求')""",
    "CREATE INDEX memory_recent ON memory(project, status, kind, updated_at)",
    "CREATE INDEX memory_subject ON memory(subject) WHERE subject IS NOT NULL",
    """CREATE TABLE version(
        memory INTEGER NOT NULL REFERENCES memory(row) ON DELETE CASCADE, version INTEGER NOT NULL,
        at TEXT NOT NULL, run TEXT, claim TEXT NOT NULL, PRIMARY KEY(memory, version)) WITHOUT ROWID""",
    """CREATE TABLE source(
        row INTEGER PRIMARY KEY, memory INTEGER NOT NULL REFERENCES memory(row) ON DELETE CASCADE,
        type TEXT NOT NULL, ref TEXT NOT NULL, task TEXT, message_index INTEGER, evidence TEXT,
        content_hash TEXT, observed_at TEXT, verified INTEGER NOT NULL DEFAULT 0, run TEXT)""",
    "CREATE INDEX source_memory ON source(memory)",
    "CREATE INDEX source_file ON source(ref) WHERE type = 'file' AND content_hash IS NOT NULL",
    "CREATE INDEX source_ref ON source(ref)",
    "CREATE INDEX source_task ON source(task) WHERE task IS NOT NULL",
    "CREATE INDEX source_turn ON source(memory) WHERE message_index IS NOT NULL",
    # With row ids: without them a vector would need an overflow page of its own, twice the space.
    """CREATE TABLE vector(
        memory INTEGER NOT NULL REFERENCES memory(row) ON DELETE CASCADE, model TEXT NOT NULL,
        part INTEGER NOT NULL, value BLOB NOT NULL, PRIMARY KEY(memory, model, part))""",
    # Chained events hold ids and states; what can be read sits in event_payload and can be erased.
    """CREATE TABLE event(
        seq INTEGER PRIMARY KEY, at TEXT NOT NULL, type TEXT NOT NULL, memory TEXT, run TEXT,
        actor TEXT NOT NULL,
        from_status TEXT, to_status TEXT, before_version INTEGER, after_version INTEGER,
        payload_mac BLOB NOT NULL, hash BLOB NOT NULL)""",
    "CREATE INDEX event_memory ON event(memory) WHERE memory IS NOT NULL",
    "CREATE INDEX event_actor ON event(actor) WHERE actor <> 'person'",
    "CREATE INDEX event_run ON event(run) WHERE run IS NOT NULL",
    """CREATE TABLE event_payload(
        seq INTEGER PRIMARY KEY, memory TEXT, salt BLOB NOT NULL, body TEXT NOT NULL)""",
    "CREATE INDEX event_payload_memory ON event_payload(memory) WHERE memory IS NOT NULL",
    """CREATE TABLE run(
        id TEXT PRIMARY KEY, kind TEXT NOT NULL, actor TEXT NOT NULL, started_at TEXT NOT NULL,
        finished_at TEXT, status TEXT NOT NULL, summary TEXT NOT NULL DEFAULT '{}') WITHOUT ROWID""",
    # What each run found before it first touched a memory; NULL: the run created it.
    """CREATE TABLE before_image(
        run TEXT NOT NULL, memory TEXT NOT NULL, image TEXT, PRIMARY KEY(run, memory)) WITHOUT ROWID""",
    "CREATE INDEX before_image_memory ON before_image(memory)",
    # One row for a deleted memory (or, with memory NULL, for a deleted source); its hashes are beside it,
    # one row for each version the claim had, and go when the tombstone is lifted.
    """CREATE TABLE tombstone(
        id TEXT PRIMARY KEY, at TEXT NOT NULL, run TEXT NOT NULL, memory TEXT, by_source INTEGER NOT NULL,
        source BLOB, lifted_at TEXT) WITHOUT ROWID""",
    "CREATE INDEX tombstone_source ON tombstone(source) WHERE source IS NOT NULL",
    "CREATE INDEX tombstone_run ON tombstone(run)",
    """CREATE TABLE tombstone_print(
        id INTEGER PRIMARY KEY, tombstone TEXT NOT NULL REFERENCES tombstone(id) ON DELETE CASCADE,
        content BLOB NOT NULL, bag BLOB NOT NULL, claim BLOB, about BLOB, worth BLOB, marks BLOB NOT NULL,
        sketch BLOB, buckets BLOB NOT NULL)""",
    "CREATE INDEX tombstone_print_tombstone ON tombstone_print(tombstone)",
    "CREATE INDEX tombstone_print_content ON tombstone_print(content)",
    "CREATE INDEX tombstone_print_bag ON tombstone_print(bag)",
    "CREATE INDEX tombstone_print_claim ON tombstone_print(claim) WHERE claim IS NOT NULL",
    "CREATE INDEX tombstone_print_worth ON tombstone_print(worth) WHERE worth IS NOT NULL",
    """CREATE TABLE tombstone_band(
        band INTEGER NOT NULL, print INTEGER NOT NULL REFERENCES tombstone_print(id) ON DELETE CASCADE,
        PRIMARY KEY(band, print)) WITHOUT ROWID""",
    "CREATE INDEX tombstone_band_print ON tombstone_band(print)",
    """CREATE TABLE recall_log(
        seq INTEGER PRIMARY KEY, at TEXT NOT NULL, actor TEXT NOT NULL, query_hash BLOB NOT NULL,
        results TEXT NOT NULL)""",
    # Keyed hashes of what was recalled to whom, sentence by sentence and clause by clause: an echo of it is
    # no observation. `told_band` finds pieces that another text may contain.
    """CREATE TABLE told(
        seq INTEGER PRIMARY KEY, at TEXT NOT NULL, actor TEXT NOT NULL, memory TEXT NOT NULL,
        print BLOB NOT NULL, whole INTEGER NOT NULL, negations INTEGER NOT NULL, features BLOB)""",
    "CREATE INDEX told_memory ON told(memory, actor, print)",
    "CREATE INDEX told_at ON told(at)",
    """CREATE TABLE told_band(
        band INTEGER NOT NULL, told INTEGER NOT NULL REFERENCES told(seq) ON DELETE CASCADE,
        PRIMARY KEY(band, told)) WITHOUT ROWID""",
    "CREATE INDEX told_band_told ON told_band(told)",
    "CREATE TABLE counter(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    # Where copies of this vault were written: a deletion names those that still hold what it erases.
    """CREATE TABLE backup(
        path TEXT PRIMARY KEY, at TEXT NOT NULL, event_seq INTEGER NOT NULL, event_hash BLOB NOT NULL,
        memories INTEGER NOT NULL, size_bytes INTEGER NOT NULL) WITHOUT ROWID""",
    # What each agent may do. `token` is the SHA-256 of a random secret; the secret is only with the agent.
    """CREATE TABLE agent(
        name TEXT PRIMARY KEY, host TEXT, state TEXT NOT NULL, quarantined INTEGER NOT NULL,
        scopes TEXT NOT NULL, projects TEXT NOT NULL, ceiling TEXT NOT NULL, verbs TEXT NOT NULL,
        uid INTEGER NOT NULL, token BLOB, created_at TEXT NOT NULL, approved_at TEXT, seen_at TEXT)
        WITHOUT ROWID""",
    # Where projects were worked on, so that a moved or renamed repository stays the same project.
    """CREATE TABLE place(
        path TEXT PRIMARY KEY, project TEXT NOT NULL, origin TEXT, device INTEGER NOT NULL,
        inode INTEGER NOT NULL, seen_at TEXT NOT NULL) WITHOUT ROWID""",
    # Notes of running tasks: whoever copies or lists the vault leaves out what starts with `task_`.
    """CREATE TABLE task_head(
        row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, own TEXT, owner TEXT NOT NULL, project TEXT,
        title TEXT NOT NULL, opened_at TEXT NOT NULL, changed_at TEXT NOT NULL)""",
    """CREATE UNIQUE INDEX task_head_own ON task_head(owner, ifnull(project, ''), own)
        WHERE own IS NOT NULL""",
    "CREATE INDEX task_head_changed ON task_head(changed_at)",
    """CREATE TABLE task_note(
        row INTEGER PRIMARY KEY, task INTEGER NOT NULL REFERENCES task_head(row) ON DELETE CASCADE,
        number INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, state TEXT NOT NULL,
        at TEXT NOT NULL, actor TEXT NOT NULL, UNIQUE(task, number))""",
    """CREATE TABLE task_step(
        row INTEGER PRIMARY KEY, note INTEGER NOT NULL REFERENCES task_note(row) ON DELETE CASCADE,
        at TEXT NOT NULL, actor TEXT NOT NULL, state TEXT NOT NULL, why TEXT)""",
    "CREATE INDEX task_step_note ON task_step(note)",
    # What the stable zone of a session's context held: ids and versions, never text.
    """CREATE TABLE task_stable(
        session BLOB NOT NULL, variant TEXT NOT NULL, seq INTEGER NOT NULL, at TEXT NOT NULL,
        held TEXT NOT NULL, PRIMARY KEY(session, variant)) WITHOUT ROWID""",
    "CREATE INDEX task_stable_at ON task_stable(at)",
    # Blind comparisons of work with and without memory; `first` is what was shown as A.
    """CREATE TABLE comparison(
        id TEXT PRIMARY KEY, at TEXT NOT NULL, query_hash BLOB NOT NULL, mode TEXT NOT NULL,
        first TEXT NOT NULL, picked TEXT) WITHOUT ROWID""",
)

_SECOND = (
    # The last use before the day of `last_used_at`: a use counts from the next day on.
    "ALTER TABLE memory ADD COLUMN used_before TEXT",
)

_THIRD = (
    # Other names: what a person set, keyed prints of what they switched off, what each memory taught.
    "CREATE TABLE alias(id TEXT PRIMARY KEY, project TEXT, names TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE alias_off(pair TEXT PRIMARY KEY) WITHOUT ROWID",
    """CREATE TABLE alias_taught(
        memory INTEGER NOT NULL REFERENCES memory(row) ON DELETE CASCADE, number INTEGER NOT NULL,
        names TEXT NOT NULL, PRIMARY KEY(memory, number)) WITHOUT ROWID""",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST, _SECOND, _THIRD)
"""Migration n brings a database from version n to n + 1. Never edited once released."""

CURRENT = len(MIGRATIONS)


def migrate(db: Database) -> None:
    """Bring the database to CURRENT, one atomic step at a time. Raises SchemaNewer."""
    version = int(db.one("PRAGMA user_version")[0])
    if version > CURRENT:
        raise SchemaNewer(f"the vault has schema {version}, this program knows {CURRENT}")
    for number in range(version, CURRENT):
        with db.transaction():
            for statement in MIGRATIONS[number]:
                db.run(statement)
            db.run(f"PRAGMA user_version = {number + 1}")
