"""The backup file: a frame in the clear, then the vault's header, then its database, still encrypted.

    frame     1,024 bytes: one line of canonical JSON (the manifest, its HMAC under a key of the vault, and
              a SHA-256 of both), spaces, a line feed
    header    the bytes of vault.json, so that passphrase and recovery code open the copy anywhere
    database  a SQLCipher file under the vault's own key

Owns writing such a file (to a temporary name, synced, never over another file) and reading it strictly.
Knows nothing of what is in the database, and opens no key slot.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import hmac
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO, Final, Literal, Protocol

import msgspec
from msgspec import Meta, Struct

from memvault.clock import iso, parse
from memvault.errors import (
    BackupDamaged,
    DiskFull,
    ForeignFile,
    MemvaultError,
    NotFound,
    ReadOnly,
    SchemaNewer,
    UnsafePath,
    Usage,
)
from memvault.ids import is_id

SUFFIX: Final = ".mvbackup"
FORMAT: Final = 1
FRAME_BYTES: Final = 1_024
CHUNK_BYTES: Final = 1_048_576

_OPENING = b'{"magic":"memvault-backup","format":'
_FRAME = re.compile(rb'(\{.+),"mac":"([0-9a-f]{64})","checksum":"([0-9a-f]{64})"\} *\n', re.DOTALL)
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}

Natural = Annotated[int, Meta(ge=0, le=2**53)]
Digest = Annotated[bytes, Meta(min_length=32, max_length=32)]
Told = Callable[[int, int], None]
"""Hears (bytes done, bytes in all)."""


class Contents(Struct, frozen=True, forbid_unknown_fields=True):
    """What a backup holds. `sha256` is that of header and database, `event_hash` the head of the chain."""

    magic: Literal["memvault-backup"]
    format: Literal[1]
    vault_id: str
    created_at: str
    schema: Natural
    memories: Natural
    event_seq: Natural
    event_hash: Digest
    header_bytes: Annotated[int, Meta(ge=1, le=65_536)]
    database_bytes: Annotated[int, Meta(ge=1, le=2**53)]
    sha256: Digest


class _Opening(Struct):
    """The two fields that every format has."""

    magic: str
    format: int


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup file whose frame is in order; `check` and `unpack` look at the rest."""

    path: Path
    contents: Contents
    mac: bytes

    @property
    def size_bytes(self) -> int:
        return FRAME_BYTES + self.contents.header_bytes + self.contents.database_bytes

    def proved_by(self, key: bytes) -> bool:
        """Whether a holder of `key` (32 bytes) wrote the manifest. Constant time."""
        return hmac.compare_digest(self.mac, hmac.digest(key, msgspec.json.encode(self.contents), "sha256"))


@dataclass(frozen=True, slots=True)
class Packed:
    """A whole backup under a temporary name."""

    part: Path
    target: Path
    backup: Backup
    file_sha256: bytes
    """Of the whole file, as `sha256sum` prints it."""

    def place(self) -> None:
        """Give it its name. Raises Usage when the name was taken meanwhile."""
        with disk_errors("the backup"):
            try:
                os.link(self.part, self.target, follow_symlinks=False)
            except FileExistsError:
                raise occupied(self.target) from None
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                if os.path.lexists(self.target):
                    raise occupied(self.target) from None
                self.part.rename(self.target)
            self.part.unlink(missing_ok=True)
            sync_folder(self.target.parent)

    def discard(self) -> None:
        self.part.unlink(missing_ok=True)


def occupied(target: Path) -> Usage:
    return Usage(f"there is something at {target} already", "A backup never overwrites: choose another name.")


@contextlib.contextmanager
def disk_errors(what: str) -> Iterator[None]:
    """Errors of the file system as errors of our tree."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise DiskFull(f"the disk is full: {what} was not written") from None
        if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
            raise ReadOnly(f"{what} cannot be written there", "Choose a folder that is yours.") from None
        if error.errno in {errno.ELOOP, errno.ENOTDIR}:
            raise UnsafePath(f"{what} leads through a link, or through what is no folder") from None
        code = errno.errorcode.get(error.errno or 0, "unknown error")
        raise MemvaultError(f"{what} was not written: {code}") from None


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_file(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def new_file(path: Path) -> int:
    """A new 0600 file, open for writing. Never follows or replaces what is there."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def pack(
    target: Path, key: bytes, header: bytes, database: Path, told: Told, **about: str | int | bytes
) -> Packed:
    """Write header and database behind a manifest, beside `target`, and read it all back.

    `about`: vault_id, created_at, schema, memories, event_seq, event_hash. Raises Usage when `target` is
    taken, DiskFull, ReadOnly, BackupDamaged when the disk gave back something else.
    """
    if os.path.lexists(target):
        raise occupied(target)
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    database_bytes = database.stat().st_size
    with disk_errors("the backup"):
        handle = new_file(part)
    try:
        with disk_errors("the backup"), os.fdopen(handle, "wb") as out:
            out.write(bytes(FRAME_BYTES) + header)
            payload = hashlib.sha256(header)
            with database.open("rb") as raw:
                _pass_on(raw, out, (payload,), database_bytes, told)
            contents = msgspec.convert(
                {
                    "magic": "memvault-backup", "format": FORMAT, "header_bytes": len(header),
                    "database_bytes": database_bytes, "sha256": payload.digest(), **about,
                },
                Contents,
            )  # fmt: skip
            out.seek(0)
            out.write(_frame(contents, key))
            out.flush()
            os.fsync(out.fileno())
        whole = hashlib.sha256()
        with _opened(part) as file:
            found = _read(part, file, whole)
            _payload(found, file, None, told, whole)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return Packed(part, target, Backup(target, contents, found.mac), whole.digest())


