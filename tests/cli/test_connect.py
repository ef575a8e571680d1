"""`memvault connect`: the diff first, the grant, the real server started as the host will start it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def test_a_host_is_connected_checked_listed_and_taken_out(fresh: Any) -> None:
    settings = {"HOME": str(fresh.root)}
    asked = fresh.run("connect", "opencode", env=settings)
    assert asked.status == 2
    assert "--yes" in asked.err
    printed = fresh.run("connect", "opencode", "--print", env=settings)
    assert "+    " in printed.out
    assert not (fresh.root / ".config").exists()
    done = fresh.json("connect", "opencode", "--yes", env=settings)
    assert done["check"]["ok"] is True
    assert done["granted"] is True
    file = fresh.root / ".config" / "opencode" / "opencode.json"
    command = json.loads(file.read_text())["mcp"]["memvault"]["command"]
    assert command[-4:] == ["--agent", "opencode", "--home", str(fresh.path)]
    assert (fresh.path / "agents" / "opencode.token").exists()
    again = fresh.json("connect", "opencode", "--yes", env=settings)
    assert (again["granted"], again["files"]) == (False, [])
    row = next(i for i in fresh.json("connect", "--list", env=settings)["items"] if i["host"] == "opencode")
    assert row == {"host": "opencode", "installed": True, "connected": "connected", "grant": "active"}
    gone = fresh.json("connect", "opencode", "--remove", "--yes", env=settings)
    assert gone["revoked"] is True
    assert json.loads(file.read_text()) == {}
    assert not (fresh.path / "agents" / "opencode.token").exists()


def test_an_agent_cannot_connect_itself(fresh: Any) -> None:
    below = {"HOME": str(fresh.root), "CLAUDECODE": "1", "MEMVAULT_PASSPHRASE_FILE": ""}
    done = fresh.run("connect", "opencode", "--yes", env=below)
    assert done.status == 4
    assert not Path(fresh.root / ".config").exists()
