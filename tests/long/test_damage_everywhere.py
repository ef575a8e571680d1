"""SECURITY 3 and 4: damage of any page of the vault, or of any part of its log, is noticed before a write."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from memvault.client import Client
from memvault.errors import MemvaultError, VaultDamaged
from memvault.store.connection import Database

pytestmark = pytest.mark.long

PAGE_BYTES = 4_096


def fill(home: Any, fact: Any, count: int) -> Client:
    client = home.person()
    for number in range(count):
        client.call(
            "memory.add", fact(f"Ticket {number} is closed by the night shift.", subject=f"t{number}")
        )
    return client


def test_a_flipped_byte_in_every_single_page_is_found(daemon_home: Any, fact: Any, until: Any) -> None:
    client = fill(daemon_home, fact, 150)
    until(lambda: client.call("status")["model"]["pending"] == 0, "every memory embedded")
    client.call("vault.lock")
    database, key = daemon_home.layout.database, daemon_home.key()
    whole = database.read_bytes()
    pages = len(whole) // PAGE_BYTES
    assert pages > 100
    missed: list[int] = []
    for page in range(pages):
        raw = bytearray(whole)
        raw[page * PAGE_BYTES + (page * 37) % PAGE_BYTES] ^= 1 << page % 8
        database.write_bytes(raw)
        try:
            opened = Database(database, key, writable=False)
            if not opened.damaged_pages():
                missed.append(page)
            opened.close()
        except VaultDamaged:
            pass
    database.write_bytes(whole)
    assert not missed
    assert daemon_home.person().call("memory.list", {"limit": 1})["total"] == 150


def test_damage_anywhere_in_the_log_is_told_or_costs_nothing(
    daemon_home: Any, new_home: Any, fact: Any, tmp_path: Path
) -> None:
    fill(daemon_home, fact, 25)
    daemon_home.kill()
    kept = tmp_path / "kept"
    shutil.copytree(daemon_home.root, kept, ignore=shutil.ignore_patterns("run"))
    log_bytes = (kept / "vault.db-wal").stat().st_size
    silent: list[int] = []
    for part in range(40):
        home = new_home()
        shutil.copytree(kept, home.root, dirs_exist_ok=True)
        wal = home.root / "vault.db-wal"
        raw = bytearray(wal.read_bytes())
        raw[log_bytes * part // 40 + part] ^= 0x10
        wal.write_bytes(raw)
        try:
            client = home.person()
            total = client.call("memory.list", {"limit": 1})["total"]
            if total != 25 and not client.call("status")["warnings"]:
                silent.append(part)
        except MemvaultError as error:
            assert error.exit_status == 8, error.code
        home.discard()
    assert not silent
