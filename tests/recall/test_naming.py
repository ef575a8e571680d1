"""Structured match (SPEC 8): which (subject, attribute) a question names, and that it names no more."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from memvault.recall import Analyser, Shelf
from memvault.recall.naming import Labels, Names

PAIRS = [
    ("api", "deploy_command"),
    ("api", "command"),
    ("billing", "database"),
    ("billing", "port"),
    ("person:Orla", "favourite drink"),
    ("person:Orla's father", "favourite drink"),
    ("user", "editor"),
    ("user", "favourite colour"),
    ("project", "package_manager"),
    ("支付服务", "数据库"),
    ("api", "部署命令"),
    ("reportService", "retryLimit"),
    ("k8s-cluster", "kubectl version"),
    ("C++", "compiler flags"),
    ("dog", "name"),
]
MINE = Shelf("private", "alpha", 1, "current")
THEIRS = Shelf("private", "beta", 1, "current")


class Board:
    """Names alone, with what asks them."""

    def __init__(self, pairs: list[tuple[str, str]] = PAIRS) -> None:
        self.analyser = Analyser(bytes(range(32)))
        self.labels = Labels(self.analyser)
        self.names = Names()
        self.pairs: list[tuple[str, str] | None] = []
        for pair in pairs:
            self.add(pair)

    def add(self, pair: tuple[str, str]) -> None:
        self.names.put(len(self.pairs), self.labels.named(*pair))
        self.pairs.append(pair)

    def drop(self, slot: int) -> None:
        self.names.drop([slot])
        self.pairs[slot] = None

    def ask(self, question: str, allowed: set[int] | None = None) -> tuple[set[int], bool]:
        mask = np.ones(len(self.pairs), np.bool_)
        if allowed is not None:
            mask[:] = False
            mask[list(allowed)] = True
        found = self.names.find(self.analyser.query(question), mask)
        return set(found.slots.tolist()), found.sure

    def pair(self, question: str) -> tuple[str, str] | None:
        slots, sure = self.ask(question)
        found = {self.pairs[slot] for slot in slots}
        return found.pop() if sure and len(found) == 1 else None


@pytest.mark.parametrize(
    ("question", "pair"),
    [
        ("what is the deploy command of the api?", ("api", "deploy_command")),
        ("API: deploy commands?", ("api", "deploy_command")),
        ("api.deploy_command", ("api", "deploy_command")),
        ("Which database does billing use?", ("billing", "database")),
        ("billing's port", ("billing", "port")),
        ("What is Orla's favourite drink?", ("person:Orla", "favourite drink")),
        ("the favourite drink of Orla's father", ("person:Orla's father", "favourite drink")),
        ("which editor do I use?", ("user", "editor")),
        ("what's my favourite colour", ("user", "favourite colour")),
        ("我的 editor 是什么", ("user", "editor")),
        ("which package manager do we use here?", ("project", "package_manager")),
        ("支付服务用的是什么数据库？", ("支付服务", "数据库")),
        ("api 的部署命令是什么", ("api", "部署命令")),
        ("what is the retry limit of the report service", ("reportService", "retryLimit")),
        ("retry_limit in ReportService", ("reportService", "retryLimit")),
        ("which compiler flags do we use for C++?", ("C++", "compiler flags")),
        ("What is the name of my dog?", ("dog", "name")),
    ],
)
def test_a_question_that_names_subject_and_attribute_is_taken_at_its_word(
    question: str, pair: tuple[str, str]
) -> None:
    assert Board().pair(question) == pair


@pytest.mark.parametrize(
    ("question", "pair"),
    [
        ("what is the deploy command?", ("api", "deploy_command")),
        ("部署命令是什么？", ("api", "部署命令")),
        ("数据库", ("支付服务", "数据库")),
        ("Which kubectl version do we use currently?", ("k8s-cluster", "kubectl version")),
        ("what compiler flags?", ("C++", "compiler flags")),
    ],
)
def test_the_subject_may_be_left_out_where_only_one_has_the_attribute(
    question: str, pair: tuple[str, str]
) -> None:
    assert Board().pair(question) == pair


@pytest.mark.parametrize(
    "question",
    [
        "how do I deploy the api?",
        "tell me about billing",
        "what is the favourite drink?",  # of two people
        "which port does the metrics exporter listen on?",  # billing's is another one
        "what database did the old intranet wiki run on?",
        "which editor does Anna like?",
        "who is the user of the project",
        "what is my cat called",
        "what's the name?",
        "the status of this ticket",
        "what is the",
        "",
    ],
)
def test_a_question_that_names_less_or_asks_for_more_names_nothing(question: str) -> None:
    assert Board().ask(question) == (set(), False)


def test_a_long_prompt_that_mentions_the_words_in_passing_names_nothing() -> None:
    prompt = (
        "Please refactor the invoice module: move the tax rules into a package, keep the billing tests"
        " green, add a migration for the new database column, update the changelog, and write down every"
        " assumption you made about rounding, currencies and holidays."
    )
    assert Board().ask(prompt) == (set(), False)


def test_the_longest_match_wins_and_equals_are_not_sure() -> None:
    board = Board([*PAIRS, ("web", "deploy_command")])
    assert board.pair("the deploy command of the api") == ("api", "deploy_command")
    slots, sure = board.ask("the deploy command of the api and of the web")
    assert ({board.pairs[slot] for slot in slots}, sure) == (
        {("api", "deploy_command"), ("web", "deploy_command")}, False,
    )  # fmt: skip
    assert board.ask("what is the deploy command?") == (set(), False)


def test_a_prompt_full_of_names_asks_for_none_of_them() -> None:
    board = Board([(f"alpha w{n}", f"beta v{n}") for n in range(40)])
    words = " ".join(f"w{n} v{n}" for n in range(20))
    assert board.ask(f"alpha beta {words}") == (set(), False)
    assert board.ask("the alpha w3 and its beta v3") == ({3}, True)


def test_two_spellings_of_one_pair_are_one_pair() -> None:
    board = Board([("api", "deploy_command"), ("API", "Deploy-Command"), ("service:api", "deployCommand")])
    assert board.ask("deploy command of the api") == ({0, 1, 2}, True)
    assert board.ask("deploy command") == ({0, 1, 2}, True)


@pytest.mark.parametrize(
    "pair",
    [
        ("", "port"),
        ("api", ""),
        ("api", "of the"),
        ("?", "port"),
        ("api", " ".join(f"w{n}" for n in range(30))),
    ],
)
def test_labels_without_words_or_with_a_sentence_of_them_are_never_named(pair: tuple[str, str]) -> None:
    board = Board([pair])
    assert board.ask(f"{pair[0]} {pair[1]}") == (set(), False)


def test_what_was_dropped_is_not_named_and_leaves_no_word_behind() -> None:
    board = Board([("api", "port"), ("api", "port"), ("web", "host")])
    board.drop(0)
    assert board.ask("port of the api") == ({1}, True)
    board.drop(1)
    assert board.ask("port of the api") == (set(), False)
    assert board.ask("host of the web") == ({2}, True)
    board.drop(2)
    for known in (board.names._subjects, board.names._attributes):
        assert not known.numbers
        assert not known.hanging
        assert not any(known.needs) and not any(known.covers)
    board.add(("web", "host"))
    assert board.ask("host of the web") == ({3}, True)


def test_names_follow_their_rows_when_these_are_put_in_another_order() -> None:
    board = Board()
    for slot in (0, 3, 9):
        board.drop(slot)
    order = np.array([slot for slot in range(len(PAIRS)) if slot not in (0, 3, 9)])[::-1]
    board.names.reorder(order)
    board.pairs = [board.pairs[slot] for slot in order.tolist()]
    assert board.pair("Which database does billing use?") == ("billing", "database")
    assert board.pair("api 的部署命令是什么") == ("api", "部署命令")
    board.add(("web", "host"))
    assert board.pair("host of the web") == ("web", "host")


def test_no_readable_word_is_kept() -> None:
    board = Board([("zanzibar", "quokka")])
    kept = [board.names._subjects, board.names._attributes, board.names._subject, board.names._attribute]
    assert not any(word in repr(kept) for word in ("zanzibar", "quokka", "zanzi", "quokk"))


# ----------------------------------------------------------------------------------------------- in the index


def test_a_named_memory_comes_before_what_only_resembles_the_question(desk: Any) -> None:
    desk.put("talk", "The deploy command of the api was discussed: deploy, api, command, deploy the api.")
    desk.put("claim", "Run ship.sh --prod.", subject="api", attribute="deploy_command", created_day=18_000)
    desk.put("other", "Run push.sh.", subject="web", attribute="deploy_command")
    hits = desk.ask("what is the deploy command of the api?")
    assert hits[0].id == "claim", "although it is years old"
    assert "the question names its subject and attribute" in hits[0].reasons
    assert "talk" in [hit.id for hit in hits], "others are not silenced"


def test_a_clearly_better_answer_is_not_pushed_out_by_a_wrong_detection(desk: Any) -> None:
    desk.put("named", "Nine o'clock.", subject="billing", attribute="test")
    for number in range(30):
        desk.put(f"noise{number}", f"Meeting room {number} is booked on weekdays.")
    desk.put("answer", "The billing test that fails on Mondays checks the exchange rates of the euro.")
    hits = desk.ask("which billing test fails on Mondays because of the exchange rates of the euro?")
    assert hits[0].id == "answer"


def test_an_answer_that_holds_the_rest_of_the_question_too_comes_before_what_is_named(desk: Any) -> None:
    desk.put("named", "She was born on 3 May.", subject="person:Melanie", attribute="birthday")
    for number in range(30):
        desk.put(f"noise{number}", f"Meeting room {number} is booked on weekdays.")
    desk.put("answer", "The birthday of Melanie's daughter is in August.")
    hits = desk.ask("When is Melanie's daughter's birthday?")
    assert [hit.id for hit in hits][:2] == ["answer", "named"]
    assert desk.ids("When is Melanie's birthday?")[0] == "named"


def test_where_nothing_else_answers_the_named_memory_comes_alone(desk: Any) -> None:
    for number in range(30):
        desk.put(f"noise{number}", f"Meeting room {number} is booked on weekdays.", vectors=False)
    desk.put("claim", "8080.", subject="gateway", attribute="port")
    assert desk.ids("which port does the gateway use?") == ["claim"]
    assert desk.ids("which port does the ferry use?") == []


def test_only_permitted_rows_decide_whether_a_subject_is_the_only_one(desk: Any) -> None:
    desk.put("mine", "Run ship.sh.", MINE, subject="api", attribute="deploy_command")
    desk.put("theirs", "Run push.sh.", THEIRS, subject="web", attribute="deploy_command")
    (hit,) = desk.ask("what is the deploy command?", lambda shelf: shelf == MINE)
    assert (hit.id, "the question names its subject and attribute" in hit.reasons) == ("mine", True)
    both = desk.ask("what is the deploy command?")
    assert not any("names" in reason for hit in both for reason in hit.reasons)


def test_kinds_that_were_not_asked_for_are_not_named(desk: Any) -> None:
    desk.put("fact", "8080.", subject="gateway", attribute="port")
    desk.put("rule", "The port of the gateway is never changed.", kind="policy")
    hits = desk.ask("port of the gateway", kinds=frozenset({"policy"}))
    assert [hit.id for hit in hits] == ["rule"]


WORDS = [
    f"{a}{b}"
    for a in ("bar", "cor", "dun", "fel", "gam", "hol", "jin", "kel")
    for b in ("ta", "mo", "ri", "su", "ne")
]


def test_a_hundred_thousand_memories_are_looked_through_in_half_a_millisecond() -> None:
    board = Board([])
    for number in range(100_000):
        board.add((f"service{number % 5_000}", f"{WORDS[number % 40]}_{WORDS[number // 40 % 40]}"))
    terms = board.analyser.query(f"what is the {WORDS[3]} {WORDS[0]} of service17?")
    mask = np.ones(len(board.pairs), np.bool_)
    took: list[float] = []
    for _ in range(50):
        began = time.perf_counter()
        board.names.find(terms, mask)
        took.append(time.perf_counter() - began)
    assert min(took) < 0.0005, f"{min(took) * 1_000:.2f} ms"
