"""One connection to the SQLCipher file: opening, transactions, checkpoints, and errors made ours.

Owns the pragmas (SECURITY, traps 1 to 8) and the translation of driver errors. Knows nothing of tables.
A connection belongs to the thread that uses it: one writes, others only read.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, cast

from sqlcipher3 import dbapi2 as driver

from memvault.errors import (
    Busy,
    DiskFull,
    ForeignFile,
    MemvaultError,
    ReadOnly,
    UnsafePath,
    VaultDamaged,
    VaultMissing,
)
from memvault.keys.envelope import VaultKey
from memvault.store.sourcenames import covers

Row = tuple[Any, ...]

BUSY_TIMEOUT_MS: Final = 5_000
CACHE_KIB: Final = 131_072
"""128 MiB of pages: search over 100,000 rows is ten times slower with the default cache."""
MAX_VARIABLES: Final = 500
"""Bound parameters used in one statement when a list is bound (SQLite allows 32,766)."""

_FULL, _READONLY, _BUSY, _LOCKED, _IOERR = 13, 8, 5, 6, 10
_CORRUPT, _NOTADB, _CANTOPEN = 11, 26, 14


def _ours(error: driver.Error) -> MemvaultError:
    """The error of our tree for a driver error; its text never quotes values."""
    code = int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
    if code == _FULL:
        return DiskFull("the disk is full")
    if code in (_READONLY, _CANTOPEN):
        return ReadOnly("the vault cannot be written")
    if code in (_BUSY, _LOCKED):
        return Busy("the vault is busy")
    if code in (_CORRUPT, _NOTADB, _IOERR):
        return VaultDamaged("a page of the vault cannot be read")
    return VaultDamaged(f"the database refused a statement ({type(error).__name__}, {code})")


def check_file(path: Path) -> None:
    """Raises VaultMissing for a missing or empty database, UnsafePath for a link or foreign file."""
    try:
        found = path.lstat()
    except FileNotFoundError as error:
        raise VaultMissing("the vault's database is missing, its header and key slots are there") from error
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
        raise UnsafePath("the vault's database is a link or belongs to somebody else")
    if found.st_size == 0:
        raise VaultMissing("the vault's database is empty, its header and key slots are there")
    with path.open("rb") as file:
        if file.read(len(_PLAIN_SQLITE)) == _PLAIN_SQLITE:
            raise ForeignFile("the vault's database was replaced by a file that is not encrypted")


_PLAIN_SQLITE = b"SQLite format 3\0"


def can_write(path: Path) -> bool:
    """Whether the database and what SQLite keeps beside it can be written."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK)


def _address(path: Path, *, writable: bool) -> str:
    """What to open. Where nothing can be written SQLite keeps no shared memory: only a file without a log, or
    with both, can be read there (SECURITY, trap 7)."""
    name = path.absolute().as_uri()
    if writable or can_write(path):
        return f"{name}?mode=rw"
    log = path.with_name(f"{path.name}-wal")
    alone = not os.access(path.parent, os.W_OK) and not (log.exists() and log.stat().st_size)
    return f"{name}?mode=ro{'&immutable=1' if alone else ''}"


def _stuck_log() -> ReadOnly:
    """A log without its shared memory, where none can be made: to leave it out would hide changes."""
    return ReadOnly(
        "the newest changes lie in the write-ahead log, which cannot be read where nothing can be written",
        "Copy the vault's folder to a place that can be written, and open it there: --home DIR.",
    )


