"""SECURITY 5: a full disk costs no memory, says so, and does not keep a person from deleting."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memvault.errors import DiskFull, MemvaultError

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="needs root: to mount a small file system")


@pytest.fixture
def small_home(new_home: Callable[..., Any], tmp_path: Path) -> Iterator[Any]:
    """A home on a file system of 6 MiB."""
    place = tmp_path / "small"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=6m,mode=700", "tmpfs", str(place)], check=False
    )
    if done.returncode:
        pytest.skip("cannot mount here")
    home = new_home(place).make_vault()
    yield home
    home.discard()
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(home: Any) -> None:
    """Leave no free byte."""
    with (home.root / "ballast").open("wb", buffering=0) as file:
        for size in (65_536, 4_096, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue


def test_a_full_disk_does_not_keep_a_task_from_closing(small_home: Any) -> None:
    client = small_home.person()
    task = client.call("task.open", {"title": "Move the mill"})["id"]
    with pytest.raises(DiskFull):
        for number in range(200):
            client.call("task.note", {"task": task, "kind": "todo", "text": f"Sack {number} " + "x" * 3_000})
            if number == 40:
                fill(small_home)
    held = len(client.call("task.get", {"task": task})["notes"])
    assert held > 40, "what was acknowledged is readable"
    assert small_home.layout.reserve.exists()
    assert client.call("task.close", {"task": task})["erased"] == held
    assert client.call("task.list")["total"] == 0
    assert small_home.layout.database.with_name("vault.db-wal").stat().st_size == 0


def test_a_full_disk_is_told_and_deleting_still_works(small_home: Any, fact: Any) -> None:
    client = small_home.person()
    ids = [client.call("memory.add", fact(f"Ticket {number} is closed."))["id"] for number in range(40)]
    fill(small_home)
    with pytest.raises(DiskFull):
        for number in range(200):
            client.call("memory.add", fact(f"Order {number} " + "x" * 2_000))
    before = client.call("memory.list", {"limit": 1})["total"]
    assert before >= 40
    assert client.call("recall", {"query": "ticket 7 closed"})["results"], "old memories are readable"
    assert small_home.layout.reserve.exists()

    assert client.call("memory.delete", {"ids": ids[:20]})["deleted"] == ids[:20]
    assert client.call("memory.list", {"limit": 1})["total"] == before - 20
    wal = small_home.layout.database.with_name("vault.db-wal")
    assert wal.stat().st_size == 0

    (small_home.root / "ballast").unlink()
    client.call("memory.delete", {"ids": ids[20:21]})
    assert small_home.layout.reserve.stat().st_size == 1024 * 1024, "the reserve is there for the next time"
    wrong = [
        check
        for check in client.call("doctor")["checks"]
        if not check["ok"] and check["name"] != "embeddings"
    ]
    assert not wrong
    small_home.kill()
    client = small_home.person()
    assert client.call("status")["warnings"] == []
    assert client.call("memory.list", {"limit": 1})["total"] == before - 21


def test_a_vault_on_a_full_disk_opens_and_can_be_read(small_home: Any, fact: Any) -> None:
    client = small_home.person()
    client.call("memory.add", fact("Port 3000 belongs to the gateway."))
    small_home.kill()
    fill(small_home)
    client = small_home.person()
    assert client.call("recall", {"query": "gateway port"})["results"]


def test_no_half_made_vault_is_left_when_there_is_no_room_for_one(small_home: Any) -> None:
    for path in small_home.root.glob("*"):
        if path.is_file():
            path.unlink()
    fill(small_home)
    client = small_home.connect()
    with pytest.raises(MemvaultError) as refusal:
        client.call("vault.init", {"passphrase": small_home.passphrase})
    assert refusal.value.code in ("disk_full", "read_only"), refusal.value.code
    (small_home.root / "ballast").unlink()
    assert client.call("status")["state"] == "absent"
    client.call("vault.init", {"passphrase": small_home.passphrase})
    assert client.call("status")["state"] == "unlocked"
