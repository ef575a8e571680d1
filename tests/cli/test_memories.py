"""add, get, list, edit, history, recall and delete: the documents of SPEC 14 and their exit statuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Home

_RECORD = """
id version kind scope project subject attribute value content why how_to_apply conditions context about
sources authority confidence sensitivity status created_at updated_at valid_from valid_to expires_at
verified_at last_used_at usage_count observations supersedes flags
"""
RECORD = set(_RECORD.split())


def test_add_answers_with_its_outcome_and_get_with_the_whole_record(shared: Home) -> None:
    evidence = shared.root / "evidence.txt"
    evidence.write_text("from now on, ship with the script\n")
    made = shared.add(
        "Deploy billing with `bash ship.sh`.", "--project", "get", "--subject", "project:get",
        "--attribute", "deploy", "--value", "bash ship.sh", "--why", "npm skips migrations",
        "--how", "from the root", "--condition", "production", "--context", "release", "--about", "billing",
        "--sensitivity", "personal", "--expires", "2999-01-01", "--evidence-file", str(evidence),
        "--task", "t1", "--message-index", "7",
    )  # fmt: skip
    assert {"outcome", "id", "version", "reason", "run"} <= set(made)
    assert made["outcome"] == "active"
    record = shared.json("get", made["id"])
    assert set(record) >= RECORD
    assert record["how_to_apply"] == "from the root"
    assert record["conditions"] == "production"
    assert record["expires_at"].startswith("2999-01-01")
    (source,) = record["sources"]
    assert (source["task"], source["message_index"]) == ("t1", 7)
    assert source["evidence"] == "from now on, ship with the script"
    shown = shared.run("get", made["id"]).out
    for piece in (
        "Deploy billing with `bash ship.sh`.",
        "npm skips migrations",
        made["id"],
        "project:get / deploy",
    ):
        assert piece in shown


def test_standard_input_keeps_text_out_of_the_command_line(shared: Home) -> None:
    made = shared.add("-", "--project", "stdin", given="账单服务用脚本部署。\n".encode())
    assert shared.json("get", made["id"])["content"] == "账单服务用脚本部署。"


@pytest.mark.parametrize("given", [b"", b" \n", b"a\x00b", b"\xff\xfe", b"x" * 3_000_000])
def test_unusable_standard_input_is_a_usage_error(shared: Home, given: bytes) -> None:
    error = shared.error(
        "add", "-", "--kind", "fact", "--scope", "private", "--source", "user:me", status=2, given=given
    )
    assert error["code"] == "text_unusable"


def test_the_same_claim_merges_and_a_correction_supersedes(shared: Home) -> None:
    claim = ("--project", "merge", "--subject", "project:merge", "--attribute", "manager")
    first = shared.add("Use pnpm.", *claim, "--value", "pnpm", "--source", "conversation:a")
    again = shared.add("The manager is pnpm.", *claim, "--value", "pnpm", "--source", "conversation:b")
    assert (again["outcome"], again["id"]) == ("merged", first["id"])
    new = shared.add("Use npm.", *claim, "--value", "npm", "--correct")
    assert new["outcome"] == "superseded"
    assert shared.json("get", first["id"])["status"] == "superseded"


def test_deleted_text_is_refused_with_an_outcome_document_and_status_6(shared: Home) -> None:
    made = shared.add("The contractor Wexelblatt is paid on Mondays.", "--project", "del")
    gone = shared.json("delete", made["id"], "--yes", "--why", "wrong")
    assert gone["deleted"] == [made["id"]]
    assert {"tombstones", "run", "older_backups"} <= set(gone)
    again = shared.add("The contractor Wexelblatt is paid on Mondays.", "--project", "del", status=6)
    assert again["outcome"] == "refused"
    assert again["reason"]
    assert shared.error("get", made["id"], status=3)["code"] == "not_found"


def test_deleting_by_project_takes_all_of_it_and_nothing_else(shared: Home) -> None:
    kept = shared.add("Kept beside.", "--project", "beside")
    ids = [shared.add(f"Going {word}.", "--project", "going")["id"] for word in ("one", "two")]
    assert sorted(shared.json("delete", "--project", "going", "--yes")["deleted"]) == sorted(ids)
    assert shared.json("get", kept["id"])["status"] == "active"


def test_list_filters_pages_and_counts(shared: Home) -> None:
    for number in range(7):
        shared.add(f"Ticket {number} of the list.", "--project", "list")
    page = shared.json("list", "--project", "list", "--limit", "3", "--offset", "2")
    assert (len(page["items"]), page["total"]) == (3, 7)
    assert set(page["items"][0]) >= RECORD
    assert shared.json("list", "--project", "list", "--text", "TICKET 4")["total"] == 1
    assert shared.json("list", "--project", "list", "--kind", "policy")["total"] == 0
    lines = shared.run("list", "--project", "list")
    assert [line.partition("  ")[0] for line in lines.out.splitlines()] == [
        item["id"] for item in shared.json("list", "--project", "list")["items"]
    ]
    assert "\x1b" not in lines.out + lines.err


def test_edit_makes_a_version_and_history_shows_both(shared: Home) -> None:
    made = shared.add("Staging runs PostgreSQL 15.", "--project", "edit", "--why", "guess")
    after = shared.json(
        "edit",
        made["id"],
        "--content",
        "Staging runs PostgreSQL 16.",
        "--clear",
        "why",
        "--reason",
        "upgrade",
    )
    assert (after["version"], after["content"], after["why"]) == (2, "Staging runs PostgreSQL 16.", None)
    past = shared.json("history", made["id"])
    assert [version["version"] for version in past["versions"]] in ([1, 2], [2, 1])
    assert any(event["reason"] == "upgrade" for event in past["events"])
    assert "Staging runs PostgreSQL 15." in shared.run("history", made["id"]).out
    stale = shared.error("edit", made["id"], "--why", "late", "--version", "1", status=7)
    assert stale["code"] == "illegal_transition"


def test_disabling_and_verifying_change_the_state_not_the_claim(shared: Home) -> None:
    made = shared.add("The alarm is tested on Fridays.", "--project", "state")
    assert shared.json("disable", made["id"])["status"] == "disabled"
    assert shared.json("recall", "alarm tested Fridays", "--project", "state")["results"] == []
    assert shared.json("enable", made["id"])["status"] == "active"
    checked = shared.json("verify", made["id"])
    assert checked["verified_at"]
    assert checked["version"] == 1
    assert shared.error("enable", made["id"], status=7)["code"] == "illegal_transition"


def test_recall_answers_with_reasons_and_nothing_is_an_answer(shared: Home) -> None:
    shared.add("Invoices are numbered per calendar year.", "--project", "ask")
    answer = shared.json("recall", "how are invoices numbered", "--project", "ask")
    assert {"results", "took_ms", "mode"} <= set(answer)
    found = answer["results"][0]
    keys = {
        "id",
        "version",
        "kind",
        "scope",
        "project",
        "content",
        "score",
        "sources",
        "trust",
        "verify_first",
        "why",
    }
    assert set(found) >= keys
    shown = shared.run("recall", "how are invoices numbered", "--project", "ask")
    assert shown.out.startswith("1. Invoices are numbered per calendar year.")
    assert found["id"] in shown.out
    nothing = shared.run("recall", "zyzzyva quetzal", "--project", "ask")
    assert (nothing.status, nothing.out) == (0, "")
    assert "Nothing relevant" in nothing.err


def test_an_absent_id_is_not_found_everywhere(shared: Home) -> None:
    ident = "01890a5d-ac96-774b-bcce-b302099a8057"
    for args in (
        ("get", ident), ("history", ident), ("edit", ident, "--why", "x"), ("verify", ident),
        ("disable", ident), ("enable", ident), ("confirm", ident), ("reject", ident, "--yes"),
        ("run", "show", ident), ("rollback", ident),
    ):  # fmt: skip
        assert shared.error(*args, status=3)["code"] == "not_found", args


EVIL = "Remember: \x1b]52;c;ZXZpbA==\x07 \x1b[31mred\x1b[0m \u202egnp.exe [@click=app.quit]press[/]"


def test_stored_text_cannot_speak_to_a_terminal(shared: Home) -> None:
    made = shared.add(EVIL, "--why", EVIL, "--project", "p\x1b[2J")
    commands = (
        ("list",), ("get", made["id"]), ("history", made["id"]), ("recall", "remember press"), ("inbox",),
        ("runs",), ("export", "-"), ("export", "-", "--format", "markdown"), ("run", "show", made["run"]),
    )  # fmt: skip
    for args in commands:
        for more in ((), ("--json",)):
            if args[-1] == "markdown" and not more:
                continue
            done = shared.run(*args, *more)
            assert done.status == 0, done
            assert not {"\x1b", "\x07", "\u202e"} & set(done.out + done.err), args
        seen = shared.on_terminal(*args, "--no-color").out
        assert not {"\x1b", "\x07", "\u202e"} & set(seen), args
    assert shared.json("get", made["id"])["content"] == EVIL


def test_colours_only_where_a_person_looks_and_wants_them(shared: Home) -> None:
    shared.add("Colours are for people.", "--project", "colour")
    args = ("list", "--project", "colour")
    assert "\x1b[" in shared.on_terminal(*args).out
    assert "\x1b" not in shared.on_terminal(*args, env={"NO_COLOR": "1"}).out
    assert "\x1b" not in shared.on_terminal(*args, "--no-color").out
    assert "\x1b" not in shared.run(*args).out


def test_a_narrow_terminal_cuts_claims_and_keeps_ids(shared: Home) -> None:
    made = shared.add("部署前先跑一遍冒烟测试，" * 12 + "完。", "--project", "narrow")
    from wcwidth import wcswidth

    seen = shared.on_terminal("list", "--project", "narrow", "--no-color", env={"COLUMNS": "80"}).out
    lines = [line for line in seen.replace("\r", "").split("\n") if line]
    assert made["id"] in seen
    assert all(wcswidth(line) <= 80 for line in lines), lines


def test_quiet_leaves_the_bare_id(shared: Home) -> None:
    args = (
        "add",
        "Quietly kept.",
        "--kind",
        "fact",
        "--scope",
        "private",
        "--source",
        "user:me",
        "--project",
        "quiet",
    )
    done = shared.run(*args, "--quiet")
    (item,) = shared.json("list", "--project", "quiet")["items"]
    assert (done.out, done.err) == (item["id"] + "\n", "")


def test_json_is_one_document_in_utf8(shared: Home) -> None:
    shared.add("中文内容。", "--project", "utf8")
    done = shared.run(
        "list", "--project", "utf8", "--json", env={"LANG": "C", "PYTHONUTF8": "0"}, exec_it=True
    )
    assert json.loads(done.out)["items"][0]["content"] == "中文内容。"
    assert "中文内容" in done.out
