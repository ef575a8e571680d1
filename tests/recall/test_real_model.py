"""With the real model: paraphrases, other languages, two characters, and nothing for strangers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from memvault.paths import cache_dir
from memvault.recall import Analyser, Entry, Index, Query, Shelf
from memvault_models.language import language
from memvault_models.means import Means
from memvault_models.port import Embedder
from memvault_models.registry import means_for, open_embedder

pytestmark = pytest.mark.model

DEPLOY = "We roll out the payroll app with `bash release.sh`, never from a laptop."
TABLES = "写周报时一律用要点，不要写成长段落。"
PLANTS = "The plants in the lobby are watered on Tuesdays by the caretaker."


@dataclass(frozen=True)
class Desk:
    embedder: Embedder
    means: Means
    analyser: Analyser

    def ask(self, memories: list[str], question: str) -> list[str]:
        index = Index(self.embedder.dims, self.means)
        for number, (text, vectors) in enumerate(
            zip(memories, self.embedder.embed_passages(memories), strict=True)
        ):
            terms = self.analyser.passage([(text, 1.0)])
            shelf = Shelf("private", None, 1, "current")
            entry = Entry(
                str(number), shelf, "fact", language(text), terms, vectors, 0.9, "user_confirmed", 20_000
            )
            index.put(entry)
        vector = self.embedder.embed_query(question)
        query = Query(question, self.analyser.query(question), vector, language(question), 20_000)
        return [memories[int(hit.id)] for hit in index.search(query, lambda shelf: True, 5)]


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    embedder = open_embedder("multilingual-e5-small-q4", cache_dir())
    yield Desk(embedder, means_for(embedder, cache_dir()), Analyser(bytes(range(32))))
    embedder.close()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("how is the payroll application deployed?", DEPLOY),
        ("工资系统怎么发布上线", DEPLOY),
        ("in which style should I write the weekly report?", TABLES),
        ("who takes care of the greenery downstairs?", PLANTS),
        ("大堂的植物什么时候浇水", PLANTS),
    ],
)
def test_another_wording_and_another_language_find_the_memory(desk: Desk, question: str, answer: str) -> None:
    assert answer in desk.ask([DEPLOY, TABLES, PLANTS], question)[:2]


@pytest.mark.parametrize("word", ["部署", "缓存", "备份"])
def test_two_characters_find_their_memory_first(desk: Desk, word: str) -> None:
    memories = [f"线上环境的{word}由值班同事在周三夜里完成。", "合同原件锁在财务室的柜子里。"]
    assert desk.ask(memories, word)[:1] == memories[:1]


@pytest.mark.parametrize(
    "question",
    [
        "what does my uncle's cat like to eat",
        "the tallest mountain of Peru",
        "谁赢了去年的围棋比赛",
        "shoe size",
    ],
)
@pytest.mark.parametrize("memories", [[DEPLOY, TABLES, PLANTS], [DEPLOY], [PLANTS]])
def test_an_unrelated_question_returns_nothing(desk: Desk, question: str, memories: list[str]) -> None:
    assert desk.ask(memories, question) == []