class _Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...


def _pass_on(raw: BinaryIO, out: BinaryIO | None, hashes: Sequence[_Hash], total: int, told: Told) -> None:
    """Read `total` bytes of `raw`, or as many as there are, into `out` and every one of `hashes`."""
    done = 0
    while done < total and (chunk := raw.read(min(CHUNK_BYTES, total - done))):
        if out is not None:
            out.write(chunk)
        for seen in hashes:
            seen.update(chunk)
        done += len(chunk)
        told(done, total)


def _frame(contents: Contents, key: bytes) -> bytes:
    body = msgspec.json.encode(contents)
    mac = hmac.digest(key, body, "sha256").hex().encode("ascii")
    sealed = body[:-1] + b',"mac":"' + mac
    line = sealed + b'","checksum":"' + hashlib.sha256(sealed).hexdigest().encode("ascii") + b'"}'
    return line.ljust(FRAME_BYTES - 1) + b"\n"


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """A plain file, not through a link. Raises NotFound, UnsafePath."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"there is no backup at {path}", "`memvault backups` lists those that are.") from None
    except OSError as error:
        raise UnsafePath(
            f"the backup cannot be opened ({errno.errorcode.get(error.errno or 0, 'unknown error')})",
            "A backup is a plain file of yours, not a link.",
        ) from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise UnsafePath("the backup is not a plain file", "A backup is a plain file of yours, not a link.")
    with os.fdopen(handle, "rb") as file:
        try:
            yield file
        except OSError as error:
            code = errno.errorcode.get(error.errno or 0, "unknown error")
            raise BackupDamaged(f"the backup cannot be read to its end: {code}") from None


def read(path: Path) -> Backup:
    """The manifest of the backup at `path`; the rest is only measured.

    Raises NotFound, UnsafePath, ForeignFile, BackupDamaged, SchemaNewer.
    """
    with _opened(path) as file:
        return _read(path, file)


def _read(path: Path, file: BinaryIO, whole: _Hash | None = None) -> Backup:
    raw = file.read(FRAME_BYTES)
    if whole is not None:
        whole.update(raw)
    if raw[: len(_OPENING)] != _OPENING:
        if len(raw) < len(_OPENING) and _OPENING.startswith(raw):
            raise BackupDamaged("the backup is cut off")
        raise ForeignFile("the file is no backup of memvault")
    frame = _FRAME.fullmatch(raw)
    if len(raw) < FRAME_BYTES:
        raise BackupDamaged("the backup is cut off")
    sealed = b"" if frame is None else frame[1] + b',"mac":"' + frame[2]
    if frame is None or hashlib.sha256(sealed).hexdigest().encode("ascii") != frame[3]:
        raise BackupDamaged("the backup's manifest is damaged: its checksum does not fit")
    found = Backup(path, _contents(frame[1] + b"}"), bytes.fromhex(frame[2].decode("ascii")))
    size_bytes = os.fstat(file.fileno()).st_size
    if size_bytes != found.size_bytes:
        what = "cut off" if size_bytes < found.size_bytes else "longer than it was written"
        raise BackupDamaged(f"the backup is {what}")
    return found


def _contents(body: bytes) -> Contents:
    wrong = BackupDamaged("the backup's manifest is whole, but not as memvault writes it")
    try:
        opening = msgspec.json.decode(body, type=_Opening)
        if opening.format > FORMAT:
            raise SchemaNewer(f"the backup has format {opening.format}, this program reads up to {FORMAT}")
        contents = msgspec.json.decode(body, type=Contents)
        fits = is_id(contents.vault_id) and iso(parse(contents.created_at)) == contents.created_at
    except (msgspec.DecodeError, RecursionError, ValueError, OverflowError, Usage):
        raise wrong from None
    if not fits or msgspec.json.encode(contents) != body:
        raise wrong
    return contents


def check(path: Path, told: Told) -> Backup:
    """Read the backup to its end. Raises what `read` does; BackupDamaged for any byte that changed."""
    with _opened(path) as file:
        found = _read(path, file)
        _payload(found, file, None, told)
        return found


def unpack(path: Path, database: Path, told: Told) -> tuple[Backup, bytes]:
    """Write the database to the new file `database`; returns the backup and the bytes of its header.

    Raises what `check` does, DiskFull, ReadOnly.
    """
    with _opened(path) as file, disk_errors("the copy of the backup"):
        found = _read(path, file)
        with os.fdopen(new_file(database), "wb") as out:
            header = _payload(found, file, out, told)
            out.flush()
            os.fsync(out.fileno())
        return found, header


def header_of(path: Path) -> tuple[Backup, bytes]:
    """The backup's manifest and header, so that keys can be tried before everything is read."""
    with _opened(path) as file:
        found = _read(path, file)
        return found, file.read(found.contents.header_bytes)


def _payload(
    found: Backup, file: BinaryIO, out: BinaryIO | None, told: Told, whole: _Hash | None = None
) -> bytes:
    """Read header and database; the database goes to `out`. Returns the header."""
    payload = hashlib.sha256()
    hashes = (payload,) if whole is None else (payload, whole)
    header = file.read(found.contents.header_bytes)
    for seen in hashes:
        seen.update(header)
    _pass_on(file, out, hashes, found.contents.database_bytes, told)
    if payload.digest() != found.contents.sha256:
        raise BackupDamaged("the backup is damaged: its bytes are not those that were written")
    return header
