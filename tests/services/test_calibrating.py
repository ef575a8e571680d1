"""SPEC 8: at most 10 % of questions without an answer in the vault return anything: where that line lies."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.errors import Illegal, Usage, VaultDamaged
from memvault.recall import shift
from memvault.recall.query import Trial
from memvault.recall.shift import BOUND, GROUPS
from memvault.services import calibrating, trials
from memvault.services.calibrating import LABELLED, STEPS, UNLABELLED, Tried, rates, same, smallest, suggest
from memvault.services.trials import MOST, Asked
from memvault.store import settings
from memvault_models.language import language

ENGLISH, CHINESE = "where does the ferry leave", "渡轮从哪里开出"
NEAR_THE_LINE = "harbour invoices late with stamps"
THINGS = ("harbour", "kiln", "orchard", "foundry", "archive", "theatre", "quarry", "bakery", "dairy", "mill")


def own(holds: float, text: str = ENGLISH, *, finds: bool = True) -> Tried:
    return Tried(Asked(text, frozenset({"a"})), Trial(holds, ("a",) if finds else ("b",), ()))


def strange(holds: float, text: str = ENGLISH, named: tuple[str, ...] = ()) -> Tried:
    return Tried(Asked(text, frozenset()), Trial(holds, ("b",), named))


def spread(count: int, least: float, most: float, text: str = ENGLISH) -> list[Tried]:
    return [strange(least + (most - least) * at / (count - 1), text) for at in range(count)]


def fill(desk: Any, count: int = 40) -> None:
    for n in range(count):
        desk.add(f"The {THINGS[n % 10]} in town {n} pays its carrier {n * 7} crowns every Tuesday morning")
    desk.embed()


def tried(desk: Any, asked: list[Asked]) -> list[Tried]:
    return [calibrating.ask(desk.vault, one, desk.embedder.embed_query(one.text)) for one in asked]


def test_a_question_is_answered_up_to_its_shift_and_beyond_it_gets_what_it_names() -> None:
    named = Tried(Asked(ENGLISH, frozenset({"c"})), Trial(0.02, ("a", "b"), ("c",)))
    assert named.gets(0.02) == ("a", "b") and not named.found(0.02)
    assert named.gets(0.03) == ("c",) and named.found(0.03)
    sure = own(math.inf)
    assert all(sure.found(at) for at in STEPS)


def test_the_suggestion_is_the_smallest_shift_that_leaves_a_tenth_answered() -> None:
    asked = [*spread(100, -0.20, 0.0995), *[own(0.2)] * 50]
    found = suggest(asked, LABELLED)
    assert found is not None
    assert found.shifts == same(0.07), "ten of a hundred reach it"
    assert found.rates.answered is not None and found.rates.answered <= 0.10
    before = rates(asked, same(0.06)).answered
    assert before is not None and before > 0.10
    assert found.cost == 0.0


def test_what_a_suggestion_costs_is_what_the_line_keeps_back_of_the_answers() -> None:
    asked = [*[strange(0.05)] * 20, *[own(0.2)] * 90, *[own(0.03)] * 6, *[own(-0.2)] * 2]
    asked += [own(0.2, finds=False)] * 2
    found = suggest(asked, LABELLED)
    assert found is not None and found.shifts == same(0.06)
    assert found.cost == pytest.approx(0.08)
    shown = calibrating.report(asked, LABELLED, same(0.0))
    assert shown["suggested"]["dear"] and shown["suggested"]["cost"] == 0.08
    assert shown["current"] == {"shifts": same(0.0), "found": 0.96, "answered": 1.0}


def test_up_to_two_points_are_not_dear() -> None:
    asked = [*[strange(0.05)] * 20, *[own(0.2)] * 98, *[own(0.0)] * 2]
    assert not calibrating.report(asked, LABELLED, same(0.0))["suggested"]["dear"]


def test_without_labels_the_line_is_never_lowered_and_with_labels_it_may_be() -> None:
    asked = [*spread(100, -0.4, -0.2), *[own(0.2)] * 50]
    low, kept = suggest(asked, LABELLED), suggest(asked, UNLABELLED)
    assert low is not None and low.shifts == same(-BOUND)
    assert kept is not None and kept.shifts == same(0.0)


def test_nothing_is_suggested_where_no_shift_within_the_bounds_does() -> None:
    asked = [*[strange(math.inf)] * 2, *[strange(-1.0)] * 10, *[own(0.2)] * 20]
    assert suggest(asked, LABELLED) is None
    shown = calibrating.report(asked, LABELLED, same(0.0))
    assert shown["suggested"] is None and len(shown["rows"]) == len(STEPS)
    assert suggest([*[strange(-1.0, named=("x",))] * 10, own(0.2)], LABELLED) is None, (
        "named ones are answers"
    )


def test_languages_that_differ_clearly_get_a_shift_of_their_own() -> None:
    english = [*spread(60, -0.3, 0.0), *[own(0.2)] * 60]
    chinese = [*spread(60, -0.1, 0.12, CHINESE), *[own(0.2, CHINESE)] * 60]
    found = suggest([*english, *chinese], LABELLED)
    assert found is not None
    assert found.shifts["en"] == smallest(english, LABELLED)
    assert found.shifts["zh"] == smallest(chinese, LABELLED)
    assert found.shifts["zh"] - found.shifts["en"] >= calibrating.APART
    few = suggest([*english, *chinese[:49], *chinese[60:]], LABELLED)
    assert few is not None and len(set(few.shifts.values())) == 1, "fewer than fifty tell nothing"
    near = [*spread(60, -0.3, 0.02, CHINESE), *[own(0.2, CHINESE)] * 60]
    like = suggest([*english, *near], LABELLED)
    assert like is not None and len(set(like.shifts.values())) == 1


def test_the_report_tells_of_each_language_at_the_suggestion() -> None:
    asked = [*spread(60, -0.3, 0.0), *[own(0.2)] * 60, *[own(0.2, CHINESE)] * 3, strange(0.0, CHINESE)]
    rows = calibrating.report(asked, LABELLED, same(0.0))["languages"]
    assert [row["language"] for row in rows] == ["en", "zh"]
    assert (rows[0]["answerable"], rows[0]["unanswerable"], rows[1]["answerable"]) == (60, 60, 3)
    assert rows[1]["answered"] in (0.0, 1.0) and rows[1]["found"] == 1.0


@given(
    st.lists(st.tuples(st.floats(-1.0, 1.0), st.booleans(), st.booleans()), min_size=2, max_size=60),
)
def test_a_higher_line_never_answers_more(rows: list[tuple[float, bool, bool]]) -> None:
    asked = [own(holds, finds=finds) if mine else strange(holds) for holds, mine, finds in rows]
    for low, high in itertools.pairwise(STEPS):
        below, above = rates(asked, same(low)), rates(asked, same(high))
        assert (above.found or 0.0) <= (below.found or 0.0)
        assert (above.answered or 0.0) <= (below.answered or 0.0)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("nonsense", "line 3: not JSON"),
        ("[1]", "line 3: not a JSON object"),
        ('{"expects": []}', "line 3: `query`"),
        ('{"query": " ", "expects": []}', "line 3: `query`"),
        ('{"query": "a b", "expects": "x"}', "line 3: `expects`"),
        ('{"query": "a b", "expects": [1]}', "line 3: `expects`"),
        ('{"query": "a b"}', "line 3: `expects`"),
    ],
)
def test_bad_labels_are_named_by_line_and_never_by_text(line: str, reason: str) -> None:
    with pytest.raises(Usage) as refusal:
        trials.parse([json.dumps({"query": "secret word", "expects": []}), "", line])
    assert reason in refusal.value.message and "secret" not in refusal.value.message


def test_labels_are_ten_of_each_kind_at_least() -> None:
    some = [json.dumps({"query": f"q {n}", "expects": ["x"] if n < 9 else []}) for n in range(30)]
    with pytest.raises(Usage, match="9 questions with an answer"):
        trials.parse(some)
    assert len(trials.parse([*some, json.dumps({"query": "q", "expects": ["x", "y"]})])) == 31


def test_labels_that_expect_what_is_no_memory_are_refused_by_line(desk: Any) -> None:
    kept = desk.add("The ferry leaves from pier four").id
    asked = trials.parse(
        [json.dumps({"query": "pier", "expects": [kept]})] * 9
        + [json.dumps({"query": "pier", "expects": [kept, "gone"]})]
        + [json.dumps({"query": "pier", "expects": []})] * 10
    )
    with pytest.raises(Usage, match="what is no memory: line 10"):
        trials.check_ids(desk.vault, asked)
    trials.check_ids(desk.vault, [one for one in asked if one.line != 10])


def test_a_vault_of_few_memories_is_not_asked_about_itself(desk: Any) -> None:
    fill(desk, 19)
    with pytest.raises(Illegal, match="too few memories"):
        trials.own_questions(desk.vault)


def test_a_vault_is_asked_the_same_questions_every_time_and_at_most_so_many(desk: Any) -> None:
    fill(desk)
    asked = trials.own_questions(desk.vault)
    assert asked == trials.own_questions(desk.vault)
    mine = [one for one in asked if one.expects]
    assert len(mine) == 40 and not any(one.by_words for one in mine)
    background = [one for one in asked if not one.expects]
    assert len(background) == MOST and all(one.by_words for one in background)
    assert {language(one.text) for one in background} == {"en"}, "the languages of the vault"
    for n in range(8):
        desk.add(f"第{n}号仓库的钥匙放在前台抽屉里，每周二由值班人员负责清点和登记")
    texts = [one.text for one in trials.own_questions(desk.vault) if not one.expects]
    assert {language(text) for text in texts} == {"en", "zh"} and len(texts) == MOST


def test_half_of_the_informative_words_are_asked_for(desk: Any) -> None:
    analyse = desk.vault.analyser.query
    text = "The harbour crane lifts nine tonnes of gravel on a dry Tuesday"
    asked = trials.half(analyse(text), text).split()
    assert asked == ["harbour", "lifts", "tonnes", "dry"]
    assert trials.half(analyse("The harbour of it"), "The harbour of it") == ""
    chinese = "仓库钥匙放在前台抽屉值班人员负责清点登记"
    assert 0.4 <= len("".join(trials.half(analyse(chinese), chinese).split())) / len(chinese) <= 0.6


def test_what_is_measured_is_what_recall_then_does(desk: Any) -> None:
    """Each question is answered at a shift if, and only if, it was measured to be."""
    fill(desk)
    words = [
        NEAR_THE_LINE,
        "which moth ate the scarf",
        "kiln town 1 carrier pays",
        "where do the dairy cows graze",
    ]
    asked = [Asked(text, frozenset()) for text in words]
    seen: set[bool] = set()
    for one in tried(desk, asked):
        for at in (-0.15, -0.07, 0.0, 0.06, 0.15):
            calibrating.keep(desk.vault, same(at))
            got = bool(desk.recall(one.asked.text))
            assert got == bool(one.gets(at)), (one.asked.text, at, one.trial.holds)
            seen.add(got)
    assert seen == {True, False}


def test_a_measurement_does_not_depend_on_the_shift_in_use(desk: Any) -> None:
    fill(desk)
    asked = trials.own_questions(desk.vault)[::20]
    before = tried(desk, asked)
    calibrating.keep(desk.vault, same(0.1))
    for old, new in zip(before, tried(desk, asked), strict=True):
        assert new.trial.holds == pytest.approx(old.trial.holds, abs=1e-9)
        assert (new.trial.answer, new.trial.named) == (old.trial.answer, old.trial.named)


def test_measuring_teaches_the_vault_nothing_and_counts_as_no_use(desk: Any) -> None:
    fill(desk)
    asked = trials.own_questions(desk.vault)
    tried(desk, asked[:1])
    learned = desk.vault.index.learned()
    tried(desk, asked[:60])
    assert desk.vault.index.learned() == learned
    assert not any(desk.get(row["id"]).usage_count for row in desk.recall("harbour town 10 pays carrier"))


def test_a_shift_is_used_at_once_kept_over_a_restart_and_forgotten(desk: Any) -> None:
    fill(desk)
    question = NEAR_THE_LINE
    (one,) = tried(desk, [Asked(question, frozenset())])
    assert -BOUND < one.trial.holds < BOUND, "a question the bounds can decide"
    assert bool(desk.recall(question)) == (one.trial.holds >= 0.0)
    answer = calibrating.keep(desk.vault, {"en": BOUND, "zh": 0.02, "other": 0.0})
    assert answer["before"] == same(0.0)
    assert answer["shifts"] == {"en": BOUND, "zh": 0.02, "other": 0.0}
    assert desk.recall(question) == []
    desk.reopen()
    assert shift.by_group(desk.vault.index.shift) == answer["shifts"]
    assert desk.recall(question) == []
    calibrating.keep(desk.vault, same(-BOUND))
    assert desk.recall(question)
    calibrating.keep(desk.vault, same(0.0))
    assert settings.get(desk.vault.writer, f"shift:{desk.vault.model_id}") is None
    desk.reopen()
    assert shift.by_group(desk.vault.index.shift) == same(0.0)


def test_a_shift_belongs_to_the_model_it_was_measured_with(desk: Any) -> None:
    calibrating.keep(desk.vault, same(0.1))
    with desk.vault.writer.transaction():
        stored = settings.get(desk.vault.writer, f"shift:{desk.vault.model_id}")
        assert stored is not None
        settings.drop(desk.vault.writer, f"shift:{desk.vault.model_id}")
        settings.put(desk.vault.writer, "shift:another-model", stored)
    desk.reopen()
    assert shift.by_group(desk.vault.index.shift) == same(0.0)


@pytest.mark.parametrize("wrong", [0.16, -0.151, math.inf, math.nan])
def test_a_shift_out_of_bounds_is_refused(desk: Any, wrong: float) -> None:
    with pytest.raises(Usage, match="between"):
        calibrating.keep(desk.vault, {**same(0.0), "zh": wrong})
    assert shift.by_group(desk.vault.index.shift) == same(0.0)


@given(st.fixed_dictionaries({group: st.floats(-BOUND, BOUND) for group in GROUPS}))
def test_a_stored_shift_is_read_back(shifts: dict[Any, float]) -> None:
    found = shift.decode(shift.encode(shifts))
    assert found == {group: pytest.approx(value, abs=1e-4) for group, value in shifts.items()}
    assert all(abs(value) <= BOUND for value in found.values())


@given(st.binary(max_size=60) | st.sampled_from([b"[]", b"{}", b'{"en": 1e999, "zh": 0, "other": 0}', b"0"]))
def test_a_stored_shift_that_cannot_be_read_is_damage_and_nothing_else(stored: bytes) -> None:
    try:
        found = shift.decode(stored)
    except VaultDamaged:
        return
    assert all(abs(value) <= BOUND for value in found.values())


def test_why_says_that_the_line_was_moved(desk: Any) -> None:
    fill(desk)
    question = NEAR_THE_LINE
    calibrating.keep(desk.vault, same(BOUND))
    memory = desk.recall("The harbour in town 10 pays its carrier 70 crowns every Tuesday morning")[0]["id"]
    query = calibrating.query_of(
        desk.vault, calibrating.PERSON, calibrating.Question(question), desk.embedder.embed_query(question)
    )
    found = desk.vault.index.explain(query, lambda shelf: True, memory)
    assert found.verdict == "below_threshold" and "calibrated for this vault by +0.15" in found.reasons[0]
