"""Labels are read whole or refused, naming the bad lines by number and never by their text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.errors import Usage
from memvault.gate.labels import NAMED, parse
from memvault.model import Kind, SourceType

GOOD = {"text": "Use pnpm.", "keep": True, "kind": "preference", "source": "user"}
BAD = {"text": "It is raining.", "keep": False}


def lines(*rows: dict[str, Any]) -> list[str]:
    return [json.dumps(row) for row in rows]


def test_a_label_is_a_claim_as_an_agent_would_propose_it() -> None:
    first, second, third = parse(
        [*lines(GOOD, BAD), "", *lines({**GOOD, "source_type": "tool", "lang": "en"})]
    )
    assert (first.draft.claim.kind, first.draft.sources[0].type, first.keep) == (
        Kind.PREFERENCE, SourceType.USER, True,
    )  # fmt: skip
    assert (second.draft.claim.kind, second.draft.sources[0].type) == (Kind.FACT, SourceType.CONVERSATION)
    assert third.draft.sources[0].type is SourceType.USER


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a JSON object"),
        ("7", "not a JSON object"),
        ('{"keep": true}', "`text`"),
        ('{"text": " ", "keep": true}', "`text`"),
        ('{"text": "secret-word"}', "`keep`"),
        ('{"text": "secret-word", "keep": 1}', "`keep`"),
        ('{"text": "secret-word", "keep": true, "kind": "rumour"}', "`kind`"),
        ('{"text": "secret-word", "keep": true, "kind": []}', "`kind`"),
        ('{"text": "secret-word", "keep": true, "source": "radio"}', "`source`"),
    ],
)
def test_a_bad_line_is_named_by_its_number_and_not_by_its_text(line: str, reason: str) -> None:
    with pytest.raises(Usage, match="line 3: ") as refusal:
        parse([*lines(GOOD, BAD), line])
    assert reason in refusal.value.message
    assert "secret-word" not in refusal.value.message


def test_many_bad_lines_are_counted() -> None:
    with pytest.raises(Usage, match=rf"line {NAMED}: .*; and 3 more"):
        parse(["x"] * (NAMED + 3))


@pytest.mark.parametrize(("given_lines", "reason"), [([], "no labels"), (["", "  "], "no labels")])
def test_an_empty_file_is_refused(given_lines: list[str], reason: str) -> None:
    with pytest.raises(Usage, match=reason):
        parse(given_lines)


@pytest.mark.parametrize("row", [GOOD, BAD])
def test_labels_that_all_say_the_same_are_refused(row: dict[str, Any]) -> None:
    with pytest.raises(Usage, match="says the same"):
        parse(lines(row, row))


@given(st.lists(st.text(max_size=40), max_size=6))
def test_whatever_a_file_holds_it_is_read_or_refused(found: list[str]) -> None:
    try:
        labels = parse(found)
    except Usage:
        return
    assert labels
