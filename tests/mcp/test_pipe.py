"""The pipe: starts alone, passes bytes exactly, outlives the daemon, keeps no request waiting."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault import PROTOCOL, agent_tokens, mcp_pipe, paths
from memvault.errors import UnsafePath, Usage
from memvault.launch import LONGEST_SOCKET_PATH
from memvault.paths import HomeLayout
from memvault.rpc import framing
from memvault.services.granting import checked_name

from .conftest import PATIENCE_S, Host, let_in

ELICIT = {
    "content": "From now on always whistle before the tunnel.", "kind": "preference", "scope": "private",
    "source": "conversation:s1", "ask": True,
}  # fmt: skip


@pytest.fixture(scope="module")
def open_home(shared_home: Any) -> Any:
    """An unlocked vault with the agent robin, for tests that neither lock it nor end its daemon."""
    let_in(shared_home, "robin")
    return shared_home


@pytest.fixture
def own_home(daemon_home: Any) -> Any:
    """As `open_home`, for one test alone."""
    let_in(daemon_home, "robin")
    return daemon_home


def test_it_runs_alone_and_loads_little() -> None:
    code = (
        "import sys\n"
        f"source = open({mcp_pipe.__file__!r}).read()\n"
        f"exec(compile(source, 'pipe', 'exec'), {{'__name__': 'pipe'}})\n"
        "print(*sorted(name.partition('.')[0] for name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    heavy = {
        "memvault",
        "socket",
        "signal",
        "subprocess",
        "pathlib",
        "threading",
        "logging",
        "typing",
        "asyncio",
    }
    assert not loaded & heavy
    assert "json" in loaded


@pytest.mark.parametrize("override", [None, "", "relative/home", "~/home", "/tmp/some/../home"])
@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"MEMVAULT_HOME": "~/vaults/one"},
        {"MEMVAULT_HOME": "here"},
        {"MEMVAULT_HOME": "", "XDG_DATA_HOME": "/tmp/data"},
        {"MEMVAULT_HOME": "", "XDG_DATA_HOME": "not/absolute"},
        {"MEMVAULT_HOME": "", "HOME": ""},
    ],
)
@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_it_finds_the_home_as_every_client_does(
    override: str | None, variables: dict[str, str], platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert mcp_pipe.home_dir(override) == str(paths.home_dir(override))


def test_what_is_repeated_in_it_is_the_same() -> None:
    assert mcp_pipe.PROTOCOL == PROTOCOL
    assert mcp_pipe.MOST_LINE_BYTES == framing.MAX_REQUEST_BYTES
    assert mcp_pipe.LONGEST_SOCKET_PATH == LONGEST_SOCKET_PATH
    assert mcp_pipe.MOST_TOKEN_BYTES == agent_tokens.MOST_BYTES


@given(st.text(max_size=42) | st.from_regex(re.compile(r"[a-z0-9._-]{0,42}"), fullmatch=True))
def test_a_name_is_a_name_where_grants_are_given(name: str) -> None:
    try:
        checked_name(name)
    except Usage:
        assert not mcp_pipe.is_name(name)
    else:
        assert mcp_pipe.is_name(name)


@pytest.mark.parametrize("spoil", ["nothing", "absent", "0644", "0640", "link", "empty"])
def test_a_token_is_read_as_every_client_reads_it(spoil: str, tmp_path: Path) -> None:
    layout = HomeLayout(tmp_path)
    path = agent_tokens.keep(layout, "robin", "a" * 43)
    if spoil in ("absent", "link"):
        path.unlink()
    if spoil == "link":
        path.symlink_to("/etc/hostname")
    elif spoil == "empty":
        path.write_text("\n")
    elif spoil.isdigit():
        path.chmod(int(spoil, 8))
    try:
        expected = agent_tokens.read(layout, "robin") or ""
    except UnsafePath:
        with pytest.raises(mcp_pipe.Unreachable):
            mcp_pipe.read_token(str(tmp_path), "robin")
    else:
        assert mcp_pipe.read_token(str(tmp_path), "robin") == expected


@pytest.mark.parametrize("wrong", [[], ["--agent"], ["--agent", "../etc"], ["--agent", "a", "--loud"], ["a"]])
def test_a_wrong_command_line_says_how(wrong: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", mcp_pipe.__file__, *wrong], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Usage: memvault mcp --agent NAME")


def test_the_console_script_reaches_it_without_click(open_home: Any) -> None:
    code = (
        "import sys; sys.argv[1:] = ['mcp']\n"
        "from memvault.cli import door\n"
        "try: door.main()\n"
        "except SystemExit: print('click' in sys.modules, 'memvault.client' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
    script = Path(sys.executable).with_name("memvault")
    host = Host([str(script), "mcp", "--agent", "robin", "--home", str(open_home.root)])
    assert host.greet()["result"]["serverInfo"]["name"] == "memvault"
    assert host.close() == 0


# ------------------------------------------------------------------------------------ bytes, both ways


def test_large_and_odd_texts_pass_unchanged(open_home: Any, host: Callable[..., Host]) -> None:
    text = 'Ω部署\u00e9\U0001f680 \\u0041 " \\ / ' + "x" * 1_000
    text = (text * 60)[:40_000].strip()
    fact = {"content": text, "kind": "fact", "scope": "private", "source": {"type": "user", "ref": "t"}}
    memory = open_home.person().call("memory.add", fact)["id"]
    one = host(open_home)
    one.greet()
    found = one.call("memory_get", id=memory)["structuredContent"]["memory"]["content"]
    assert found == open_home.person().call("memory.get", {"id": memory})["content"]


def test_a_message_arrives_however_it_is_cut(open_home: Any, host: Callable[..., Host]) -> None:
    one = host(open_home)
    one.greet()
    query = "q" * 3_000
    message = {
        "jsonrpc": "2.0", "id": "cut", "method": "tools/call",
        "params": {"name": "memory_search", "arguments": {"query": query}},
    }  # fmt: skip
    raw = json.dumps(message).encode() + b"\n"
    for start in range(0, len(raw), 37):
        one.write(raw[start : start + 37])
    assert one.hear()["id"] == "cut"
    one.write(raw * 5)
    assert [one.hear()["id"] for _ in range(5)] == ["cut"] * 5


def test_a_message_of_the_largest_size_passes_and_a_larger_one_is_refused_alone(
    open_home: Any, host: Callable[..., Host]
) -> None:
    one = host(open_home)
    one.greet()

    def search(number: int, size: int) -> bytes:
        head = json.dumps(
            {
                "jsonrpc": "2.0",
                "method": "tools/call",
                "params": {"name": "memory_search", "arguments": {"query": "X"}},
            }
        )
        raw = head[:-1].encode() + b',"id":' + str(number).encode() + b"}"
        return raw.replace(b'"X"', b'"' + b"x" * (size - len(raw) + 1) + b'"')

    largest = search(1, framing.MAX_REQUEST_BYTES)
    assert len(largest) == framing.MAX_REQUEST_BYTES
    one.write(largest + b"\n")
    answer = one.hear()
    assert answer["id"] == 1
    assert "limit is 65,536" in answer["result"]["content"][0]["text"], "it arrived whole"
    one.write(search(2, framing.MAX_REQUEST_BYTES + 1) + b"\n")
    answer = one.hear()
    assert answer["id"] == 2
    assert "at most 262,144 bytes" in answer["error"]["message"]
    one.write(b'{"jsonrpc":"2.0","method":"ping","params":{"x":"' + b"x" * 9_000_000 + b'"},"id":3}\n')
    assert one.hear()["id"] == 3, "of what is far too long the two ends are kept"
    assert "result" in one.ask("ping")


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"{not json", -32_700),
        (b"\xff\xfe", -32_700),
        (b'{"jsonrpc":"2.0","id":7,"id":7,"method":"ping"}', -32_700),
        (b"[" * 200 + b"]" * 200, -32_700),
        (b'{"id":7}', -32_600),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"\\ud800"}}', -32_600),
    ],
)
def test_what_is_no_message_gets_an_error_and_the_connection_stays(
    open_home: Any, host: Callable[..., Host], raw: bytes, code: int
) -> None:
    one = host(open_home)
    one.greet()
    one.write(raw + b"\n")
    assert one.hear()["error"]["code"] == code
    assert "result" in one.ask("ping")


# --------------------------------------------------------------------------- the daemon comes and goes


def test_it_starts_the_daemon_free_of_what_holds_the_agent(
    daemon_home: Any, host: Callable[..., Host]
) -> None:
    agent_tokens.keep(daemon_home.layout, "robin", "none")
    read, written = os.pipe()
    marks = {"CLAUDECODE": "1", "CODEX_SANDBOX": "seatbelt", "MEMVAULT_PASSPHRASE_FILE": "/x", "SECRET": "s"}
    one = host(daemon_home, env={**os.environ, **marks}, pass_fds=[read, written], start_new_session=True)
    assert one.greet()["result"]["serverInfo"]["name"] == "memvault"
    pid = daemon_home.pid()
    environment = Path(f"/proc/{pid}/environ").read_bytes()
    assert not any(name.encode() in environment for name in marks)
    mine = os.fstat(read)
    for link in Path(f"/proc/{pid}/fd").iterdir():
        found = link.stat()
        assert (found.st_dev, found.st_ino) != (mine.st_dev, mine.st_ino), "a descriptor was inherited"
    os.close(read)
    os.close(written)
    assert os.getsid(pid) not in (os.getsid(0), os.getsid(one.process.pid))
    assert Path(f"/proc/{pid}/cwd").readlink() == Path("/")
    one.process.kill()
    one.process.wait()
    assert "result" in host(daemon_home).greet(), "the daemon outlives who started it"


def _connected(one: Host) -> bool:
    handles = Path(f"/proc/{one.process.pid}/fd").iterdir()
    return any(str(handle.readlink()).startswith("socket:") for handle in handles)


def test_after_a_restart_the_host_notices_nothing(
    own_home: Any, host: Callable[..., Host], until: Callable[..., Any]
) -> None:
    one = host(own_home)
    one.greet()
    assert "structuredContent" in one.call("memory_status")
    own_home.kill()
    until(lambda: not _connected(one), "the pipe to see the daemon's end")
    state = one.call("memory_status")["structuredContent"]["state"]
    assert state == "locked", "a new daemon, and no second answer to initialize before this one"
    own_home.person()
    assert one.call("memory_status")["structuredContent"]["state"] == "unlocked"


def test_what_was_under_way_when_the_daemon_ended_gets_an_error(
    own_home: Any, host: Callable[..., Host]
) -> None:
    one = host(own_home)
    one.greet()
    one.say("tools/call", {"name": "memory_add", "arguments": ELICIT}, "waits")
    assert one.hear()["method"] == "elicitation/create"
    own_home.kill()
    answer = one.hear()
    assert answer["id"] == "waits"
    assert "daemon ended" in answer["error"]["message"]
    assert "result" in one.ask("ping")


def test_a_cancelled_call_is_ended_and_nothing_of_it_stays(open_home: Any, host: Callable[..., Host]) -> None:
    one = host(open_home)
    one.greet()
    one.say("tools/call", {"name": "memory_add", "arguments": ELICIT}, "late")
    question = one.hear()
    one.say("notifications/cancelled", {"requestId": "late"})
    ended = one.hear()
    assert (ended["method"], ended["params"]["requestId"]) == ("notifications/cancelled", question["id"])
    one.write(
        json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}}).encode() + b"\n"
    )
    assert "result" in one.ask("ping"), "the cancelled call is not answered"
    waiting = open_home.person().call("inbox")["items"]
    assert not [item for item in waiting if item["content"] == ELICIT["content"]]


def test_a_locked_vault_answers_at_once_how_to_unlock(own_home: Any, host: Callable[..., Host]) -> None:
    one = host(own_home)
    own_home.connect().call("vault.lock")
    assert "result" in one.greet()
    assert len(one.ask("tools/list")["result"]["tools"]) == 8
    for tool, arguments in (
        ("memory_search", {"query": "x"}),
        ("memory_add", ELICIT | {"ask": False}),
        ("memory_list", {}),
    ):
        answer = one.call(tool, **arguments)
        assert answer["isError"]
        assert (
            answer["content"][0]["text"] == "memvault: the vault is locked: the person runs `memvault unlock`"
        )
    assert one.call("memory_status")["structuredContent"]["state"] == "locked"
    error = one.ask("resources/read", {"uri": "memory://index"})["error"]
    assert "memvault unlock" in error["message"]


def test_without_a_daemon_every_request_is_told_how_to_mend_it_and_later_ones_try_again(
    bare_home: Any, host: Callable[..., Host], until: Callable[..., Any]
) -> None:
    run = bare_home.layout.run
    run.mkdir(parents=True, mode=0o700)
    bare_home.layout.socket.write_text("in the way")
    one = host(bare_home)
    for _ in range(3):
        answer = one.ask("initialize", {})
        assert "something else lies" in answer["error"]["message"]
        assert "memvault doctor" in answer["error"]["message"]
    one.say("notifications/initialized")
    bare_home.layout.socket.unlink()
    assert until(lambda: one.greet().get("result"), "the pipe to try again")
    assert one.call("memory_search", query="x")["content"][0]["text"].endswith("`memvault init`")


def test_a_daemon_that_cannot_start_says_why(bare_home: Any, host: Callable[..., Host]) -> None:
    bare_home.layout.config.write_text("[lock]\nmisspelt = 1\n")
    bare_home.layout.config.chmod(0o600)
    answer = host(bare_home).ask("initialize", {})
    assert "misspelt" in answer["error"]["message"]


def test_a_socket_path_of_any_length_is_reached(
    new_home: Callable[..., Any], host: Callable[..., Host], tmp_path: Path
) -> None:
    home = new_home(tmp_path / ("long" * 30)).make_vault()
    let_in(home, "robin")
    assert "structuredContent" in _greeted(host(home)).call("memory_status")


def _greeted(one: Host) -> Host:
    one.greet()
    return one


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_leaves_quietly_on_a_signal(open_home: Any, host: Callable[..., Host], number: int) -> None:
    one = host(open_home)
    one.greet()
    one.process.send_signal(number)
    assert one.process.wait(PATIENCE_S) == 0
    assert one.process.stderr is not None
    assert one.process.stderr.read() == b""


def test_at_the_end_of_input_what_was_asked_is_still_answered(
    open_home: Any, host: Callable[..., Host]
) -> None:
    one = host(open_home)
    one.greet()
    one.say("tools/call", {"name": "memory_status", "arguments": {}}, "last")
    assert one.process.stdin is not None
    one.process.stdin.close()
    assert one.hear()["id"] == "last"
    assert one.line() is None
    assert one.process.wait(PATIENCE_S) == 0


def test_a_host_that_is_gone_ends_it(open_home: Any, host: Callable[..., Host]) -> None:
    one = host(open_home)
    one.greet()
    assert one.process.stdout is not None
    one.process.stdout.close()
    assert one.process.wait(PATIENCE_S) == 0


# --------------------------------------------------------------------------------------- in the daemon


def _loaded_sdk(pid: int) -> bool:
    return "_pydantic_core" in Path(f"/proc/{pid}/maps").read_text()


def test_the_sdk_is_loaded_soon_after_the_start_where_there_are_agents_and_only_there(
    new_home: Callable[..., Any], until: Callable[..., Any], host: Callable[..., Host]
) -> None:
    homes = [new_home(), new_home()]
    for home in homes:
        home.layout.config.write_text("[mcp]\npreload_seconds = 1\n")
        home.layout.config.chmod(0o600)
    agent_tokens.keep(homes[1].layout, "robin", "x")
    without, beside = (home.pid() for home in homes)
    assert not _loaded_sdk(beside), "not before the daemon is up"
    until(lambda: _loaded_sdk(beside), "the SDK to be loaded")
    assert not _loaded_sdk(without)
    _greeted(host(homes[0]))
    assert _loaded_sdk(without), "now that an agent came"


def test_only_an_agent_may_go_over_to_mcp(open_home: Any) -> None:
    with pytest.raises(Usage, match="as an agent"):
        open_home.person().call("mcp.attach")


def test_a_flood_of_requests_is_told_to_slow_down(open_home: Any, host: Callable[..., Host]) -> None:
    let_in(open_home, "flood")
    one = host(open_home, "flood")
    one.greet()
    many = 700
    one.write(b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % number for number in range(many)))
    answers = [one.hear() for _ in range(many)]
    refused = [answer for answer in answers if "error" in answer]
    assert refused
    assert {answer["error"]["data"]["code"] for answer in refused} == {"rate_limited"}
    assert len(answers) - len(refused) >= 300
