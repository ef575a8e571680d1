"""Reading what can still be read of a database with damaged pages, row by row, into a new one.

A page that fails its check takes its rows with it, and the connection that met it: each failure costs a new
connection and a search for the next readable row. Nothing of a page that fails is taken: its bytes could be
anybody's. Owns the search, and what is lost with a row (rows that belong to it). Knows nothing of places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memvault.errors import SchemaNewer, VaultDamaged
from memvault.keys.envelope import VaultKey
from memvault.store import schema
from memvault.store.connection import Database, Row

Told = Callable[[str, int, int], None]
"""Hears (table, tables done, tables in all)."""

MOST_PROBES = 50_000
"""So often a readable row is looked for; what is behind that is given up."""

_CACHE_KIB = 2_048
_TEXT_BYTES = 24
"""Of a text key so many bytes take part in the search: all that differs between ids."""
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Salvaged:
    """Rows kept of each table, tables of which something could not be read, orphans that were left out."""

    kept: dict[str, int]
    hurt: tuple[str, ...]
    orphans: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Table:
    name: str
    key: str
    is_text: bool
    columns: tuple[str, ...]

    def position(self, key: int | str) -> int:
        if isinstance(key, int):
            return key
        raw = key.encode("utf-8", "surrogatepass")[:_TEXT_BYTES]
        return int.from_bytes(raw.ljust(_TEXT_BYTES, b"\0"), "big")

    def key_at(self, position: int) -> int | bytes:
        return position.to_bytes(_TEXT_BYTES, "big").rstrip(b"\0") if self.is_text else position

    @property
    def lowest(self) -> int:
        return 0 if self.is_text else -(2**63)

    @property
    def highest(self) -> int:
        return 256**_TEXT_BYTES - 1 if self.is_text else 2**63 - 1

    def rows(self, db: Database, start: int, limit: int, offset: int = 0) -> Iterator[Row]:
        """(key, columns...) from `start` on, at most `limit` (-1: all)."""
        from_ = "CAST(? AS TEXT)" if self.is_text else "?"
        names = ", ".join(f'"{name}"' for name in self.columns)
        sql = f'SELECT {self.key}, {names} FROM "{self.name}" WHERE {self.key} >= {from_} ORDER BY {self.key}'
        return db.stream(f"{sql} LIMIT ? OFFSET ?", (self.key_at(start), limit, offset), batch=1)


@dataclass(slots=True)
class _Source:
    """The damaged database; opened anew after every failure."""

    path: Path
    key: VaultKey
    left: int = MOST_PROBES
    _db: Database | None = field(default=None)

    def open(self) -> Database:
        if self._db is None:
            self._db = Database(self.path, self.key, writable=False, cache_kib=_CACHE_KIB)
        return self._db

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def take(self, table: _Table, start: int, keep: Callable[[Row], None]) -> tuple[bool, int]:
        """Give rows from `start` on to `keep`; whether that went to the end, and the last position read."""
        last, count = start, 0
        try:
            for row in table.rows(self.open(), start, -1):
                keep(row)
                last, count = table.position(row[0]), count + 1
        except VaultDamaged:
            self.close()
            row = self._one_more(table, start, count)
            if row is not None:
                keep(row)
                last = table.position(row[0])
            return False, last
        return True, last

    def _one_more(self, table: _Table, start: int, offset: int) -> Row | None:
        """The driver reads one row ahead: the last good one before a damaged page never came."""
        try:
            return next(table.rows(self.open(), start, 1, offset), None)
        except VaultDamaged:
            self.close()
            return None

    def readable(self, table: _Table, start: int) -> bool:
        """Whether the first row from `start` on, or the end of the table, can be read."""
        self.left -= 1
        try:
            for _ in table.rows(self.open(), start, 1):
                pass
        except VaultDamaged:
            self.close()
            return False
        return True

    def next_readable(self, table: _Table, after: int) -> int | None:
        """The next position from which rows can be read; None when there is none in reach.

        Strides grow slowly, so that a whole page between two damaged ones is not stepped over.
        """
        failed, stride = after, 256**8 if table.is_text else 1
        while (probe := after + stride) <= table.highest and self.left > 0:
            if self.readable(table, probe):
                return self._earliest(table, failed, probe)
            failed = probe
            stride = stride * 2 if table.is_text else max(stride + 1, stride * 5 // 4)
        return None

    def _earliest(self, table: _Table, failed: int, works: int) -> int:
        while works - failed > 1 and self.left > 0:
            middle = (failed + works) // 2
            if self.readable(table, middle):
                works = middle
            else:
                failed = middle
        return works


def salvage(path: Path, key: VaultKey, target: Database, told: Told) -> Salvaged:
    """Copy every row of the database at `path` that can be read into the empty `target`.

    `target` has the current schema. Raises VaultDamaged when not even the list of tables can be read,
    SchemaNewer, and whatever `told` raises.
    """
    source = _Source(path, key)
    try:
        version = int(source.open().one("PRAGMA user_version")[0])
        if version > schema.CURRENT:
            raise SchemaNewer(f"the vault has schema {version}, this program knows {schema.CURRENT}")
        tables = _tables(source.open(), target)
        kept: dict[str, int] = {}
        hurt: list[str] = []
        target.run("PRAGMA foreign_keys = OFF")
        for number, table in enumerate(tables):
            told(table.name, number, len(tables))
            with target.transaction():
                if not _copy(source, table, target):
                    hurt.append(table.name)
            kept[table.name] = int(target.one(f'SELECT count(*) FROM "{table.name}"')[0])
        with target.transaction():
            orphans = _drop_orphans(target, [table.name for table in tables])
        target.run("PRAGMA foreign_keys = ON")
        return Salvaged(kept, tuple(hurt), orphans)
    finally:
        source.close()


def _tables(db: Database, target: Database) -> list[_Table]:
    """The tables that both have, with how to walk through each."""
    found: list[_Table] = []
    for _, name, kind, _, without_rowid, *_ in target.all("PRAGMA table_list"):
        if kind != "table" or str(name).startswith("sqlite_"):
            continue
        there = {row[1] for row in db.all(f'PRAGMA table_info("{name}")')}
        columns = [row for row in target.all(f'PRAGMA table_info("{name}")') if row[1] in there]
        if not columns:
            continue
        first = next((row for row in columns if row[5] == 1), columns[0])
        key = f'"{first[1]}"' if without_rowid else "rowid"
        is_text = bool(without_rowid) and first[2] == "TEXT"
        found.append(_Table(name, key, is_text, tuple(row[1] for row in columns)))
    return sorted(found, key=lambda table: table.name)


def _copy(source: _Source, table: _Table, target: Database) -> bool:
    """Whether all of the table could be read."""
    marks = ", ".join("?" * len(table.columns))
    names = ", ".join(f'"{name}"' for name in table.columns)
    sql = f'INSERT OR IGNORE INTO "{table.name}"({names}) VALUES({marks})'
    waiting: list[Sequence[object]] = []

    def flush() -> None:
        target.run_many(sql, waiting)
        waiting.clear()

    def keep(row: Row) -> None:
        waiting.append(row[1:])
        if len(waiting) >= _BATCH:
            flush()

    whole, start = True, table.lowest
    while True:
        ended, last = source.take(table, start, keep)
        if ended:
            break
        whole = False
        found = source.next_readable(table, max(last, 0))
        if found is None:
            break
        start = found
    flush()
    return whole


def _drop_orphans(db: Database, tables: list[str]) -> dict[str, int]:
    """Leave out rows that belong to a row that is lost; the number of each table."""
    dropped: dict[str, int] = {}
    rules = [
        (table, str(parent), str(column), str(to))
        for table in tables
        for _, _, parent, column, to, *_ in db.all(f'PRAGMA foreign_key_list("{table}")')
    ]
    while True:
        before = sum(dropped.values())
        for table, parent, column, to in rules:
            sql = (
                f'DELETE FROM "{table}" WHERE "{column}" IS NOT NULL AND NOT EXISTS'
                f' (SELECT 1 FROM "{parent}" p WHERE p."{to}" = "{table}"."{column}")'
            )
            if gone := db.run(sql):
                dropped[table] = dropped.get(table, 0) + gone
        if sum(dropped.values()) == before:
            return dropped
