"""SPEC 12: each agent has a named grant; SPEC 3: a caller without a grant learns nothing."""

from __future__ import annotations

import itertools
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memvault import agent_tokens
from memvault.client import Client
from memvault.daemon.handlers import table
from memvault.daemon.methods import Who

SCOPES = ("private", "team")
LEVELS = ("public", "internal", "personal", "restricted")
NOWHERE = "01999999-0000-7000-8000-000000000000"

pytestmark = pytest.mark.usefixtures("shared_home")


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


def let_in(home: Any, name: str, **rights: Any) -> str:
    """Give a grant as a person, keep the token where the agent finds it."""
    person = home.person()
    token = person.call("agents.add", {"name": name, **rights})["token"]
    agent_tokens.keep(home.layout, name, token)
    person.close()
    return token


@pytest.fixture
def as_agent(shared_home: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Connect with an agent's token from a working directory."""
    made: list[Client] = []

    def connect(name: str, cwd: Path | None = None) -> Client:
        if cwd is not None:
            monkeypatch.chdir(cwd)
        client = Client(shared_home.root, name="agent", agent=name)
        client.connect()
        made.append(client)
        return client

    yield connect
    for client in made:
        client.close()


def refusal(client: Client, method: str, params: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(Exception, match=r".") as raised:
        client.call(method, params)
    return raised.value.code, str(raised.value)  # type: ignore[attr-defined]


def test_a_token_is_kept_hashed_by_the_vault_and_in_a_file_for_its_owner_alone(shared_home: Any) -> None:
    token = let_in(shared_home, "robin")
    path = agent_tokens.path_of(shared_home.layout, "robin")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for found in shared_home.root.rglob("*"):
        if found.is_file() and found != path and not stat.S_ISSOCK(found.stat().st_mode):
            assert token.encode() not in found.read_bytes(), found
    person = shared_home.person()
    (row,) = [item for item in person.call("agents.list")["items"] if item["name"] == "robin"]
    assert token not in str(row)
    assert row["has_token"] is True
    assert "token" not in row


def test_a_token_others_may_read_is_not_used(shared_home: Any) -> None:
    let_in(shared_home, "open-file")
    path = agent_tokens.path_of(shared_home.layout, "open-file")
    path.chmod(0o644)
    with pytest.raises(Exception, match="read by others"):
        Client(shared_home.root, agent="open-file").connect()
    path.unlink()
    path.symlink_to("/etc/hostname")
    with pytest.raises(Exception, match="no plain file"):
        Client(shared_home.root, agent="open-file").connect()
    path.unlink()
    path.mkdir()
    with pytest.raises(Exception, match="no plain file"):
        Client(shared_home.root, agent="open-file").connect()
    path.rmdir()


def test_a_wrong_missing_old_or_revoked_token_opens_nothing(
    shared_home: Any, as_agent: Callable[..., Client], fact: Any
) -> None:
    person = shared_home.person()
    memory = person.call("memory.add", fact("The harbour master answers on channel twelve."))["id"]
    let_in(shared_home, "wren")
    current = as_agent("wren")
    assert current.call("memory.get", {"id": memory})["id"] == memory
    let_in(shared_home, "wren")  # a new token
    assert as_agent("wren").call("memory.get", {"id": memory})["id"] == memory
    for spoil in ("", "x" * 43, "wrong"):
        agent_tokens.keep(shared_home.layout, "wren", spoil)
        client = as_agent("wren")
        assert refusal(client, "memory.get", {"id": memory})[0] == "not_found"
        assert refusal(client, "recall", {"query": "harbour"})[0] == "not_found"
        assert refusal(client, "memory.add", fact("More."))[0] == "not_found"
    assert refusal(current, "memory.get", {"id": memory})[0] == "not_found", "the old one on an open line"
    let_in(shared_home, "wren")
    again = as_agent("wren")
    assert again.call("memory.get", {"id": memory})["id"] == memory
    person.call("agents.revoke", {"name": "wren"})
    assert refusal(again, "memory.get", {"id": memory}) == refusal(
        as_agent("nobody-of-that-name"), "memory.get", {"id": memory}
    )


def test_a_connection_with_a_token_is_never_a_persons(
    shared_home: Any, as_agent: Callable[..., Client], fact: Any
) -> None:
    memory = shared_home.person().call("memory.add", fact("The well is behind the mill."))["id"]
    let_in(shared_home, "rook")
    client = as_agent("rook")
    client.call("presence.prove", {"passphrase": shared_home.passphrase})
    assert refusal(client, "memory.delete", {"ids": [memory]})[0] == "presence_required"
    assert refusal(client, "agents.set", {"name": "rook", "ceiling": "restricted"})[0] == "presence_required"


def test_what_an_agent_asks_for_waits_with_the_default_grant(
    shared_home: Any, puppet: Callable[..., Any]
) -> None:
    person = shared_home.person()
    agent = puppet(shared_home.root, marks={"OPENCODE": "1"})
    asked = agent.call(
        "agents.add", {"name": "opencode", "ceiling": "restricted", "verbs": ["write"], "projects": "all"}
    )
    assert (asked["state"], asked["token"]) == ("pending", None)
    assert agent.ask("recall", {"query": "anything"})["error"] == "not_found"
    (row,) = [item for item in person.call("agents.list")["items"] if item["name"] == "opencode"]
    assert (row["ceiling"], row["verbs"], row["projects"], row["host"]) == (
        "internal", ["propose", "read"], "current", "opencode",
    )  # fmt: skip
    assert agent.ask("agents.approve", {"name": "opencode"})["error"] == "presence_required"
    person.call("agents.approve", {"name": "opencode"})
    assert agent.ask("recall", {"query": "anything"}).get("error") is None
    person.call("agents.revoke", {"name": "opencode"})
    assert agent.ask("agents.add", {"name": "opencode"})["error"] == "illegal_transition"
    assert agent.ask("memory.add", {})["error"] == "not_found"


def test_a_known_host_without_a_grant_only_proposes(
    shared_home: Any, puppet: Callable[..., Any], fact: Any
) -> None:
    person = shared_home.person()
    memory = person.call("memory.add", fact("Invoices are sent on the first of the month."))["id"]
    agent = puppet(shared_home.root, marks={"GOOSE_TERMINAL": "1"})
    answers = [agent.ask("memory.get", {"id": memory}), agent.ask("memory.get", {"id": NOWHERE})]
    assert answers[0] == answers[1]
    for name in ("recall", "memory.list"):
        assert agent.ask(name, {"query": "invoices"} if name == "recall" else {})["error"] == "not_found"
    made = agent.call("memory.add", fact("From now on always write the changelog in the imperative."))
    assert made["outcome"] == "candidate"
    assert person.call("memory.get", {"id": made["id"]})["status"] == "candidate"


def test_a_quarantined_agent_may_read_but_nothing_is_taken_from_it(
    shared_home: Any, as_agent: Callable[..., Client], fact: Any
) -> None:
    person = shared_home.person()
    memory = person.call("memory.add", fact("The depot opens at six."))["id"]
    let_in(shared_home, "stork", verbs=["read", "write"])
    client = as_agent("stork")
    person.call("agents.quarantine", {"name": "stork"})
    assert client.call("memory.get", {"id": memory})["id"] == memory
    assert refusal(client, "memory.add", fact("Taken."))[0] == "not_found"
    person.call("agents.quarantine", {"name": "stork", "on": False})
    assert client.call("memory.add", fact("From now on always lock the depot at nine."))["outcome"]


def test_a_token_below_another_agents_host_gets_no_more_than_both_may(
    shared_home: Any, puppet: Callable[..., Any], fact: Any
) -> None:
    person = shared_home.person()
    memory = person.call("memory.add", fact("The spare tyre is flat.", sensitivity="personal"))["id"]
    token = let_in(shared_home, "wide", ceiling="personal", projects="all")
    hello = {"client": "x", "version": "0", "protocol": 1, "agent": "wide", "token": token}
    free = puppet(shared_home.root)
    free.call("hello", hello)
    assert free.call("memory.get", {"id": memory})["id"] == memory
    person.call("agents.add", {"name": "crush"})
    hosted = puppet(shared_home.root, below="crush")
    hosted.call("hello", hello)
    assert hosted.ask("memory.get", {"id": memory})["error"] == "not_found"


def test_the_right_to_write_adds_what_stands_alone_and_changes_nothing_else(
    shared_home: Any, as_agent: Callable[..., Client], fact: Any, tmp_path: Path
) -> None:
    person = shared_home.person()
    let_in(shared_home, "heron", verbs=["read", "write"])
    client = as_agent("heron", repository(tmp_path / "harbour"))
    alone = fact(
        "The harbour crane lifts twelve tonnes, so heavier loads always go by barge.",
        subject="harbour crane", attribute="limit", value="12 t",
    )  # fmt: skip
    made = client.call("memory.add", alone)
    assert made["outcome"] == "active"
    record = person.call("memory.get", {"id": made["id"]})
    assert (record["project"], record["authority"]) == ("harbour", "conversation")
    other = {**alone, "content": "The harbour crane lifts nine tonnes, so heavier loads always go by barge."}
    other["value"] = "9 t"
    second = client.call("memory.add", other)
    assert second["outcome"] == "candidate"
    assert person.call("memory.get", {"id": made["id"]})["status"] == "active"
    policy = {**alone, "kind": "policy", "subject": "harbour rule"}
    assert client.call("memory.add", policy)["outcome"] in ("candidate", "refused")


def test_a_project_comes_from_the_working_directory_never_from_a_parameter(
    shared_home: Any, as_agent: Callable[..., Client], fact: Any, tmp_path: Path
) -> None:
    person = shared_home.person()
    person.call("memory.add", fact("The lighthouse project uses tabs.", project="Lighthouse"))
    let_in(shared_home, "gull")
    client = as_agent("gull", repository(tmp_path / "lighthouse"))
    assert client.hello["principal"]["project"] == "Lighthouse", "spelled as the person wrote it"
    proposal = fact("From now on always run the lighthouse checks in order.")
    assert refusal(client, "memory.add", {**proposal, "project": "other"})[0] == "not_found"
    made = client.call("memory.add", {**proposal, "project": "LIGHTHOUSE"})
    assert person.call("memory.get", {"id": made["id"]})["project"] == "Lighthouse"
    everywhere = client.call(
        "memory.add", fact("From now on always sign commits with the new key.", everywhere=True)
    )
    assert person.call("memory.get", {"id": everywhere["id"]})["project"] is None


def test_worktrees_renames_and_case_do_not_split_a_project(
    shared_home: Any, as_agent: Callable[..., Client], tmp_path: Path
) -> None:
    let_in(shared_home, "tern")
    main = repository(tmp_path / "Breakwater")
    git = ["git", "-C", str(main), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "side")], check=True)

    def project(cwd: Path) -> str | None:
        return as_agent("tern", cwd).hello["principal"]["project"]

    first = project(main)
    assert first == "breakwater"
    (main / "deep" / "er").mkdir(parents=True)
    assert project(main / "deep" / "er") == first
    assert project(tmp_path / "side") == first
    os.chdir(tmp_path)
    moved = main.rename(tmp_path / "Mole")
    assert project(moved) == first, "renamed"
    assert project(repository(tmp_path / "elsewhere" / "breakwater")) != first, "another repository"
    assert project(tmp_path) is None
    forged = tmp_path / "forged"
    forged.mkdir()
    (forged / ".git").write_text(f"gitdir: {moved}/.git/worktrees/side\n")
    assert project(forged) is None, "a file alone names no repository"


