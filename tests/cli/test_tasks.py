"""task open, note, done, reopen, show, list, close: the contract of SPEC 14 for notes of running tasks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from memvault.cli.tasks import NOTE_KINDS
from memvault.model import NoteKind

if TYPE_CHECKING:
    from conftest import Home

SOURCE = {"type": "conversation", "ref": "chat-7"}


def test_the_kinds_are_those_of_the_model() -> None:
    assert tuple(NoteKind) == NOTE_KINDS


def test_a_task_from_opening_to_closing(fresh: Home) -> None:
    assert fresh.json("task", "list") == {"items": [], "total": 0}
    assert "No task is open" in fresh.run("task", "list").err
    opened = fresh.json("task", "open", "Move the mill", "--task", "mill-7")
    assert (opened["title"], opened["task"], opened["resumed"]) == ("Move the mill", "mill-7", False)
    assert fresh.json("task", "open", "Move the mill", "--task", "mill-7")["resumed"] is True

    noted = fresh.json("task", "note", "mill-7", "Grease the axle.", "--kind", "todo")
    assert (noted["outcome"], noted["note"], noted["state"]) == ("noted", 1, "open")
    piped = fresh.json("task", "note", opened["id"], "-", "--kind", "finding", given="轴是橡木的。".encode())
    assert (piped["note"], piped["text"], piped["state"]) == (2, "轴是橡木的。", "noted")
    assert fresh.json("task", "done", "mill-7", "1")["state"] == "done"
    assert fresh.json("task", "done", "mill-7", "1")["outcome"] == "done_already"
    assert fresh.run("task", "note", "mill-7", "grease the axle", "--kind", "todo").out == "1  done already\n"
    again = fresh.json("task", "reopen", "mill-7", "1", "--why", "it squeaks")
    assert (again["state"], again["steps"][-1]["why"]) == ("reopened", "it squeaks")

    shown = fresh.run("task", "show", "mill-7").out
    for text in ("Move the mill", "mill-7", "Grease the axle.", "轴是橡木的。", "reopened", "it squeaks"):
        assert text in shown
    listed = fresh.run("task", "list").out
    assert "2 notes, 1 open" in listed
    (item,) = fresh.json("task", "list")["items"]
    assert (item["id"], item["notes"], item["open"]) == (opened["id"], 2, 1)

    closed = fresh.run("task", "close", "mill-7")
    assert (closed.status, closed.out) == (0, "closed, 2 notes erased\n")
    assert fresh.error("task", "show", "mill-7", status=3)["code"] == "not_found"
    assert fresh.json("list") == {"items": [], "total": 0}


def test_closing_keeps_conclusions_from_a_file_or_standard_input(shared: Home) -> None:
    keep = [
        {"content": "The mill turns clockwise.", "kind": "fact", "scope": "private", "project": "keeping",
         "source": SOURCE},
        {"content": "The sails need 4 men.", "kind": "fact", "scope": "private", "project": "keeping",
         "source": {"type": "file", "ref": "notes.md"}},
    ]  # fmt: skip
    (shared.root / "notes.md").write_text("The sails need 4 men.\n")
    shared.json("task", "open", "Keeping", "--task", "keeping")
    raw = json.dumps(keep).encode()
    closed = shared.json("task", "close", "keeping", "--keep", "-", given=raw)
    assert [one["outcome"] for one in closed["kept"]] == ["active", "active"], "a proof makes it a person's"
    ref = shared.json("get", closed["kept"][1]["id"])["sources"][0]
    assert (ref["ref"], ref["task"]) == (str(shared.root / "notes.md"), "keeping")
    (shared.root / "keep.json").write_bytes(raw)
    shared.json("task", "open", "Keeping", "--task", "keeping")
    done = shared.run("task", "close", "keeping", "--keep", str(shared.root / "keep.json"))
    assert done.out.count("merged") == 2


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"{}", "no list"),
        (b"[1]", "no list"),
        (b'[{"content": "x"}]', "missing"),
        (b'[{"content": "x", "kind": "fact", "scope": "private", "source": {"type": "file"}}]', "ref"),
        (b'[{"content": "x", "kind": "fact", "scope": "private", "loud": 1}]', "loud"),
        (b" " * 262_145, "limit"),
    ],
)
def test_conclusions_that_are_none_are_a_usage_error_and_close_nothing(
    shared: Home, given: bytes, named: str
) -> None:
    shared.json("task", "open", "Odd", "--task", "odd")
    error = shared.error("task", "close", "odd", "--keep", "-", status=2, given=given)
    assert named in error["message"]
    assert shared.json("task", "show", "odd")["title"] == "Odd"


def test_bad_requests_have_the_status_of_their_kind(shared: Home) -> None:
    shared.json("task", "open", "Statuses", "--task", "statuses")
    shared.json("task", "note", "statuses", "The axle is oak.", "--kind", "decision")
    assert shared.error("task", "show", "nothing", status=3)["message"] == "no such task"
    assert shared.error("task", "done", "statuses", "9", status=3)["code"] == "not_found"
    assert shared.error("task", "done", "statuses", "1", status=7)["code"] == "illegal_transition"
    assert shared.error("task", "note", "statuses", "x", status=2)["code"] == "usage"
    assert shared.error("task", "reopen", "statuses", "1", status=2)["code"] == "usage"
    assert shared.error("task", "close", "statuses", "--keep", "/nonexistent/k", status=2)["code"] == "usage"
    token = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
    refused = shared.error("task", "note", "statuses", f"The token is {token}.", "--kind", "todo", status=6)
    assert token not in str(refused)


def test_adding_to_task_scope_points_to_the_notes(shared: Home) -> None:
    error = shared.error(
        "add", "Half done.", "--kind", "fact", "--scope", "task", "--source", "user:me", status=2
    )
    assert "memvault task note" in error["hint"]


def test_no_note_acts_on_the_terminal(fresh: Home) -> None:
    fresh.json("task", "open", "Title \x1b]52;c;ZXZpbA==\x07", "--task", "evil")
    fresh.json("task", "note", "evil", "Red \x1b[31m and \u202e turned.", "--kind", "todo")
    for command in (("task", "show", "evil"), ("task", "list"), ("task", "show", "evil", "--json")):
        out = fresh.run(*command).out
        assert "\x1b" not in out
        assert "\u202e" not in out
