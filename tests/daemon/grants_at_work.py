"""Agents with every kind of grant at work in one repository, heard as raw lines.

Owns the grants that the matrix is made of, and who asks. Knows nothing of what is expected.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memvault.client import hello_params
from memvault.daemon.limits import Limits

NOWHERE = "01999999-0000-7000-8000-000000000000"
Answer = tuple[str | None, str, Any]

UNLIMITED = Limits(10**4, 10**4, 32, 1e9, 10**9, 1e9, 10**9)
"""The matrix asks faster than any agent may."""

RIGHTS: dict[str, dict[str, Any]] = {
    "default": {},
    "reads": {"verbs": ["read"]},
    "proposes": {"verbs": ["propose"]},
    "writes": {"verbs": ["read", "write"]},
    "quarantined": {},
    "revoked": {},
    "unknown": {},
    "host": {},
    "wide": {"projects": "all", "ceiling": "restricted"},
    "elsewhere": {"projects": ["othermarsh"]},
}
"""Grants by the names of the columns. `unknown` shows a token that fits none, `host` was never let in."""


class Asker:
    """One agent at work in one repository, heard as raw lines, on one connection until `renew`."""

    def __init__(self, home: Any, name: str, token: str) -> None:
        self._home, self._hello = home, {**hello_params("matrix"), "agent": name, "token": token}
        self._wire: Any = None

    def ask(self, method: str, params: dict[str, Any]) -> Answer:
        """(error code, the whole answer as it was read, the result)."""
        if self._wire is None:
            self._wire = self._home.wire()
            self._wire.ask("hello", self._hello, 1)
        answer = self._wire.ask(method, params, 2)
        code = answer["error"]["data"]["code"] if "error" in answer else None
        return code, json.dumps(answer, ensure_ascii=False), answer.get("result")

    def renew(self) -> None:
        self._wire.close()
        self._wire = None


class HostAsker:
    """A process with the mark of a known host, which shows no token."""

    def __init__(self, puppet: Any) -> None:
        self._puppet = puppet

    def renew(self) -> None:
        self._puppet.reconnect()

    def ask(self, method: str, params: dict[str, Any]) -> Answer:
        answer = self._puppet.ask(method, params)
        return answer.get("error"), json.dumps(answer, ensure_ascii=False), answer.get("result")


def enter(daemon: Any, grant: str, puppet: Callable[..., Any], own: Path) -> Any:
    """An agent with the grant of that column."""
    if grant == "host":
        return HostAsker(puppet(daemon.home.root, marks={"GOOSE_TERMINAL": "1"}, cwd=own))
    token = daemon.as_person("agents.add", {"name": grant, **RIGHTS[grant]})["token"]
    if grant == "quarantined":
        daemon.as_person("agents.quarantine", {"name": grant})
    if grant == "revoked":
        daemon.as_person("agents.revoke", {"name": grant})
    return Asker(daemon.home, grant, "x" * 43 if grant == "unknown" else token)


def fact(content: str, **more: Any) -> dict[str, Any]:
    source = {"type": "user", "ref": more.pop("ref", "matrix")}
    return {"content": content, "kind": "fact", "scope": "private", "source": source, **more}
