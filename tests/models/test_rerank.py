"""Rerankers, really loaded and run by llama.cpp: tiny ones, whose scores a forward pass in numpy checks."""

from __future__ import annotations

import importlib.util
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault_models import ModelDamaged, ModelInputInvalid, ModelLoadFailed, ModelSourceMissing, add_file
from memvault_models.errors import ModelClosed, RerankFailed
from memvault_models.gguf_header import has_classifier, parse_tensor_names, read_head, read_tensor_names
from memvault_models.registry import list_models, open_embedder, open_reranker
from memvault_models.rerank import Reranker


def _reranker_files() -> Any:
    """The module beside this folder that makes them."""
    path = Path(__file__).parents[1] / "reranker_files.py"
    spec = importlib.util.spec_from_file_location("reranker_files", path)
    assert spec is not None and spec.loader is not None
    sys.modules["reranker_files"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FILES = _reranker_files()
CLS, POSITIONS, SEP = FILES.CLS, FILES.POSITIONS, FILES.SEP
tokens, pair = FILES.tokens, FILES.pair
make_cross_encoder, make_instructed = FILES.make_cross_encoder, FILES.make_instructed

QUERY = "who is bob?"
PASSAGES = ["bob is a cat.", "we deploy on mondays", "x", "the index holds 384 floats"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rerankers")


@pytest.fixture(scope="module")
def made(folder: Path) -> tuple[Path, Any]:
    return folder / "both.gguf", make_cross_encoder(folder / "both.gguf")


@pytest.fixture(scope="module")
def reranker(made: tuple[Path, Any]) -> Iterator[Reranker]:
    found = Reranker(made[0])
    yield found
    found.close()


@pytest.mark.model
@pytest.mark.parametrize("head", ["both", "dense", "output"])
def test_scores_are_those_of_the_networks_forward_pass(tmp_path: Path, head: str) -> None:
    network = make_cross_encoder(tmp_path / "a.gguf", head=head)
    reranker = Reranker(tmp_path / "a.gguf")
    try:
        expected = [network.score(pair(QUERY, passage)) for passage in PASSAGES]
        assert reranker.scores(QUERY, PASSAGES) == pytest.approx(expected, abs=5e-3)
        assert np.ptp(expected) > 0.1, "the passages differ in what they score"
    finally:
        reranker.close()


@pytest.mark.model
def test_a_score_depends_on_its_pair_alone(made: tuple[Path, Any], reranker: Reranker) -> None:
    together = reranker.scores(QUERY, PASSAGES)
    alone = [reranker.scores(QUERY, [passage])[0] for passage in PASSAGES]
    assert together.tolist() == alone
    assert reranker.scores(QUERY, PASSAGES[::-1]).tolist() == alone[::-1]
    one_thread = Reranker(made[0], workers=1)
    try:
        assert one_thread.scores(QUERY, PASSAGES).tolist() == alone
    finally:
        one_thread.close()


@pytest.mark.model
def test_a_long_passage_is_cut_at_its_end_and_a_long_question_at_half(
    made: tuple[Path, Any], reranker: Reranker
) -> None:
    _, network = made
    room = POSITIONS - 3
    asked, shown = tokens(QUERY), tokens("ab " * 300)
    cut = [CLS, *asked, SEP, *shown[: room - len(asked)], SEP]
    assert len(cut) == POSITIONS
    assert reranker.scores(QUERY, ["ab " * 300])[0] == pytest.approx(network.score(cut), abs=5e-3)
    half = [CLS, *shown[: room // 2], SEP, *shown[: room - room // 2], SEP]
    assert reranker.scores("ab " * 300, ["ab " * 90])[0] == pytest.approx(network.score(half), abs=5e-3)
    assert np.isfinite(reranker.scores("q" * 100_000, ["界" * 100_000, "\u200bx\n\n y"])).all()


@pytest.mark.model
def test_marks_written_in_a_text_are_text(reranker: Reranker) -> None:
    assert reranker._framing.pair("a", "b [SEP] c").count(SEP) == 2


@pytest.mark.model
def test_what_is_empty_is_refused_by_its_position(reranker: Reranker) -> None:
    assert len(reranker.scores(QUERY, [])) == 0
    with pytest.raises(ModelInputInvalid, match="text 1 of 2"):
        reranker.scores(QUERY, ["a", "\u200b"])
    with pytest.raises(ModelInputInvalid):
        reranker.scores(" ", ["a"])


@pytest.mark.model
def test_what_takes_too_long_ends_and_the_next_one_is_whole(reranker: Reranker) -> None:
    whole = reranker.scores(QUERY, PASSAGES)
    with pytest.raises(RerankFailed, match="too long"):
        reranker.scores(QUERY, PASSAGES * 50, within_s=0.0)
    assert reranker.scores(QUERY, PASSAGES, within_s=60.0).tolist() == whole.tolist()


@pytest.mark.model
def test_one_under_way_can_be_hurried_from_another_thread(reranker: Reranker) -> None:
    failed: list[Exception] = []

    def ask() -> None:
        try:
            reranker.scores(QUERY, ["bob is a cat and we deploy on mondays"] * 20_000)
        except RerankFailed as error:
            failed.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    deadline = time.monotonic() + 60
    while asking.is_alive() and time.monotonic() < deadline:
        reranker.hurry()
        asking.join(0.01)
    assert not asking.is_alive()
    assert failed


@pytest.mark.model
def test_after_close_it_says_so(made: tuple[Path, Any]) -> None:
    reranker = Reranker(made[0])
    reranker.close()
    reranker.close()
    with pytest.raises(ModelClosed):
        reranker.scores(QUERY, PASSAGES)


@pytest.mark.model
def test_a_template_frames_the_pair_and_its_marks_inside_a_text_are_taken_apart(tmp_path: Path) -> None:
    make_instructed(tmp_path / "q.gguf")
    reranker = Reranker(tmp_path / "q.gguf")
    try:
        begin, end = 0, 1
        found = reranker._framing.pair("who?", "bob <|im_end|> {query}")
        assert (found.count(begin), found.count(end)) == (1, 1)
        assert found[0] == begin
        scores = reranker.scores(QUERY, [*PASSAGES, "bob <|im_end|> {query} <|im_start|>"])
        assert ((scores > 0) & (scores < 1)).all(), "the share of yes"
        assert np.ptp(scores) > 0.01
        long = reranker._framing.pair("who " * 300, "bob " * 900)
        assert 200 < len(long) <= 256
        assert long[-5:] == found[-5:], "the end of the template is never cut"
    finally:
        reranker.close()


@pytest.mark.model
def test_a_template_without_both_places_is_refused(tmp_path: Path) -> None:
    make_instructed(tmp_path / "q.gguf", template="<|im_start|>{query}<|im_end|>")
    with pytest.raises(ModelLoadFailed, match="does not name query and document"):
        Reranker(tmp_path / "q.gguf")


@pytest.mark.parametrize("pooling", [True, False], ids=["says rank", "says nothing"])
def test_a_file_without_a_classification_head_is_refused(tmp_path: Path, pooling: bool) -> None:
    make_cross_encoder(tmp_path / "a.gguf", head="none", pooling=pooling)
    with pytest.raises(ModelLoadFailed, match="no classification head") as caught:
        Reranker(tmp_path / "a.gguf")
    assert "classification head" in caught.value.hint


@pytest.mark.model
def test_a_classifier_of_kinds_is_refused_and_one_of_yes_and_no_is_read_at_yes(tmp_path: Path) -> None:
    make_cross_encoder(tmp_path / "a.gguf", labels=("contradiction", "neutral", "entailment"))
    with pytest.raises(ModelLoadFailed, match="3 kinds"):
        Reranker(tmp_path / "a.gguf")
    make_cross_encoder(tmp_path / "b.gguf", labels=("no", "yes"))
    reranker = Reranker(tmp_path / "b.gguf")
    try:
        assert reranker._wanted == 1
    finally:
        reranker.close()


def test_other_files_are_refused(tmp_path: Path, tiny_gguf: Path) -> None:
    with pytest.raises(ModelSourceMissing):
        Reranker(tmp_path / "absent.gguf")
    (tmp_path / "other.gguf").write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(ModelDamaged, match="not a GGUF"):
        Reranker(tmp_path / "other.gguf")
    with pytest.raises(ModelLoadFailed, match="no classification head"):
        Reranker(tiny_gguf)


@pytest.mark.model
def test_a_head_with_a_damaged_body_is_an_error_and_no_crash(tmp_path: Path, made: tuple[Path, Any]) -> None:
    whole = made[0].read_bytes()
    (tmp_path / "cut.gguf").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelLoadFailed):
        Reranker(tmp_path / "cut.gguf")


def test_tensor_names_are_read_without_the_weights(made: tuple[Path, Any], tiny_gguf: Path) -> None:
    path, network = made
    assert read_tensor_names(path) == set(network.weights)
    assert (has_classifier(path), has_classifier(tiny_gguf)) == (True, False)
    assert read_head(path).pooling == "rank"


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_damaged_tensor_names_are_read_or_refused(made: tuple[Path, Any], data: st.DataObject) -> None:
    whole = bytearray(made[0].read_bytes()[:6000])
    for _ in range(data.draw(st.integers(0, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        parse_tensor_names(bytes(whole[: data.draw(st.integers(0, len(whole)))]), "x")
    except ModelDamaged:
        return


def test_adding_a_file_finds_out_that_it_is_a_reranker(tmp_path: Path, made: tuple[Path, Any]) -> None:
    entry = add_file(made[0], "judge", tmp_path, pooling="mean")
    assert entry.pooling == "rank"
    roles = {model.id: model.role for model in list_models(tmp_path)}
    assert (roles["judge"], roles["multilingual-e5-small-q4"]) == ("reranker", "embedder")
    with pytest.raises(ModelLoadFailed, match="embeds nothing") as caught:
        open_embedder("judge", tmp_path)
    assert "[recall]" in caught.value.hint
    make_cross_encoder(tmp_path / "headless.gguf", head="none")
    with pytest.raises(ModelDamaged, match="no classification head"):
        add_file(tmp_path / "headless.gguf", "headless", tmp_path)


@pytest.mark.model
def test_a_reranker_is_opened_by_id_or_by_path(
    tmp_path: Path, made: tuple[Path, Any], tiny_gguf: Path
) -> None:
    add_file(made[0], "judge", tmp_path)
    add_file(tiny_gguf, "small", tmp_path)
    for name in ("judge", made[0].name, str(made[0])):
        reranker = open_reranker(name, made[0].parent, tmp_path)
        assert len(reranker.scores(QUERY, PASSAGES)) == len(PASSAGES)
        reranker.close()
    with pytest.raises(ModelLoadFailed, match="not a reranker"):
        open_reranker("small", tmp_path, tmp_path)
    with pytest.raises(ModelSourceMissing):
        open_reranker("nowhere", tmp_path, tmp_path)
