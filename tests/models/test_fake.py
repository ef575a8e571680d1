from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from memvault_models import FakeEmbedder, ModelClosed, ModelInputInvalid, open_embedder
from memvault_models.fake import FAKE_MODEL_ID


def similarity(first: str, second: str) -> float:
    fake = FakeEmbedder()
    return float(fake.embed_query(first) @ fake.embed_passages([second])[0][0])


def test_is_the_same_in_every_process() -> None:
    code = (
        "from memvault_models import FakeEmbedder;"
        "print(FakeEmbedder().embed_query('deploy 部署脚本').tobytes().hex())"
    )
    other = subprocess.run([sys.executable, "-P", "-c", code], check=True, capture_output=True, text=True)
    assert other.stdout.strip() == FakeEmbedder().embed_query("deploy 部署脚本").tobytes().hex()


def test_shared_words_are_near_and_nothing_else() -> None:
    assert similarity("deploy script for staging", "The staging deploy script is in tools.") > 0.4
    assert similarity("部署脚本在哪", "部署脚本在工具目录里") > 0.4
    assert abs(similarity("deploy script", "grandmother likes lilies")) < 0.2
    assert abs(similarity("部署", "deploy")) < 0.2


def test_shapes_norms_and_windows() -> None:
    fake = FakeEmbedder()
    short, long = fake.embed_passages(["one", "word " * 1200])
    assert short.shape == (1, 384)
    assert long.shape == (3, 384)
    assert np.allclose(np.linalg.norm(long, axis=1), 1.0, atol=1e-5)
    assert short.dtype == np.float32
    assert (fake.model_id, fake.dims) == (FAKE_MODEL_ID, 384)
    assert FakeEmbedder(64).embed_query("!?").shape == (64,)


def test_stops_reports_refuses_and_closes() -> None:
    fake = open_embedder(FAKE_MODEL_ID, Path("unused"))
    seen: list[tuple[int, int]] = []
    done = fake.embed_passages(["a", "b", "c"], lambda *at: seen.append(at), lambda: len(seen) == 2)
    assert len(done) == 2
    assert seen == [(1, 3), (2, 3)]
    with pytest.raises(ModelInputInvalid):
        fake.embed_query(" ")
    fake.close()
    fake.close()
    with pytest.raises(ModelClosed):
        fake.embed_query("a")
