"""check and recover as commands: what is wrong, what is mended, and the exit statuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Home

PAGE_BYTES = 4_096


def fill(home: Home) -> None:
    home.json("import", "markdown", str(notes(home)), "--scope", "private")
    home.json("lock")
    home.stop()


def notes(home: Home) -> str:
    folder = home.root / "notes"
    folder.mkdir()
    lines = [
        f"- Office {n} keeps its spare key in drawer {n}. " + "It is the long one. " * 20 for n in range(60)
    ]
    (folder / "keys.md").write_text("# Keys\n\n" + "\n".join(lines) + "\n")
    return str(folder)


def hurt(home: Home) -> None:
    database = home.path / "vault.db"
    raw = bytearray(database.read_bytes())
    last = len(raw) // PAGE_BYTES
    for page in range(last - 24, last, 8):
        raw[page * PAGE_BYTES + 1_500] ^= 1
    database.write_bytes(raw)


def test_check_lists_what_it_read_and_exits_with_zero(fresh: Home) -> None:
    fresh.add("The office opens at nine.")
    done = fresh.json("check")
    assert done["ok"]
    names = [one["name"] for one in done["checks"]]
    assert {"pages", "references", "event log", "high-water mark", "vectors", "header"} <= set(names)
    shown = fresh.run("check")
    assert shown.status == 0
    assert "every page decrypts" in shown.out
    assert "Nothing is wrong." in fresh.run("recover").out
    assert fresh.json("recover")["found"] == []


def test_damaged_pages_exit_with_eight_until_they_are_mended(fresh: Home) -> None:
    fill(fresh)
    hurt(fresh)
    looked = fresh.json("recover", status=8)
    assert [one["what"] for one in looked["left"]] == ["pages"]
    assert looked["done"] == []
    shown = fresh.run("recover")
    assert shown.status == 8
    assert "for page " in shown.out
    assert "--yes" in shown.err
    mended = fresh.json("recover", "--yes")
    assert mended["left"] == []
    (done,) = mended["done"]
    assert done["mended"] == "pages"
    assert done["memories"] == fresh.json("list")["total"]
    assert "before-recovery.damaged" in done["kept_copy"]
    assert fresh.json("check")["ok"]


def test_at_a_terminal_each_step_is_asked_for(fresh: Home) -> None:
    fill(fresh)
    hurt(fresh)
    asked = "Salvage what can be read into a new file, and keep the damaged one? [y/N] "
    refused = fresh.on_terminal("recover", answers=[(asked, "n")])
    assert refused.status == 8, refused
    done = fresh.on_terminal("recover", answers=[(asked, "y")])
    assert done.status == 0, done
    assert "Salvaged" in done.out
    assert "Nothing is wrong any more." in done.out


def test_a_damaged_header_is_mended_and_status_and_doctor_tell_of_it(fresh: Home) -> None:
    fresh.add("The office opens at nine.")
    fresh.stop()
    header = fresh.path / "vault.json"
    whole = header.read_bytes()
    header.write_bytes(b"")
    status = fresh.json("status")
    assert status["state"] == "locked"
    assert "header is empty" in status["warnings"][0]
    assert fresh.error("unlock", status=8)["code"] == "header_damaged"
    checks = {one["name"]: one for one in fresh.json("doctor", status=1)["checks"]}
    assert "recover" in checks["files"]["fix"]
    assert fresh.json("recover", "--yes")["done"][0]["mended"] == "header"
    assert header.read_bytes() == whole
    assert fresh.json("unlock")["memories"] == 1


def test_a_missing_database_is_not_mended_but_its_backup_is_named(fresh: Home) -> None:
    fresh.add("The office opens at nine.")
    made = fresh.json("backup")
    fresh.stop()
    (fresh.path / "vault.db").unlink()
    looked = fresh.json("recover", "--yes", status=8)
    assert [one["what"] for one in looked["left"]] == ["database"]
    assert looked["done"] == []
    assert made["path"] in fresh.run("recover").out
    assert not (fresh.path / "vault.db").exists()


def test_without_a_passphrase_or_terminal_recover_says_what_it_needs(fresh: Home) -> None:
    fresh.json("lock")
    error = fresh.error("recover", status=4, env={"MEMVAULT_PASSPHRASE_FILE": ""})
    assert error["code"] == "presence_required"
    assert "--passphrase-file" in error["hint"]
