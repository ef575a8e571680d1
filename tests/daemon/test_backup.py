"""Backup and restore through the socket: while others write, under a lock, under kill -9, and who may."""

from __future__ import annotations

import contextlib
import random
import shutil
import signal
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memvault.client import Client
from memvault.errors import Closed, Locked, MemvaultError, NotFound, PresenceRequired, WrongKey

HARMLESS = {"embeddings"}


def contents(client: Client) -> dict[str, str]:
    held: dict[str, str] = {}
    while True:
        page = client.call("memory.list", {"sort": "created", "limit": 500, "offset": len(held)})
        held |= {item["id"]: item["content"] for item in page["items"]}
        if len(held) >= page["total"]:
            return held


def everything(client: Client) -> list[dict[str, Any]]:
    """Every record in full."""
    items: list[dict[str, Any]] = []
    cursor: Any = 0
    while cursor is not None:
        page = client.call("export.page", {"cursor": cursor, "limit": 200})
        items += page["items"]
        cursor = page["cursor"]
    return sorted(items, key=lambda item: item["id"])


def healthy(client: Client) -> None:
    checks = client.call("doctor")["checks"]
    assert [one for one in checks if not one["ok"] and one["name"] not in HARMLESS] == []
    assert client.call("status")["warnings"] == []


def in_threads(work: Callable[[int], None], count: int) -> list[threading.Thread]:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    return threads


def test_a_backup_while_ten_writers_write_is_whole_and_loses_nothing_from_before(
    daemon_home: Any, fact: Any, new_home: Callable[..., Any]
) -> None:
    client = daemon_home.person()
    for number in range(50):
        client.call("memory.add", fact(f"Shelf {number} holds box {number}."))
    before = contents(client)
    writers = [daemon_home.person() for _ in range(10)]
    stop = threading.Event()
    written: list[str] = []

    def write(number: int) -> None:
        turn = 0
        while not stop.is_set():
            made = writers[number].call("memory.add", fact(f"Writer {number} did step {turn} today."))
            written.append(made["id"])
            if turn % 7 == 3:
                writers[number].call("memory.delete", {"ids": [made["id"]]})
            turn += 1

    threads = in_threads(write, 10)
    made = [client.call("backup.make") for _ in range(3)]
    count_then = len(written)
    stop.set()
    for thread in threads:
        thread.join()
    assert count_then > 0
    assert stat.S_IMODE(Path(made[0]["path"]).stat().st_mode) == 0o600
    assert len({one["path"] for one in made}) == 3
    healthy(client)
    now = contents(client)
    for one in made:
        home = new_home()
        asked = {"path": one["path"], "recovery_code": daemon_home.recovery_code}
        copy = home.connect()
        done = copy.call("backup.restore", asked)
        assert done["memories"] == one["memories"]
        held = contents(copy)
        assert len(held) == one["memories"]
        assert before.items() <= held.items()
        assert {id_ for id_ in held if id_ in now} | set(written) >= held.keys() - before.keys()
        home.discard()


def test_backup_wipe_restore_in_a_new_home_with_the_recovery_code_gives_equal_content(
    daemon_home: Any, fact: Any, new_home: Callable[..., Any], tmp_path: Path
) -> None:
    """SECURITY, check 10."""
    client = daemon_home.person()
    about = {"subject": "billing", "attribute": "deploy", "project": "billing"}
    client.call("memory.add", fact("Deploy by npm run deploy.", **about, value="npm"))
    client.call("memory.add", fact("Deploy by bash deploy.sh.", **about, value="script", correct=True))
    other = client.call(
        "memory.add", fact("部署前先备份数据库。", why="a lost table", sensitivity="personal")
    )
    client.call("memory.edit", {"id": other["id"], "changes": {"content": "部署前先备份数据库和缓存。"}})
    client.call("memory.disable", {"id": client.call("memory.add", fact("The old office is closed."))["id"]})
    gone = client.call("memory.add", fact("The yard gate closes at 22:40."))
    client.call("memory.delete", {"ids": [gone["id"]]})
    path = tmp_path / "stick" / "mine.mvbackup"
    path.parent.mkdir()
    made = client.call("backup.make", {"path": str(path)})
    before = everything(client)
    histories = [client.call("memory.history", {"id": item["id"]}) for item in before]
    code = daemon_home.recovery_code
    daemon_home.kill(signal.SIGTERM)
    shutil.rmtree(daemon_home.root)

    home = new_home()
    copy = home.connect()
    done = copy.call("backup.restore", {"path": str(path), "recovery_code": code})
    assert (done["memories"], done["kept_copy"], done["removed_by_tombstones"]) == (made["memories"], None, 0)
    copy.call("presence.prove", {"recovery_code": code})
    assert everything(copy) == before
    assert [copy.call("memory.history", {"id": item["id"]}) for item in before] == histories
    assert copy.call("memory.add", fact("the yard gate closes at 22:40"))["outcome"] == "refused"
    assert copy.call("recall", {"query": "部署前"})["results"]
    healthy(copy)
    again = home.person()
    assert again.call("status")["state"] == "unlocked"