def test_clones_of_one_remote_are_one_project(
    shared_home: Any, as_agent: Callable[..., Client], tmp_path: Path
) -> None:
    let_in(shared_home, "plover")
    found: list[Any] = []
    for number, address in enumerate(
        ("git@forge.example:sea/Dock.git", "https://user@forge.example/sea/dock", "ssh://git@forge.example/sea/dock.git")
    ):  # fmt: skip
        clone = repository(tmp_path / f"clone{number}")
        subprocess.run(["git", "-C", str(clone), "remote", "add", "origin", address], check=True)
        found.append(as_agent("plover", clone).hello["principal"]["project"])
    assert len(set(found)) == 1


GRANTS: list[dict[str, Any]] = [
    {},
    {"scopes": ["team"]},
    {"ceiling": "restricted"},
    {"ceiling": "public"},
    {"projects": "all"},
    {"projects": ["other"]},
    {"verbs": ["propose"]},
    {"verbs": ["read"]},
    {"scopes": ["private"], "projects": "all", "ceiling": "personal"},
]


def test_the_grant_matrix_answers_exactly_what_is_allowed(
    shared_home: Any, as_agent: Callable[..., Client], fact: Any, tmp_path: Path
) -> None:
    """Every grant x own, other and no project x scope x sensitivity, over every way to read."""
    person = shared_home.person()
    own = repository(tmp_path / "own-matrix")
    cells = list(itertools.product(("own-matrix", "other", None), SCOPES, LEVELS))
    ids: dict[str, tuple[Any, ...]] = {}
    for number, (project, scope, level) in enumerate(cells):
        given = fact(f"Matrix cell {number} holds a quiet meadow.", scope=scope, sensitivity=level)
        given |= {"project": project} if project else {}
        ids[person.call("memory.add", given)["id"]] = (project, scope, level)
    for number, rights in enumerate(GRANTS):
        let_in(shared_home, f"matrix{number}", **rights)
        client = as_agent(f"matrix{number}", own)
        allowed = {memory for memory, cell in ids.items() if _allows(rights, cell)}
        may_read = "read" in rights.get("verbs", ["read"])
        for memory in ids:
            if memory in allowed:
                assert client.call("memory.get", {"id": memory})["id"] == memory
            else:
                hidden = refusal(client, "memory.get", {"id": memory})
                assert hidden == refusal(client, "memory.get", {"id": NOWHERE})
        if not may_read:
            for name in ("memory.list", "recall"):
                params = {"query": "meadow"} if name == "recall" else {}
                assert refusal(client, name, params)[0] == "not_found"
            continue
        listed = client.call("memory.list", {"limit": 500, "text": "quiet meadow"})
        assert {item["id"] for item in listed["items"]} == allowed
        assert listed["total"] == len(allowed)
        hits = client.call("recall", {"query": "quiet meadow", "limit": 100, "log": False})["results"]
        assert {hit["id"] for hit in hits} & set(ids) <= allowed
        for project in ("own-matrix", "other"):
            some = client.call("memory.list", {"limit": 500, "project": project, "text": "quiet meadow"})
            assert {item["id"] for item in some["items"]} == {
                memory for memory in allowed if ids[memory][0] == project
            }


