"""SPEC 9, "Must hold" of budgets: for any vault and any budget, over the pure part."""

from __future__ import annotations

import hashlib
import random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memvault.compile.entry import Entry
from memvault.compile.fit import NO_ROOM, POLICIES_FIRST, Pack, Rank, assemble
from memvault.compile.lines import FRAME, TITLES, ZONES
from memvault.compile.plan import Material, Plan, plan
from memvault.compile.stable import Held
from memvault.compile.task import Mode, Task
from memvault.compile.tokens import Count, cost, estimate
from memvault.model import Authority, Kind, Status

pytestmark = pytest.mark.slow

NOW = "2026-03-10T09:00:00.000Z"

KINDS = list(Kind)
texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=120).filter(
    lambda text: bool(text.strip())
)
words = st.lists(
    st.sampled_from(
        ("deploy", "never", "3000", "billing", "Ada", "部署", "不要", "must", "`ship.sh`", "yesterday")
    ),
    min_size=1,
    max_size=60,
).map(" ".join)


@st.composite
def memories(draw: st.DrawFn) -> tuple[Any, ...]:
    return (
        draw(st.sampled_from(KINDS)),
        draw(st.one_of(words, texts)),
        draw(st.sampled_from([None, "user", "project:app", "服务"])),
        draw(st.sampled_from(["style", "port", "constraint"])),
        draw(st.sampled_from([None, "app"])),
        draw(st.sampled_from([None, "1", "2"])),
        draw(st.sampled_from(list(Authority))),
        draw(st.booleans()),
        draw(st.floats(0, 1)),
        draw(st.booleans()),
    )


def build(entry: Any, number: int, made: tuple[Any, ...], status: Status = Status.ACTIVE) -> Entry:
    kind, content, subject, attribute, project, value, authority, stale, score, verified = made
    about = {} if subject is None else {"subject": subject, "attribute": attribute, "value": value}
    return entry(
        number, content, kind, project=project, authority=authority, stale=stale, verify_first=stale,
        score=score, status=status, verified_at=NOW if verified else None, **about,
    )  # fmt: skip


def material(entry: Any, every: list[tuple[Any, ...]], split: int, pairs: int) -> Material:
    """A vault: some memories stand, some are recalled, some contradict each other, all may be indexed."""
    found = [build(entry, number, made) for number, made in enumerate(every)]
    standing = [one for one in found if one.record.claim.kind in (Kind.POLICY, Kind.PREFERENCE)]
    conflicts = [
        tuple(
            build(entry, 1_000 + 2 * at + side, every[at % len(every)], Status.CONFLICT) for side in range(2)
        )
        for at in range(pairs if every else 0)
    ]
    return Material(
        now=NOW,
        standing=tuple(standing),
        recalled=tuple(found[:split]),
        conflicts=tuple(conflicts),
        index=tuple(found),
    )


def packed(task: Task, found: Material, count: Count = estimate) -> tuple[Plan, Pack]:
    made = plan(task, found)
    return made, assemble(made.stable, made.units, task.budget, count, made.reasons)


def odd_count(text: str) -> int:
    """Another tokenizer, now above and now below the estimate."""
    return 1 + hashlib.sha256(text.encode()).digest()[0] * max(1, len(text)) // 300


vaults = st.tuples(st.lists(memories(), max_size=25), st.integers(0, 25), st.integers(0, 3))
modes = st.sampled_from(list(Mode)[:4])


@pytest.mark.parametrize("count", [estimate, odd_count], ids=["estimate", "other tokenizer"])
def test_the_pack_fits_for_any_vault_and_any_budget(entry: Any, count: Count) -> None:
    @settings(max_examples=70)
    @given(vaults, st.integers(0, 5_000), modes, st.booleans(), st.booleans())
    @example(([], 0, 0), 0, Mode.SCOPED, False, False)
    def check(vault: Any, budget: int, mode: Mode, strict: bool, fresh: bool) -> None:
        task = Task("x", mode, "app", verified_only=strict, fresh_only=fresh, budget=budget)
        made, pack = packed(task, material(entry, *vault), count)
        lines = tuple(pack.text.splitlines())
        assert cost(lines, count) == pack.tokens <= budget
        assert pack.text == "" or (pack.text.endswith("\n") and lines[0] == FRAME)
        index = next(lines for name, lines, _ in pack.zones if name == "index")
        if index:
            assert cost((TITLES["index"], *index), count) <= budget // 5
        for line in index:
            assert len(line) <= 150
        assert not set(pack.left_out) & set(pack.shown)
        every = {id_ for unit in made.units if unit.rank is not Rank.INDEX for id_ in unit.ids}
        every |= {id_ for placed in made.stable for id_ in placed.unit.ids}
        assert every <= set(pack.shown) | set(pack.left_out), "what is not shown is reported"

    check()


