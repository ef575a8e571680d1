"""SPEC 6, row by row from the top: what a new claim does to the known ones. Names quote the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.gate.compare import Comparison, Verdict, compare
from memvault.model import Authority, Claim, Draft, Kind, Record, Scope, Source, SourceType, Status

NOW = "2026-06-01T00:00:00.000Z"
TODAY, YESTERDAY, WEEKS_AGO = NOW, "2026-05-31T00:00:00.000Z", "2026-03-01T00:00:00.000Z"
SAME_ATTRIBUTE = {"subject": "project:p", "attribute": "deploy"}
BARE: dict[str, Any] = {"subject": None, "attribute": None}


def said(
    ref: str = "a", evidence: str | None = None, at: str = YESTERDAY, kind: str = "conversation"
) -> Source:
    return Source(SourceType(kind), ref, evidence=evidence, observed_at=at)


ME = said("cli", kind="user")
ME_NOW = replace(ME, observed_at=NOW)
CHAT_A, CHAT_B = said("a"), said("b", at=NOW)


def claim(value: str | None = "npm", content: str | None = None, **more: Any) -> Claim:
    fields = {"kind": Kind.FACT, "scope": Scope.PRIVATE, **SAME_ATTRIBUTE, **more}
    return Claim(content=content or f"Deploy with {value}.", value=value, **fields)


def known(
    found: Claim,
    *sources: Source,
    authority: Authority = Authority.USER_CONFIRMED,
    status: str = "active",
    id_: str = "id",
    **more: Any,
) -> Record:
    at = "2026-01-01T00:00:00.000Z"
    return Record(id_, 1, found, sources or (ME,), authority, 0.9, Status(status), at, at, **more)


def weigh(
    new: Claim,
    *others: Record,
    source: Source = ME_NOW,
    authority: Authority = Authority.USER_CONFIRMED,
    correct: bool = False,
) -> Comparison:
    return compare(Draft(new, (source,)), authority, others, correct=correct, at=NOW)


def verdict(new: Claim, *others: Record, **how: Any) -> Verdict:
    return weigh(new, *others, **how).verdict


# ------------------------------------------------------------------ same claim (same value, or a paraphrase)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (claim("npm", "Deploy by npm."), claim("NPM.", "We use NPM")),
        (claim("npm", "用 npm 部署"), claim("npm", "部署一律走 npm")),
        (claim(None, "Deploy with npm", **BARE), claim(None, "please deploy WITH npm.", **BARE)),
        (claim(None, "部署用 npm。", **BARE), claim(None, "请部署用npm", **BARE)),
        (claim(None, "Deploy with npm"), claim("npm", "Deploy with npm.")),
    ],
)
def test_same_claim_same_value_or_a_paraphrase_is_one_record(one: Claim, other: Claim) -> None:
    assert verdict(other, known(one), source=CHAT_B) is Verdict.MERGE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Deploy with npm", "Do not deploy with npm"),
        ("Deploy with npm", "Never deploy with npm"),
        ("部署用 npm", "部署不用 npm"),
        ("The build takes 5 minutes", "The build takes 6 minutes"),
        ("构建要 5 分钟", "构建要 6 分钟"),
        ("Ada reviews the code of Bob", "Bob reviews the code of Ada"),
        ("小王审小李的代码", "小李审小王的代码"),
        ("Ask Ada about billing", "Ask Eva about billing"),
        ("Keep the port at -1", "Keep the port at 1"),
        ("Use the C++ style", "Use the C style"),
        ("Plan A is in force", "Plan B is in force"),
    ],
)
def test_merging_without_subject_and_attribute_needs_equal_numbers_names_and_negations(
    one: str, other: str
) -> None:
    assert verdict(claim(None, other, **BARE), known(claim(None, one, **BARE))) is Verdict.NEW


def test_a_claim_without_condition_agrees_with_its_sibling_that_has_one() -> None:
    split = [
        known(claim("npm", conditions="tests"), CHAT_A, id_="1"),
        known(claim("sh", conditions="production"), CHAT_A, id_="2"),
    ]
    found = weigh(claim("sh"), *split)
    assert (found.verdict, found.others[0].id) == (Verdict.MERGE, "2")
    assert weigh(claim("npm", conditions="tests"), *split).others[0].id == "1"
    assert verdict(claim("npm", conditions="staging"), *split) is Verdict.NEW


# ---------------------------------------------------------------------------- explicit correction by the user


def test_explicit_correction_by_the_user_replaces_whatever_the_authority() -> None:
    assert verdict(claim("sh"), known(claim("npm")), correct=True) is Verdict.SUPERSEDE
    strong = known(claim("npm"), authority=Authority.FILE)
    assert verdict(claim("sh"), strong, correct=True) is Verdict.SUPERSEDE
    assert verdict(claim("sh"), correct=True) is Verdict.NEW


def test_an_explicit_correction_decides_an_open_conflict() -> None:
    sides = [
        known(claim("npm"), CHAT_A, status="conflict", id_="1"),
        known(claim("sh"), CHAT_B, status="conflict", id_="2"),
    ]
    found = weigh(claim("make"), *sides, correct=True)
    assert (found.verdict, len(found.others)) == (Verdict.SUPERSEDE, 2)
    assert verdict(claim("sh"), *sides) is Verdict.MERGE, "agreeing with a side is no verdict"
    assert verdict(claim("make"), *sides) is Verdict.CONTRADICT, "a third value joins the conflict"


# -------------------------------------------------------- different value, sources of different authority


def test_different_authority_the_higher_wins_whoever_came_first() -> None:
    low, high = Authority.DOCUMENT, Authority.USER_CONFIRMED
    assert verdict(claim("sh"), known(claim(), CHAT_A, authority=low), authority=high) is Verdict.SUPERSEDE
    assert verdict(claim("sh"), known(claim()), source=CHAT_B, authority=low) is Verdict.YIELD
    claims_to_replace = said("b", "from now on we use sh instead of npm", NOW)
    assert verdict(claim("sh"), known(claim()), source=claims_to_replace, authority=low) is Verdict.YIELD


# ------------------------------------------- different value, same origin, or a source that says it replaces


def test_same_origin_the_same_persons_explicit_statements_the_later_wins() -> None:
    assert verdict(claim("sh"), known(claim("npm"))) is Verdict.SUPERSEDE
    earlier = replace(ME, observed_at=WEEKS_AGO)
    assert verdict(claim("sh"), known(claim("npm")), source=earlier) is Verdict.YIELD


def test_same_origin_the_same_document_the_later_wins() -> None:
    page = said("notes.md#a", kind="import")
    other = said("notes.md#b", at=NOW, kind="import")
    doc = Authority.DOCUMENT
    old = known(claim(), page, authority=doc)
    assert verdict(claim("sh"), old, source=other, authority=doc) is Verdict.SUPERSEDE
    elsewhere = said("other.md#b", at=NOW, kind="import")
    assert verdict(claim("sh"), old, source=elsewhere, authority=doc) is Verdict.CONTRADICT


@pytest.mark.parametrize(
    "evidence",
    [
        "from next week the project uses the script",
        "Use sh instead of npm.",
        "we no longer deploy with npm",
        "We switched to the script.",
        "这个项目从下周起改用脚本",
        "不再用 npm 了",
        "部署换成脚本",
    ],
)
def test_a_later_source_that_says_it_replaces_wins(evidence: str) -> None:
    old = known(claim("npm run deploy"), CHAT_A)
    new = claim("bash sh", "Deploy with bash sh.")
    found = weigh(new, old, source=said("b", evidence, NOW))
    assert (found.verdict, found.review) == (Verdict.SUPERSEDE, False)
    before = weigh(new, old, source=said("b", evidence, WEEKS_AGO))
    assert before.verdict is Verdict.YIELD, "an earlier source cannot replace a later one"


def test_an_earlier_claim_yields_to_the_one_whose_source_says_it_replaced_it() -> None:
    standing = known(claim("sh"), said("b", "改用 sh,不再用 npm", YESTERDAY))
    old_news = said("c", at="2026-05-30T00:00:00.000Z")
    assert verdict(claim("npm"), standing, source=old_news) is Verdict.YIELD


def test_for_preferences_any_later_explicit_statement_wins() -> None:
    old = known(claim(kind=Kind.PREFERENCE), CHAT_A)
    assert verdict(claim("sh", kind=Kind.PREFERENCE), old) is Verdict.SUPERSEDE
    assert verdict(claim("sh"), known(claim(), CHAT_A)) is Verdict.CONTRADICT, "facts need more than that"
    heard = verdict(claim("sh", kind=Kind.PREFERENCE), old, source=CHAT_B)
    assert heard is Verdict.CONTRADICT, "what was merely heard is no explicit statement"


# ---------------------------------------------------- different value, evidence names different conditions


@pytest.mark.parametrize(
    ("evidence", "mine", "theirs"),
    [
        ("production by script, tests by command", "production", "tests"),
        ("生产用脚本、测试用命令", "生产", "测试"),
        ("Use bash deploy.sh for production and npm for tests.", "production", "tests"),
        ("测试环境用 npm run deploy,生产环境用 bash deploy.sh。", "生产环境", "测试环境"),
    ],
)
def test_evidence_names_different_conditions_both_active_the_condition_written_into_each(
    evidence: str, mine: str, theirs: str
) -> None:
    old = known(claim("npm run deploy"), CHAT_A)
    found = weigh(claim("bash deploy.sh"), old, source=said("b", evidence, NOW))
    assert found.verdict is Verdict.SPLIT
    assert (found.condition, [c for _, c in found.apart]) == (mine, [theirs])


def test_the_evidence_of_what_is_known_can_name_the_conditions_too() -> None:
    old = known(claim("bash deploy.sh"), said("a", "production by script, tests by command"))
    found = weigh(claim("npm run deploy"), old, source=CHAT_B)
    assert (found.verdict, found.condition, found.apart[0][1]) == (Verdict.SPLIT, "tests", "production")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("In production deploy with npm.", "For tests, deploy with sh."),
        ("生产环境用 npm 部署", "测试环境用 sh 部署"),
    ],
)
def test_two_claims_that_each_name_their_own_place_stand_side_by_side(one: str, other: str) -> None:
    found = weigh(claim("sh", other), known(claim("npm", one), CHAT_A), source=CHAT_B)
    assert found.verdict is Verdict.SPLIT


def test_the_place_that_is_itself_the_value_is_no_condition() -> None:
    one, other = claim("testing", "部署到 testing 环境"), claim("staging", "部署到 staging 环境")
    assert verdict(other, known(one, CHAT_A), source=CHAT_B) is Verdict.CONTRADICT


def test_a_weaker_source_cannot_put_a_condition_on_a_stronger_claim() -> None:
    found = weigh(
        claim("bash deploy.sh"),
        known(claim("npm run deploy")),
        source=said("b", "production by script, tests by command", NOW),
        authority=Authority.DOCUMENT,
    )
    assert found.verdict is Verdict.YIELD


def test_different_stated_conditions_stand_side_by_side() -> None:
    old = known(claim(conditions="production only"), CHAT_A)
    assert verdict(claim("sh", conditions="tests only"), old, source=CHAT_B) is Verdict.NEW
    assert verdict(claim("npm", conditions="tests only"), old, source=CHAT_B) is Verdict.NEW


# -------------------- same authority, different origins, the newer by at least 7 days and verified later


def test_the_newer_by_at_least_7_days_and_verified_later_supersedes_and_is_shown() -> None:
    found = weigh(claim("sh"), known(claim(), said("a", at=WEEKS_AGO)), source=CHAT_B)
    assert (found.verdict, found.review) == (Verdict.SUPERSEDE, True)
    six_days = known(claim(), said("a", at="2026-05-26T00:00:00.000Z"))
    assert verdict(claim("sh"), six_days, source=CHAT_B) is Verdict.CONTRADICT
    checked = known(claim(), said("a", at=WEEKS_AGO), verified_at=NOW)
    assert verdict(claim("sh"), checked, source=CHAT_B) is Verdict.CONTRADICT, "not verified later"
    assert verdict(claim("sh"), known(claim(), CHAT_A), source=said("b", at=WEEKS_AGO)) is Verdict.YIELD


def test_a_time_that_lies_ahead_does_not_make_newer() -> None:
    far = said("b", at="2036-01-01T00:00:00.000Z")
    assert verdict(claim("sh"), known(claim(), CHAT_A), source=far) is Verdict.CONTRADICT


# ---------------------------------- nothing in the sources says which: conflict; other scope or project: none


@pytest.mark.parametrize(("one", "other"), [("npm", "sh"), ("命令", "脚本")])
def test_same_authority_different_origins_and_nothing_says_which_is_a_conflict(one: str, other: str) -> None:
    assert verdict(claim(other), known(claim(one), CHAT_A), source=CHAT_B) is Verdict.CONTRADICT


@pytest.mark.parametrize("place", [{"scope": Scope.TEAM}, {"project": "beta"}])
def test_different_scope_or_project_no_conflict(place: dict[str, Any]) -> None:
    old = known(claim("npm", project="alpha"), CHAT_A)
    for value in ("npm", "sh"):
        new = claim(value, **{"project": "alpha", **place})
        assert verdict(new, old, source=CHAT_B, correct=value == "sh") is Verdict.NEW


WORDS = st.sampled_from(
    [
        "deploy",
        "部署",
        "with",
        "用",
        "npm",
        "sh",
        "not",
        "不",
        "5",
        "6",
        "production",
        "生产",
        "instead",
        "of",
        "改用",
    ]
)


@given(st.lists(WORDS, min_size=1), st.lists(WORDS, min_size=1), st.booleans(), st.sampled_from(Authority))
def test_two_facts_about_different_attributes_never_retire_each_other_however_similar_their_text(
    one: list[str], other: list[str], correct: bool, authority: Authority
) -> None:
    old = known(claim("npm", " ".join(one), attribute="deploy"), CHAT_A)
    new = claim("npm", " ".join(other), attribute="test runner")
    same_text = claim("npm", " ".join(one), attribute="test runner")
    for found in (new, same_text):
        assert verdict(found, old, source=CHAT_B, correct=correct, authority=authority) is Verdict.NEW


# ---------------------------------------------------------------------------------------- states and reasons


@pytest.mark.parametrize("status", ["candidate", "superseded", "deleted"])
def test_what_waits_or_was_replaced_has_no_say(status: str) -> None:
    assert verdict(claim(), known(claim(), status=status)) is Verdict.NEW
    assert verdict(claim("sh"), known(claim(), status=status), correct=True) is Verdict.NEW


@pytest.mark.parametrize("status", ["expired", "archived", "disabled"])
def test_what_rests_can_be_replaced_but_contradicts_nothing(status: str) -> None:
    assert verdict(claim("sh"), known(claim(), status=status)) is Verdict.SUPERSEDE
    assert verdict(claim("sh"), known(claim(), CHAT_A, status=status), source=CHAT_B) is Verdict.NEW
    strong = known(claim(), CHAT_A, status=status, authority=Authority.FILE)
    assert verdict(claim("sh"), strong, source=CHAT_B) is Verdict.NEW


def test_reasons_never_quote_the_claims() -> None:
    secret = claim("zanzibar", "The code is zanzibar.")
    for others in ([], [known(secret)], [known(replace(secret, value="quokka"), CHAT_A)]):
        for source in (CHAT_B, said("b", "zanzibar in production, quokka in tests", NOW)):
            reason = weigh(secret, *others, source=source).reason
            assert "zanzibar" not in reason
            assert "quokka" not in reason
