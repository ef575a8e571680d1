"""What is reckoned, not measured, in bench/peers*.py: ways to search, shares, what is readable on disk."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

BENCH = Path(__file__).parents[2] / "bench"
TEXTS = ["the cat sat on the mat", "dogs run", "a dog and a cat", "东京的天气很好", "账单服务每天重启"]


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("peers_ways")


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("peers_store")


def test_full_text_finds_any_of_the_words_and_nothing_for_none(ways: ModuleType) -> None:
    table = ways.FullText("unicode61")
    table.put(TEXTS)
    assert set(table.find("cat or dogs?", 5)) == {0, 1, 2}
    assert len(table.find("cat or dogs?", 1)) == 1
    assert table.find("?!", 5) == []


def test_what_fts5_takes_for_syntax_is_only_words_of_a_question(ways: ModuleType) -> None:
    table = ways.FullText("unicode61")
    table.put(TEXTS)
    assert table.find('NEAR( "mat" NOT text:* OR', 5) == [0]


def test_only_stems_find_other_forms_and_only_trigrams_find_chinese(ways: ModuleType) -> None:
    tables = {name: ways.FullText(name) for name in ("unicode61", "porter unicode61", "trigram")}
    for table in tables.values():
        table.put(TEXTS)
    assert {name: table.find("running", 5) for name, table in tables.items()} == {
        "unicode61": [],
        "porter unicode61": [1],
        "trigram": [1],
    }
    assert tables["unicode61"].find("账单服务怎么样", 5) == []
    assert tables["trigram"].find("账单服务怎么样", 5) == [4]


def test_brute_force_puts_the_nearest_first_and_a_text_of_two_windows_once(ways: ModuleType) -> None:
    rows = np.array([[1, 0], [0, 1], [0.8, 0.6], [0.6, 0.8]], dtype=np.float32)
    owners = np.array([0, 0, 1, 2])
    vector = np.array([1, 0], dtype=np.float32)
    assert ways.nearest(rows, owners, vector, 3) == [0, 1, 2]
    assert ways.best(rows, vector, 2) == ways.best(rows, vector, 9)[:2] == [0, 2]


def test_ranks_joined_prefer_what_both_lists_hold(ways: ModuleType) -> None:
    assert ways.joined([1, 2, 3], [4, 2, 5], most=3) == [2, 1, 4]
    assert ways.joined([], [7, 8], most=1) == [7]


def test_a_share_counts_evidence_among_the_first_rows_at_every_depth(ways: ModuleType) -> None:
    peers, sets = importlib.import_module("peers"), importlib.import_module("data_sets")
    passages = tuple(sets.Passage(f"p{at}", "text") for at in range(30))
    question = sets.Question("q", "what", frozenset({"p4", "p9", "p19", "p29"}))
    pool = sets.Pool("set", "pool", passages, (question,))
    assert list(peers.shares(pool, [list(range(30))])) == [[0.25, 0.5, 0.75]]
    assert list(peers.shares(pool, [[]])) == [[0.0, 0.0, 0.0]]


def test_the_table_has_a_dash_where_a_peer_was_not_asked(ways: ModuleType) -> None:
    peers = importlib.import_module("peers")
    table = peers.markdown({"one": {"a": [0.5, 0.25, 1.0]}, "two": {"b": [0.0, 0.9996, 0.1]}}).splitlines()
    assert table == [
        "| R@5 / R@10 / R@20 | a | b |",
        "|---|---|---|",
        "| one | .500 .250 1.00 | - |",
        "| two | - | .000 1.00 .100 |",
    ]


def test_bytes_are_found_in_any_file_however_deep_and_not_where_they_are_hidden(
    store: ModuleType, tmp_path: Path
) -> None:
    secret = b"the mail queue in Oslo"
    (tmp_path / "empty").touch()
    (tmp_path / "hidden").write_bytes(bytes(byte ^ 1 for byte in secret))
    assert not store.readable(tmp_path, secret)
    deep = tmp_path / "some" / "where"
    deep.mkdir(parents=True)
    (deep / "file").write_bytes(b"\0" * 5_000 + secret)
    assert store.readable(tmp_path, secret)
    assert store.disk_mb(tmp_path) == pytest.approx((2 * len(secret) + 5_000) / 1e6)


@pytest.mark.parametrize("way", ["fts5", "numpy"])
def test_a_peer_is_filled_in_one_process_and_asked_in_the_next(store: ModuleType, way: str) -> None:
    vectors = np.eye(len(TEXTS), dtype=np.float32)
    given = store.Given(TEXTS, vectors, ["dogs", "mat"], vectors[[1, 0]])
    with store.handed(given) as folder:
        assert store.driven(sys.executable, way, "fill", folder, 2)["fill_s"] > 0
        asked = store.driven(sys.executable, way, "ask", folder, 2)
        assert [found[0] for found in asked["found"]] == [1, 0]
        assert store.readable(folder / "store", TEXTS[0].encode())
    assert not folder.exists()


def test_the_memory_of_a_peer_is_not_that_of_the_process_that_started_it() -> None:
    program = (
        f"import json, sys; sys.path.insert(0, {str(BENCH)!r}); import numpy as np, peers_store as s\n"
        f"big = np.ones(75_000_000)\n"
        "one = np.eye(5, dtype=np.float32)\n"
        f"given = s.Given({TEXTS!r}, one, ['dogs'], one[:1])\n"
        "with s.handed(given) as folder:\n"
        "    s.driven(sys.executable, 'fts5', 'fill', folder, 2)\n"
        "    print(json.dumps(s.driven(sys.executable, 'fts5', 'ask', folder, 2)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert 5 < json.loads(done.stdout)["rss_mb"] < 300