def test_deleted_text_stays_gone_after_restoring_an_older_backup(daemon_home: Any, fact: Any) -> None:
    client = daemon_home.person()
    gone = client.call("memory.add", fact("The yard gate closes at 22:40."))
    stays = client.call("memory.add", fact("The office opens at nine."))
    made = client.call("backup.make")
    assert client.call("memory.delete", {"ids": [gone["id"]]})["older_backups"] == [made["path"]]
    (listed,) = client.call("backup.list")["items"]
    assert (listed["whole"], listed["before_deletion"], listed["memories"]) == (True, True, 2)
    done = client.call("backup.restore", {"path": made["path"], "passphrase": daemon_home.passphrase})
    assert (done["memories"], done["removed_by_tombstones"]) == (1, 1)
    assert set(contents(client)) == {stays["id"]}
    assert client.call("recall", {"query": "yard gate 22:40"})["results"] == []
    (run, *_) = client.call("runs.list")["items"]
    assert run["kind"] == "restore"
    healthy(client)


def test_only_a_person_who_has_shown_to_be_there_backs_up_and_restores(
    daemon_home: Any, fact: Any, puppet: Callable[..., Any]
) -> None:
    client = daemon_home.person()
    made = client.call("backup.make")
    before = {name: raw for name, raw in daemon_home.files() if "backups" in str(name)}
    stranger = daemon_home.connect()
    asked = {"path": made["path"], "passphrase": daemon_home.passphrase}
    with pytest.raises(PresenceRequired):
        stranger.call("backup.make")
    with pytest.raises(PresenceRequired):
        stranger.call("backup.restore", asked)
    assert len(stranger.call("backup.list")["items"]) == 1
    agent = puppet(daemon_home.root, marks={"CLAUDECODE": "1"})
    for method, params in (("backup.make", {}), ("backup.list", {}), ("backup.restore", asked)):
        assert agent.ask(method, params)["error"] == "presence_required", method
    assert {name: raw for name, raw in daemon_home.files() if "backups" in str(name)} == before


def test_a_closed_vault_is_restored_by_whoever_opens_both(daemon_home: Any, fact: Any) -> None:
    client = daemon_home.person()
    client.call("memory.add", fact("In both."))
    made = client.call("backup.make")
    client.call("memory.add", fact("Only in the newer one."))
    client.call("vault.lock")
    assert [one["path"] for one in client.call("backup.list")["items"]] == [made["path"]]
    with pytest.raises(WrongKey):
        client.call("backup.restore", {"path": made["path"], "passphrase": "not it"})
    assert client.call("status")["state"] == "locked"
    done = client.call("backup.restore", {"path": made["path"], "passphrase": daemon_home.passphrase})
    assert Path(done["kept_copy"]).exists()
    assert client.call("status")["state"] == "unlocked"
    assert list(contents(daemon_home.person()).values()) == ["In both."]


def test_a_restore_that_fails_leaves_the_vault_open_as_it_was(daemon_home: Any, fact: Any) -> None:
    client = daemon_home.person()
    client.call("memory.add", fact("Stays."))
    made = client.call("backup.make")
    before = contents(client)
    hurt = Path(made["path"]).with_name("hurt.mvbackup")
    raw = bytearray(Path(made["path"]).read_bytes())
    raw[-5_000] ^= 1
    hurt.write_bytes(raw)
    for path, code in ((hurt, "backup_damaged"), (Path("/etc/hostname"), "foreign_file")):
        with pytest.raises(MemvaultError) as error:
            client.call("backup.restore", {"path": str(path), "passphrase": daemon_home.passphrase})
        assert error.value.code == code
        assert error.value.exit_status == 8
    with pytest.raises(NotFound):
        client.call("backup.restore", {"path": "/nowhere/at.all", "passphrase": daemon_home.passphrase})
    with pytest.raises(WrongKey):
        client.call("backup.restore", {"path": made["path"], "passphrase": "not it"})
    assert contents(client) == before
    assert not [one for one in daemon_home.root.iterdir() if one.name.startswith(".")]