class Database:
    """A keyed connection. `writable=False` refuses every write."""

    def __init__(
        self,
        path: Path,
        key: VaultKey,
        *,
        writable: bool,
        create: bool = False,
        cache_kib: int = CACHE_KIB,
    ) -> None:
        """Open `path`. Raises VaultMissing, ReadOnly, VaultDamaged (also for a wrong key)."""
        if create:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        else:
            check_file(path)
        self.path = path
        self.writable = writable
        self._raw = driver.connect(
            _address(path, writable=writable), uri=True, isolation_level=None, check_same_thread=False
        )
        try:
            self._raw.set_key(key.sqlcipher_key())
            self._prepare(cache_kib)
        except driver.Error as error:
            self._raw.close()
            found = _ours(error)
            raise _stuck_log() if isinstance(found, ReadOnly) and not writable else found from None

    def _prepare(self, cache_kib: int) -> None:
        run = self._raw.execute
        self._raw.create_function("casefold", 1, str.casefold, deterministic=True)
        self._raw.create_function("covers", 3, covers, deterministic=True)
        run("PRAGMA cipher_log_level = NONE")
        run(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        run(f"PRAGMA cache_size = -{cache_kib}")
        run("PRAGMA temp_store = MEMORY")
        run("PRAGMA foreign_keys = ON")
        if self.writable:
            run("PRAGMA secure_delete = ON")
            run("PRAGMA journal_mode = WAL")
            run("PRAGMA synchronous = FULL")
            run("PRAGMA wal_autocheckpoint = 2000")
        else:
            run("PRAGMA query_only = ON")
        run("SELECT count(*) FROM sqlite_master").fetchone()

    def run(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Execute one statement and return the number of rows it changed."""
        try:
            cursor = self._raw.execute(sql, values)
            cursor.fetchall()
            return int(cursor.rowcount)
        except driver.Error as error:
            raise _ours(error) from None

    def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        try:
            self._raw.executemany(sql, rows)
        except driver.Error as error:
            raise _ours(error) from None

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Every row, materialised: no cursor stays open to hold an old snapshot alive."""
        try:
            return cast(list[Row], self._raw.execute(sql, values).fetchall())
        except driver.Error as error:
            raise _ours(error) from None

    def one(self, sql: str, values: Sequence[Any] = ()) -> Row:
        """The first row. Raises VaultDamaged when there is none."""
        row = self.maybe(sql, values)
        if row is None:
            raise VaultDamaged("a row that must be there is missing")
        return row

    def maybe(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        rows = self.all(sql, values)
        return rows[0] if rows else None

    def stream(self, sql: str, values: Sequence[Any] = (), batch: int = 2_000) -> Iterator[Row]:
        """Rows in batches, for loading a whole table at opening time."""
        try:
            cursor = self._raw.execute(sql, values)
            while rows := cast(list[Row], cursor.fetchmany(batch)):
                yield from rows
        except driver.Error as error:
            raise _ours(error) from None

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """BEGIN IMMEDIATE ... COMMIT; any exception rolls everything back."""
        self.run("BEGIN IMMEDIATE")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            with contextlib.suppress(driver.Error):
                self._raw.rollback()
            raise

    def truncate_log(self) -> bool:
        """Move the write-ahead log into the database and empty it; False when a reader was in the way."""
        return int(self.one("PRAGMA wal_checkpoint(TRUNCATE)")[0]) == 0

    def damaged_pages(self) -> list[str]:
        """What cipher_integrity_check and quick_check report; empty when all is well.

        The log is checkpointed first: the cipher check does not read it and raises false alarms otherwise.
        Where a page does not decrypt, nothing further can be asked of this connection.
        """
        if self.writable:
            self.truncate_log()
        found = [str(row[0]) for row in self.all("PRAGMA cipher_integrity_check")]
        if found:
            return found
        return [str(row[0]) for row in self.all("PRAGMA quick_check") if row[0] != "ok"]

    def copy_to(self, target: Database, progress: Callable[[int, int], None] | None = None) -> None:
        """A consistent copy of this database into `target`, under the target's key, while writes go on.

        `progress` hears (pages done, pages in all) after every step; what it raises ends the copy.
        """

        def step(_: int, left: int, total: int) -> None:
            if progress is not None:
                progress(total - left, total)

        try:
            self._raw.backup(target._raw, pages=1_000, progress=step)
        except driver.Error as error:
            raise _ours(error) from None

    def close(self) -> None:
        self._raw.close()