def _allows(rights: dict[str, Any], cell: tuple[Any, ...]) -> bool:
    project, scope, level = cell
    projects = rights.get("projects", "current")
    seen = {"current": ("own-matrix", None), "all": ("own-matrix", "other", None)}
    within = seen[projects] if isinstance(projects, str) else (*projects, None)
    return (
        "read" in rights.get("verbs", ["read"])
        and project in within
        and scope in rights.get("scopes", SCOPES)
        and LEVELS.index(level) <= LEVELS.index(rights.get("ceiling", "internal"))
    )


@pytest.mark.parametrize("rights", GRANTS, ids=str)
def test_no_grant_reaches_a_method_that_is_a_persons(
    shared_home: Any, as_agent: Callable[..., Client], rights: dict[str, Any]
) -> None:
    let_in(shared_home, "kite", **rights)
    client = as_agent("kite")
    for name, method in table().table.items():
        if method.who in (Who.PERSON, Who.PRESENT):
            assert refusal(client, name, {})[0] == "presence_required", name


def test_grants_are_events_of_the_chained_log(shared_home: Any) -> None:
    person = shared_home.person()
    let_in(shared_home, "finch")
    person.call("agents.set", {"name": "finch", "ceiling": "public"})
    person.call("agents.rotate", {"name": "finch"})
    person.call("agents.remove", {"name": "finch"})
    assert person.call("audit.verify")["ok"] is True
    kinds = [item["kind"] for item in person.call("runs.list", {"limit": 4})["items"]]
    assert kinds == ["grant"] * 4
