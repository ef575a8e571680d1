"""audit verify: what the log proves."""

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
