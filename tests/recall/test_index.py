"""The index finds what was put in, forgets what was dropped, and answers many threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from memvault.recall import Index, Shelf
from memvault.recall.semantic import Vectors, quantise
from memvault_models.fake import FAKE_DIMS
from memvault_models.means import Means

FILLER = "meeting notes lie in the third folder of the share number"


def everything(shelf: Shelf) -> bool:
    return True


@pytest.mark.parametrize("word", ["部署", "缓存", "发布", "运维组", "表"])
def test_words_of_one_two_and_three_characters_find_their_memory_first(desk: Any, word: str) -> None:
    desk.put("with", f"生产环境的{word}由同事在周二上午完成。")
    desk.put("without", "会议纪要放在共享盘的第三个文件夹。")
    assert desk.ids(word)[:1] == ["with"]
    assert desk.ids(word, vector=False) == ["with"]


def test_bulk_and_single_puts_give_the_same_answers(new_desk: Any) -> None:
    texts = {f"m{n}": f"{FILLER} {n} deploy {'billing' if n % 7 == 0 else 'invoice'}" for n in range(60)}
    single, bulk = new_desk(), new_desk()
    for id_, text in texts.items():
        single.put(id_, text)
    bulk.index.put_many(bulk.entry(id_, text) for id_, text in texts.items())
    for question in ("deploy billing", "folder 14", "invoice"):
        ours, theirs = (d.ask(question, limit=20, threshold=0.0) for d in (single, bulk))
        assert [h.id for h in ours] == [h.id for h in theirs]
        assert [h.score for h in ours] == pytest.approx([h.score for h in theirs], abs=1e-6)


def test_rows_stay_findable_when_the_late_ones_are_sorted_in(
    desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memvault.recall.index._LATE_AT_LEAST", 16)
    for number in range(100):
        desk.put(
            f"m{number}",
            f"{FILLER} {number} token{number}x",
            Shelf("private", f"p{number % 5}", 1, "current"),
        )
    assert desk.index._parts.rows.ordered > 50
    for number in (0, 37, 99):
        assert desk.ids(f"token{number}x")[0] == f"m{number}"


@pytest.mark.parametrize("bulk", [False, True])
def test_a_dropped_memory_leaves_neither_vector_nor_terms(desk: Any, bulk: bool) -> None:
    entries = [desk.entry(f"m{n}", f"{FILLER} {n}") for n in range(5)]
    entries.append(desk.entry("gone", "The contractor Wexelblatt is paid on Monday"))
    if bulk:
        desk.index.put_many(entries)
    else:
        for entry in entries:
            desk.index.put(entry)
    own = {term.hash for term in desk.analyser.query("Wexelblatt contractor")}
    slot = desk.index._parts.rows.slot_of["gone"]
    assert desk.index._parts.vectors._codes[slot].any()
    desk.index.drop("gone")
    postings, vectors = desk.index._parts.postings, desk.index._parts.vectors
    assert not vectors._codes[slot].any()
    assert vectors._scales[slot] == 0.0
    assert not own & set(postings._keys.tolist())
    assert not own & set(postings._late)
    assert not any(slot in found.tolist() for found in (postings._slots,))
    assert "gone" not in desk.index._parts.rows.ids
    assert desk.ids("Wexelblatt") == []
    assert len(desk.index) == 5


def test_dropping_keeps_the_words_that_others_hold(desk: Any) -> None:
    desk.index.put_many([desk.entry("a", "deploy billing alpha"), desk.entry("b", "deploy billing beta")])
    desk.index.drop("a")
    assert desk.ids("deploy billing") == ["b"]
    assert desk.ids("alpha", vector=False) == []
    desk.put("a", "deploy billing alpha")
    assert desk.ids("alpha", vector=False) == ["a"]


def test_many_are_dropped_in_one_pass(desk: Any) -> None:
    desk.index.put_many(desk.entry(f"m{n}", f"{FILLER} {n} token{n}x") for n in range(50))
    desk.put("late", "token99x deploy")
    desk.index.drop_many([f"m{n}" for n in range(0, 50, 2)] + ["late", "unknown"])
    assert len(desk.index) == 25
    assert desk.ids("token4x", vector=False) == []
    assert desk.ids("token99x", vector=False) == []
    assert desk.ids("token5x", vector=False) == ["m5"]


def test_clearing_forgets_everything(desk: Any) -> None:
    desk.index.put_many(desk.entry(f"m{n}", f"{FILLER} {n}") for n in range(5))
    codes = desk.index._parts.vectors._codes
    desk.index.clear()
    assert not codes.any()
    assert len(desk.index) == 0
    assert desk.ids("folder") == []


def test_a_memory_without_a_vector_is_found_by_words_and_later_by_meaning(desk: Any) -> None:
    desk.put("x", "deploy the billing service", vectors=False)
    assert desk.ask("deploy billing")[0].semantic is None
    desk.index.set_vectors("x", np.asarray(desk.embedder.embed_passages(["deploy the billing service"])[0]))
    assert desk.ask("deploy billing")[0].semantic == pytest.approx(0.8, abs=0.2)


def test_the_best_window_of_a_long_text_counts(desk: Any) -> None:
    windows = np.concatenate([desk.embedder.embed_passages([t])[0] for t in (FILLER, "zebra crossing rule")])
    long = desk.entry("long", FILLER)
    long.vectors = windows
    desk.index.put(long)
    desk.index.put_many([desk.entry("other", FILLER + " second")])
    hit = desk.ask("zebra crossing rule", threshold=0.0)[0]
    assert hit.id == "long"
    assert hit.semantic == pytest.approx(1.0, abs=0.02)


def test_vectors_are_centred_by_their_language(desk: Any) -> None:
    mean = np.zeros(FAKE_DIMS, np.float32)
    mean[0] = 0.9
    means = Means("shifted", FAKE_DIMS, {("passage", "en"): mean, ("query", "en"): mean})
    index = Index(FAKE_DIMS, means)
    vector = mean.copy()
    vector[1] = np.sqrt(1.0 - 0.81)
    entry = desk.entry("x", "deploy")
    entry.vectors = vector[None]
    index.put(entry)
    query = desk.query("deploy")
    aside = mean.copy()
    aside[2] = vector[1]
    near, far = (
        index.search(type(query)(**{**_fields(query), "vector": v, "threshold": 0.0}), everything, 1)[
            0
        ].semantic
        for v in (vector, aside)
    )
    assert near == pytest.approx(1.0, abs=0.01)
    assert far == pytest.approx(0.0, abs=0.01)


def _fields(query: Any) -> dict[str, Any]:
    return {name: getattr(query, name) for name in query.__slots__}


def test_quantised_cosines_stay_within_a_hundredth_of_the_exact_ones() -> None:
    random = np.random.default_rng(3)
    vectors = random.standard_normal((500, FAKE_DIMS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    codes, scales = quantise(vectors)
    assert np.abs(codes.astype(np.float32) * scales[:, None] - vectors).max() < 0.002
    store = Vectors(FAKE_DIMS)
    store.reserve(500)
    store.put_many(np.arange(500), vectors)
    from memvault.recall.rows import Permitted

    mask = np.append(np.ones(500, np.bool_), False)
    found = store.cosines(vectors[7], Permitted(mask, 500, [(0, 300)], np.arange(300, 500)))
    assert np.abs(found - vectors @ vectors[7]).max() < 0.01


def test_an_exact_subject_and_attribute_comes_first_and_says_so(desk: Any) -> None:
    desk.put("words", "package manager package manager package manager")
    desk.put("claim", "We use pnpm.", subject="project:p1", attribute="package_manager")
    desk.put("sibling", "We use node 22.", subject="project:p1", attribute="runtime")
    hits = desk.ask("What is the package manager of P1?")
    assert hits[0].id == "claim"
    assert "the question names its subject and attribute" in hits[0].reasons
    assert "sibling" not in [hit.id for hit in hits]


def test_only_the_kinds_asked_for_are_returned(desk: Any) -> None:
    desk.put("fact", "deploy the billing service")
    desk.put("rule", "deploy the billing service", kind="policy")
    assert desk.ids("deploy billing", kinds=frozenset({"policy"})) == ["rule"]
    assert desk.ids("deploy billing", kinds=frozenset({"episode"})) == []
    assert (
        desk.index.explain(desk.query("deploy billing", kinds=frozenset({"policy"})), everything, "fact").rank
        is None
    )


def test_the_same_question_gets_the_same_answer_whatever_the_order_of_writing(new_desk: Any) -> None:
    texts = {f"m{n}": "deploy the billing service" for n in range(30)}
    forth, back = new_desk(), new_desk()
    for id_, text in texts.items():
        forth.put(id_, text)
    back.index.put_many(back.entry(id_, text) for id_, text in reversed(texts.items()))
    assert forth.ids("deploy billing", limit=30) == back.ids("deploy billing", limit=30) == sorted(texts)
    assert forth.ask("deploy billing") == forth.ask("deploy billing")


def test_explanations_name_the_rank_the_threshold_or_the_lack_of_any_match(desk: Any) -> None:
    desk.put("a", "deploy the billing service with ship.sh")
    desk.put("b", "deploy the billing service")
    desk.put("far", "lunch menus are printed on thursdays")
    desk.put("wordless", "invoice numbers", vectors=False)
    query = desk.query("deploy the billing service with ship.sh")
    first = desk.index.explain(query, everything, "a", 1)
    assert (first.verdict, first.rank) == ("returned", 1)
    assert first.hit is not None
    assert any(reason.startswith("words: ") and "billing" in reason for reason in first.hit.reasons)
    assert (desk.index.explain(query, everything, "b", 1).verdict) == "beyond_limit"
    far = desk.index.explain(query, everything, "far")
    assert far.verdict == "below_threshold"
    assert "threshold" in far.reasons[0]
    assert desk.index.explain(query, everything, "wordless").verdict == "not_matched"


class Worker(threading.Thread):
    """Runs a function and keeps what it raised."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__()
        self._work = work
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            self._work()
        except BaseException as error:  # noqa: BLE001 - whatever a thread raises must fail the test
            self.failure = error


def test_readers_and_writers_at_once_see_whole_memories(desk: Any) -> None:
    entries = [desk.entry(f"m{n}", f"deploy billing token{n}x") for n in range(40)]
    query = desk.query("deploy billing")
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            assert all(hit.lexical > 0.0 for hit in desk.index.search(query, everything, 50))

    def write(offset: int) -> None:
        for turn in range(60):
            entry = entries[(turn * 7 + offset) % 40]
            if turn % 5 == 4:
                desk.index.put_many(entries[:10])
            elif turn % 3 == 2:
                desk.index.drop(entry.id)
            else:
                desk.index.put(entry)

    readers = [Worker(read) for _ in range(2)]
    writers = [Worker(partial(write, offset)) for offset in range(3)]
    for thread in readers + writers:
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    for thread in readers:
        thread.join()
    assert [thread.failure for thread in readers + writers] == [None] * 5
    desk.index.put_many(entries)
    assert len(desk.index.search(query, everything, 50)) == 40