def test_policies_are_never_dropped_for_anything_lesser(entry: Any) -> None:
    @settings(max_examples=70)
    @given(vaults, st.integers(0, 600), modes)
    def check(vault: Any, budget: int, mode: Mode) -> None:
        _, pack = packed(Task("x", mode, "app", budget=budget), material(entry, *vault))
        by_id = {one.id: one for one in material(entry, *vault).standing}
        policies = {id_ for id_, one in by_id.items() if one.record.claim.kind is Kind.POLICY}
        dropped = [id_ for id_ in policies if pack.left_out.get(id_) in (NO_ROOM, POLICIES_FIRST)]
        if dropped:
            lesser = {"hints", "index", "project", "audit", "preferences"}
            assert not [lines for name, lines, _ in pack.zones if name in lesser and lines], pack.text

    check()


def test_a_conflict_is_never_half_shown(entry: Any) -> None:
    @settings(max_examples=70)
    @given(vaults, st.integers(0, 900), modes)
    def check(vault: Any, budget: int, mode: Mode) -> None:
        found = material(entry, *vault)
        _, pack = packed(Task("x", mode, "app", budget=budget), found)
        for sides in found.conflicts:
            seen = [side.id in pack.shown for side in sides]
            assert all(seen) or not any(seen)

    check()


def test_the_stable_bytes_are_the_same_for_different_objectives_and_packs_are_deterministic(
    entry: Any,
) -> None:
    @settings(max_examples=70)
    @given(vaults, st.integers(0, 3_000), modes, st.integers(0, 25), st.randoms(use_true_random=False))
    def check(vault: Any, budget: int, mode: Mode, other: int, shuffler: random.Random) -> None:
        every, split, pairs = vault
        task = Task("x", mode, "app", budget=budget)
        found = material(entry, every, split, pairs)
        _, one = packed(task, found)
        assert packed(task, found)[1] == one
        _, two = packed(Task("something else", mode, "app", budget=budget), material(entry, every, other, 0))
        assert one.stable_text == two.stable_text
        assert one.stable_hash == two.stable_hash
        assert one.text.startswith(one.stable_text)
        mixed = list(found.standing)
        shuffler.shuffle(mixed)
        again = Material(
            now=NOW,
            standing=tuple(mixed),
            recalled=found.recalled,
            conflicts=found.conflicts,
            index=found.index,
        )
        assert packed(task, again)[1].text == one.text

    check()


def test_nothing_enters_the_stable_zone_of_a_session_that_it_did_not_hold(entry: Any) -> None:
    @given(vaults, st.integers(200, 3_000), st.sets(st.integers(0, 25)))
    def check(vault: Any, budget: int, chosen: set[int]) -> None:
        found = material(entry, *vault)
        held = tuple(Held(one.id, 1, False) for at, one in enumerate(found.standing) if at in chosen)
        later = Material(now=NOW, standing=found.standing, recalled=found.recalled, held=held)
        made = plan(Task("x", Mode.CONTINUITY, "app", budget=budget), later)
        inside = {id_ for placed in made.stable for id_ in placed.unit.ids}
        assert inside <= {one.id for one in held}

    check()


def test_zones_come_in_one_order_and_the_text_is_their_lines(entry: Any) -> None:
    every = [
        entry(n, f"Memory {n} of a kind.", kind, project="app", score=0.5) for n, kind in enumerate(KINDS)
    ]
    named = entry(20, "A name for the index.", subject="a", attribute="b")
    standing = tuple(one for one in every if one.record.claim.kind in (Kind.POLICY, Kind.PREFERENCE))
    _, pack = packed(
        Task("x", Mode.CONTINUITY, "app", budget=2_000),
        Material(now=NOW, standing=standing, recalled=tuple(every), index=(named,)),
    )
    assert tuple(name for name, _, _ in pack.zones) == ZONES
    rebuilt = [FRAME]
    for name, lines, _ in pack.zones:
        rebuilt += [TITLES[name], *lines] if lines else []
    assert pack.text == "\n".join(rebuilt) + "\n"
    filled = {name for name, lines, _ in pack.zones if lines}
    assert filled == {"policy", "preferences", "project", "working set", "hints", "index"}


