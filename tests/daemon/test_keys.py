"""SPEC 12: slots are added, removed and rotated without rewriting the vault; its key can be rotated too."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memvault.client import Client
from memvault.errors import Closed, Illegal, KeychainTrouble, Locked, MemvaultError, NotFound, Usage, WrongKey
from memvault.keys import header_file

NEW = "an entirely new passphrase"


def unlocked_by(home: Any, **secret: str) -> bool:
    client = home.connect()
    client.call("vault.lock")
    try:
        client.call("vault.unlock", secret)
    except WrongKey:
        return False
    return True


def slots(client: Client) -> dict[str, str]:
    """Type -> id; a second of one type takes the place of the first."""
    return {one["type"]: one["id"] for one in client.call("keys.list")["slots"]}


def contents(client: Client) -> dict[str, str]:
    page = client.call("memory.list", {"sort": "created", "limit": 500})
    return {item["id"]: item["content"] for item in page["items"]}


def same_copy(home: Any) -> None:
    copy = home.root / header_file.COPY_NAME
    assert copy.read_bytes() == home.layout.header.read_bytes()


def test_slots_change_without_the_vault_being_rewritten_and_the_header_keeps_its_copy(
    daemon_home: Any, fact: Any
) -> None:
    client = daemon_home.person()
    client.call("memory.add", fact("Port 3000."))
    file = daemon_home.layout.database.stat().st_ino
    listed = client.call("keys.list")
    assert [one["type"] for one in listed["slots"]] == ["recovery", "passphrase"]
    assert "salt" not in str(listed)
    assert "wrapped" not in str(listed)
    client.call("keys.add_passphrase", {"passphrase": NEW})
    same_copy(daemon_home)
    assert len(client.call("keys.list")["slots"]) == 3
    assert unlocked_by(daemon_home, passphrase=NEW)
    assert unlocked_by(daemon_home, passphrase=daemon_home.passphrase)
    client = daemon_home.person()
    client.call("keys.remove", {"slot": slots(client)["passphrase"]})
    same_copy(daemon_home)
    assert not unlocked_by(daemon_home, passphrase=NEW)
    client = daemon_home.person()
    made = client.call("keys.new_recovery_code")
    same_copy(daemon_home)
    assert unlocked_by(daemon_home, recovery_code=made["recovery_code"])
    assert not unlocked_by(daemon_home, recovery_code=daemon_home.recovery_code)
    client = daemon_home.person()
    client.call("keys.change_passphrase", {"old": daemon_home.passphrase, "new": NEW})
    same_copy(daemon_home)
    assert not unlocked_by(daemon_home, passphrase=daemon_home.passphrase)
    assert unlocked_by(daemon_home, passphrase=NEW)
    client = daemon_home.connect()
    client.call("presence.prove", {"passphrase": NEW})
    assert client.call("keys.list")["generation"] == 1
    assert contents(client)
    assert daemon_home.layout.database.stat().st_ino == file
    assert client.call("audit.verify")["ok"]
    changes = [run["run"] for run in client.call("runs.list")["items"] if run["kind"] == "keys"]
    assert len(changes) == 4
    with pytest.raises(Illegal, match="change of keys"):
        client.call("runs.rollback", {"run": changes[0]})


def test_what_would_shut_everybody_out_or_is_unfit_is_refused(daemon_home: Any) -> None:
    client = daemon_home.person()
    before = daemon_home.layout.header.read_bytes()
    refused: list[tuple[str, dict[str, Any], type[MemvaultError]]] = [
        ("keys.remove", {"slot": "01999999-0000-7000-8000-000000000000"}, NotFound),
        ("keys.add_passphrase", {"passphrase": "short"}, Usage),
        ("keys.change_passphrase", {"old": "not the passphrase", "new": NEW}, WrongKey),
        ("keys.change_passphrase", {"old": daemon_home.passphrase, "new": "short"}, Usage),
        ("keys.add_keychain", {}, KeychainTrouble),
        ("keys.rotate", {"passphrase": "not the passphrase"}, WrongKey),
        ("keys.rotate", {}, Usage),
    ]
    for method, params, kind in refused:
        with pytest.raises(kind):
            client.call(method, params)
        assert daemon_home.layout.header.read_bytes() == before, method
    client.call("keys.remove", {"slot": slots(client)["passphrase"]})
    with pytest.raises(Usage, match="at least one"):
        client.call("keys.remove", {"slot": slots(client)["recovery"]})
    assert unlocked_by(daemon_home, recovery_code=daemon_home.recovery_code)


def test_a_passphrase_that_was_replaced_is_no_proof_of_presence_any_more(daemon_home: Any) -> None:
    """The daemon remembers secrets that were right, so that scripts do not derive a key for every command."""
    client = daemon_home.person()
    client.call("keys.change_passphrase", {"old": daemon_home.passphrase, "new": NEW})
    other = daemon_home.connect()
    with pytest.raises(WrongKey):
        other.call("presence.prove", {"passphrase": daemon_home.passphrase})
    assert other.call("presence.prove", {"passphrase": NEW})["valid_s"] == 300


def test_a_rotation_tells_its_progress_and_leaves_the_vault_open_with_all_in_it(
    daemon_home: Any, fact: Any
) -> None:
    client = daemon_home.person()
    for number in range(20):
        client.call("memory.add", fact(f"Shelf {number} holds box {number}."))
    older = client.call("backup.make")["path"]
    before, old = contents(client), daemon_home.key()
    heard: list[dict[str, Any]] = []
    done = client.call("keys.rotate", {"passphrase": daemon_home.passphrase}, on_progress=heard.append)
    assert (done["generation"], done["memories"], done["dropped"]) == (2, 20, [])
    assert done["older_backups"] == [older]
    assert "opens as before, under the old key" in done["warnings"][0]
    assert {news["stage"] for news in heard} >= {"copying", "checking", "deciding"}
    assert client.call("status")["state"] == "unlocked"
    assert contents(client) == before
    assert daemon_home.key() != old
    assert client.call("memory.add", fact("Goes on."))["outcome"] == "active"
    same_copy(daemon_home)
    assert unlocked_by(daemon_home, recovery_code=done["recovery_code"])
    assert not unlocked_by(daemon_home, recovery_code=daemon_home.recovery_code)
    client = daemon_home.person()
    back = client.call("backup.restore", {"path": older, "passphrase": daemon_home.passphrase})
    assert back["memories"] == 20
    client.call("presence.prove", {"passphrase": daemon_home.passphrase})
    assert client.call("vault.check")["ok"]


def test_a_rotation_that_is_cancelled_leaves_the_vault_open_under_its_old_key(
    daemon_home: Any, fact: Any, tmp_path: Path, until: Any
) -> None:
    text = "\n".join(f"- Office {number} keeps its spare key in drawer {number}." for number in range(1_500))
    (tmp_path / "notes.md").write_text(f"# Keys\n\n{text}\n")
    client = daemon_home.person()
    client.call("import.run", {"kind": "markdown", "path": str(tmp_path), "scope": "private"})
    total, old = client.call("memory.list")["total"], daemon_home.key()
    wire = daemon_home.wire()
    proof = {"passphrase": daemon_home.passphrase}
    assert "result" in wire.ask("presence.prove", proof)
    wire.send(b'{"jsonrpc":"2.0","id":7,"method":"keys.rotate","params":%s}\n' % as_json(proof))
    assert wire.read()["method"] == "progress"
    wire.send(b'{"jsonrpc":"2.0","method":"$/cancel","params":{"id":7}}\n')
    until(lambda: client.call("status")["state"] == "unlocked", "the vault open again")
    assert daemon_home.key() == old
    assert client.call("memory.list")["total"] == total
    assert not [one for one in daemon_home.root.iterdir() if one.name.startswith(".")]


def as_json(value: Any) -> bytes:
    import json

    return json.dumps(value).encode()


def storm(home: Any, fact: Any, rounds: int) -> None:
    rnd = random.Random(20_261_130)
    client = home.person()
    for number in range(60):
        client.call("memory.add", fact(f"Shelf {number} holds box {number}."))
    before = contents(client)
    generations: set[int] = set()
    for _ in range(rounds):
        client = home.person()
        ended = threading.Event()

        def work(connection: Client = client, ended: threading.Event = ended) -> None:
            try:
                connection.call("keys.rotate", {"passphrase": home.passphrase})
            except Closed:
                pass
            finally:
                ended.set()

        thread = threading.Thread(target=work)
        thread.start()
        moment = time.monotonic() + rnd.random() * 0.4
        while time.monotonic() < moment and not ended.is_set():
            time.sleep(0.001)
        home.end(client.hello["pid"], signal.SIGKILL)
        thread.join()
        client.close()
        client = home.person()
        assert contents(client) == before
        assert client.call("status")["warnings"] == []
        assert client.call("vault.check")["ok"]
        same_copy(home)
        generations.add(client.call("keys.list")["generation"])
        client.close()
    assert len(generations) > 1 or rounds < 10


def test_kill_9_during_a_rotation_leaves_one_whole_vault(daemon_home: Any, fact: Any) -> None:
    storm(daemon_home, fact, 4)


@pytest.mark.long
def test_kill_9_at_forty_moments_of_a_rotation_leaves_one_whole_vault(daemon_home: Any, fact: Any) -> None:
    storm(daemon_home, fact, 40)


def test_agents_and_strangers_neither_see_nor_change_slots(
    daemon_home: Any, puppet: Callable[..., Any]
) -> None:
    daemon_home.person().call("vault.lock")
    for method in ("keys.list", "keys.new_recovery_code", "keys.rotate"):
        with pytest.raises(Locked):
            daemon_home.connect().call(method)
    daemon_home.person()
    before = daemon_home.layout.header.read_bytes()
    for caller in (puppet(daemon_home.root), puppet(daemon_home.root, marks={"CLAUDECODE": "1"})):
        for method, params in (
            ("keys.list", {}),
            ("keys.add_passphrase", {"passphrase": NEW}),
            ("keys.new_recovery_code", {}),
            ("keys.rotate", {"passphrase": daemon_home.passphrase}),
        ):
            assert caller.ask(method, params)["error"] == "presence_required", method
    assert daemon_home.layout.header.read_bytes() == before
