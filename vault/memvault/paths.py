"""Where memvault keeps its files. Pure: computes paths, creates nothing.

`MEMVAULT_HOME` (or --home) moves everything but model files, which live in the cache folder
(`MEMVAULT_CACHE_HOME`) because their vocabulary is plain text.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path


def _base(variable: str, unix: str, mac: str) -> Path:
    if sys.platform == "darwin":
        return Path.home() / mac
    configured = os.environ.get(variable, "")
    return Path(configured) if os.path.isabs(configured) else Path.home() / unix


def home_dir(override: str | os.PathLike[str] | None = None) -> Path:
    """The vault's home: `override`, else `MEMVAULT_HOME`, else the platform's data folder.

    Absolute and without links: a home may be reached through one, what lies in it may not.
    """
    chosen = os.fspath(override) if override else os.environ.get("MEMVAULT_HOME", "")
    if chosen:
        return Path(os.path.realpath(os.path.expanduser(chosen)))
    return default_home()


def default_home() -> Path:
    """The home of whoever sets none."""
    found = _base("XDG_DATA_HOME", ".local/share", "Library/Application Support") / "memvault"
    return Path(os.path.realpath(found))


def cache_dir() -> Path:
    """The folder for model files: `MEMVAULT_CACHE_HOME`, else the platform's cache folder; absolute."""
    chosen = os.environ.get("MEMVAULT_CACHE_HOME", "")
    if chosen:
        return Path(os.path.abspath(os.path.expanduser(chosen)))
    return _base("XDG_CACHE_HOME", ".cache", "Library/Caches") / "memvault"


def _runtime_dir() -> Path:
    """The session's runtime folder when it is this user's alone, else the folder everybody shares."""
    chosen = os.environ.get("XDG_RUNTIME_DIR", "")
    try:
        found = os.stat(chosen) if os.path.isabs(chosen) else None
    except OSError:
        found = None
    if found is not None and found.st_uid == os.getuid() and not found.st_mode & 0o077:
        return Path(chosen)
    return Path("/tmp")  # noqa: S108 - a folder of our own is made there, 0700, or refused


@dataclass(frozen=True, slots=True)
class HomeLayout:
    """Every file below one home."""

    root: Path

    @property
    def header(self) -> Path:
        return self.root / "vault.json"

    @property
    def database(self) -> Path:
        return self.root / "vault.db"

    @property
    def mark(self) -> Path:
        return self.root / "mark"

    @property
    def reserve(self) -> Path:
        return self.root / "reserve"

    @property
    def config(self) -> Path:
        return self.root / "config.toml"

    @property
    def log(self) -> Path:
        return (self.root if os.access(self.root, os.W_OK) else self.run) / "daemon.log"

    @property
    def backups(self) -> Path:
        return self.root / "backups"

    @property
    def tokens(self) -> Path:
        return self.root / "agents"

    @property
    def run(self) -> Path:
        """The folder of socket and locks: below home; for a home that cannot be written, outside of it."""
        below = self.root / "run"
        if os.access(below, os.W_OK) or os.access(self.root, os.W_OK) or not os.path.isdir(self.root):
            return below
        return self.outside

    @property
    def outside(self) -> Path:
        """A folder of this user's for this home, in the runtime folder, else in the shared temporary one."""
        from hashlib import sha256

        name = f"memvault-{os.getuid()}-{sha256(os.fsencode(self.root)).hexdigest()[:16]}"
        return _runtime_dir() / name

    @property
    def socket(self) -> Path:
        return self.run / "daemon.sock"

    @property
    def owner_lock(self) -> Path:
        return self.run / "daemon.lock"

    @property
    def start_lock(self) -> Path:
        return self.run / "start.lock"
