"""The settings file `config.toml`: read, checked, never written. Pure but for the one read.

Unknown keys are refused, naming the file and the key: a misspelt setting must not pass for a set one.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from memvault.errors import ConfigInvalid

MAX_BYTES = 65_536


class LockSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`idle_minutes` and `absolute_hours` until the vault locks itself; 0 turns either off."""

    idle_minutes: int = 30
    absolute_hours: int = 24


class ModelSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`id` of the embedding model for a vault that has not chosen one."""

    id: str | None = None


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    lock: LockSettings = LockSettings()
    model: ModelSettings = ModelSettings()


@dataclass(frozen=True, slots=True)
class Config:
    """What the daemon runs by. Seconds; 0 means never."""

    idle_lock_s: float
    absolute_lock_s: float
    model_id: str | None


def load(path: Path) -> Config:
    """Settings of `path`, defaults where it says nothing. Raises ConfigInvalid."""
    try:
        raw = path.read_bytes()[: MAX_BYTES + 1]
    except FileNotFoundError:
        raw = b""
    if len(raw) > MAX_BYTES:
        raise ConfigInvalid(f"{path.name} is larger than {MAX_BYTES:,} bytes")
    try:
        found = msgspec.convert(tomllib.loads(raw.decode("utf-8")), _File)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ConfigInvalid(
            f"{path.name}: {error}", f"Mend or remove {path.name} in the vault's home."
        ) from error
    if found.lock.idle_minutes < 0 or found.lock.absolute_hours < 0:
        raise ConfigInvalid(f"{path.name}: lock times are not negative")
    return Config(found.lock.idle_minutes * 60.0, found.lock.absolute_hours * 3600.0, found.model.id)
