"""Connecting a host changes what is ours and nothing else, can be taken back, and is backed up."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memvault.cli.connecting import NAMES
from memvault.connect import plan, probe
from memvault.connect.hosts import HOSTS, Launch
from memvault.daemon.process import AGENT_HOSTS
from memvault.errors import Illegal, UnsafePath, Usage

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
OLD = Launch(
    ["/old/python", "/old/mcp_pipe.py", "--agent", "a"],
    lambda e: ["/old/memvault/hook.py", e, "--agent", "a"],
)
NEW = Launch(
    ["/new/python", "/new/mcp_pipe.py", "--agent", "a"],
    lambda e: ["/new/memvault/hook.py", e, "--agent", "a"],
)
TOML = '# mine\nmodel = "x" # why\n\n[mcp_servers.other]\ncommand = "y"\n'


def put_in(host: str, launch: Launch, *, remove: bool = False) -> list[plan.FileChange]:
    changes = plan.planned(HOSTS[host].entries(launch), remove=remove)
    for change in changes:
        if change.changes:
            plan.write(change, NOW)
    return changes


def test_the_commands_names_are_the_hosts() -> None:
    assert tuple(HOSTS) == NAMES
    assert {host.grant for host in HOSTS.values()} - {None} <= set(AGENT_HOSTS.values())


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_is_connected_once_updated_in_place_and_left_as_it_was(host: str) -> None:
    assert not plan.mentioned(HOSTS[host].entries(NEW))
    put_in(host, OLD)
    assert plan.present(HOSTS[host].entries(OLD))
    assert not plan.present(HOSTS[host].entries(NEW)), "an old installation is told apart"
    put_in(host, NEW)
    assert plan.present(HOSTS[host].entries(NEW))
    texts = [change.path.read_text() for change in plan.planned(HOSTS[host].entries(NEW), remove=False)]
    assert all("/old/" not in text for text in texts), "updating leaves no second entry"
    assert not any(change.changes for change in put_in(host, NEW))
    put_in(host, NEW, remove=True)
    assert not plan.mentioned(HOSTS[host].entries(NEW))
    left = [change.after or "" for change in plan.planned(HOSTS[host].entries(NEW), remove=True)]
    assert not any("memvault" in text for text in left)


@pytest.mark.parametrize("host", HOSTS)
def test_no_configuration_holds_more_than_the_agents_name(host: str) -> None:
    put_in(host, NEW)
    for change in plan.planned(HOSTS[host].entries(NEW), remove=False):
        text = change.path.read_text().lower()
        assert "token" not in text
        assert "key" not in text.replace("hotkey", "")


def test_comments_and_order_of_a_toml_file_stay() -> None:
    path = Path.home() / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(TOML)
    put_in("codex", NEW)
    text = path.read_text()
    assert text.startswith(TOML)
    assert tomllib.loads(text)["mcp_servers"]["memvault"]["args"][-1] == "a"
    put_in("codex", NEW, remove=True)
    assert path.read_text() == TOML


def test_other_peoples_hooks_and_servers_stay() -> None:
    path = Path.home() / ".claude" / "settings.json"
    path.parent.mkdir()
    before: dict[str, Any] = {
        "hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "say done"}]}]},
        "model": "opus",
    }
    path.write_text(json.dumps(before, indent=4))
    put_in("claude-code", NEW)
    hooks = json.loads(path.read_text())["hooks"]
    assert [len(items) for items in hooks.values()] == [2, 1, 1, 1, 1]
    put_in("claude-code", NEW, remove=True)
    assert path.read_text() == json.dumps(before, indent=4)


def test_what_was_there_is_kept_beside_it_with_its_permissions() -> None:
    path = Path.home() / ".claude.json"
    path.write_text('{"secret": 1}')
    path.chmod(0o600)
    put_in("claude-code", NEW)
    (kept,) = path.parent.glob(".claude.json.before-memvault-*")
    assert kept.read_text() == '{"secret": 1}'
    assert {stat.S_IMODE(one.stat().st_mode) for one in (path, kept)} == {0o600}


def test_a_file_that_changed_since_it_was_shown_is_not_written() -> None:
    path = Path.home() / ".claude.json"
    path.write_text("{}")
    changes = plan.planned(HOSTS["claude-code"].entries(NEW), remove=False)
    path.write_text('{"newer": true}')
    with pytest.raises(Illegal, match="changed meanwhile"):
        plan.write(changes[0], NOW)
    assert path.read_text() == '{"newer": true}'


def test_a_linked_configuration_is_changed_where_it_lies() -> None:
    real = Path.home() / "dotfiles.json"
    real.write_text("{}")
    (Path.home() / ".claude.json").symlink_to(real)
    put_in("claude-code", NEW)
    assert (Path.home() / ".claude.json").is_symlink()
    assert "memvault" in real.read_text()


def test_what_cannot_be_read_is_named_and_left_alone() -> None:
    path = Path.home() / ".claude.json"
    path.write_text('{"a": 1,, }')
    with pytest.raises(Usage, match=r"\.claude\.json: it is not valid JSON at line 1"):
        put_in("claude-code", NEW)
    assert path.read_text() == '{"a": 1,, }'
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(UnsafePath):
        put_in("claude-code", NEW)


def test_the_check_says_what_is_wrong_with_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Path.cwd()
    assert "cannot be started" in probe.start_and_greet(["/nowhere/python"], here).reason
    assert "ended" in probe.start_and_greet(["/bin/true"], here).reason
    assert "something else" in probe.start_and_greet(["/bin/echo", "hello"], here).reason
    monkeypatch.setattr(probe, "PATIENCE_S", 0.3)
    assert "silent" in probe.start_and_greet(["/bin/sleep", "60"], here).reason
