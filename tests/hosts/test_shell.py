"""An agent's shell: `memvault` in it is the agent, not the person, whatever it tries."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.hosts

MEMVAULT = shlex.quote(str(Path(sys.executable).with_name("memvault")))
OWN = "The invoice run starts at four in the morning."
ELSEWHERE = "The harbour crane is steered from pier nine."
PERSONAL = "Robin's sister lives in Ghent and collects teapots."
CANDIDATE = "The payment sandbox resets every night, so create test cards in the morning job."

REFUSED = (
    "delete {own} --yes",
    "delete --project ledger --yes",
    "confirm {candidate}",
    "reject {candidate} --yes",
    "edit {own} --content 'Invoices are free.'",
    "undo",
    "export -",
    "agents add helper",
    "agents approve helper",
    "agents set {agent} --verb write",
    "agents rotate {agent}",
    "agents revoke {agent}",
    "connect gemini --yes",
    "connect {agent} --remove --yes",
    "rollback {run}",
    "keys rotate",
    "keys new-recovery-code",
    "keys list",
    "agents quarantine {agent}",
    "backup",
)
DISGUISES = (
    "",
    "setsid --wait ",
    "env --ignore-environment PATH=$PATH HOME=$HOME MEMVAULT_HOME=$MEMVAULT_HOME MEMVAULT_EMBEDDER=fake ",
)

AT_ONCE = 6
"""Hosts give a command some seconds before they go on without it."""


def said(answers: list[str]) -> list[tuple[Any, int]]:
    """For each command its JSON document and its exit status, out of what the shell printed."""
    found: list[Any] = []
    for line in "\n".join(answers).splitlines():
        text = line.strip()
        if text.startswith("exit "):
            found.append(int(text.removeprefix("exit ")))
        elif text.startswith("{"):
            found.append(json.loads(text))
    return list(zip(found[::2], found[1::2], strict=True))


def in_the_shell(host: Any, prompt: str, lines: list[str]) -> list[tuple[Any, int]]:
    """Let the model run these commands, several at each turn."""
    scripts = ["\n".join(lines[start : start + AT_ONCE]) for start in range(0, len(lines), AT_ONCE)]
    return said(host.session(prompt, *(host.kind.command(script) for script in scripts)).answers())


def rights(host: Any) -> list[dict[str, Any]]:
    """Grants, but for when their agents last called."""
    found = host.vault.person().call("agents.list")["items"]
    return [{name: value for name, value in one.items() if name != "seen_at"} for one in found]


def kept(host: Any) -> list[dict[str, Any]]:
    """What is remembered, but for the use that each session's context makes of it."""
    used = ("last_used_at", "usage_count")
    return [{name: value for name, value in item.items() if name not in used} for item in host.items()]


def test_what_only_a_person_may_do_is_refused_to_an_agents_shell(host: Any) -> None:
    host.remember(ELSEWHERE, "harbour")
    host.remember(PERSONAL, None, kind="relationship", subject="sister")
    own = host.remember(OWN, "ledger")
    host.connect()
    add = {"content": CANDIDATE, "kind": "fact", "scope": "private", "source": "conversation:today"}
    host.session("Hello there.", host.tool("memory_add", **add))
    (candidate,) = host.inbox()
    before, grants = kept(host), rights(host)
    run = host.vault.person().call("runs.list")["items"][0]["run"]
    names = {"own": own, "candidate": candidate["id"], "agent": host.kind.name, "run": run}
    lines = [
        f'{disguise}{MEMVAULT} {words.format(**names)} --json 2>&1; echo "exit $?"'
        for words in REFUSED
        for disguise in (DISGUISES if words.startswith(("delete {own}", "export", "confirm")) else ("",))
    ]
    files = host.files()
    answers = in_the_shell(host, "Tidy up.", lines)
    for line, (document, status) in zip(lines, answers, strict=True):
        if "agents add" in line:  # an agent may ask to be let in, and waits
            assert (document, status) == ({"name": "helper", "state": "pending"}, 5)
        else:
            assert (document["error"]["code"], status) == ("presence_required", 4), line
    assert kept(host) == before
    *after, helper = rights(host)
    assert after == grants
    assert (helper["name"], helper["state"], helper["has_token"]) == ("helper", "pending", False)
    changed = {name for name, text in host.files().items() if files.get(name, text) != text}
    assert not any("settings.json" in name or "hooks.json" in name or "token" in name for name in changed)


def test_an_agents_shell_reads_within_its_grant(host: Any) -> None:
    host.remember(ELSEWHERE, "harbour")
    host.remember(PERSONAL, None, kind="relationship", subject="sister")
    own = host.remember(OWN, "ledger")
    host.connect()
    asked = (
        "recall 'when does the invoice run start'",
        "recall 'harbour crane pier' --project harbour",
        "recall 'sister Ghent teapots'",
        "list",
        f"list --text {shlex.quote('crane')}",
    )
    lines = [
        f'{disguise}{MEMVAULT} {words} --json 2>&1; echo "exit $?"'
        for words in asked
        for disguise in (DISGUISES if words.startswith("recall") else ("",))
    ]
    answers = in_the_shell(host, "Look around.", lines)
    for line, (document, status) in zip(lines, answers, strict=True):
        found = json.dumps(document)
        assert status == 0, line
        assert ELSEWHERE not in found, line
        assert PERSONAL not in found, line
        assert (OWN in found) == ("invoice" in line or line.count(" list --json") == 1), (line, found)
    assert answers[0][0]["results"][0]["id"] == own