def test_a_swap_that_fails_half_way_opens_the_old_vault_again(daemon_home: Any, fact: Any) -> None:
    """The copy of what is there cannot be written: nothing is replaced without it."""
    client = daemon_home.person()
    made = client.call("backup.make", {"path": str(daemon_home.root / "mine.mvbackup")})
    client.call("memory.add", fact("Newer."))
    before = contents(client)
    shutil.rmtree(daemon_home.layout.backups)
    daemon_home.layout.backups.write_bytes(b"")
    with pytest.raises(MemvaultError):
        client.call("backup.restore", {"path": made["path"], "passphrase": daemon_home.passphrase})
    assert contents(client) == before
    daemon_home.layout.backups.unlink()
    client = daemon_home.person()
    client.call("backup.restore", {"path": made["path"], "passphrase": daemon_home.passphrase})
    assert contents(client) == {}


def test_kill_9_during_a_restore_leaves_one_whole_vault(daemon_home: Any, fact: Any) -> None:
    storm(daemon_home, fact, rounds=4)


@pytest.mark.long
def test_kill_9_at_forty_moments_of_a_restore_leaves_one_whole_vault(daemon_home: Any, fact: Any) -> None:
    storm(daemon_home, fact, rounds=40)


def storm(daemon_home: Any, fact: Any, rounds: int) -> None:
    rnd = random.Random(20_260_302)
    client = daemon_home.person()
    for number in range(60):
        client.call("memory.add", fact(f"Shelf {number} holds box {number}."))
    made = client.call("backup.make", {"path": str(daemon_home.root / "older.mvbackup")})
    old_set = contents(client)
    for number in range(60):
        client.call("memory.add", fact(f"Room {number} holds desk {number}."))
    new_set = contents(client)
    asked = {"path": made["path"], "passphrase": daemon_home.passphrase}
    for _ in range(rounds):
        client = daemon_home.person()
        ended = threading.Event()

        def work(connection: Client = client, ended: threading.Event = ended) -> None:
            with contextlib.suppress(Closed):
                connection.call("backup.restore", asked)
            ended.set()

        (thread,) = in_threads(lambda _: work(), 1)
        moment = time.monotonic() + rnd.random() * 0.35
        while time.monotonic() < moment and not ended.is_set():
            time.sleep(0.001)
        daemon_home.end(client.hello["pid"], signal.SIGKILL)
        thread.join()
        client.close()
        client = daemon_home.person()
        held = contents(client)
        assert held in (old_set, new_set)
        healthy(client)
        if held == old_set:
            listed = client.call("backup.list")["items"]
            whole = [one["path"] for one in listed if one["whole"] and one["memories"] == len(new_set)]
            assert whole, "the newer vault was replaced without a copy of it"
            client.call("backup.restore", {"path": whole[0], "passphrase": daemon_home.passphrase})
            assert contents(client) == new_set
        client.close()


def test_a_lock_ends_a_backup_under_way_and_leaves_nothing_behind(
    daemon_home: Any, fact: Any, tmp_path: Path
) -> None:
    text = "\n".join(f"- Office {number} keeps its spare key in drawer {number}." for number in range(1_500))
    (tmp_path / "notes.md").write_text(f"# Keys\n\n{text}\n")
    client, other = daemon_home.person(), daemon_home.person()
    client.call("import.run", {"kind": "markdown", "path": str(tmp_path), "scope": "private"})
    target = tmp_path / "out.mvbackup"
    caught: list[MemvaultError] = []

    def work(_: int) -> None:
        try:
            client.call("backup.make", {"path": str(target)}, on_progress=lambda _: other.call("vault.lock"))
        except MemvaultError as error:
            caught.append(error)

    for thread in in_threads(work, 1):
        thread.join()
    assert target.exists() == (not caught)
    assert all(isinstance(error, Locked) for error in caught)
    assert list(tmp_path.glob(".*")) == []
    assert list(daemon_home.layout.backups.glob(".*")) == []
    healthy(daemon_home.person())


def test_doctor_mentions_the_newest_whole_backup(daemon_home: Any, fact: Any) -> None:
    client = daemon_home.person()

    def said() -> str:
        (found,) = [one for one in client.call("doctor")["checks"] if one["name"] == "backup"]
        assert found["ok"]
        return found["detail"]

    assert "none yet" in said()
    first = client.call("backup.make")
    second = client.call("backup.make")
    assert second["path"] in said()
    Path(second["path"]).write_bytes(Path(second["path"]).read_bytes()[:-1])
    assert first["path"] in said()


def test_relative_paths_and_doubled_secrets_are_refused(daemon_home: Any) -> None:
    client = daemon_home.person()
    for method, params in (
        ("backup.make", {"path": "here.mvbackup"}),
        ("backup.restore", {"path": "x", "passphrase": "p"}),
        ("backup.restore", {"path": "/x"}),
        ("backup.restore", {"path": "/x", "passphrase": "p", "recovery_code": "c"}),
        ("backup.make", {"path": "/x\x00y"}),
    ):
        with pytest.raises(MemvaultError) as error:
            client.call(method, params)
        assert error.value.exit_status == 2, params
