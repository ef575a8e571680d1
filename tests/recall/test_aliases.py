"""Asking for one name of a thing finds the other, once, for less, and only where the caller may know it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.recall import Shelf
from memvault.recall.aliases import Aliases, Group
from memvault.recall.query import Query

MINE = Shelf("private", "alpha", 1, "current")
OTHER = Shelf("private", "beta", 1, "current")


def mine(shelf: Shelf) -> bool:
    return shelf == MINE


def ask(desk: Any, names: Aliases, text: str, allow: Callable[[Shelf], bool] = lambda _: True) -> list[Any]:
    plain: Query = desk.query(text, vector=False, threshold=0.0)
    query = replace(plain, terms=names.expand(text, plain.terms, desk.analyser, allow))
    return desk.index.search(query, allow, 10)


def test_a_question_for_one_name_finds_the_other_and_says_so(desk: Any) -> None:
    desk.put("a", "The Kubernetes cluster is upgraded on Mondays.", vectors=False)
    desk.put("b", "The kitchen is cleaned on Fridays.", vectors=False)
    assert ask(desk, Aliases(known=()), "k8s") == []
    (hit,) = ask(desk, Aliases(), "k8s")
    assert hit.id == "a"
    assert "words: k8s (Kubernetes)" in hit.reasons


def test_both_names_count_once_and_the_name_asked_for_counts_more(desk: Any) -> None:
    desk.put("other", "The Kubernetes board meets on Mondays quietly", vectors=False)
    desk.put("asked", "The k8s board meets on Mondays quietly", vectors=False)
    desk.put("both", "The k8s Kubernetes board meets on Mondays", vectors=False)
    scores = {hit.id: hit.lexical for hit in ask(desk, Aliases(), "k8s")}
    assert scores["both"] == scores["asked"] > scores["other"] > 0.7 * scores["asked"]


def test_names_of_several_words_work_both_ways_and_need_all_their_words(desk: Any) -> None:
    desk.put("short", "The CI takes ten minutes.", vectors=False)
    desk.put("long", "Our continuous integration takes ten minutes.", vectors=False)
    desk.put("half", "The integration of the kitchen takes ten minutes.", vectors=False)
    assert {hit.id for hit in ask(desk, Aliases(), "CI")} == {"short", "long"}
    found = {hit.id: hit for hit in ask(desk, Aliases(), "continuous integration")}
    assert found["long"].lexical > found["short"].lexical > found["half"].lexical
    assert "words: continuous integration (CI)" in found["short"].reasons


def test_names_in_chinese_text_and_plurals_are_recognised(desk: Any) -> None:
    names = Aliases(known=(("海燕", "部署平台"), ("repo", "repository")))
    desk.put("zh", "部署平台每晚重启", vectors=False)
    desk.put("en", "Every repository has an owner.", vectors=False)
    assert [hit.id for hit in ask(desk, names, "海燕什么时候重启")] == ["zh"]
    assert [hit.id for hit in ask(desk, names, "repos")] == ["en"]


def test_names_of_two_groups_are_not_joined(desk: Any) -> None:
    names = Aliases(known=(("PR", "pull request"), ("PR", "public relations")))
    desk.put("a", "Every pull request needs a reviewer.", vectors=False)
    assert ask(desk, names, "public relations") == []
    assert [hit.id for hit in ask(desk, names, "PR")] == ["a"]


def test_a_name_that_the_question_says_itself_is_not_asked_for_twice(desk: Any) -> None:
    terms = desk.analyser.query("Kubernetes k8s")
    assert Aliases().expand("Kubernetes k8s", terms, desk.analyser, mine) == terms


def test_what_a_foreign_memory_taught_changes_nothing_for_a_caller(desk: Any) -> None:
    desk.put("a", "The Falcon is restarted on Mondays.", MINE, vectors=False)
    names = Aliases()
    before = ask(desk, names, "billing desk Falcon", mine), ask(desk, names, "billing desk", mine)
    for shelf in (OTHER, replace(MINE, sensitivity=3), replace(MINE, pool="waiting")):
        names.learn("m", shelf, [("billing desk", "Falcon")])
        assert (
            ask(desk, names, "billing desk Falcon", mine),
            ask(desk, names, "billing desk", mine),
        ) == before
    names.settle([Group("s", "set", ("billing desk", "Falcon"), "beta")], frozenset())
    assert ask(desk, names, "billing desk", mine) == before[1] == []
    names.learn("m", MINE, [("billing desk", "Falcon")])
    assert [hit.id for hit in ask(desk, names, "billing desk", mine)] == ["a"]
    names.forget("m")
    assert ask(desk, names, "billing desk", mine) == []


def test_a_pair_or_a_name_that_was_switched_off_counts_no_more(desk: Any) -> None:
    desk.put("a", "Kubernetes listens on 5432.", vectors=False)
    names = Aliases(b"key")
    assert ask(desk, names, "k8s")
    for off in (names.print_of("kubernetes", "K8s"), names.print_of("k8s")):
        names.settle([], frozenset([off]))
        assert ask(desk, names, "k8s") == []
        assert ask(desk, names, "Kubernetes")
    names.settle([], frozenset())
    assert ask(desk, names, "k8s")


def test_nothing_is_left_after_clearing(desk: Any) -> None:
    names = Aliases()
    names.learn("m", MINE, [("billing desk", "Falcon")])
    names.clear()
    assert names.every() == []
    terms = desk.analyser.query("billing desk")
    assert names.expand("billing desk", terms, desk.analyser, lambda _: True) is terms


WORDS = st.sampled_from(
    ["the", "billing", "port", "kubernetesish", "xk8s", "部署", "平台", "red", "integration"]
)


@given(st.lists(WORDS, max_size=8).map(" ".join))
@settings(max_examples=50)
def test_a_question_without_a_known_name_keeps_its_terms(new_desk: Any, text: str) -> None:
    desk = new_desk()
    names = Aliases()
    names.learn("m", MINE, [("billing desk", "Falcon"), ("部署平台台", "海燕")])
    terms = desk.analyser.query(text)
    assert names.expand(text, terms, desk.analyser, lambda _: True) is terms
