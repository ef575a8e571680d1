"""gate explain and gate calibrate: what the gate answers, and how strict it is made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Home

LABELS = Path(__file__).parents[1] / "data" / "gate.jsonl"
PLAIN = "Lamps hang in halls."
"""A fact that the gate scores 0.55 for an agent: between two settings."""


def test_gate_explain_shows_the_four_scores_and_which_signals_fired(shared: Home) -> None:
    kept = shared.json("gate", "explain", "From now on always run the smoke test before a deploy.")
    assert set(kept["scores"]) == {"stable", "reusable", "sourced", "authorised"}
    assert kept["verdict"] == "hold" and kept["total"] >= kept["theta"] and kept["signals"]
    lost = shared.json("gate", "explain", "Maybe the build is slow today?")
    assert lost["verdict"] == "refuse" and lost["total"] < lost["theta"] and lost["reason"]


def test_gate_explain_shows_what_the_proposers_own_estimate_takes_off(shared: Home) -> None:
    text = "Customers pay in March."
    plain = shared.json("gate", "explain", text)
    assert (plain["estimate"], plain["chat"], plain["chat_model"]) == (None, None, "off")
    assert plain["scores"] == plain["rules"]
    doubted = shared.json("gate", "explain", text, "--estimate", "0.2", "0.9")
    assert doubted["estimate"] == {"stable": 0.2, "reusable": 0.9}
    assert doubted["scores"]["stable"] < doubted["rules"]["stable"] == plain["scores"]["stable"]
    assert doubted["scores"]["reusable"] == plain["scores"]["reusable"], "a high one raises nothing"
    shown = shared.run("gate", "explain", text, "--estimate", "0.2", "0.9")
    assert "the proposer's estimate" in shown.out and "by the rules alone" in shown.out
    assert shared.run("gate", "explain", text, "--estimate", "0.2", "1.9").status == 2


def test_gate_calibrate_prints_precision_and_recall_over_theta_and_suggests_one(shared: Home) -> None:
    found = shared.json("gate", "calibrate", str(LABELS))
    thetas = [row["theta"] for row in found["rows"]]
    assert thetas == sorted(thetas) and (thetas[0], thetas[-1]) == (0, 1)
    assert all(set(row) == {"theta", "precision", "recall", "kept"} for row in found["rows"])
    assert found["labels"] == len(LABELS.read_text("utf-8").splitlines())
    assert found["theta"] == 0.6 and found["rule"]
    suggested = found["suggested"]
    assert suggested["by"] == "recall" and suggested["precision"] >= 0.95
    assert suggested["recall"] == max(row["recall"] for row in found["rows"] if row["precision"] >= 0.95)
    assert found["current"]["kept"] == next(row["kept"] for row in found["rows"] if row["theta"] == 0.6)
    assert "set" not in found
    shown = shared.run("gate", "calibrate", str(LABELS))
    assert shown.status == 0
    assert "in use" in shown.out and "suggested" in shown.out and "Rule: the highest recall" in shown.out


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "there are no labels"),
        ("\n\n", "there are no labels"),
        ('{"text": "a", "keep": true}\nnot json\n{"text": "b"}\n', "line 2: not JSON; line 3: `keep`"),
        ('{"text": "a", "keep": true}\n', "says the same"),
    ],
)
def test_gate_calibrate_names_bad_lines_by_number_and_an_empty_file(
    shared: Home, tmp_path: Path, text: str, reason: str
) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(text)
    error = shared.error("gate", "calibrate", str(path), status=2)
    assert reason in error["message"] and error["hint"]


def test_gate_calibrate_refuses_what_is_no_file_of_text(shared: Home, tmp_path: Path) -> None:
    assert shared.run("gate", "calibrate", str(tmp_path / "none.jsonl")).status == 2
    assert shared.run("gate", "calibrate", str(tmp_path)).status == 2
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in shared.error("gate", "calibrate", str(tmp_path / "bytes.jsonl"), status=2)["message"]


def test_gate_calibrate_set_suggests_nothing_and_sets_nothing_where_nothing_passes(
    shared: Home, tmp_path: Path
) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(
        '{"text": "Maybe it rains today?", "keep": true}\n{"text": "See PR #4.", "keep": false}\n'
    )
    assert shared.json("gate", "calibrate", str(path))["suggested"] is None
    assert "no theta" in shared.error("gate", "calibrate", str(path), "--set", status=1)["message"]
    assert shared.json("gate", "explain", PLAIN)["theta"] == 0.6


def test_gate_calibrate_set_needs_a_person(shared: Home) -> None:
    done = shared.run(
        "gate", "calibrate", str(LABELS), "--set", env={"MEMVAULT_PASSPHRASE_FILE": "", "CLAUDECODE": "1"}
    )
    assert done.status == 4
    assert not (shared.path / "config.toml").exists()


def test_theta_is_set_in_config_toml_used_at_once_and_after_a_restart(fresh: Home, tmp_path: Path) -> None:
    config = fresh.path / "config.toml"
    config.write_text("# mine\n[gate]\ntheta = 0.9  # strict\n[lock]\nidle_minutes = 7\n")
    fresh.stop()
    fresh.json("unlock")
    assert fresh.json("gate", "explain", PLAIN)["theta"] == 0.9
    claim = "Customers pay in March."
    assert fresh.json("gate", "explain", claim)["verdict"] == "refuse"
    labels = tmp_path / "labels.jsonl"
    rows = [{"text": claim, "keep": True}, {"text": "Lamps hang in halls.", "keep": False}]
    labels.write_text("\n".join(map(json.dumps, rows)))
    found = fresh.json("gate", "calibrate", str(labels), "--set")
    theta = found["suggested"]["theta"]
    assert found["set"] == {"theta": theta, "before": 0.9} and 0.55 < theta < 0.9
    assert config.read_text() == f"# mine\n[gate]\ntheta = {theta}  # strict\n[lock]\nidle_minutes = 7\n"
    now = fresh.json("gate", "explain", claim)
    assert (now["theta"], now["verdict"]) == (theta, "hold"), "at once"
    fresh.stop()
    fresh.json("unlock")
    again = fresh.json("gate", "explain", claim)
    assert (again["theta"], again["verdict"]) == (theta, "hold"), "after a restart"
