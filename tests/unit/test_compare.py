"""SPEC 6: what a new claim does to the known ones, by structure alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memvault.gate.compare import Verdict, compare
from memvault.model import Authority, Claim, Draft, Kind, Record, Scope, Source, SourceType, Status

ME = Source(SourceType.USER, "cli")
CHAT_A, CHAT_B = Source(SourceType.CONVERSATION, "a"), Source(SourceType.CONVERSATION, "b")


def claim(value: str | None = "npm", content: str | None = None, **more: Any) -> Claim:
    fields = {"kind": Kind.FACT, "subject": "project:p", "attribute": "deploy", **more}
    return Claim(scope=Scope.PRIVATE, content=content or f"Deploy with {value}.", value=value, **fields)


def known(
    found: Claim, *sources: Source, authority: Authority = Authority.USER_CONFIRMED, status: str = "active"
) -> Record:
    at = "2026-01-01T00:00:00.000Z"
    return Record("id", 1, found, sources or (ME,), authority, 0.9, Status(status), at, at)


def verdict(
    new: Claim,
    *others: Record,
    source: Source = ME,
    authority: Authority = Authority.USER_CONFIRMED,
    correct: bool = False,
) -> Verdict:
    return compare(Draft(new, (source,)), authority, others, correct=correct).verdict


def test_nothing_known_makes_a_new_memory() -> None:
    assert verdict(claim()) is Verdict.NEW


def test_the_same_value_in_other_words_is_the_same_claim() -> None:
    assert verdict(claim("npm", "We use NPM"), known(claim("npm", "Deploy by npm."))) is Verdict.MERGE
    assert verdict(claim("NPM."), known(claim("npm"))) is Verdict.MERGE


def test_without_subject_and_attribute_only_equal_text_is_the_same_claim() -> None:
    bare = {"subject": None, "attribute": None}
    first = claim(None, "Deploy with npm", **bare)
    assert verdict(claim(None, "deploy WITH npm.", **bare), known(first)) is Verdict.MERGE
    assert verdict(claim(None, "Do not deploy with npm", **bare), known(first)) is Verdict.NEW


def test_an_explicit_correction_replaces() -> None:
    assert verdict(claim("sh"), known(claim("npm")), correct=True) is Verdict.SUPERSEDE
    assert verdict(claim("sh"), correct=True) is Verdict.NEW


def test_the_higher_authority_wins_whoever_came_first() -> None:
    low, high = Authority.DOCUMENT, Authority.USER_CONFIRMED
    assert verdict(claim("sh"), known(claim(), CHAT_A, authority=low), authority=high) is Verdict.SUPERSEDE
    assert verdict(claim("sh"), known(claim()), source=CHAT_A, authority=low) is Verdict.YIELD


def test_of_one_origin_the_later_statement_wins() -> None:
    assert verdict(claim("sh"), known(claim("npm"))) is Verdict.SUPERSEDE
    page = Source(SourceType.IMPORT, "notes.md#a")
    other = Source(SourceType.IMPORT, "notes.md#b")
    doc = Authority.DOCUMENT
    found = verdict(claim("sh"), known(claim(), page, authority=doc), source=other, authority=doc)
    assert found is Verdict.SUPERSEDE


def test_other_origins_of_one_authority_contradict() -> None:
    assert verdict(claim("sh"), known(claim(), CHAT_A), source=CHAT_B) is Verdict.CONTRADICT


def test_a_later_preference_of_the_person_wins_over_any_origin() -> None:
    old = known(claim(kind=Kind.PREFERENCE), CHAT_A)
    assert verdict(claim("sh", kind=Kind.PREFERENCE), old) is Verdict.SUPERSEDE


def test_different_stated_conditions_stand_side_by_side() -> None:
    old = known(claim(conditions="production only"), CHAT_A)
    assert verdict(claim("sh", conditions="tests only"), old, source=CHAT_B) is Verdict.NEW
    assert verdict(claim("npm", conditions="tests only"), old, source=CHAT_B) is Verdict.NEW


@pytest.mark.parametrize("status", ["candidate", "superseded", "deleted"])
def test_what_waits_or_was_replaced_has_no_say(status: str) -> None:
    assert verdict(claim(), known(claim(), status=status)) is Verdict.NEW
    assert verdict(claim("sh"), known(claim(), status=status), correct=True) is Verdict.NEW


def test_a_conflict_can_be_agreed_with_but_is_not_replaced_by_a_new_claim() -> None:
    sides = [known(claim("npm"), CHAT_A, status="conflict"), known(claim("sh"), CHAT_B, status="conflict")]
    assert verdict(claim("sh"), *sides) is Verdict.MERGE
    assert verdict(claim("make"), *sides, correct=True) is Verdict.NEW


def test_reasons_never_quote_the_claims() -> None:
    secret = claim("zanzibar", "The code is zanzibar.")
    for others in ([], [known(secret)], [known(replace(secret, value="quokka"), CHAT_A)]):
        reason = compare(Draft(secret, (CHAT_B,)), Authority.USER_CONFIRMED, others, correct=False).reason
        assert "zanzibar" not in reason
        assert "quokka" not in reason