def test_the_index_holds_names_never_the_content(entry: Any) -> None:
    every = [entry(n, f"The secret sentence {n}.", subject=f"topic {n}", attribute="x") for n in range(40)]
    _, pack = packed(Task("x", Mode.SCOPED, budget=1_000), Material(now=NOW, standing=(), index=tuple(every)))
    assert "topic 0 / x" in pack.text
    assert "secret sentence" not in pack.text
    assert pack.shown == ()


def test_a_long_claim_is_left_out_and_reported_rather_than_cut(entry: Any) -> None:
    long = entry(1, "It must not be restarted. " * 100, score=0.9)
    _, pack = packed(Task("x", Mode.SCOPED, budget=5_000), Material(now=NOW, standing=(), recalled=(long,)))
    assert pack.text == ""
    assert "not safe to shorten" in pack.left_out[long.id]


def test_a_tight_budget_drops_reasons_before_claims_and_never_a_condition(entry: Any) -> None:
    rule = entry(
        1, "Do not deploy on 3 ports.", Kind.PREFERENCE, conditions="production only", why="it broke " * 20
    )
    full = packed(Task("x", Mode.SCOPED, budget=2_000), Material(now=NOW, standing=(rule,)))[1]
    assert "Why: it broke" in full.text
    seen: set[bool] = set()
    for budget in range(0, 400, 5):
        text = packed(Task("x", Mode.SCOPED, budget=budget), Material(now=NOW, standing=(rule,)))[1].text
        if text:
            assert "Do not deploy on 3 ports." in text
            assert "When: production only." in text
            seen.add("Why" in text)
    assert seen == {True, False}


def test_a_long_policy_that_does_not_fit_is_named_and_crowds_nothing_out(entry: Any) -> None:
    long_policy = entry(1, "Never restart a node by hand. " * 200, Kind.POLICY)
    fact = entry(2, "The gateway has a node.", score=0.9)
    found = Material(now=NOW, standing=(long_policy,), recalled=(fact,))
    _, pack = packed(Task("x", Mode.SCOPED, budget=400), found)
    assert f"read {long_policy.id} in full before you act" in pack.text
    assert "Never restart" not in pack.text
    assert "The gateway has a node." in pack.text
    _, whole = packed(Task("x", Mode.SCOPED, budget=8_000), found)
    assert whole.text.count("Never restart") == 200


def test_constraints_beyond_their_share_wait_for_what_is_relevant(entry: Any) -> None:
    about = {"attribute": "constraint", "project": "app"}
    binding = [
        entry(n, f"Rule {n} of the build holds here. " * 3, subject=f"s{n}", **about) for n in range(30)
    ]
    fact = entry(99, "The gateway listens on port 8080.", project="app", score=0.7)
    found = Material(now=NOW, standing=tuple(binding), recalled=(fact,))
    _, pack = packed(Task("gateway port", Mode.SCOPED, "app", budget=600), found)
    assert fact.id in pack.shown
    steady = sum(
        one.id in pack.stable_text or one.record.claim.content.strip() in pack.stable_text for one in binding
    )
    assert 0 < steady < sum(one.id in pack.shown for one in binding), "room that is left is used"


def test_a_memory_is_shown_or_named_in_the_index_never_both(entry: Any) -> None:
    @settings(max_examples=40)
    @given(vaults, st.integers(0, 2_000), modes)
    def check(vault: Any, budget: int, mode: Mode) -> None:
        found = material(entry, *vault)
        _, pack = packed(Task("x", mode, "app", budget=budget), found)
        named = next(ids for name, _, ids in pack.zones if name == "index")
        assert not set(named) & set(pack.shown)

    check()


def test_what_the_budget_has_no_room_for_is_still_named(entry: Any) -> None:
    every = [
        entry(n, "Told at length. " * 12, subject=f"topic {n}", attribute="x", project="app", score=0.5)
        for n in range(9)
    ]
    found = Material(now=NOW, standing=(), recalled=tuple(every), index=tuple(every))
    _, pack = packed(Task("x", Mode.SCOPED, "app", budget=600), found)
    named = next(ids for name, _, ids in pack.zones if name == "index")
    rest = [one.id for one in every if one.id not in pack.shown]
    assert pack.shown
    assert len(named) >= 2
    assert list(named) == rest[: len(named)]
