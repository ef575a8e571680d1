"""verify and inbox on the command line: what was looked at, what failed, and why something waits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Home

SAYS = "The queue of alpha is redis."


@pytest.fixture
def page(shared: Home, tmp_path: Path) -> Path:
    path = tmp_path / "queue.md"
    path.write_text(f"# Queue\n\n{SAYS}\n")
    return path


def cited(home: Home, page: Path, content: str) -> str:
    made = home.json(
        "add", content, "--kind", "fact", "--scope", "private", "--source", f"file:{page}", "--evidence", SAYS
    )
    assert made["outcome"] == "active", made
    return str(made["id"])


def test_verify_returns_the_record_and_what_was_looked_at(shared: Home, page: Path) -> None:
    memory = cited(shared, page, "Alpha queues in redis.")
    found = shared.json("verify", memory)
    assert (found["id"], found["verified"], found["authority"]) == (memory, True, "file")
    assert found["verified_at"]
    assert found["checks"] == [{"what": f"file {page}", "state": "ok", "detail": ""}]


def test_a_failed_check_waits_for_a_person_and_their_word_settles_it(shared: Home, page: Path) -> None:
    memory = cited(shared, page, "Alpha has its queue in redis.")
    page.write_text("# Queue\n\nThe queue is kafka.\n")
    found = shared.json("verify", memory, status=5)
    assert (found["verified"], found["verified_at"]) == (False, None)
    assert "needs_verification" in found["flags"]
    told = shared.run("verify", memory)
    assert told.status == 5
    assert "changed" in told.err
    assert "does not count as verified" in told.err
    found = shared.json("verify", memory, "--yes")
    assert (found["verified"], found["flags"]) == (True, [])


def test_a_fact_whose_file_is_gone_can_be_expired_at_once(shared: Home, page: Path) -> None:
    memory = cited(shared, page, "Redis is the queue of alpha.")
    page.unlink()
    assert shared.json("verify", memory, status=5)["may_expire"]
    assert shared.json("verify", memory, "--expire")["status"] == "expired"
    assert shared.error("verify", memory, "--yes", "--expire", status=2)["code"] == "usage"


def test_what_cannot_be_looked_at_is_verified_by_the_persons_word(shared: Home) -> None:
    memory = shared.add("Deploy gamma with `no-such-program --fast`.")["id"]
    found = shared.json("verify", memory)
    assert found["verified"]
    assert {check["state"] for check in found["checks"]} == {"unknown"}


def test_a_relative_reference_is_meant_from_where_the_command_runs(shared: Home) -> None:
    (shared.root / "notes.md").write_text(f"{SAYS}\n")
    memory = cited(shared, Path("notes.md"), "In alpha, redis is the queue.")
    (source,) = shared.json("get", memory)["sources"]
    assert source["ref"] == str(shared.root / "notes.md")
    assert source["content_hash"]


def test_the_inbox_says_why_each_entry_is_there(fresh: Home, tmp_path: Path) -> None:
    page = tmp_path / "queue.md"
    page.write_text(f"{SAYS}\n")
    doubtful = cited(fresh, page, "Alpha queues in redis.")
    soon = (datetime.now(UTC) + timedelta(days=5)).date().isoformat()
    ends = fresh.add("The trial of beta runs.", "--expires", soon)["id"]
    page.write_text("The queue is kafka.\n")
    fresh.json("verify", doubtful, status=5)
    items = {item["id"]: item["because"] for item in fresh.json("inbox")["items"]}
    assert items == {doubtful: "flagged", ends: "expiring"}
    shown = fresh.run("inbox").out.splitlines()
    assert shown[0] == "To be looked at"
    assert "Alpha queues in redis." in shown[1]
    assert shown[2] == "Ends or needs a new check soon"
    assert "(until 20" in shown[3]
