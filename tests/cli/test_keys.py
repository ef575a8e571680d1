"""keys: what opens the vault, as commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Home

NEW = "an entirely new passphrase"


def new_file(home: Home) -> str:
    path = home.root / "new.txt"
    path.write_text(NEW + "\n")
    path.chmod(0o600)
    return str(path)


def test_slots_are_listed_added_and_removed(fresh: Home) -> None:
    listed = fresh.json("keys", "list")
    assert [one["type"] for one in listed["slots"]] == ["recovery", "passphrase"]
    assert listed["generation"] == 1
    shown = fresh.run("keys", "list").out
    assert "recovery code" in shown
    assert listed["slots"][1]["id"] in shown
    added = fresh.json("keys", "add", "passphrase", "--new-passphrase-file", new_file(fresh))
    assert len(added["slots"]) == 3
    fresh.json("lock")
    assert fresh.json("unlock", "--passphrase-file", new_file(fresh))["state"] == "unlocked"
    left = fresh.json("keys", "remove", added["slots"][2]["id"])
    assert left["slots"] == listed["slots"]
    assert fresh.error("keys", "remove", added["slots"][2]["id"], status=3)["code"] == "not_found"
    assert fresh.error("keys", "remove", "0", status=2)["message"].startswith("several")
    fresh.json("lock")
    assert fresh.error("unlock", "--passphrase-file", new_file(fresh), status=4)["code"] == "wrong_key"


def test_the_last_way_of_opening_stays(fresh: Home) -> None:
    recovery, passphrase = (one["id"] for one in fresh.json("keys", "list")["slots"])
    fresh.json("keys", "remove", recovery)
    assert "at least one" in fresh.error("keys", "remove", passphrase, status=2)["message"]
    assert fresh.error("keys", "add", "keychain", status=4)["code"].startswith("keychain_")


def test_a_passphrase_is_changed_only_by_who_knows_it(fresh: Home) -> None:
    wrong = fresh.root / "wrong.txt"
    wrong.write_text("not the passphrase\n")
    change = ("keys", "change-passphrase", "--new-passphrase-file", new_file(fresh))
    assert fresh.error(*change, "--passphrase-file", str(wrong), status=4)["code"] == "wrong_key"
    fresh.json(*change)
    fresh.json("lock")
    assert fresh.error("unlock", status=4)["code"] == "wrong_key"
    assert fresh.json("unlock", "--passphrase-file", new_file(fresh))["state"] == "unlocked"


def test_new_secrets_are_asked_for_twice_at_a_terminal_and_never_without_one(fresh: Home) -> None:
    error = fresh.error("keys", "add", "passphrase", status=2)
    assert "--new-passphrase-file" in error["hint"]
    done = fresh.on_terminal(
        "keys", "add", "passphrase",
        answers=[("New passphrase: ", NEW), ("Once more: ", "something else"),
                 ("New passphrase: ", NEW), ("Once more: ", NEW)],
    )  # fmt: skip
    assert done.status == 0, done
    assert NEW not in done.out
    assert len(fresh.json("keys", "list")["slots"]) == 3


def test_a_new_recovery_code_is_shown_once_and_opens(fresh: Home) -> None:
    code = fresh.json("keys", "new-recovery-code")["recovery_code"]
    assert len(code.split("-")) == 8
    path = fresh.root / "code.txt"
    path.write_text(code + "\n")
    fresh.json("lock")
    assert fresh.json("unlock", "--recovery-file", str(path))["state"] == "unlocked"
    assert code not in fresh.run("keys", "list", "--json").out
    shown = fresh.run("keys", "new-recovery-code").out
    assert "shown this once" in shown


def test_rotate_says_what_old_backups_open_with_and_keeps_everything(fresh: Home) -> None:
    fresh.add("The spare key hangs behind the red door.")
    older = fresh.json("backup")["path"]
    fresh.json("keys", "add", "passphrase", "--new-passphrase-file", new_file(fresh))
    assert "--drop-others" in fresh.error("keys", "rotate", status=2)["hint"]
    done = fresh.json("keys", "rotate", "--drop-others")
    assert (done["generation"], done["memories"], done["older_backups"]) == (2, 1, [older])
    assert [one["type"] for one in done["dropped"]] == ["passphrase"]
    assert any("opens as before" in warning for warning in done["warnings"])
    assert fresh.json("list")["total"] == 1
    assert fresh.json("check")["ok"]
    code = fresh.root / "code.txt"
    code.write_text(done["recovery_code"] + "\n")
    again = fresh.run("keys", "rotate", "--recovery-file", str(code))
    assert again.status == 0, again
    assert "vault key number 3" in again.out
    assert "shown this once" not in again.out
    fresh.json("lock")
    assert fresh.json("unlock", "--recovery-file", str(code))["state"] == "unlocked"
    restored = json.loads(fresh.run("restore", older, "--json").out)
    assert restored["memories"] == 1


def test_keys_are_for_a_person_who_is_there(fresh: Home) -> None:
    fresh.json("lock")
    assert fresh.error("keys", "list", status=4)["code"] == "locked"
    fresh.json("unlock")
    nobody = {"MEMVAULT_PASSPHRASE_FILE": ""}
    for command in (("keys", "list"), ("keys", "rotate"), ("keys", "new-recovery-code")):
        assert fresh.error(*command, status=4, env=nobody)["code"] == "presence_required"
    before = Path(fresh.path / "vault.json").read_bytes()
    agent = {"CLAUDECODE": "1", "MEMVAULT_PASSPHRASE_FILE": ""}
    assert fresh.error("keys", "list", status=4, env=agent)["code"] == "presence_required"
    assert Path(fresh.path / "vault.json").read_bytes() == before
