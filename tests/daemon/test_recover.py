"""SECURITY 3, 4, 7 through the socket: damage is told, mended when a person asks, and never made anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memvault.errors import Illegal, MemvaultError, PresenceRequired, VaultDamaged, WrongKey

PAGE_BYTES = 4_096


def fill(home: Any, fact: Any, count: int) -> dict[str, str]:
    client = home.person()
    for number in range(count):
        client.call("memory.add", fact(f"Ticket {number} is closed by the night shift. " + "Long. " * 40))
    page = client.call("memory.list", {"sort": "created", "limit": 500})
    client.call("vault.lock")
    return {item["id"]: item["content"] for item in page["items"]}


def look(home: Any, **params: Any) -> Any:
    return home.connect().call("vault.recover", {"passphrase": home.passphrase, **params})


def whats(answer: Any) -> list[str]:
    return [one["what"] for one in answer["found"]]


def test_a_whole_vault_is_told_as_whole_open_or_closed(daemon_home: Any, fact: Any) -> None:
    fill(daemon_home, fact, 3)
    assert look(daemon_home)["found"] == []
    assert look(daemon_home)["looked_inside"]
    client = daemon_home.person()
    assert client.call("vault.recover")["found"] == []
    for mend in ("header", "pages", "mark"):
        with pytest.raises(Illegal):
            client.call("vault.recover", {"mend": mend})


def test_a_damaged_header_is_told_by_status_and_put_back_from_its_copy(daemon_home: Any, fact: Any) -> None:
    before = fill(daemon_home, fact, 3)
    header = daemon_home.layout.header
    whole = header.read_bytes()
    header.write_bytes(whole[:-30])
    client = daemon_home.connect()
    status = client.call("status")
    assert (status["state"], status["vault"]) == ("locked", None)
    assert "memvault recover" in status["warnings"][0]
    with pytest.raises(WrongKey):
        client.call("vault.recover", {"passphrase": "not the passphrase", "mend": "header"})
    with pytest.raises(PresenceRequired):
        client.call("vault.recover", {"mend": "header"})
    assert header.read_bytes() == whole[:-30]
    assert whats(client.call("vault.recover")) == ["header"], "seen without a passphrase"
    assert look(daemon_home, mend="header")["found"] == []
    assert header.read_bytes() == whole
    assert (daemon_home.root / "vault.json.damaged").read_bytes() == whole[:-30]
    assert daemon_home.person().call("memory.list")["total"] == len(before)


@pytest.mark.parametrize("gone", ["empty", "missing"])
def test_a_database_that_is_gone_is_refused_and_a_backup_offered(
    daemon_home: Any, fact: Any, gone: str
) -> None:
    fill(daemon_home, fact, 2)
    made = daemon_home.person().call("backup.make")
    daemon_home.connect().call("vault.lock")
    database = daemon_home.layout.database
    database.write_bytes(b"") if gone == "empty" else database.unlink()
    answer = look(daemon_home)
    assert whats(answer) == ["database"]
    assert not answer["found"][0]["mend"]
    assert [one["path"] for one in answer["backups"]] == [made["path"]]
    for mend in ("pages", "mark", "header"):
        with pytest.raises(Illegal):
            look(daemon_home, mend=mend)
    assert not database.exists() or database.read_bytes() == b""
    done = daemon_home.connect().call(
        "backup.restore", {"path": made["path"], "passphrase": daemon_home.passphrase}
    )
    assert done["memories"] == 2


def hurt_a_page(home: Any) -> None:
    """Damage what belongs to memories: the page where most of them lie is in the second half."""
    database = home.layout.database
    raw = bytearray(database.read_bytes())
    for page in range(len(raw) // PAGE_BYTES - 30, len(raw) // PAGE_BYTES, 7):
        raw[page * PAGE_BYTES + 1_500] ^= 1
    database.write_bytes(raw)


@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "open"])
def test_damaged_pages_are_named_and_what_can_be_read_is_salvaged(
    daemon_home: Any, fact: Any, is_open: bool, tmp_path: Path
) -> None:
    before = fill(daemon_home, fact, 80)
    if is_open:
        client = daemon_home.person()
        hurt_a_page(daemon_home)
        answer = client.call("vault.recover")
    else:
        hurt_a_page(daemon_home)
        damaged = daemon_home.layout.database.read_bytes()
        client = daemon_home.connect()
        answer = look(daemon_home)
        assert daemon_home.layout.database.read_bytes() == damaged, "looking changes nothing"
    (finding,) = answer["found"]
    assert finding["what"] == "pages"
    assert "page" in finding["detail"]
    heard: list[dict[str, Any]] = []
    params = {"passphrase": daemon_home.passphrase, "mend": "pages"}
    answer = client.call("vault.recover", params, on_progress=heard.append)
    assert answer["found"] == []
    assert answer["state"] == "unlocked"
    assert heard
    done = answer["done"]
    page = client.call("memory.list", {"sort": "created", "limit": 500})
    now = {item["id"]: item["content"] for item in page["items"]}
    assert now.items() <= before.items()
    assert done["memories"] == len(now)
    assert done["lost"] == sorted(before.keys() - now.keys())
    assert (Path(done["kept_copy"]) / "vault.db").exists()
    assert client.call("vault.check")["ok"]
    assert client.call("status")["warnings"] == []
    assert client.call("memory.add", fact("Goes on from here."))["outcome"] == "active"
    preview = client.call("memory.delete_preview", {"ids": list(now)[:1]})
    assert done["kept_copy"] in preview["older_backups"]


def test_missing_changes_are_accepted_by_the_number_that_was_seen(daemon_home: Any, fact: Any) -> None:
    fill(daemon_home, fact, 2)
    older = daemon_home.layout.database.read_bytes()
    fill(daemon_home, fact, 5)
    daemon_home.layout.database.write_bytes(older)
    answer = look(daemon_home)
    (finding,) = answer["found"]
    assert finding["what"] == "mark"
    assert "missing" in finding["detail"]
    with pytest.raises(MemvaultError, match="acknowledged changes are missing"):
        look(daemon_home, mend="mark", missing=finding["missing"] - 1)
    answer = look(daemon_home, mend="mark", missing=finding["missing"])
    assert answer["done"] == {"accepted": finding["missing"]}
    assert answer["found"] == []
    client = daemon_home.person()
    assert client.call("status")["warnings"] == []
    client.call("memory.add", fact("Goes on from here."))
    client.call("vault.lock")
    assert daemon_home.person().call("status")["warnings"] == []


def test_doctor_names_the_damaged_page(daemon_home: Any, fact: Any) -> None:
    fill(daemon_home, fact, 80)
    client = daemon_home.person()
    hurt_a_page(daemon_home)
    checks = {one["name"]: one for one in client.call("doctor")["checks"]}
    assert not checks["pages"]["ok"]
    assert "for page " in checks["pages"]["detail"]


def test_no_agent_looks_at_damage_or_mends_it(
    daemon_home: Any, fact: Any, puppet: Callable[..., Any]
) -> None:
    fill(daemon_home, fact, 1)
    agent = puppet(daemon_home.root, marks={"CLAUDECODE": "1"})
    for params in ({}, {"passphrase": daemon_home.passphrase}, {"mend": "pages"}):
        assert agent.ask("vault.recover", params)["error"] == "presence_required"
    daemon_home.person()
    with pytest.raises(PresenceRequired):
        daemon_home.connect().call("vault.recover")
    assert agent.ask("vault.check")["error"] == "presence_required"


def test_a_vault_that_does_not_open_at_all_is_told_as_what_it_is(daemon_home: Any, fact: Any) -> None:
    fill(daemon_home, fact, 1)
    raw = bytearray(daemon_home.layout.database.read_bytes())
    raw[100] ^= 1
    daemon_home.layout.database.write_bytes(raw)
    with pytest.raises(VaultDamaged):
        daemon_home.person()
    (finding,) = look(daemon_home)["found"]
    assert (finding["what"], finding["mend"]) == ("pages", False)
    with pytest.raises(Illegal):
        look(daemon_home, mend="pages")
    assert daemon_home.layout.database.read_bytes() == bytes(raw)
