"""Two users' vaults on one machine, and two profiles of one user: nothing crosses."""

from __future__ import annotations

import importlib
import json
import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memvault import agent_tokens, hook, mcp_pipe
from memvault.client import Client
from memvault.daemon import main
from memvault.errors import MemvaultError
from memvault.paths import HomeLayout
from memvault_sync.scan import Scanner

AGENT = "twin"
"""The same name in both vaults."""


@dataclass
class Profile:
    """One vault with its daemon, a person, an agent and a word that stands in no other."""

    home: Any
    word: str
    person: Any
    token: str = ""
    memory: str = ""

    @property
    def root(self) -> Path:
        return self.home.root

    def agent(self) -> Client:
        client = Client(self.root, name="agent", agent=AGENT)
        client.connect()
        return client


def fact(content: str) -> dict[str, Any]:
    source = {"type": "user", "ref": "test"}
    return {"content": content, "kind": "fact", "scope": "private", "source": source}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for model files that both daemons share."""
    monkeypatch.setenv("MEMVAULT_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def profiles(
    new_home: Callable[..., Any], cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Profile, Profile]:
    """Two profiles of one user; whoever asks works in one repository."""
    subprocess.run(["git", "init", "-q", tmp_path / "work"], check=True)
    monkeypatch.chdir(tmp_path / "work")
    made: list[Profile] = []
    for word in ("zanzibarone", "pangolintwo"):
        home = new_home().make_vault()
        # The environment of whoever starts a daemon names the other one's home.
        monkeypatch.setenv("MEMVAULT_HOME", str(made[0].root if made else home.root))
        made.append(Profile(home, word, home.person()))
    for one in made:
        one.memory = one.person.call("memory.add", fact(f"The lantern of {one.word} hangs there."))["id"]
        one.token = one.person.call("agents.add", {"name": AGENT})["token"]
        agent_tokens.keep(one.home.layout, AGENT, one.token)
    return made[0], made[1]


def code(client: Client, method: str, params: dict[str, Any]) -> str:
    with pytest.raises(MemvaultError) as raised:
        client.call(method, params)
    return raised.value.code


def texts(client: Client) -> str:
    """Everything that a connection can be told of memories."""
    heard = [client.call("memory.list", {"limit": 500}), client.call("context.index")]
    heard += [client.call("recall", {"query": query, "limit": 50}) for query in ("lantern", "hangs there")]
    heard.append(client.call("context.compile", {"objective": "lantern", "session": "s"}))
    return json.dumps(heard)


def test_agents_of_one_name_hear_of_their_own_vault_alone(profiles: tuple[Profile, Profile]) -> None:
    for one, other in (profiles, profiles[::-1]):
        agent = one.agent()
        for client in (agent, one.person):
            heard = texts(client)
            assert one.word in heard
            assert other.word not in heard
            assert code(client, "memory.get", {"id": other.memory}) == "not_found"
        agent.close()
    pids = {one.person.hello["pid"] for one in profiles}
    assert len(pids) == 2


def test_the_token_of_one_vault_opens_nothing_in_the_other(profiles: tuple[Profile, Profile]) -> None:
    one, other = profiles
    assert one.token != other.token
    agent_tokens.keep(other.home.layout, AGENT, one.token)
    stranger = other.agent()
    for method, params in (
        ("memory.get", {"id": other.memory}), ("memory.list", {}), ("recall", {"query": "lantern"}),
        ("memory.add", fact("From now on always close the gate.")), ("hook.event", {"event": "Stop"}),
    ):  # fmt: skip
        assert code(stranger, method, params) == "not_found"
    stranger.close()
    one.person.call("agents.revoke", {"name": AGENT})
    agent_tokens.keep(other.home.layout, AGENT, other.token)
    with other.agent() as client:
        assert client.call("memory.get", {"id": other.memory}), "revoked there, not here"


def test_a_proof_a_lock_and_an_end_are_of_one_vault(profiles: tuple[Profile, Profile]) -> None:
    one, other = profiles
    other.person.call("presence.drop")
    one.person.call("presence.prove", {"passphrase": one.home.passphrase})
    assert code(other.person, "memory.delete", {"ids": [other.memory]}) == "presence_required"
    assert code(other.person, "memory.get", {"id": one.memory}) == "not_found"
    one.person.call("vault.lock")
    assert code(one.person, "memory.get", {"id": one.memory}) == "locked"
    assert other.person.call("memory.get", {"id": other.memory})["id"] == other.memory
    one.home.end(one.person.hello["pid"])
    assert other.person.call("status")["state"] == "unlocked"


def test_what_was_told_or_deleted_in_one_vault_is_unknown_to_the_other(
    profiles: tuple[Profile, Profile],
) -> None:
    one, other = profiles
    said = fact("From now on always feed the harbour cat before noon.")
    kept = one.person.call("memory.add", said)["id"]
    agents = [profile.agent() for profile in profiles]
    assert kept in json.dumps(agents[0].call("recall", {"query": "feed the harbour cat"}))
    again = {**said, "everywhere": True}
    assert agents[0].call("memory.add", again)["outcome"] == "refused", "an echo"
    assert agents[1].call("memory.add", again)["outcome"] == "candidate"
    one.person.call("memory.delete", {"ids": [kept]})
    assert one.person.call("memory.add", said)["outcome"] == "refused"
    assert other.person.call("memory.add", said)["outcome"] in ("active", "merged")
    for agent in agents:
        agent.close()


def test_a_home_that_is_named_wins_over_the_environment(
    profiles: tuple[Profile, Profile], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = profiles
    for named, elsewhere in ((one, other), (other, one)):
        for env in (str(elsewhere.root), f"{elsewhere.root}/", f"{elsewhere.root}/../{elsewhere.root.name}"):
            monkeypatch.setenv("MEMVAULT_HOME", env)
            for heard in (
                memvault("--home", str(named.root), "list", "--json"),
                hooked("--home", str(named.root)),
                searched("--home", str(named.root)),
            ):
                assert named.word in heard
                assert elsewhere.word not in heard
            for heard in (memvault("list", "--json"), hooked(), searched()):
                assert elsewhere.word in heard
                assert named.word not in heard


def memvault(*words: str) -> str:
    command = [str(Path(sys.executable).with_name("memvault")), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def hooked(*words: str) -> str:
    """What the real hook says at a prompt; asked again while the machine is too busy for its patience."""
    command = [sys.executable, "-I", "-S", hook.__file__, "SessionStart", "--agent", AGENT, *words]
    said = {"session_id": "s", "cwd": str(Path.cwd()), "hook_event_name": "SessionStart", "source": "startup"}
    out = ""
    for _ in range(40):
        done = subprocess.run(command, input=json.dumps(said).encode(), capture_output=True, check=True)
        out = done.stdout.decode()
        if out:
            break
    return out


def searched(*words: str) -> str:
    """What the real pipe answers to a search."""
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    lines: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": params},
        {"method": "notifications/initialized"},
        {
            "id": 2,
            "method": "tools/call",
            "params": {"name": "memory_search", "arguments": {"query": "lantern"}},
        },
    ]
    command = [sys.executable, "-I", "-S", mcp_pipe.__file__, "--agent", AGENT, *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as pipe:
        assert pipe.stdin is not None
        assert pipe.stdout is not None
        for line in lines:
            pipe.stdin.write(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n")
        pipe.stdin.flush()
        while json.loads(heard := pipe.stdout.readline().decode()).get("id") != 2:
            pass
        pipe.stdin.close()
    return heard


def test_no_file_holds_a_word_and_what_is_shared_holds_nothing(
    profiles: tuple[Profile, Profile], cache: Path
) -> None:
    for profile in profiles:
        texts(profile.person)
        for path, raw in profile.home.files():
            assert not any(one.word.encode() in raw for one in profiles), path
    shared = [path for path in cache.rglob("*") if path.is_file()]
    for path in shared:
        raw = path.read_bytes()
        assert not any(one.word.encode() in raw or one.memory.encode() in raw for one in profiles), path
    first, second = (HomeLayout(one.root) for one in profiles)
    places = ("run", "outside", "socket", "owner_lock", "start_lock", "tokens", "backups", "log")
    assert all(getattr(first, name) != getattr(second, name) for name in places)


# ----------------------------------------------------------------------------------------------- another user


def become(user: pwd.struct_passwd, home: Path) -> None:
    """Be that user for good."""
    os.setgroups([])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
    os.environ |= {"HOME": str(home), "MEMVAULT_CACHE_HOME": str(home / "cache")}
    os.chdir("/")


class Stranger:
    """The user `nobody`, with a home of its own. Forked: it may not be allowed to start this interpreter."""

    def __init__(self, home: Path) -> None:
        self.home, self.user = home, pwd.getpwnam("nobody")

    def run(self, call: Callable[..., Any], *words: Any) -> Any:
        """The result of a function that this user calls."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                become(self.user, self.home)
                os.write(writing, json.dumps(call(*words)).encode())
                os._exit(0)
            finally:
                os._exit(1)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            told = pipe.read()
        assert os.waitpid(pid, 0)[1] == 0, "it failed"
        return json.loads(told)

    def serve(self, root: Path) -> int:
        """Start this user's own daemon; returns its process id.

        What it needs is loaded before: this user may not be allowed to read the library it comes from.
        """
        for part in ("handlers", "keeper", "mcp_door", "server", "watching"):
            importlib.import_module(f"memvault.daemon.{part}")
        Scanner()
        pid = os.fork()
        if pid == 0:
            try:
                become(self.user, self.home)
                os.setsid()
                os._exit(main.run(root))
            finally:
                os._exit(1)
        return pid


