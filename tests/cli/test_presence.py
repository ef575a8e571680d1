"""Only a person may erase, export, edit and review: asked at a terminal, proved by a file in scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Home


NOBODY = {"MEMVAULT_PASSPHRASE_FILE": ""}


def test_without_terminal_and_file_what_only_a_person_may_do_exits_4(shared: Home) -> None:
    made = shared.add("Nobody erases this unseen.")
    for args in (
        ("delete", made["id"], "--yes"),
        ("export", "-"),
        ("edit", made["id"], "--why", "x"),
        ("rollback", made["run"]),
        ("undo",),
    ):
        error = shared.error(*args, status=4, env=NOBODY)
        assert error["code"] == "presence_required", args
        assert "--passphrase-file" in error["hint"]
    assert shared.json("get", made["id"])["version"] == 1


def test_a_passphrase_file_named_on_the_line_is_proof(shared: Home) -> None:
    made = shared.add("This goes.")
    gone = shared.json("delete", made["id"], "--yes", "--passphrase-file", str(shared.secret), env=NOBODY)
    assert gone["deleted"] == [made["id"]]


def test_a_wrong_passphrase_is_no_proof(shared: Home) -> None:
    made = shared.add("This stays.")
    wrong = shared.root / "wrong.txt"
    wrong.write_text("guess\n")
    error = shared.error("delete", made["id"], "--yes", "--passphrase-file", str(wrong), status=4, env=NOBODY)
    assert error["code"] == "wrong_key"
    assert shared.json("list", "--text", "This stays.")["total"] == 1


def test_a_script_below_an_agent_host_counts_as_the_person_only_with_the_file(shared: Home) -> None:
    marked = {"AGENT": "1"}
    mine = shared.json(
        "add", "The billing service is deployed with ship.sh.", "--kind", "fact", "--scope", "private",
        "--source", "user:me", env=marked,
    )  # fmt: skip
    assert mine["outcome"] == "active"
    proposed = shared.json(
        "add", "The audit queue is drained on Mondays.", "--kind", "fact", "--scope", "private",
        "--source", "user:me", status=5, env={**marked, **NOBODY},
    )  # fmt: skip
    assert proposed["outcome"] == "candidate"


def test_a_person_at_a_terminal_is_asked_without_echo_and_types_the_number(shared: Home) -> None:
    made = shared.add("This is erased by hand.")
    done = shared.on_terminal(
        "delete",
        made["id"],
        answers=[("Type 1 to delete", "1"), ("Passphrase: ", shared.passphrase)],
        env=NOBODY,
    )
    assert done.status == 0, done
    assert "This is erased by hand." in done.out
    assert shared.passphrase not in done.out
    assert shared.json("list", "--text", "erased by hand")["total"] == 0


def test_anything_but_the_number_keeps_everything(shared: Home) -> None:
    made = shared.add("This is kept by hesitation.")
    done = shared.on_terminal("delete", made["id"], answers=[("Type 1 to delete", "yes")])
    assert done.status == 130, done
    assert shared.json("list", "--text", "by hesitation")["total"] == 1
