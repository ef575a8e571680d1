"""tombstones list and lift: what keeps deleted memories out, without any of their text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Home

TEXT = "The zanzibar gate opens on the first Monday."
ALIKE = "Please note that the zanzibar gate really opens on the first Monday."


def test_a_tombstone_is_listed_lifted_and_then_the_text_may_be_written_again(fresh: Home) -> None:
    assert fresh.json("tombstones", "list") == {"items": [], "total": 0}
    assert "Nothing was deleted" in fresh.run("tombstones", "list").err
    made = fresh.add(TEXT)
    gone = fresh.json("delete", made["id"], "--yes")
    assert gone["tombstones"] == 1
    listed = fresh.json("tombstones", "list")
    (item,) = listed["items"]
    assert listed["total"] == 1
    assert (item["memory"], item["run"], item["by_source"]) == (made["id"], gone["run"], False)
    shown = fresh.run("tombstones", "list").out
    assert item["id"] in shown
    assert "zanzibar" not in shown + str(listed)

    refused = fresh.add(TEXT, status=6)
    assert item["id"] in refused["reason"], "a person is told what to lift"
    held = fresh.add(ALIKE, status=5)
    assert held["outcome"] == "candidate"
    assert held["reason"].startswith("resembles something you deleted")
    (waits,) = fresh.json("inbox")["items"]
    assert waits["flags"] == ["resembles_deleted"]
    assert "resembles deleted" in fresh.run("get", held["id"]).out

    lifted = fresh.json("tombstones", "lift", item["id"])
    assert lifted["lifted"] == [item["id"]]
    assert fresh.error("tombstones", "lift", item["id"], status=3)["code"] == "not_found"
    assert fresh.error("tombstones", "lift", "1234", status=3)["code"] == "not_found"
    assert fresh.error("rollback", lifted["run"], status=7)["code"] == "illegal_transition"
    assert fresh.add(TEXT)["outcome"] == "active"


def test_a_deleted_source_is_listed_apart_and_lifting_it_opens_it(shared: Home) -> None:
    source = ("--source", "conversation:chat-41", "--project", "stones")
    made = shared.add("The quarry bell rings at noon.", *source)
    shared.json("delete", "--source", "conversation:chat-41", "--yes")
    refused = shared.add("The quarry is closed in winter.", *source, status=6)
    items = shared.json("tombstones", "list")["items"]
    stone = next(item for item in items if item["memory"] is None)
    assert stone["by_source"]
    assert stone["id"] in refused["reason"]
    assert {"by_source": True, "memory": made["id"]}.items() <= items[1].items()
    assert "a source or session" in shared.run("tombstones", "list").out
    assert shared.run("tombstones", "lift", stone["id"]).out == f"lifted {stone['id']}\n"
    assert shared.add("The quarry is closed in winter.", *source)["outcome"] == "active"
