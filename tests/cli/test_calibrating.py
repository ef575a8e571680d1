"""models calibrate: how many questions get an answer, rightly and wrongly, and where the line is put."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memvault.cli.calibrating import check_worth
from memvault.errors import MemvaultError

if TYPE_CHECKING:
    from conftest import Home

THINGS = ("harbour", "kiln", "orchard", "foundry", "archive", "theatre", "quarry", "bakery", "dairy", "mill")
NEAR_THE_LINE = "harbour invoices late with stamps"
"""Answered by a little: a shift of a tenth leaves nothing."""
SHIPPED = {"en": 0.0, "zh": 0.0, "other": 0.0}


def fill(home: Home) -> dict[str, str]:
    """Text -> id of twenty memories."""
    note = home.root / "town.md"
    lines = [
        f"The {THINGS[n % 10]} in town {n} pays its carrier {n * 7} crowns every Tuesday" for n in range(20)
    ]
    note.write_text("# Town\n\n" + "".join(f"- {line}\n" for line in lines))
    home.json("import", "markdown", str(note), "--scope", "private")
    found = home.json("list", "--limit", "50")["items"]
    return {next(line for line in lines if line in item["content"]): item["id"] for item in found}


@pytest.fixture
def labels(fresh: Home, tmp_path: Path) -> Iterator[Path]:
    """Questions that are answered, and ten that have none: some come near, as the one near the line does."""
    kept = list(fill(fresh).items())
    path = tmp_path / "labels.jsonl"
    rows: list[dict[str, Any]] = [
        {"query": text.replace(" every Tuesday", ""), "expects": [memory]} for text, memory in kept
    ]
    rows += [{"query": NEAR_THE_LINE, "expects": []}] * 4
    rows += [{"query": f"which moth ate velvet scarf number {n}", "expects": []} for n in range(8)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    yield path


def test_calibrate_shows_the_curve_suggests_a_shift_and_set_keeps_it(fresh: Home, labels: Path) -> None:
    found = fresh.json("models", "calibrate", str(labels))
    assert found["labelled"] and (found["answerable"], found["unanswerable"]) == (20, 12)
    shifts = [row["shift"] for row in found["rows"]]
    assert shifts == sorted(shifts) and (shifts[0], shifts[-1]) == (-0.15, 0.15)
    assert found["current"]["shifts"] == SHIPPED
    assert found["current"]["answered"] == round(4 / 12, 4) and found["current"]["found"] == 1.0
    wanted = found["suggested"]
    assert wanted["answered"] == 0.0 and wanted["shifts"]["en"] > 0.0 and not wanted["dear"]
    assert fresh.json("recall", NEAR_THE_LINE)["results"], "only shown"
    shown = fresh.run("models", "calibrate", str(labels))
    assert shown.status == 0 and "Suggested: shift +0.0" in shown.out and "in use" in shown.out
    assert "Rule: the smallest shift" in shown.out
    kept = fresh.run("models", "calibrate", str(labels), "--set")
    assert kept.status == 0 and "In use from now on" in kept.out
    assert fresh.json("recall", NEAR_THE_LINE)["results"] == [], "at once"
    assert "calibrated for this vault" in fresh.run("why", NEAR_THE_LINE, _first(labels)).out


def _first(labels: Path) -> str:
    return json.loads(labels.read_text().splitlines()[0])["expects"][0]


def test_what_is_set_survives_lock_and_restart_until_it_is_reset(fresh: Home, labels: Path) -> None:
    fresh.json("models", "calibrate", str(labels), "--set")
    set_to = fresh.json("models", "calibrate", str(labels))["current"]["shifts"]
    assert set_to["en"] > 0.0
    fresh.json("lock")
    fresh.json("unlock")
    assert fresh.json("models", "calibrate", str(labels))["current"]["shifts"] == set_to
    fresh.stop()
    fresh.json("unlock")
    assert fresh.json("recall", NEAR_THE_LINE)["results"] == []
    back = fresh.json("models", "calibrate", "--reset")
    assert back["before"] == set_to and back["shifts"] == SHIPPED
    assert fresh.json("recall", NEAR_THE_LINE)["results"]


def test_without_labels_the_vault_is_asked_about_itself(fresh: Home) -> None:
    fill(fresh)
    found = fresh.json("models", "calibrate")
    assert not found["labelled"] and (found["answerable"], found["unanswerable"]) == (20, 200)
    assert [row["language"] for row in found["languages"]] == ["en"]
    assert found["suggested"]["shifts"]["en"] >= 0.0 and found["suggested"]["answered"] <= 0.075
    assert fresh.json("models", "calibrate")["rows"] == found["rows"], "the same again"


@pytest.mark.parametrize(
    ("labelled", "dear", "shift", "refused"),
    [
        (False, True, 0.05, True),
        (False, False, 0.05, False),
        (True, True, 0.05, False),
        (False, True, 0.0, False),
    ],
)
def test_what_is_dear_by_stand_ins_alone_is_not_set(
    labelled: bool, dear: bool, shift: float, refused: bool
) -> None:
    suggested = {"dear": dear, "cost": 0.3, "shifts": dict.fromkeys(SHIPPED, shift)}
    with pytest.raises(MemvaultError, match=r"keep back 30\.0 %") if refused else contextlib.nullcontext():
        check_worth({"labelled": labelled}, suggested)


def test_nothing_is_set_where_nothing_can_be_suggested(fresh: Home, labels: Path) -> None:
    """Questions that say a memory word for word are answered wherever the line lies."""
    rows = [json.loads(line) for line in labels.read_text().splitlines()]
    rows += [{"query": row["query"], "expects": []} for row in rows if row["expects"]]
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert fresh.json("models", "calibrate", str(labels))["suggested"] is None
    assert "No suggestion" in fresh.run("models", "calibrate", str(labels)).out
    assert "no shift" in fresh.error("models", "calibrate", str(labels), "--set", status=1)["message"]


def test_a_vault_of_few_memories_needs_labels(shared: Home) -> None:
    error = shared.error("models", "calibrate", status=7)
    assert "too few memories" in error["message"] and "labels" in error["hint"]


def test_only_a_person_moves_the_line(fresh: Home, labels: Path) -> None:
    for asked in (["--reset"], [str(labels), "--set"]):
        done = fresh.run(
            "models", "calibrate", *asked, env={"MEMVAULT_PASSPHRASE_FILE": "", "CLAUDECODE": "1"}
        )
        assert done.status == 4
    assert fresh.json("models", "calibrate", str(labels))["current"]["shifts"] == SHIPPED


def test_reset_stands_alone_and_bad_labels_are_named_by_line(shared: Home, tmp_path: Path) -> None:
    assert shared.run("models", "calibrate", "--set", "--reset").status == 2
    path = tmp_path / "labels.jsonl"
    path.write_text('{"query": "a", "expects": []}\nnot json\n')
    assert "line 2: not JSON" in shared.error("models", "calibrate", str(path), status=2)["message"]
    assert shared.run("models", "calibrate", str(tmp_path / "none.jsonl")).status == 2