def opened(folders: list[str], files: list[str]) -> dict[str, str]:
    """What came of listing the folders, and of reading and writing the files."""
    found: dict[str, str] = {}
    wanted = [(path, os.O_RDONLY) for path in (*folders, *files)] + [(path, os.O_WRONLY) for path in files]
    for path, how in wanted:
        try:
            os.close(os.open(path, how))
            found[f"{path} {how}"] = "opened"
        except OSError as error:
            found[f"{path} {how}"] = type(error).__name__
    return found


def spoken(path: str, line: str) -> str:
    """What a socket answers, or why not."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(20)
        try:
            sock.connect(path)
            sock.sendall(line.encode() + b"\n")
            return sock.recv(65_536).decode()
        except OSError as error:
            return type(error).__name__


def lived(root: str) -> Any:
    """A vault of this user's own with one memory; everything it lists."""
    with Client(Path(root), autostart=False) as client:
        client.call("vault.init", {"passphrase": "another user's own passphrase"})
        client.call("memory.add", fact("The quokkathree sleeps."))
        return client.call("memory.list")["items"]


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    home = Path(tempfile.mkdtemp(prefix="mvo", dir="/tmp"))
    shutil.chown(home, "nobody")
    yield Stranger(home)
    shutil.rmtree(home, ignore_errors=True)


