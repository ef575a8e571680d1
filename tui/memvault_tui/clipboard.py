"""Copy text out of the interface and say by which way it went.

Owns the choice: the desktop's own tool when the session is local, tmux when inside it, else the
terminal (OSC 52). Text goes through standard input, never through arguments or files.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping

TIMEOUT_S = 2.0

_TOOLS = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-in")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
)


def command_for(environment: Mapping[str, str], platform: str = sys.platform) -> tuple[str, ...] | None:
    """The tool that takes the text on standard input, or None when only the terminal can."""
    remote = bool(environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"))
    if not remote:
        if platform == "darwin" and shutil.which("pbcopy"):
            return ("pbcopy",)
        for variable, command in _TOOLS:
            if environment.get(variable) and shutil.which(command[0]):
                return command
    if environment.get("TMUX") and shutil.which("tmux"):
        return ("tmux", "load-buffer", "-w", "-")
    return None


async def copy(text: str) -> str | None:
    """Copy by a tool and return its name, or None when there is none or it failed."""
    command = command_for(os.environ)
    if command is None:
        return None
    try:
        child = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return None
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await child.communicate(text.encode())
    except TimeoutError:
        child.kill()
        await child.wait()
        return None
    return command[0] if child.returncode == 0 else None
