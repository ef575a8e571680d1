"""Agent hosts: which files they are configured by, and what memvault writes into each.

Owns the facts about hosts. Pure but for looking where a home folder lies. Knows nothing of grants.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "memvault"
"""What the server is called in every host."""

HOOK_TIMEOUT_S = 5
"""A host stops the hook after this; it gives up by itself long before."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that goes into one file.

    `place`: keys from the top. `listed`: the place is a list, `value` one item of it. `format`: json, toml.
    """

    file: Path
    place: tuple[str, ...]
    value: Any
    listed: bool = False
    format: str = "json"


@dataclass(frozen=True, slots=True)
class Launch:
    """How a host starts our two programs: the server's command, and the hook's for an event."""

    server: Sequence[str]
    hook: Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Host:
    """A known host. `grant`: the name that its processes are recognised by, None where they are not.

    `programs` and `traces`: it is installed when one is on the PATH or lies below the home.
    """

    name: str
    title: str
    grant: str | None
    programs: tuple[str, ...]
    traces: Callable[[], tuple[Path, ...]]
    entries: Callable[[Launch], list[Entry]]
    advice: str = ""

    @property
    def installed(self) -> bool:
        return any(shutil.which(one) for one in self.programs) or any(path.exists() for path in self.traces())


def _home() -> Path:
    return Path.home()


def _configured(variable: str, default: Path) -> Path:
    said = Path(os.environ.get(variable, ""))
    return said if said.is_absolute() else default


def _settings(application: str) -> Path:
    """Where desktop programs keep their settings on this system."""
    if sys.platform == "darwin":
        return _home() / "Library" / "Application Support" / application
    return _configured("XDG_CONFIG_HOME", _home() / ".config") / application


def _stdio(command: Sequence[str], **more: Any) -> dict[str, Any]:
    return {**more, "command": command[0], "args": list(command[1:])}


def _claude_folder() -> Path:
    return _configured("CLAUDE_CONFIG_DIR", _home() / ".claude")


def _claude_servers() -> Path:
    return _configured("CLAUDE_CONFIG_DIR", _home()) / ".claude.json"


def _shell_hook(launch: Launch, event: str) -> dict[str, Any]:
    command = shlex.join(launch.hook(event))
    return {"hooks": [{"type": "command", "command": command, "timeout": HOOK_TIMEOUT_S}]}


def _claude_code(launch: Launch) -> list[Entry]:
    settings = _claude_folder() / "settings.json"
    events = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")
    server = Entry(_claude_servers(), ("mcpServers", NAME), _stdio(launch.server, type="stdio"))
    return [
        server,
        *(Entry(settings, ("hooks", event), _shell_hook(launch, event), listed=True) for event in events),
    ]


def _claude_desktop(launch: Launch) -> list[Entry]:
    file = _settings("Claude") / "claude_desktop_config.json"
    return [Entry(file, ("mcpServers", NAME), _stdio(launch.server))]


def _codex_folder() -> Path:
    return _configured("CODEX_HOME", _home() / ".codex")


def _codex(launch: Launch) -> list[Entry]:
    folder = _codex_folder()
    events = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop")
    server = Entry(folder / "config.toml", ("mcp_servers", NAME), _stdio(launch.server), format="toml")
    hooks = folder / "hooks.json"
    return [
        server,
        *(Entry(hooks, ("hooks", event), _shell_hook(launch, event), listed=True) for event in events),
    ]


def _cursor(launch: Launch) -> list[Entry]:
    folder = _home() / ".cursor"
    hooks = folder / "hooks.json"
    start = {"command": shlex.join(launch.hook("sessionStart"))}
    return [
        Entry(folder / "mcp.json", ("mcpServers", NAME), _stdio(launch.server)),
        Entry(hooks, ("version",), 1),
        Entry(hooks, ("hooks", "sessionStart"), start, listed=True),
    ]


def _gemini(launch: Launch) -> list[Entry]:
    file = _home() / ".gemini" / "settings.json"
    entries = [Entry(file, ("mcpServers", NAME), _stdio(launch.server))]
    for event in ("SessionStart", "BeforeAgent", "PreCompress", "SessionEnd"):
        command = shlex.join(launch.hook(event))
        value = {"hooks": [{"type": "command", "command": command, "timeout": HOOK_TIMEOUT_S * 1_000}]}
        entries.append(Entry(file, ("hooks", event), value, listed=True))
    return entries


def _opencode_file() -> Path:
    folder = _configured("XDG_CONFIG_HOME", _home() / ".config") / "opencode"
    commented = folder / "opencode.jsonc"
    return commented if commented.exists() else folder / "opencode.json"


def _opencode(launch: Launch) -> list[Entry]:
    value = {"type": "local", "command": list(launch.server), "enabled": True}
    return [Entry(_opencode_file(), ("mcp", NAME), value)]


def _vscode(launch: Launch) -> list[Entry]:
    file = _settings("Code") / "User" / "mcp.json"
    return [Entry(file, ("servers", NAME), _stdio(launch.server, type="stdio"))]


HOSTS: dict[str, Host] = {
    host.name: host
    for host in (
        Host(
            "claude-code", "Claude Code", "claude-code", ("claude",),
            lambda: (_claude_folder(), _claude_servers()), _claude_code,
        ),
        Host(
            "claude-desktop", "Claude Desktop", None, (), lambda: (_settings("Claude"),), _claude_desktop,
            "Restart Claude Desktop.",
        ),
        Host(
            "codex", "Codex", "codex", ("codex",), lambda: (_codex_folder(),), _codex,
            "Codex asks once whether its new hooks are to be trusted.",
        ),
        Host(
            "cursor", "Cursor", "cursor", ("cursor", "cursor-agent"), lambda: (_home() / ".cursor",), _cursor,
        ),
        Host("gemini", "Gemini CLI", "gemini", ("gemini",), lambda: (_home() / ".gemini",), _gemini),
        Host(
            "opencode", "OpenCode", "opencode", ("opencode",), lambda: (_opencode_file().parent,), _opencode,
        ),
        Host("vscode", "VS Code", None, ("code",), lambda: (_settings("Code"),), _vscode),
    )
}  # fmt: skip
