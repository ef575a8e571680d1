"""What a working directory is: the repository it belongs to, read from its files without running git.

Owns reading `.git` folders, worktree files and the address of the remote. All of it is untrusted input. Knows
nothing of projects' names.
"""

from __future__ import annotations

import configparser
import re
from pathlib import Path

from memvault.services.places import Workplace

MOST_BYTES = 65_536
"""Of a `.git` file or a configuration; what is longer is not read."""

MOST_PARENTS = 64

_USER = re.compile(r"^[^/@]*@")
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def look(cwd: str | None) -> Workplace | None:
    """The repository that `cwd` lies in; None when it lies in none, or in one that cannot be read."""
    if cwd is None:
        return None
    here = Path(cwd)
    for folder in (here, *here.parents)[:MOST_PARENTS]:
        entry = folder / ".git"
        try:
            store = _shared(folder, entry)
            if store is None:
                continue
            found = store.stat()
        except (OSError, ValueError):
            continue
        root = store.parent if store.name == ".git" else folder
        return Workplace(str(root), str(store), found.st_dev, found.st_ino, _origin(store))
    return None


def _shared(folder: Path, entry: Path) -> Path | None:
    """The git directory behind `entry`; for a worktree the one it shares with the others."""
    if entry.is_dir():
        return entry.resolve() if (entry / "HEAD").exists() else None
    if not entry.is_file():
        return None
    said = _text(entry)
    if not said.startswith("gitdir:"):
        return None
    own = (folder / said.removeprefix("gitdir:").strip()).resolve()
    pointer = own / "commondir"
    if pointer.is_file():
        return _if_linked(own, entry, (own / _text(pointer).strip()).resolve())
    return own if (own / "HEAD").is_file() else None


def _if_linked(own: Path, entry: Path, shared: Path) -> Path | None:
    """`shared`, when the repository itself knows this worktree: a file alone could name any repository."""
    back = own / "gitdir"
    known = own.parent == shared / "worktrees" and back.is_file()
    if not known or Path(_text(back).strip()).resolve() != entry.resolve():
        return None
    return shared if (shared / "HEAD").is_file() else None


def _text(path: Path) -> str:
    with path.open("rb") as opened:
        return opened.read(MOST_BYTES).decode("utf-8", "replace")


def _origin(store: Path) -> str | None:
    """The remote's address as host and path, so that two ways to reach one remote are the same."""
    try:
        text = _text(store / "config")
    except OSError:
        return None
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string("\n".join(line.strip() for line in text.splitlines()))
    except configparser.Error:
        return None
    url = parser.get('remote "origin"', "url", fallback=None)
    return None if not url else plain_address(url)


def plain_address(url: str) -> str:
    """`git@host:a/b.git`, `ssh://git@host/a/b` and `https://host/a/b.git` are all `host/a/b`."""
    rest = _SCHEME.sub("", url.strip().strip('"'))
    if rest == url.strip() and re.match(r"^[^/]+:", rest):
        rest = rest.replace(":", "/", 1)
    return _USER.sub("", rest).removesuffix("/").removesuffix(".git").casefold()