def test_another_user_reaches_neither_files_nor_tokens_nor_the_socket(
    profiles: tuple[Profile, Profile], stranger: Stranger
) -> None:
    one, _ = profiles
    one.person.call("backup.make", {})
    paths = [one.root, *sorted(one.root.rglob("*"))]
    folders = [str(path) for path in paths if path.is_dir()]
    files = [str(path) for path in paths if path.is_file()]
    assert str(agent_tokens.path_of(one.home.layout, AGENT)) in files
    found = stranger.run(opened, folders, files)
    assert set(found.values()) == {"PermissionError"}, found
    assert stranger.run(spoken, str(one.home.layout.socket), "{}") == "PermissionError"
    for path in paths:
        assert not stat.S_IMODE(path.lstat().st_mode) & 0o077, path


UNHEARD = ("", "ConnectionResetError", "BrokenPipeError")


def test_another_user_who_gets_to_the_socket_is_not_heard(
    profiles: tuple[Profile, Profile], stranger: Stranger
) -> None:
    """By its user id, whatever the permissions became and whatever token it shows."""
    one, _ = profiles
    layout = one.home.layout
    for folder in (layout.root, layout.run):
        folder.chmod(0o711)
    layout.socket.chmod(0o666)
    params = {"client": "t", "version": "0", "protocol": 1, "agent": AGENT, "token": one.token}
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "hello", "params": params})
    assert '"state"' in spoken(str(layout.socket), hello), "its own user is heard"
    assert stranger.run(spoken, str(layout.socket), hello) in UNHEARD
    assert "another user" in one.home.log()


def test_two_users_have_two_vaults(
    profiles: tuple[Profile, Profile], stranger: Stranger, until: Callable[..., Any]
) -> None:
    one, _ = profiles
    theirs = stranger.home / "v"
    pid = stranger.serve(theirs)
    try:
        until(HomeLayout(theirs).socket.exists, "the other user's daemon")
        items = stranger.run(lived, str(theirs))
        assert [item["content"] for item in items] == ["The quokkathree sleeps."]
        # Root may open any file; a daemon still answers to its own user alone.
        status = '{"jsonrpc":"2.0","id":1,"method":"status"}'
        assert spoken(str(HomeLayout(theirs).socket), status) in UNHEARD
        assert "quokkathree" not in texts(one.person)
        assert {path.owner() for path in theirs.rglob("*")} == {"nobody"}
    finally:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
