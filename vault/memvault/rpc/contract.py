"""The contract of every method: what it is for, what it answers, and which errors it has of its own.

The documentation is written from here and from the table of methods; tests hold real answers against it.
Knows nothing of handlers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memvault import errors as e
from memvault.errors import MemvaultError
from memvault.rpc import agent_results as a
from memvault.rpc import alias_results as n
from memvault.rpc import context_results as c
from memvault.rpc import insight_results as i
from memvault.rpc import model_results as m
from memvault.rpc import results as r
from memvault.rpc import upkeep_results as u

Errors = tuple[type[MemvaultError], ...]

EVERY: Errors = (
    e.Usage,
    e.FrameInvalid,
    e.TextUnusable,
    e.Busy,
    e.RateLimited,
    e.Cancelled,
    e.AnswerTooLarge,
)
"""Errors that any call can meet."""
CLOSED: Errors = (e.Locked, e.VaultAbsent)
"""Of every method but those for anyone."""
STORE: Errors = (e.VaultDamaged, e.ReadOnly, e.DiskFull)
"""What goes wrong with files; of every method that needs an open vault."""
OPENING: Errors = (
    e.WrongKey, e.TooManyMistakes, e.VaultAbsent, e.HeaderDamaged, e.VaultMissing, e.VaultDamaged,
    e.ForeignFile, e.SchemaNewer, e.UnsafePath, e.KeychainTrouble, e.PresenceRequired,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Contract:
    """`result`: a type of `results`, or a list of one. `errors`: beside those every call can meet."""

    says: str
    result: Any
    errors: Errors = ()


CONTRACTS: dict[str, Contract] = {
    "hello": Contract("Say who connects and agree on a version.", r.Hello, (e.ProtocolMismatch,)),
    "status": Contract("How the vault stands.", r.State, (e.HeaderDamaged,)),
    "shutdown": Contract("End the daemon once calls under way have ended.", r.Done),
    "vault.init": Contract("Make a vault and leave it unlocked.", r.Created, (e.Illegal, *OPENING)),
    "vault.unlock": Contract("Open the vault by one of its slots.", r.State, OPENING),
    "vault.lock": Contract("Close the vault; calls under way end first.", r.State),
    "vault.keychain_probe": Contract("Whether the system keychain can be used.", r.Probe),
    "presence.prove": Contract("Show that a person is there.", r.Proved, (e.Locked, *OPENING)),
    "presence.drop": Contract("Forget the proof of presence.", r.Done),
    "events.subscribe": Contract("Hear of changes from now on.", r.Done),
    "models.use": Contract(
        "Embed everything with another model.", r.ModelFacts, (e.Illegal, e.ModelUnavailable)
    ),
    "models.calibrate": Contract(
        "How many questions would be answered, rightly and wrongly, wherever the line for an answer lies.",
        m.AnswersCalibrated,
        (e.Illegal, e.ModelUnavailable),
    ),
    "models.set_shift": Contract(
        "Move the line for an answer in this vault.", m.ShiftSet, (e.ModelUnavailable,)
    ),
    "memory.add": Contract(
        "Write a claim; an agent proposes it.",
        r.Added,
        (e.NotFound, e.Refused, e.PresenceRequired, e.WaitsForPerson),
    ),
    "memory.feedback": Contract(
        "What a recalled memory was worth.", r.FeedbackTaken, (e.LimitReached, e.Refused, e.Illegal)
    ),
    "context.compile": Contract("The context for a task, within its budget.", c.Compiled),
    "context.index": Contract("One line for each memory.", c.IndexMade),
    "context.compare": Contract("Two answers, with and without memory, for a blind verdict.", c.Compared),
    "context.prefer": Contract("The verdict on a comparison.", c.Preferred, (e.NotFound, e.Illegal)),
    "mcp.attach": Contract("From the answer on, the connection speaks MCP.", r.Done),
    "vault.check": Contract("Whether the vault is whole.", u.WholeCheck, OPENING),
    "vault.recover": Contract(
        "What is wrong with a vault, and mend one thing.", u.Recovered, (e.Illegal, *OPENING)
    ),
    "memory.get": Contract("One memory.", r.Record, (e.NotFound,)),
    "memory.list": Contract("Memories that match, page by page.", r.RecordPage),
    "memory.facets": Contract("How many memories match, by kind, scope, project and status.", r.Facets),
    "memory.edit": Contract("Change fields of a claim.", r.Record, (e.NotFound, e.Illegal, e.Refused)),
    "memory.history": Contract("Versions and events of one memory.", r.History, (e.NotFound,)),
    "memory.verify": Contract("Check a memory against its sources.", r.Verified, (e.NotFound, e.Illegal)),
    "memory.disable": Contract("Switch a memory off without losing it.", r.Record, (e.NotFound, e.Illegal)),
    "memory.enable": Contract("Switch a memory on again.", r.Record, (e.NotFound, e.Illegal)),
    "memory.delete_preview": Contract("What a deletion would take.", r.Preview, (e.NotFound,)),
    "memory.delete": Contract(
        "Erase memories for good and refuse their return.", r.Deleted, (e.NotFound, e.Illegal)
    ),
    "inbox": Contract("What waits for a person.", r.Inbox),
    "review.confirm": Contract("Accept a candidate.", r.Record, (e.NotFound, e.Illegal, e.Refused)),
    "review.reject": Contract(
        "Turn a candidate down; it does not return.", r.Rejected, (e.NotFound, e.Illegal)
    ),
    "recall": Contract("The few memories that matter for a question.", r.Recalled),
    "recall.explain": Contract(
        "Why memories are in an answer or not: all of it and what came near, or one.",
        i.Explained,
        (e.NotFound,),
    ),
    "memory.about": Contract("Everything that names somebody or something.", i.About),
    "stats": Contract("How the vault is doing, in numbers.", i.Stats),
    "export.page": Contract("Memories in the order of their creation, page by page.", r.ExportPage),
    "runs.list": Contract("Runs of changes, newest first.", u.Runs),
    "runs.show": Contract("One run with its changes.", u.RunShown, (e.NotFound,)),
    "runs.rollback": Contract(
        "Take a run back as one.", u.RolledBack, (e.NotFound, e.Illegal, e.DependentChanges, e.Refused)
    ),
    "undo": Contract(
        "Take back the person's newest run that can be.",
        u.RolledBack,
        (e.NotFound, e.Illegal, e.DependentChanges, e.Refused),
    ),
    "conflicts.list": Contract("Claims that contradict each other.", u.Conflicts),
    "conflicts.resolve": Contract(
        "A person's verdict on a conflict.", u.Resolved, (e.NotFound, e.Illegal, e.Refused)
    ),
    "aliases.list": Contract("Names that stand for one thing.", n.Aliases),
    "aliases.set": Contract("Let names stand for one thing.", n.AliasesChanged, (e.Refused, e.LimitReached)),
    "aliases.remove": Contract(
        "Let names stand for one thing no more.", n.AliasesChanged, (e.NotFound, e.Refused)
    ),
    "tombstones.list": Contract("What was deleted and refuses to return, without text.", r.Tombstones),
    "tombstones.lift": Contract("Let what was deleted be written again.", r.Lifted, (e.NotFound,)),
    "audit.verify": Contract("Whether the event log is whole.", u.Audited),
    "doctor": Contract("Check the vault and name what to mend.", u.Checks),
    "gate.explain": Contract("What the gate would say to a text.", u.GateExplained),
    "gate.calibrate": Contract("How the gate judges labelled claims.", u.Calibrated),
    "gate.set_theta": Contract("Set the score a claim must reach.", u.ThetaSet),
    "import.run": Contract("Bring in memories of another program.", u.Imported, (e.PresenceRequired,)),
    "import.found": Contract("What could be imported, by counts.", list[u.Offer]),
    "backup.make": Contract("Write a backup while work goes on.", u.BackupMade, (e.UnsafePath, e.Illegal)),
    "backup.list": Contract("Backups that are known.", u.Backups),
    "backup.restore": Contract(
        "Put a backup in the vault's place.", u.Restored, (e.BackupDamaged, e.Illegal, *OPENING)
    ),
    "agents.add": Contract(
        "Ask for a grant, or give one.", a.Token, (e.PresenceRequired, e.Illegal, e.LimitReached)
    ),
    "agents.list": Contract("Grants of all agents.", a.Grants),
    "agents.approve": Contract("Give the grant that was asked for.", a.Token, (e.NotFound, e.Illegal)),
    "agents.set": Contract("Change what a grant allows.", a.Grant, (e.NotFound, e.Illegal)),
    "agents.rotate": Contract("A new token; the old one ends.", a.Token, (e.NotFound, e.Illegal)),
    "agents.revoke": Contract("End a grant.", a.Grant, (e.NotFound, e.Illegal)),
    "agents.quarantine": Contract("Hold back what an agent proposes.", a.Grant, (e.NotFound, e.Illegal)),
    "agents.report": Contract("What an agent brought in and how it was judged.", a.Reported, (e.NotFound,)),
    "agents.written": Contract("Ids of what an agent wrote.", a.Written, (e.NotFound,)),
    "agents.purge": Contract("Remove what an agent wrote.", a.Purged, (e.NotFound, e.Illegal)),
    "agents.remove": Contract("Forget a grant.", a.AgentRemoved, (e.NotFound, e.Illegal)),
    "task.open": Contract(
        "Open a task's notes, or go on with them.", a.TaskOpened, (e.NotFound, e.LimitReached)
    ),
    "task.note": Contract("Add a note.", a.NoteKept, (e.NotFound, e.Illegal, e.Refused, e.LimitReached)),
    "task.done": Contract("Mark a note as done.", a.NoteKept, (e.NotFound, e.Illegal)),
    "task.reopen": Contract(
        "Open a done note again, saying why.", a.NoteKept, (e.NotFound, e.Illegal, e.Refused)
    ),
    "task.get": Contract("One task with its notes.", a.Task, (e.NotFound,)),
    "task.list": Contract("Open tasks.", a.Tasks),
    "task.close": Contract(
        "Propose what is worth keeping, then erase the notes.", a.TaskClosed, (e.NotFound, e.Refused)
    ),
    "hook.event": Contract("What an agent host's hook tells, and what its session gets for it.", a.Hooked),
    "keys.list": Contract("The ways to open the vault.", a.Slots),
    "keys.add_passphrase": Contract("Add a passphrase.", a.SlotsChanged, (e.Illegal, *OPENING)),
    "keys.add_keychain": Contract("Add the system keychain.", a.SlotsChanged, (e.Illegal, *OPENING)),
    "keys.change_passphrase": Contract("Change a passphrase.", a.SlotsChanged, (e.Illegal, *OPENING)),
    "keys.new_recovery_code": Contract("A new recovery code; the old one ends.", a.SlotsChanged, OPENING),
    "keys.remove": Contract("Remove a way to open the vault.", a.SlotsChanged, (e.NotFound, e.Illegal)),
    "keys.rotate": Contract("A new vault key.", a.Rotated, (e.Illegal, *OPENING)),
}
