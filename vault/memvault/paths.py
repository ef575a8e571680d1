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
    found = _base("XDG_DATA_HOME", ".local/share", "Library/Application Support") / "memvault"
    return Path(os.path.realpath(found))


def cache_dir() -> Path:
    """The folder for model files: `MEMVAULT_CACHE_HOME`, else the platform's cache folder; absolute."""
    chosen = os.environ.get("MEMVAULT_CACHE_HOME", "")
    if chosen:
        return Path(os.path.abspath(os.path.expanduser(chosen)))
    return _base("XDG_CACHE_HOME", ".cache", "Library/Caches") / "memvault"


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
        return self.root / "daemon.log"

    @property
    def backups(self) -> Path:
        return self.root / "backups"

    @property
    def run(self) -> Path:
        return self.root / "run"

    @property
    def socket(self) -> Path:
        return self.run / "daemon.sock"

    @property
    def owner_lock(self) -> Path:
        return self.run / "daemon.lock"

    @property
    def start_lock(self) -> Path:
        return self.run / "start.lock"
