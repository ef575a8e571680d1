"""The sample memories that the demo imports and asks about."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from memvault import samples
from memvault.model import Kind
from memvault_models import language

FOLDER = Path(str(resources.files(samples)))
PLAN: dict[str, Any] = json.loads((FOLDER / "questions.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def imported(read):
    return [(item, read(item["kind"], FOLDER / item["path"])) for item in PLAN["imports"]]


@pytest.fixture(scope="module")
def contents(imported) -> list[str]:
    return [content for _, got in imported for content in got.contents]


def test_all_three_formats_come_in_and_only_what_is_broken_on_purpose_is_unreadable(imported):
    assert [item["kind"] for item, _ in imported] == ["claude-code", "mcp-memory", "markdown"]
    for item, got in imported:
        assert len(got.found) >= 19
        assert len(got.unreadable) == item["unreadable"]
    assert [where for _, got in imported for where in got.unreadable] == ["memory.jsonl:9"]


def test_there_are_about_sixty_half_of_them_chinese_and_none_twice(contents):
    chinese = sum(language(content) == "zh" for content in contents)
    assert len(contents) == len(set(contents)) == 60
    assert chinese == 30


def test_every_kind_and_both_projects_are_there(imported):
    claims = [claim for _, got in imported for claim in got.claims]
    assert {claim.kind for claim in claims} == set(Kind)
    assert {claim.project for claim in claims} == {"atlas", "billing", None}


def test_each_expected_text_names_exactly_one_memory(contents):
    wanted = [question["expected"] for question in PLAN["questions"] if question["expected"] is not None]
    for text in (*wanted, PLAN["correct"]["text"], PLAN["delete"]["text"]):
        assert sum(text in content for content in contents) == 1, text
    assert len(PLAN["questions"]) == 10
    assert [question["expected"] for question in PLAN["questions"]].count(None) == 1


def test_paraphrases_share_no_content_word_with_their_answer(contents):
    function_words = {"a", "i", "in", "is", "on", "the", "to", "us", "when", "where", "who", "would"}
    for question in PLAN["questions"]:
        if question["kind"] != "other words":
            continue
        (answer,) = (content for content in contents if question["expected"] in content)
        asked, said = (
            {word.strip(".,;?`").casefold() for word in text.split()} - function_words
            for text in (question["query"], answer)
        )
        assert not asked & said


@pytest.mark.model
def test_the_real_model_puts_every_answer_first_and_nothing_near_the_last_question(contents):
    import numpy as np

    from memvault.paths import cache_dir
    from memvault_models import DEFAULT_MODEL_ID, means_for, open_embedder

    cache = cache_dir()
    embedder = open_embedder(DEFAULT_MODEL_ID, cache)
    means = means_for(embedder, cache)
    passages = np.stack([
        means.centre(vectors[0], "passage", language(content))
        for content, vectors in zip(contents, embedder.embed_passages(contents), strict=True)
    ])  # fmt: skip
    for question in PLAN["questions"]:
        asked = question["query"]
        scores = passages @ means.centre(embedder.embed_query(asked), "query", language(asked))
        best = int(scores.argmax())
        if question["expected"] is None:
            assert scores[best] < 0.25
        else:
            assert question["expected"] in contents[best], asked
    embedder.close()
