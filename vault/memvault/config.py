"""The settings file `config.toml`: read, checked, and theta written when a person says so.

Unknown keys are refused, naming the file and the key: a misspelt setting must not pass for a set one.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from memvault.errors import ConfigInvalid

MAX_BYTES = 65_536

HookRecall = Literal["auto", "always", "start", "off"]
"""What memvault gives to a session that did not ask."""

_MEND = "Mend or remove {} in the vault's home."
_GATE = re.compile(r"\s*\[\s*gate\s*\]\s*(?:#.*)?$")
_TABLE = re.compile(r"\s*\[")
_THETA = re.compile(r"(\s*theta\s*=\s*)[^#\s]+(\s*(?:#.*)?\n?)$")


class LockSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`idle_minutes` and `absolute_hours` until the vault locks itself; 0 turns either off."""

    idle_minutes: int = 30
    absolute_hours: int = 24


class ModelSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`id` of the embedding model for a vault that has not chosen one."""

    id: str | None = None


class GateSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`theta` (above 0, at most 1): what a claim must score to be written. `chat_model`: a GGUF file whose
    opinion the gate asks, as a path, relative to the settings file's folder; none by default."""

    theta: float | None = None
    chat_model: str | None = None


class RecallSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`reranker`: a model that reads the best answers once more and has a say in their order: an id of
    `memvault models list`, or a GGUF file's path, relative to the settings file's folder; none by default.
    It reads `reranker_hits` answers (2 to 100) and gets `reranker_ms` milliseconds for them (10 to 60,000).
    """

    reranker: str | None = None
    reranker_hits: int = 20
    reranker_ms: int = 150


class WatchSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`enabled`: observe the files that memories cite, and flag memories whose file changed."""

    enabled: bool = True


class McpSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`preload_seconds`: how long after its start the daemon loads what agents' MCP needs, when any agent
    was let in; 0: only when one connects."""

    preload_seconds: int = 3


class HookSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`recall`: what a session is given without asking. "off": nothing; "start": its context when it starts;
    "auto": that, and memories for a prompt that seems to need them; "always": for every prompt that any
    memory fits. `propose`: propose what the user says through an agent's hooks."""

    recall: HookRecall = "auto"
    propose: bool = True


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    lock: LockSettings = LockSettings()
    model: ModelSettings = ModelSettings()
    gate: GateSettings = GateSettings()
    recall: RecallSettings = RecallSettings()
    watch: WatchSettings = WatchSettings()
    hooks: HookSettings = HookSettings()
    mcp: McpSettings = McpSettings()


@dataclass(frozen=True, slots=True)
class Config:
    """What the daemon runs by. Seconds; 0 means never. None: the part's own default."""

    idle_lock_s: float
    absolute_lock_s: float
    model_id: str | None
    theta: float | None = None
    chat_model: Path | None = None
    reranker: str | None = None
    reranker_hits: int = 20
    reranker_within_s: float = 0.15
    watch_files: bool = True
    hook_recall: HookRecall = "auto"
    hook_proposals: bool = True
    mcp_preload_s: float = 3.0


def load(path: Path) -> Config:
    """Settings of `path`, defaults where it says nothing. Raises ConfigInvalid."""
    return _checked(_read(path), path)


def write_theta(path: Path, theta: float) -> None:
    """Set `gate.theta` in the file, atomically; every other line and comment stays as it is.

    Raises ConfigInvalid when the file is not valid, or sets theta in a way that only a person can change;
    OSError when it cannot be written.
    """
    before = _read(path)
    _checked(before, path)
    after, wanted = _with_theta(before, theta), _parsed(before, path)
    wanted["gate"] = {**wanted.get("gate", {}), "theta": theta}
    try:
        kept = tomllib.loads(after) == wanted
    except tomllib.TOMLDecodeError:
        kept = False
    if not kept:
        raise ConfigInvalid(
            f"{path.name} is written in a way that cannot be changed safely",
            f"Write `theta = {theta}` below `[gate]` in {path.name} yourself.",
        )
    _replace(Path(os.path.realpath(path)), after.encode("utf-8"))


def _read(path: Path) -> str:
    try:
        raw = path.read_bytes()[: MAX_BYTES + 1]
    except FileNotFoundError:
        return ""
    if len(raw) > MAX_BYTES:
        raise ConfigInvalid(f"{path.name} is larger than {MAX_BYTES:,} bytes")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigInvalid(f"{path.name} is not UTF-8 text") from error


def _parsed(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigInvalid(f"{path.name}: {error}", _MEND.format(path.name)) from error


def _checked(text: str, path: Path) -> Config:
    try:
        found = msgspec.convert(_parsed(text, path), _File)
    except msgspec.ValidationError as error:
        raise ConfigInvalid(f"{path.name}: {error}", _MEND.format(path.name)) from error
    if found.lock.idle_minutes < 0 or found.lock.absolute_hours < 0:
        raise ConfigInvalid(f"{path.name}: lock times are not negative")
    if found.mcp.preload_seconds < 0:
        raise ConfigInvalid(f"{path.name}: mcp.preload_seconds is not negative")
    if found.gate.theta is not None and not 0 < found.gate.theta <= 1:
        raise ConfigInvalid(f"{path.name}: gate.theta is above 0 and at most 1")
    if not 2 <= found.recall.reranker_hits <= 100:
        raise ConfigInvalid(f"{path.name}: recall.reranker_hits is between 2 and 100")
    if not 10 <= found.recall.reranker_ms <= 60_000:
        raise ConfigInvalid(f"{path.name}: recall.reranker_ms is between 10 and 60000")
    chat = found.gate.chat_model
    return Config(
        idle_lock_s=found.lock.idle_minutes * 60.0,
        absolute_lock_s=found.lock.absolute_hours * 3600.0,
        model_id=found.model.id,
        theta=found.gate.theta,
        chat_model=path.parent / Path(chat).expanduser() if chat else None,
        reranker=found.recall.reranker or None,
        reranker_hits=found.recall.reranker_hits,
        reranker_within_s=found.recall.reranker_ms / 1000.0,
        watch_files=found.watch.enabled,
        hook_recall=found.hooks.recall,
        hook_proposals=found.hooks.propose,
        mcp_preload_s=float(found.mcp.preload_seconds),
    )


def _with_theta(text: str, theta: float) -> str:
    """`text` with theta set below [gate], as lines; the caller checks that it still means the same."""
    lines = text.splitlines(keepends=True)
    start = next((at for at, line in enumerate(lines) if _GATE.match(line)), None)
    if start is None:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}[gate]\ntheta = {theta}\n"
    for at in range(start + 1, len(lines)):
        if _TABLE.match(lines[at]):
            break
        if found := _THETA.match(lines[at]):
            lines[at] = f"{found[1]}{theta}{found[2]}"
            return "".join(lines)
    end = "" if lines[start].endswith("\n") else "\n"
    lines[start] += f"{end}theta = {theta}\n"
    return "".join(lines)


def _replace(path: Path, data: bytes) -> None:
    """Put `data` in the place of the file at once: whoever reads sees the old or the new one, whole."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    fresh = Path(name)
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(opened.fileno())
        if path.exists():
            fresh.chmod(stat.S_IMODE(path.stat().st_mode))
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
