"""backup, backups and restore as commands: documents, exit statuses, and what is asked of whom."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Home

TEXT = "The spare key hangs behind the red door."


def test_backup_prints_where_it_is_and_its_digest(fresh: Home) -> None:
    fresh.add(TEXT)
    made = fresh.json("backup")
    path = Path(made["path"])
    raw = path.read_bytes()
    assert path.parent == fresh.path / "backups"
    assert path.name.startswith("memvault-2")
    assert (made["memories"], made["size_bytes"]) == (1, len(raw))
    assert made["sha256"] == hashlib.sha256(raw).hexdigest()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert b"spare key" not in raw
    here = fresh.run("backup", "mine.mvbackup")
    assert here.status == 0, here
    assert f"{fresh.root}/mine.mvbackup" in here.out
    assert "1 memory" in here.out
    error = fresh.error("backup", "mine.mvbackup", status=2)
    assert "never overwrites" in error["hint"]


def test_backup_is_for_a_person_who_is_there(fresh: Home) -> None:
    made = fresh.json("backup")
    fresh.json("lock")
    assert fresh.error("backup", status=4)["code"] == "locked"
    fresh.json("unlock")
    nobody = {"MEMVAULT_PASSPHRASE_FILE": ""}
    assert fresh.error("backup", status=4, env=nobody)["code"] == "presence_required"
    assert fresh.error("restore", made["path"], status=4, env=nobody)["code"] == "presence_required"
    assert fresh.json("backups")["total"] == 1


def test_backups_lists_date_size_number_and_state(fresh: Home) -> None:
    assert "no backup yet" in fresh.run("backups").err
    memory = fresh.add(TEXT)
    made = fresh.json("backup")
    hurt = fresh.json("backup", "hurt.mvbackup")
    raw = Path(hurt["path"]).read_bytes()
    Path(hurt["path"]).write_bytes(raw[:-1])
    gone = fresh.json("delete", memory["id"], "--yes")
    assert set(gone["older_backups"]) == {made["path"], hurt["path"]}
    items = {item["path"]: item for item in fresh.json("backups")["items"]}
    whole = items[made["path"]]
    assert (whole["whole"], whole["before_deletion"], whole["memories"]) == (True, True, 1)
    assert (whole["created_at"], whole["size_bytes"]) == (made["created_at"], made["size_bytes"])
    assert items[hurt["path"]]["whole"] is False
    shown = fresh.run("backups").out
    assert "whole" in shown
    assert "damaged" in shown
    assert "cut off" in shown
    assert "made before a deletion" in shown
    fresh.json("lock")
    assert [item["path"] for item in fresh.json("backups")["items"]] == [made["path"]]


def test_restore_brings_a_deleted_home_back_with_the_recovery_code(bare: Home) -> None:
    code = bare.root / "code.txt"
    code.write_text(bare.json("init", "--no-keychain")["recovery_code"] + "\n")
    bare.add(TEXT)
    made = bare.json("backup", "away.mvbackup")
    bare.stop()
    shutil.rmtree(bare.path)
    done = bare.json(
        "restore", made["path"], "--recovery-file", str(code), env={"MEMVAULT_PASSPHRASE_FILE": ""}
    )
    assert (done["restored"], done["memories"], done["removed_by_tombstones"], done["kept_copy"]) == (
        made["path"], 1, 0, None,
    )  # fmt: skip
    (item,) = bare.json("list")["items"]
    assert item["content"] == TEXT


def test_restore_over_a_vault_keeps_a_copy_and_leaves_out_what_was_deleted(fresh: Home) -> None:
    memory = fresh.add(TEXT)
    fresh.add("The office opens at nine.")
    made = fresh.json("backup")
    fresh.json("delete", memory["id"], "--yes")
    fresh.add("Only in the newer vault.")
    done = fresh.json("restore", made["path"])
    assert (done["memories"], done["removed_by_tombstones"]) == (1, 1)
    assert [item["content"] for item in fresh.json("list")["items"]] == ["The office opens at nine."]
    back = fresh.run("restore", done["kept_copy"])
    assert back.status == 0, back
    assert "Restored: 2 memories" in back.out
    assert "What was there before is kept" in back.out
    assert fresh.json("list")["total"] == 2


def test_restore_tells_its_refusals_apart(fresh: Home) -> None:
    made = fresh.json("backup", "mine.mvbackup")
    other = fresh.beside("o")
    other.json("init", "--no-keychain")
    foreign = fresh.root / "letter.txt"
    foreign.write_text("No backup at all.")
    hurt = fresh.root / "hurt.mvbackup"
    hurt.write_bytes(Path(made["path"]).read_bytes()[:5_000])
    wrong = fresh.root / "wrong.txt"
    wrong.write_text("something else\n")
    assert fresh.error("restore", str(foreign), status=8)["code"] == "foreign_file"
    assert fresh.error("restore", str(hurt), status=8)["code"] == "backup_damaged"
    assert fresh.error("restore", "nowhere.mvbackup", status=3)["code"] == "not_found"
    asked = ("restore", made["path"], "--backup-passphrase-file", str(wrong))
    assert fresh.error(*asked, status=4)["code"] == "wrong_key"
    assert other.error("restore", made["path"], status=7)["hint"].endswith("--home DIR.")
    assert fresh.json("status")["state"] == "unlocked"
    other.stop()


def test_a_backup_under_an_older_passphrase_is_opened_by_a_file_of_its_own(fresh: Home) -> None:
    """Below, the vault is damaged and another passphrase holds today: both are given, each from its file."""
    fresh.add(TEXT)
    made = fresh.json("backup", "mine.mvbackup")
    other = fresh.beside("o")
    new = fresh.root / "new.txt"
    new.write_text("another passphrase for tests\n")
    other.json("init", "--no-keychain", env={"MEMVAULT_PASSPHRASE_FILE": str(new)})
    other.stop()
    (other.path / "vault.json").unlink()
    (other.path / "vault.json.bak").unlink()
    done = other.json(
        "restore", made["path"], "--backup-passphrase-file", str(fresh.secret), "--passphrase-file", str(new)
    )
    assert done["memories"] == 1
    assert done["warnings"]
    assert Path(done["kept_copy"]).is_dir()
    other.stop()


def test_a_person_at_a_terminal_is_asked_and_may_type_the_recovery_code(bare: Home) -> None:
    code = bare.json("init", "--no-keychain")["recovery_code"]
    bare.add(TEXT)
    made = bare.json("backup", "away.mvbackup")
    bare.stop()
    shutil.rmtree(bare.path)
    asked = "Passphrase of the backup: "
    done = bare.on_terminal(
        "restore",
        made["path"],
        answers=[(asked, "wrong"), (asked, code)],
        env={"MEMVAULT_PASSPHRASE_FILE": ""},
    )
    assert done.status == 0, done
    assert "Restored: 1 memory" in done.out


def test_doctor_names_the_newest_whole_backup_also_for_a_vault_that_does_not_open(fresh: Home) -> None:
    fresh.add(TEXT)
    made = fresh.json("backup")
    fresh.stop()
    (fresh.path / "vault.db").write_bytes(b"")
    error = fresh.error("unlock", status=8)
    assert error["code"] == "vault_missing"
    found = {check["name"]: check for check in fresh.json("doctor", status=1)["checks"]}
    assert made["path"] in found["backup"]["detail"]
    done = json.loads(fresh.run("restore", made["path"], "--json").out)
    assert done["memories"] == 1
    assert fresh.json("list")["total"] == 1
