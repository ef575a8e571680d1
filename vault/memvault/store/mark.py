"""The high-water mark: how far the event log had grown, kept outside the database and its log.

A damaged or truncated write-ahead log loses commits without an error (SECURITY, trap 6); the mark shows it.
Two fixed slots are written in turn after every commit, so one is always whole. Knows nothing of SQL.
"""

from __future__ import annotations

import hmac
import os
import struct
from pathlib import Path

from memvault.errors import UnsafePath
from memvault.store.events import GENESIS, Head

_BODY = struct.Struct(">8sQ32s")
_MAGIC = b"mvmark01"
_SLOT_BYTES = 512
_MAC_BYTES = 32


class Mark:
    """The mark file of one vault; `key` is derived from the vault key (32 bytes)."""

    def __init__(self, path: Path, key: bytes, *, writable: bool = True) -> None:
        """Open or create the file, 0600; without `writable` a missing one promises nothing.

        Raises UnsafePath for a link.
        """
        flags = os.O_NOFOLLOW | os.O_CLOEXEC | (os.O_RDWR | os.O_CREAT if writable else os.O_RDONLY)
        try:
            self._file = os.open(path if writable or os.path.lexists(path) else os.devnull, flags, 0o600)
        except OSError as error:
            raise UnsafePath("the high-water mark cannot be opened safely") from error
        self._key = key
        self._turn = 0
        self.held = not writable
        """While set, nothing is noted: the mark says more than the database, and a person has yet to look."""

    def read(self) -> Head:
        """The higher of the slots that are whole; seq 0 when there is none."""
        best = Head(0, GENESIS)
        for turn in (0, 1):
            slot = os.pread(self._file, _SLOT_BYTES, turn * _SLOT_BYTES)
            body, mac = slot[: _BODY.size], slot[_BODY.size : _BODY.size + _MAC_BYTES]
            if len(mac) < _MAC_BYTES or not hmac.compare_digest(mac, hmac.digest(self._key, body, "sha256")):
                continue
            magic, seq, digest = _BODY.unpack(body)
            if magic == _MAGIC and seq >= best.seq:
                best = Head(seq, digest)
                self._turn = 1 - turn
        return best

    def write(self, head: Head) -> None:
        """Note `head` after its commit. Not synced: the commit was, and a mark that lags is harmless."""
        if self.held:
            return
        body = _BODY.pack(_MAGIC, head.seq, head.hash)
        os.pwrite(self._file, body + hmac.digest(self._key, body, "sha256"), self._turn * _SLOT_BYTES)
        self._turn = 1 - self._turn

    def settle(self, head: Head) -> None:
        """Make `head` the mark, also when it is lower: a person has accepted what is missing. Synced."""
        self.held = False
        for _ in range(2):
            self.write(head)
        os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)
