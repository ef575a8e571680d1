"""Read the lock files under requirements/.

Owns: their grammar (one requirement, then its hashes, joined by backslashes). Must not know: pip.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)\s*(?:;\s*(?P<marker>[^\\]*))?")
_HASH = re.compile(r"--hash=(sha256:[0-9a-f]{64})(?=\s|$)")


class LockError(Exception):
    """A lock file has a line that pins nothing, or a pin without hashes."""


@dataclass(frozen=True)
class Pin:
    """One locked requirement and the hashes of every file that may satisfy it."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]

    def render(self) -> str:
        """Write the pin as pip reads it."""
        head = f"{self.name}=={self.version}" + (f" ; {self.marker}" if self.marker else "")
        return " \\\n".join([head, *(f"    --hash={digest}" for digest in self.hashes)]) + "\n"


def parse(text: str) -> list[Pin]:
    """Read every pin of a lock. Raises LockError on anything else that is no comment."""
    joined = re.sub(r"\\\n\s*", " ", text)
    pins: list[Pin] = []
    for line in joined.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        head = line.split(" --hash=")[0]
        match = _PIN.match(head)
        hashes = tuple(_HASH.findall(line))
        if match is None or not hashes:
            raise LockError(f"not a pinned and hashed requirement: {line[:80]}")
        marker = (match["marker"] or "").strip()
        pins.append(Pin(match["name"].lower(), match["version"], marker, hashes))
    return pins


def read(path: Path) -> list[Pin]:
    """Read the lock file at `path`."""
    return parse(path.read_text(encoding="utf-8"))


def find(pins: list[Pin], name: str) -> Pin:
    """The one pin of `name`. Raises LockError when there is none, or more than one."""
    found = [pin for pin in pins if pin.name == name]
    if len(found) != 1:
        raise LockError(f"{name} is pinned {len(found)} times, expected once")
    return found[0]
