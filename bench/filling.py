"""Fills a vault for benchmarks: some memories through the services, the others copied row by row in SQL.

Owns how rows are copied. A copy has its own id, content and vector; words, sources and everything else are
those of the memory it was copied from. It leaves no events and no before-images: nothing that recall reads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memvault.clock import SystemClock
from memvault.keys import ring
from memvault.model import Claim, Draft, Kind, Scope, Source, SourceType
from memvault.paths import HomeLayout
from memvault.services import remember
from memvault.services.caller import PERSON
from memvault.services.change import change
from memvault.services.vault import Vault, create_database, open_vault
from memvault.store.connection import Database
from memvault_models.means import Means

Floats = npt.NDArray[np.float32]

WRITTEN = 100_000
"""As many memories are written through the services; beyond that copies of them are made."""
_CHUNK = 1_000
_COPIED = {
    "memory": {
        "row": "row + ?1",
        "id": "printf('%08x-%04x-7%03x-8%03x-%012x', row >> 8, ?1 >> 8, row & 255, ?1 & 4095, row + ?1)",
        "content": "content || ' ' || (row + ?1)",
        "content_key": "randomblob(16)",
    },
    "version": {"memory": "memory + ?1"},
    "source": {"row": "NULL", "memory": "memory + ?1"},
}
"""What differs between a row and its copy, by table."""


def fill(
    layout: HomeLayout, passphrase: str, texts: Sequence[str], vectors: Floats, model_id: str, means: Means
) -> None:
    """A new vault with one memory a vector. `texts` are those of the first ones, at most WRITTEN.

    A text that says what an earlier one says makes no memory; when copies are made, one copy more.
    """
    made = ring.create(layout.root, passphrase=passphrase, use_keychain=False)
    create_database(layout, made.key)
    vault = open_vault(layout, made.key, SystemClock(), model_id, means, lambda ids, reason: None)
    try:
        written = 0
        for start in range(0, len(texts), _CHUNK):
            ids = _write(vault, texts[start : start + _CHUNK])
            vault.put_vectors([(id_, vectors[start + at][None]) for at, id_ in ids])
            vault.waiting.clear()
            written += len(ids)
        if len(vectors) > len(texts):
            vault.writer.run("PRAGMA synchronous = OFF")
            for start in range(written, len(vectors), written):
                _copy(vault.writer, start, vectors[start : start + written], model_id)
    finally:
        vault.close()


def _write(vault: Vault, texts: Sequence[str]) -> list[tuple[int, str]]:
    """(position, id) of the memories that are new."""
    source = (Source(SourceType.IMPORT, "bench:texts"),)
    ids: list[tuple[int, str]] = []
    with change(vault, "import:bench", PERSON.actor) as work:
        for at, text in enumerate(texts):
            written = remember.write(work, PERSON, Draft(Claim(Kind.FACT, Scope.PRIVATE, text), source))
            if written.id is not None and written.changed:
                ids.append((at, written.id))
    return ids


def _copy(db: Database, by: int, vectors: Floats, model_id: str) -> None:
    """Copies of the first memories, `by` rows further on, one a vector."""
    with db.transaction():
        for table, changed in _COPIED.items():
            columns = [str(row[1]) for row in db.all(f"PRAGMA table_info({table})")]
            values = ", ".join(changed.get(name, name) for name in columns)
            number = "row" if table == "memory" else "memory"
            sql = f"INSERT INTO {table}({', '.join(columns)}) SELECT {values} FROM {table}"  # noqa: S608
            db.run(f"{sql} WHERE {number} <= ?2", (by, len(vectors)))
        db.run_many(
            "INSERT INTO vector VALUES(?, ?, 0, ?)",
            [(by + at, model_id, row.astype("<f4").tobytes()) for at, row in enumerate(vectors, start=1)],
        )
