"""Claims and sources as columns and as JSON: what goes in comes out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.errors import VaultDamaged
from memvault.model import Claim, Failure, Kind, Scope, Sensitivity, Source, SourceType
from memvault.store import codec

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
MAYBE = st.none() | TEXT
CLAIMS = st.builds(
    Claim,
    kind=st.sampled_from(Kind),
    scope=st.sampled_from(Scope),
    content=TEXT,
    project=MAYBE,
    subject=MAYBE,
    attribute=MAYBE,
    value=MAYBE,
    why=MAYBE,
    how_to_apply=MAYBE,
    conditions=MAYBE,
    context=MAYBE,
    about=MAYBE,
    sensitivity=st.sampled_from(Sensitivity),
    valid_from=MAYBE,
    valid_to=MAYBE,
    expires_at=MAYBE,
    failure=st.none() | st.builds(Failure, TEXT, TEXT, TEXT, TEXT, TEXT),
)
SOURCES = st.builds(
    Source,
    type=st.sampled_from(SourceType),
    ref=TEXT,
    task=MAYBE,
    message_index=st.none() | st.integers(0, 2**53),
    evidence=MAYBE,
    content_hash=MAYBE,
    observed_at=MAYBE,
)


@given(CLAIMS)
def test_a_claim_survives_columns_and_json(claim: Claim) -> None:
    assert codec.claim_from_values(tuple(codec.claim_values(claim))) == claim
    assert codec.claim_of(json.loads(codec.canonical(codec.plain_claim(claim)))) == claim


@given(SOURCES)
def test_a_source_survives_columns_and_json(source: Source) -> None:
    plain = json.loads(codec.canonical(codec.plain_source(source)))
    assert codec.source_of(plain) == source
    assert codec.source_of(dict(zip(codec.SOURCE_FIELDS, codec.source_values(source), strict=True))) == source


@given(st.dictionaries(TEXT, st.integers() | TEXT))
def test_canonical_json_does_not_depend_on_the_order_of_names(plain: dict[str, object]) -> None:
    turned = dict(reversed(list(plain.items())))
    assert codec.canonical(plain) == codec.canonical(turned)


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"kind": "rumour", "scope": "private", "sensitivity": "internal", "content": "x"},
        {
            "kind": "fact",
            "scope": "private",
            "sensitivity": "internal",
            "content": "x",
            "failure": {"odd": 1},
        },
        {"kind": "fact", "scope": "private", "sensitivity": "internal", "content": "x", "failure": 3},
    ],
)
def test_a_stored_claim_that_no_claim_can_be_is_damage(plain: dict[str, object]) -> None:
    with pytest.raises(VaultDamaged):
        codec.claim_of(plain)
