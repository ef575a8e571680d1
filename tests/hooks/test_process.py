"""`memvault hook` as hosts run it: their shapes, and that an agent goes on unharmed whatever is wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memvault import agent_tokens, hook
from memvault.hooks import frame

pytestmark = pytest.mark.slow

AGENT = "claude-code"
NAP_S = 0.3
"""What a host may lose, beyond what the interpreter takes to start."""


def text_of(out: str) -> str:
    """What Claude Code would put into the session."""
    return json.loads(out)["hookSpecificOutput"]["additionalContext"] if out else ""


# ------------------------------------------------------------------------------------------ hosts' shapes


def test_each_host_gets_the_shape_it_takes(house: Any, run: Callable[..., Any]) -> None:
    house.person.call(
        "memory.add", house.fact("Answer in British English.", kind="preference", project=house.project)
    )
    house.remember("The staging database listens on port 5433.")
    asked = "Which port does the staging database listen on?"
    for name in ("codex", "gemini", "cursor"):
        house.let_in(name)
    claude = json.loads(house.tell("SessionStart", source="startup", transcript_path="/x", model="m"))
    assert set(claude) == {"hookSpecificOutput"}
    assert set(claude["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert claude["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    codex = json.loads(
        house.tell("UserPromptSubmit", agent="codex", prompt=asked, turn_id="t", permission_mode="x")
    )
    assert codex["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert set(codex) == {"hookSpecificOutput"}
    gemini = json.loads(
        house.tell("BeforeAgent", agent="gemini", prompt=asked, timestamp="2026-01-01T00:00:00Z")
    )
    assert gemini["hookSpecificOutput"]["hookEventName"] == "BeforeAgent"
    assert "5433" in gemini["hookSpecificOutput"]["additionalContext"]
    house.tell(
        "AfterAgent", agent="gemini", prompt_response="It failed because the cache key lacks the hash of it."
    )
    assert house.tell("PreCompress", agent="gemini", trigger="auto") == ""
    assert house.tell("SessionEnd", agent="gemini", reason="exit") == ""
    given = {"conversation_id": "c-1", "workspace_roots": [str(house.at)], "hook_event_name": "sessionStart"}
    cursor = json.loads(run(house.home.root, "sessionStart", given, cwd=Path("/"), agent="cursor")[0])
    assert set(cursor) == {"additional_context"}
    assert "British English" in cursor["additional_context"]
    silent = run(
        house.home.root, "beforeSubmitPrompt", {**given, "prompt": asked}, cwd=Path("/"), agent="cursor"
    )
    assert silent[0] == "", "Cursor takes no text there"


def test_the_fastest_command_line_holds_no_secret_and_works(house: Any) -> None:
    words = hook.command("SessionStart", house.agent, str(house.home.root))
    assert words[:3] == [sys.executable, "-I", "-S"]
    token = agent_tokens.read(house.home.layout, house.agent)
    assert token not in " ".join(words)
    done = subprocess.run(words, input=b"{}", capture_output=True, check=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_console_script_takes_it_before_the_commands_are_loaded(house: Any) -> None:
    house.remember("The staging database listens on port 5433.")
    script = "import sys; from memvault.cli.door import main; main()"
    asked = json.dumps({"session_id": "x", "prompt": "Which port does the staging database listen on?"})
    command = [sys.executable, "-P", "-X", "importtime", "-c", script, "hook", "UserPromptSubmit",
               "--agent", house.agent, "--home", str(house.home.root)]  # fmt: skip
    for _ in range(40):
        done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True, cwd=house.at)
        if done.stdout:
            break
    assert "5433" in text_of(done.stdout)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert not loaded & {"click", "json", "socket", "asyncio", "msgspec", "memvault.client"}


# ------------------------------------------------------------------------------------------ going on unharmed


def test_a_locked_vault_is_said_in_one_line_at_the_start_and_else_nothing(
    daemon_home: Any, unharmed: Callable[..., str]
) -> None:
    daemon_home.connect()
    for event in ("SessionStart", "sessionStart"):
        out = json.loads(unharmed(daemon_home.root, event, {"session_id": "x"}))
        text = out.get("additional_context") or out["hookSpecificOutput"]["additionalContext"]
        assert "memvault unlock" in text
        assert "\n" not in text
    for event in ("UserPromptSubmit", "PreCompact", "Stop", "SessionEnd", "BeforeAgent"):
        assert unharmed(daemon_home.root, event, {"prompt": "remember that x is y"}) == ""


def test_where_there_is_no_vault_nothing_is_said_or_started(
    bare_home: Any, tmp_path: Path, unharmed: Callable[..., str]
) -> None:
    for home in (bare_home.root, tmp_path / "missing"):
        for event in hook.EVENTS:
            assert unharmed(home, event, {"prompt": "remember that x is y"}) == ""
    assert list(bare_home.root.iterdir()) == []
    assert not (tmp_path / "missing").exists()


def test_a_daemon_that_does_not_run_is_started_beside_and_not_waited_for(
    daemon_home: Any, until: Callable[..., Any], unharmed: Callable[..., str]
) -> None:
    out = unharmed(daemon_home.root, "SessionStart", {"session_id": "x"})
    assert "memvault unlock" in text_of(out)
    until(daemon_home.layout.socket.exists, "the daemon")
    assert daemon_home.connect().call("status")["state"] == "locked"


def test_a_daemon_that_hangs_costs_no_more_than_a_moment(
    own_house: Any, unharmed: Callable[..., str]
) -> None:
    own_house.remember("The staging database listens on port 5433.")
    pid = own_house.home.pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
            said = {"session_id": "x", "prompt": "Which port does the staging database listen on?"}
            assert unharmed(own_house.home.root, event, said, cwd=own_house.at, agent=own_house.agent) == ""
    finally:
        os.kill(pid, signal.SIGCONT)
    assert "5433" in own_house.tell(
        "UserPromptSubmit", prompt="Which port does the staging database listen on?"
    )


def test_what_a_gone_hook_asked_is_not_written_outside_of_its_project(
    own_house: Any, run: Callable[..., Any]
) -> None:
    pid = own_house.home.pid()
    said = {"session_id": "x", "prompt": "Remember that the staging database listens on port 5433."}
    os.kill(pid, signal.SIGSTOP)
    try:
        run(own_house.home.root, "UserPromptSubmit", said, cwd=own_house.at, agent=own_house.agent)
    finally:
        os.kill(pid, signal.SIGCONT)
    own_house.prompt("Remember that the gateway drops headers over 8 KB.")
    every = own_house.person.call("memory.list", {"status": "candidate"})["items"]
    assert {item["project"] for item in every} == {own_house.project}


def test_a_wrong_or_missing_token_learns_nothing(house: Any, unharmed: Callable[..., str]) -> None:
    house.remember("The staging database listens on port 5433.")
    asked = {"prompt": "Which port does the staging database listen on?", "cwd": str(house.at)}
    assert unharmed(house.home.root, "UserPromptSubmit", asked, agent="nobody") == ""
    agent_tokens.keep(house.home.layout, house.agent, "x" * 43)
    assert unharmed(house.home.root, "UserPromptSubmit", asked, agent=house.agent) == ""
    path = agent_tokens.path_of(house.home.layout, house.agent)
    path.unlink()
    path.symlink_to("/etc/hostname")
    assert unharmed(house.home.root, "UserPromptSubmit", asked, agent=house.agent) == ""


HUGE = b'{"prompt": "' + b"remember that x " * 400_000 + b'"}'
ODD: list[bytes] = [
    b"", b"null", b"[]", b"7", b"{", b"not json", b"\xff\xfe\x00",
    b'{"prompt": 7, "session_id": [], "cwd": {}}',
    b'{"prompt": "\\ud800 remember that \\udfff"}',
    b"[" * 200_000, b'{"a":' * 100_000, b'{"prompt": ' + b"9" * 90_000 + b"}",
    b'{"prompt": NaN, "cwd": "relative/../x"}', b'{"cwd": "/\\u0000x", "prompt": "remember that a b c"}',
    b'{"prompt": "Remember that the tide table hangs in the hall.", "session_id": "' + b"s" * 5_000 + b'"}',
    b'{"prompt": "' + b"a, " * 100_000 + b'"}',
    b'{"workspace_roots": 4, "cwd": null, "prompt": "' + b" " * 60_000 + b'x"}',
    HUGE,
]  # fmt: skip


@pytest.mark.parametrize("raw", ODD, ids=range(len(ODD)))
def test_odd_or_huge_input_harms_nobody(
    shared_home: Any, raw: bytes, tmp_path: Path, run: Callable[..., Any]
) -> None:
    person = shared_home.person()
    token = person.call("agents.add", {"name": AGENT})["token"]
    agent_tokens.keep(shared_home.layout, AGENT, token)
    for event in ("SessionStart", "UserPromptSubmit", "Stop"):
        out, _ = run(shared_home.root, event, None, raw=raw, cwd=tmp_path)
        assert out == "" or json.loads(out)
    assert person.call("status")["state"] == "unlocked"
    person.close()


@pytest.mark.parametrize(
    "words", [["--help"], [], ["Nonsense", "--agent", "x"], ["Stop"], ["Stop", "--agent", "../x"]]
)
def test_wrong_usage_exits_with_nought_and_says_nothing_to_the_host(words: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-S", hook.__file__, *words]
    done = subprocess.run(command, input=b"{}", capture_output=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(b"Usage: memvault hook EVENT")


def test_a_host_that_never_ends_its_input_is_not_waited_for(
    house: Any, beyond_start_s: Callable[[list[str]], float]
) -> None:
    command = hook.command("UserPromptSubmit", house.agent, str(house.home.root))
    assert min(beyond_start_s(command) for _ in range(5)) < NAP_S


# --------------------------------------------------------------------------------------------------- settings


def test_recall_and_proposals_can_be_switched_off(
    new_home: Callable[..., Any], furnished: Callable[[Any], Any]
) -> None:
    home = new_home().make_vault()
    home.layout.config.write_text('[hooks]\nrecall = "off"\npropose = false\n')
    house = furnished(home)
    house.remember("The staging database listens on port 5433.")
    assert house.prompt("Which port does the staging database listen on?") == ""
    assert house.prompt("Remember that the gateway drops headers over 8 KB.") == ""
    assert house.waiting() == []
    assert house.start() == "", "nothing is given that was not asked for"
    reached = house.person.call("stats")["reached"]
    assert (reached["contexts"], reached["prompts"]) == (0, 0)
    found = house.person.call("recall", {"query": "staging database port", "project": house.project})
    assert found["results"], "who asks is answered"


def test_a_setting_keeps_the_context_at_the_start_and_nothing_for_prompts(
    new_home: Callable[..., Any], furnished: Callable[[Any], Any]
) -> None:
    home = new_home().make_vault()
    home.layout.config.write_text('[hooks]\nrecall = "start"\n')
    house = furnished(home)
    house.remember("The staging database listens on port 5433.")
    assert "port 5433" in house.start()
    house.session = "s-2"
    assert house.prompt("Which port does the staging database listen on?") == ""


def test_recall_for_every_prompt_still_keeps_the_threshold(
    new_home: Callable[..., Any], furnished: Callable[[Any], Any]
) -> None:
    home = new_home().make_vault()
    home.layout.config.write_text('[hooks]\nrecall = "always"\n')
    house = furnished(home)
    house.remember("Continue with the cormorant plan after lunch.")
    assert "cormorant" in house.prompt("continue")
    assert house.prompt("Draw a heron with three legs in violet ink") == ""


# ---------------------------------------------------------------------------------------- repeated on purpose


def test_what_the_file_repeats_is_what_the_others_do(
    daemon_home: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memvault import PROTOCOL, launch, paths
    from memvault.mcp import envelope

    assert hook.PROTOCOL == PROTOCOL
    assert hook.LONGEST_SOCKET_PATH == launch.LONGEST_SOCKET_PATH
    assert set(hook._KEPT) == set(launch._KEPT) - {"SystemRoot"}
    assert (hook._KEPT_PREFIXES, set(hook._DROPPED)) == (launch._KEPT_PREFIXES, launch._DROPPED)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in (
        ("MEMVAULT_HOME", "~/x"),
        ("MEMVAULT_HOME", ""),
        ("XDG_DATA_HOME", str(tmp_path / "d")),
    ):
        monkeypatch.setenv(name, value)
        assert hook.home_dir(None) == str(paths.home_dir(None))
    assert hook.home_dir(str(tmp_path / "y")) == str(paths.home_dir(str(tmp_path / "y")))
    agent_tokens.keep(daemon_home.layout, "x", "abc-_1")
    assert hook.read_token(str(daemon_home.root), "x") == agent_tokens.read(daemon_home.layout, "x")
    block = f"[{envelope.NOTICE}; project: a; agent: b]\n{envelope.BAR}Remember that c.\n[{envelope.END}]"
    assert "Remember" not in frame.without(block)


def test_a_path_too_long_for_a_socket_is_reached_all_the_same(
    new_home: Callable[..., Any], tmp_path: Path, run: Callable[..., Any]
) -> None:
    home = new_home(tmp_path / ("long" * 30)).make_vault()
    home.connect()
    assert "memvault unlock" in text_of(run(home.root, "SessionStart", {"session_id": "x"})[0])
