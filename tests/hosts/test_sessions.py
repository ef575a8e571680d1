"""Real agent hosts, offline: what their model really receives from memvault, and what comes back from it."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.hosts

STAGING = "The staging server is reached through the bastion host only."
ELSEWHERE = "The harbour crane is steered from pier nine."
PERSONAL = "Robin's sister lives in Ghent and collects teapots."
PROPOSED = "The payment sandbox resets every night, so create test cards in the morning job."
SAID = {
    "english": (
        "From now on always run the linter with --strict before committing.",
        "Always run the linter with --strict before committing.",
    ),
    "chinese": ("以后数据库迁移都要先在影子库上跑一遍。", "数据库迁移都要先在影子库上跑一遍"),
}


def furnish(host: Any) -> str:
    """One memory of the project, one of another, a personal one; returns the first one's id."""
    host.remember(ELSEWHERE, "harbour")
    host.remember(PERSONAL, None, kind="relationship", subject="sister")
    own = host.remember(STAGING, "ledger")
    host.connect()
    return str(own)


def test_a_session_gets_its_projects_memory_and_its_proposals_wait_for_the_person(host: Any) -> None:
    own = furnish(host)
    add = {"content": PROPOSED, "kind": "fact", "scope": "private", "source": "conversation:today"}
    ran = host.session(
        "How do I reach the staging server?",
        host.tool("memory_search", query="staging server"),
        host.tool("memory_add", **add),
        host.tool("memory_search", query="harbour crane pier"),
    )
    assert STAGING in ran.start(), "the project's facts are there from the start"
    assert STAGING not in ran.context().replace(ran.start(), ""), "and are not repeated for a prompt"
    found, added, nothing = ran.answers()
    assert STAGING in found
    assert own in found
    assert "pending" in added
    assert ELSEWHERE not in nothing
    for hidden in (ELSEWHERE, PERSONAL, "crane is", "teapots"):
        assert hidden not in ran.told()
    (candidate,) = host.inbox()
    assert candidate["content"] == PROPOSED
    assert (candidate["status"], candidate["project"]) == ("candidate", "ledger")
    assert [one["type"] for one in candidate["sources"]] == ["conversation"]
    assert len([item for item in host.items() if item["status"] == "active"]) == 3
    history = host.vault.person().call("memory.history", {"id": candidate["id"]})
    assert {event["actor"] for event in history["events"]} == {f"agent:{host.kind.name}"}


@pytest.mark.parametrize("language", SAID)
def test_what_the_user_says_is_recalled_in_the_next_session_unconfirmed(host: Any, language: str) -> None:
    furnish(host)
    prompt, claim = SAID[language]
    host.session(prompt)
    (candidate,) = host.inbox()
    assert candidate["content"].startswith(claim)
    assert (candidate["status"], candidate["project"]) == ("candidate", "ledger")
    assert "said" in candidate["flags"]
    start = host.session("Fix the failing build.").start()
    assert claim in start
    assert "unconfirmed, said on" in start


def seen(items: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(one["id"], one["version"], one["observations"], one["content"], one["status"]) for one in items]


def test_what_memvault_put_into_a_session_is_not_learned_back(host: Any) -> None:
    furnish(host)
    before = host.items()
    add = {"content": STAGING, "kind": "fact", "scope": "private", "source": "conversation:today"}
    repeats = {"say": f"It was failing because of this: {STAGING} With that the deploy works."}
    first = host.session("How do I reach the staging server?", host.tool("memory_add", **add), repeats)
    assert "pending" not in first.answers()[0]
    quoted = "\n\n".join(
        (
            "Great, that worked.",
            f"Remember this:\n{first.context()}",
            f"Remember this:\n> - [fact, 2026-11-30, user:test] {STAGING}",
            f"From now on {first.context()}",
        )
    )
    for prompt in (quoted, f"记住这些：\n{first.context()}"):
        host.session(prompt, repeats, resume=True)
        assert seen(host.items()) == seen(before), prompt
    host.session("Great, that worked.", repeats)
    assert seen(host.items()) == seen(before)
    assert host.inbox() == []


def test_a_host_runs_unharmed_on_a_locked_vault_and_is_told_in_one_line(host: Any) -> None:
    furnish(host)
    host.vault.person().call("vault.lock")
    ran = host.session("How do I reach the staging server?", host.tool("memory_search", query="staging"))
    (answer,) = ran.answers()
    told = [line for line in ran.told().splitlines() if "memvault is locked" in line]
    assert len(told) == 1, told
    assert "memvault unlock" in told[0]
    assert "memvault unlock" in answer
    assert STAGING not in ran.told()


OWN_FILES = {
    "claude-code": {
        ".claude/settings.json": (
            '{\n    "env": {"EDITOR": "vi"},\n    "hooks": {\n        "Stop": [\n            '
            '{"hooks": [{"type": "command", "command": "true"}]}\n        ]\n    }\n}\n'
        ),
        ".claude.json": '{\n  "mcpServers": {\n    "other": {"command": "true", "args": []}\n  }\n}\n',
    },
    "codex": {
        ".codex/hooks.json": (
            '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true", "timeout": 5}]}]}}\n'
        ),
        ".codex/config.toml": '# mine\n[mcp_servers.other]\ncommand = "true" # this one too\nargs = []\n',
    },
}


def test_taking_memvault_out_leaves_the_hosts_files_as_they_were(host: Any) -> None:
    own = OWN_FILES[host.kind.name]
    for name, text in own.items():
        (host.user / name).parent.mkdir(exist_ok=True)
        (host.user / name).write_text(text)
    host.vault.person()
    host.connect()
    assert all("memvault" in (host.user / name).read_text() for name in own)
    host.connect("--remove")
    for name, text in own.items():
        assert (host.user / name).read_text() == text
    furnish(host)
    assert STAGING.removesuffix(".") in host.session("Hello there.").start()
    host.connect("--remove")
    ran = host.session("How do I reach the staging server?")
    assert "bastion" not in ran.told()
    assert host.kind.prefix + "memory_search" not in str(ran.turns)
    for name in own:  # a host writes what it remembers into its own files
        assert "memvault" not in (host.user / name).read_text()
