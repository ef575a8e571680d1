"""HOME/vault.json on disk: read whole, written whole, never through a link.

Owns the two files `vault.json` and `vault.json.bak`. The second is a copy of the same header, so that a
damaged first one can be reported as restorable; it is never put in its place without being asked. It is
rewritten right after the first: an older copy would still open with a passphrase that was replaced. One
process writes (the owner of the vault); any number may read. Knows nothing of what a header means.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Generator
from pathlib import Path

from memvault.errors import (
    Damaged,
    DiskFull,
    ForeignFile,
    HeaderDamaged,
    Illegal,
    MemvaultError,
    ReadOnly,
    UnsafePath,
    VaultAbsent,
)
from memvault.keys import header as codec
from memvault.keys.header import VaultHeader

HEADER_NAME = "vault.json"
COPY_NAME = "vault.json.bak"
_ASIDE_NAME = "vault.json.damaged"
_TEMP_PREFIX = ".vault.json."
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


def read(home: Path) -> VaultHeader:
    """The header of the vault in `home`.

    Raises VaultAbsent, HeaderDamaged (its hint says whether the copy is whole), ForeignFile, SchemaNewer,
    UnsafePath.
    """
    with _folder(home) as folder:
        raw = _read(folder, HEADER_NAME)
        if raw is None:
            if _read(folder, COPY_NAME) is None:
                raise VaultAbsent("there is no vault in this folder")
            raise HeaderDamaged("the vault's header is gone, its copy is there", _hint(folder))
        try:
            return codec.decode(raw)
        except HeaderDamaged as error:
            raise HeaderDamaged(error.message, _hint(folder)) from None


def create(home: Path, header: VaultHeader) -> None:
    """Write the first header. Raises Illegal when any header, copy or other file is in its place.

    Raises UnsafePath, DiskFull, ReadOnly.
    """
    raw = codec.encode(header)
    with _folder(home) as folder, _disk_errors():
        if any(_exists(folder, name) for name in (HEADER_NAME, COPY_NAME)):
            raise _occupied()
        _put(folder, HEADER_NAME, raw, fresh=True)
        _put(folder, COPY_NAME, raw)


def discard_new(home: Path) -> None:
    """Take back a header that `create` wrote, when the vault it belongs to could not be made after all."""
    with _folder(home) as folder:
        for name in (HEADER_NAME, COPY_NAME):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)


def replace(home: Path, header: VaultHeader) -> None:
    """Put a changed header in the place of the present one, then renew the copy.

    Killed at any point, the file is the old or the new one, whole. Raises what `read` raises when the
    present header is not a good one of the same vault: only `restore` replaces a damaged one.
    """
    present = read(home)
    if present.vault_id != header.vault_id:
        raise ForeignFile("the folder now holds another vault")
    if header.generation < present.generation:
        raise Illegal("an older vault key does not replace a newer one")
    raw = codec.encode(header)
    with _folder(home) as folder, _disk_errors():
        _sweep(folder)
        _put(folder, HEADER_NAME, raw)
        _put(folder, COPY_NAME, raw)


def settle_copy(home: Path) -> bool:
    """Clear up after a kill: remove left-over temporary files, renew a copy that lags; True when it did.

    The owner calls it on every opening; where nothing can be written, nothing is cleared up. Raises what
    `read` raises, DiskFull, ReadOnly.
    """
    raw = codec.encode(read(home))
    if not os.access(home, os.W_OK):
        return False
    with _folder(home) as folder, _disk_errors():
        _sweep(folder)
        if _read(folder, COPY_NAME) == raw:
            return False
        _put(folder, COPY_NAME, raw)
        return True


def restorable(home: Path) -> VaultHeader | None:
    """The copy, when it is whole. Raises UnsafePath."""
    with _folder(home) as folder:
        return _copy(folder)


def restore(home: Path) -> VaultHeader:
    """Put the copy in the place of a damaged or missing header, which is kept as `vault.json.damaged`.

    Only when a person asks for it. Raises HeaderDamaged when the copy is not whole either, and Illegal when
    the header is in order.
    """
    try:
        read(home)
    except (HeaderDamaged, ForeignFile):
        pass
    else:
        raise Illegal("the vault's header is in order: there is nothing to restore")
    with _folder(home) as folder, _disk_errors():
        copy = _copy(folder)
        if copy is None:
            raise HeaderDamaged("neither the vault's header nor its copy is whole", _hint(folder))
        damaged = _read(folder, HEADER_NAME)
        if damaged is not None:
            _put(folder, _ASIDE_NAME, damaged)
        _put(folder, HEADER_NAME, codec.encode(copy))
        return copy


def _copy(folder: int) -> VaultHeader | None:
    raw = _read(folder, COPY_NAME)
    try:
        return None if raw is None else codec.decode(raw)
    except Damaged:
        return None


def _hint(folder: int) -> str:
    copy = _copy(folder)
    if copy is None:
        return "Nothing was changed, and its copy does not help. `memvault restore` brings back a backup."
    return "Nothing was changed. A whole copy of it lies beside it: `memvault recover` puts it back."


def _occupied() -> Illegal:
    return Illegal(
        "there is a vault in this folder already", "Open it with `memvault unlock`, or choose another folder."
    )


@contextlib.contextmanager
def _folder(home: Path) -> Generator[int]:
    """The home folder as a descriptor, so that no part of its path is looked up twice."""
    try:
        folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        raise VaultAbsent("there is no vault: its folder does not exist") from None
    except OSError as error:
        raise _unsafe(error, "the vault's folder") from None
    try:
        _check_owner(os.fstat(folder), "the vault's folder", "chmod 700")
        yield folder
    finally:
        os.close(folder)


def _check_owner(found: os.stat_result, what: str, remedy: str) -> None:
    if found.st_uid != os.geteuid():
        raise UnsafePath(f"{what} belongs to another user")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise UnsafePath(f"{what} is open to other users", f"Make it yours alone: {remedy}.")


def _unsafe(error: OSError, what: str) -> MemvaultError:
    if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.EMLINK}:
        return UnsafePath(f"{what} is a link, or no folder of that kind")
    if error.errno in {errno.EACCES, errno.EPERM}:
        return UnsafePath(f"{what} cannot be opened by this user")
    return MemvaultError(f"{what} cannot be read: {errno.errorcode.get(error.errno or 0, 'unknown error')}")


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _read(folder: int, name: str) -> bytes | None:
    """At most one byte more than a header may have; None when there is no such file. Raises UnsafePath."""
    what = f"the file {name}"
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unsafe(error, what) from None
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise UnsafePath(f"{what} is not a plain file")
        _check_owner(found, what, f"chmod 600 {name}")
        with os.fdopen(file, "rb", closefd=False) as stream:
            return stream.read(codec.MAX_BYTES + 1)
    except OSError as error:
        raise _unsafe(error, what) from None
    finally:
        os.close(file)


def _put(folder: int, name: str, raw: bytes, *, fresh: bool = False) -> None:
    """Write `name` by way of a synced temporary file, then sync the folder. `fresh` refuses to replace."""
    temp = f"{_TEMP_PREFIX}{secrets.token_hex(8)}.new"
    file = os.open(
        temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder
    )
    try:
        with os.fdopen(file, "wb") as stream:
            os.fchmod(file, 0o600)
            stream.write(raw)
            stream.flush()
            os.fsync(file)
        if fresh:
            _place_fresh(folder, temp, name)
        else:
            os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temp, dir_fd=folder)
    os.fsync(folder)


def _place_fresh(folder: int, temp: str, name: str) -> None:
    """A hard link, unlike a rename, fails when the name is taken; some file systems have none."""
    try:
        os.link(temp, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise _occupied() from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)


def _sweep(folder: int) -> None:
    """Remove temporary files that a kill left behind."""
    for name in os.listdir(folder):
        if name.startswith(_TEMP_PREFIX) and name.endswith(".new"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)


@contextlib.contextmanager
def _disk_errors() -> Generator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise DiskFull("the disk is full: the vault's header was not changed") from None
        if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
            raise ReadOnly("the vault's header cannot be written") from None
        raise MemvaultError(
            f"the vault's header was not written: {errno.errorcode.get(error.errno or 0, '?')}"
        ) from None
