"""Recall with an order from elsewhere: it can put answers in another order and nothing else."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from memvault.config import Config
from memvault.recall.query import Hit
from memvault.services import recollect
from memvault.services.caller import PERSON
from memvault.services.recollect import Question
from memvault.services.reranking import Reranking

QUESTION = Question("deploy of billing", limit=2)
FACTS = [
    "the deploy of billing runs on mondays.",
    "bob fixed the deploy of billing.",
    "ann likes billing deploys.",
]


def best(desk: Any, question: Question, most: int = 20) -> list[Hit]:
    vector = desk.embedder.embed_query(question.query)
    return [hit for hit, _ in recollect.best(desk.vault, PERSON, question, vector, most)]


def recalled(desk: Any, ranked: list[Hit]) -> list[str]:
    vector = desk.embedder.embed_query(QUESTION.query)
    answer = recollect.recall(desk.vault, PERSON, QUESTION, vector, "hybrid", ranked)
    assert answer.used == [one["id"] for one in answer.results]
    return answer.used


def filled(desk: Any) -> list[str]:
    ids = [desk.add(content).id for content in FACTS]
    desk.embed()
    return ids


def test_more_is_read_than_is_returned_and_only_what_is_returned_counts_as_used(desk: Any) -> None:
    filled(desk)
    ranked = best(desk, QUESTION)
    assert len(ranked) == 3
    assert recalled(desk, ranked[::-1]) == [hit.id for hit in ranked[::-1]][:2]
    assert [one["id"] for one in desk.recall(QUESTION.query, limit=2)] == [hit.id for hit in ranked][:2]


def test_what_was_deleted_while_the_reranker_read_does_not_come(desk: Any) -> None:
    filled(desk)
    ranked = best(desk, QUESTION)
    desk.delete(ranked[0].id)
    assert recalled(desk, ranked) == [hit.id for hit in ranked[1:]]


def test_what_the_caller_may_not_see_does_not_come_whoever_ranked_it(desk: Any, robot: Any) -> None:
    ids = filled(desk)
    secret = desk.add("bob fixed the deploy of billing with a secret.", sensitivity="restricted").id
    desk.embed()
    ranked = best(desk, QUESTION)
    assert secret in {hit.id for hit in ranked}
    answer = recollect.recall(desk.vault, robot, Question(QUESTION.query, limit=9), None, "keyword", ranked)
    assert answer.used
    assert secret not in answer.used
    assert set(answer.used) <= set(ids)


@pytest.mark.model
async def test_a_recall_under_way_when_the_vault_closes_keeps_its_order(tmp_path: Path, until: Any) -> None:
    path = Path(__file__).parents[1] / "reranker_files.py"
    spec = importlib.util.spec_from_file_location("reranker_files", path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules["reranker_files"] = files = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(files)
    files.make_cross_encoder(tmp_path / "slow.gguf", ffn=200_000)
    config = Config(0.0, 0.0, None, reranker="slow.gguf", reranker_hits=100, reranker_within_s=60.0)
    reranking = Reranking(config, tmp_path, tmp_path)
    assert reranking.state == "closed"
    for _ in range(2):
        reranking.start()
        await asyncio.to_thread(until, lambda: reranking.state == "ready", "the reranker")
        hits = [(Hit(str(at), 1.0 - at / 200, 0.5, 0.0, None, 1.0, ()), "a fact of bob") for at in range(100)]
        asked = [asyncio.create_task(reranking.reorder("who is bob?", hits)) for _ in range(3)]
        await asyncio.sleep(0)
        await asyncio.to_thread(reranking.stop)
        for task in asked:
            found = await task
            assert [hit.id for hit in found] == [hit.id for hit, _ in hits]
            assert all("not reranked" in hit.reasons[-1] for hit in found)
        assert reranking.state == "closed"
    assert await reranking.reorder("who is bob?", hits) == [hit for hit, _ in hits]
