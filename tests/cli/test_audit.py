"""audit verify and gate explain: what the log proves, and what the gate answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Home


def test_audit_verify_counts_the_events_of_a_whole_chain(shared: Home) -> None:
    shared.json(
        "add", "The audit looks at this.", "--kind", "fact", "--scope", "private", "--source", "user:a"
    )
    answer = shared.json("audit", "verify")
    assert answer["ok"] and answer["events"] >= 1 and answer["broken_at"] is None


def test_gate_explain_shows_the_four_scores_and_which_signals_fired(shared: Home) -> None:
    kept = shared.json("gate", "explain", "From now on always run the smoke test before a deploy.")
    assert set(kept["scores"]) == {"stable", "reusable", "sourced", "authorised"}
    assert kept["verdict"] == "hold" and kept["total"] >= kept["theta"] and kept["signals"]
    lost = shared.json("gate", "explain", "Maybe the build is slow today?")
    assert lost["verdict"] == "refuse" and lost["total"] < lost["theta"] and lost["reason"]
