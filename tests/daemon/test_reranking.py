"""The reranker in the running daemon: off by default, heard when set, never missed when broken or slow."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memvault import agent_tokens
from memvault.client import Client
from memvault.errors import Illegal
from memvault.recall.blend import order
from memvault.recall.query import Hit
from memvault_models import add_file

QUERY = "who fixed the deploy of billing?"
FACTS = [
    "bob fixed the deploy of billing in march.",
    "the deploy of billing runs on mondays.",
    "ann wrote the deploy script of billing.",
    "billing has a deploy key that eve keeps.",
    "the deploy of search was fixed by carl.",
    "a deploy of billing takes ten minutes.",
]


def _reranker_files() -> Any:
    """The module beside this folder that makes them."""
    path = Path(__file__).parents[1] / "reranker_files.py"
    spec = importlib.util.spec_from_file_location("reranker_files", path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules["reranker_files"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FILES = _reranker_files()


def settings(home: Any, reranker: str, within_ms: int = 30_000) -> None:
    home.layout.config.write_text(f'[recall]\nreranker = "{reranker}"\nreranker_ms = {within_ms}\n')


def check(client: Any) -> dict[str, Any] | None:
    return next((one for one in client.call("doctor")["checks"] if one["name"] == "reranker"), None)


def ready(client: Any, until: Any) -> None:
    until(lambda: ", ready" in (check(client) or {"detail": ""})["detail"], "the reranker")


def filled(home: Any, fact: Any) -> Any:
    client = home.person()
    for content in FACTS:
        assert client.call("memory.add", fact(content))["outcome"] == "active"
    return client


def recalled(client: Any, limit: int = 6) -> list[tuple[str, list[str]]]:
    found = client.call("recall", {"query": QUERY, "limit": limit, "log": False})["results"]
    return [(one["content"], one["why"]) for one in found]


def reasons(found: list[tuple[str, list[str]]]) -> list[str]:
    return [reason for _, why in found for reason in why if "rerank" in reason]


def test_without_the_setting_nothing_of_it_is_loaded(shared_home: Any, fact: Any) -> None:
    client = filled(shared_home, fact)
    assert check(client) is None
    assert len(recalled(client)) > 1
    assert not reasons(recalled(client))
    code = (
        "import sys; from pathlib import Path; import memvault.daemon.keeper;"
        "from memvault.services.reranking import Reranking;"
        "from memvault.config import load;"
        "off = Reranking(load(Path('/nowhere')), Path(), Path()); off.start(); off.stop();"
        "print(off.state, [name for name in sys.modules if name in ('memvault_models.rerank', 'llama_cpp')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "off []"


@pytest.mark.parametrize("content", [None, b"not a model"], ids=["missing", "broken"])
def test_a_reranker_that_is_missing_or_broken_is_a_warning_and_recall_goes_without(
    daemon_home: Any, until: Any, fact: Any, content: bytes | None
) -> None:
    if content is not None:
        (daemon_home.root / "judge.gguf").write_bytes(content)
    settings(daemon_home, "judge.gguf")
    client = filled(daemon_home, fact)
    until(lambda: client.call("status")["warnings"], "the warning")
    (warning,) = client.call("status")["warnings"]
    assert "reranker is not usable, recall goes without" in warning
    found = check(client)
    assert found is not None
    assert not found["ok"]
    assert "recall.reranker" in found["fix"]
    assert len(recalled(client)) > 1
    assert not reasons(recalled(client))


@pytest.mark.model
def test_the_order_is_that_of_recall_and_network_together(
    new_home: Any, until: Any, fact: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMVAULT_EMBEDDER", "fake")
    plain, judged = new_home().make_vault(), new_home().make_vault()
    settings(judged, "judge.gguf")
    client = filled(plain, fact)
    before = client.call("recall", {"query": QUERY, "limit": 20, "log": False})["results"]
    assert len(before) >= 3
    hits = [Hit(one["content"], one["score"], 0.5, 0.0, None, 1.0, ()) for one in before]
    for seed in range(20):
        network = FILES.make_cross_encoder(judged.root / "judge.gguf", seed=seed)
        scores = np.array([network.score(FILES.pair(QUERY, hit.id)) for hit in hits], np.float32)
        expected = [hits[at].id for at in order(hits, scores)]
        if expected[0] != hits[0].id:
            break
    assert expected[0] != hits[0].id, "some network changes something"

    client = filled(judged, fact)
    ready(client, until)
    found = recalled(client, limit=20)
    assert [content for content, _ in found] == expected
    assert sorted(content for content, _ in found) == sorted(hit.id for hit in hits), "no more, no fewer"
    assert recalled(client, limit=20) == found, "the same every time"
    assert recalled(client, limit=1) == found[:1], "also from further down"
    was = [hit.id for hit in hits].index(expected[0]) + 1
    assert f"reranked: was {was} of {len(hits)}" in found[0][1]
    line = check(client)
    assert line is not None
    assert line["ok"]
    assert "too late for 0 of 3 recalls" in line["detail"]
    client.call("vault.lock")
    client.call("vault.unlock", {"passphrase": judged.passphrase})
    ready(client, until)
    assert recalled(client, limit=20) == found


@pytest.mark.model
def test_one_that_takes_too_long_leaves_the_order_and_says_so(
    daemon_home: Any, until: Any, fact: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMVAULT_EMBEDDER", "fake")
    client = filled(daemon_home, fact)
    before = recalled(client)
    client.call("shutdown")
    daemon_home.hang_up()
    FILES.make_cross_encoder(daemon_home.root / "slow.gguf", ffn=200_000)
    settings(daemon_home, "slow.gguf", within_ms=10)
    client = daemon_home.person()
    until(lambda: client.call("status")["model"]["state"] == "ready", "the embedder")
    ready(client, until)
    found = client.call("recall", {"query": QUERY, "limit": 6, "log": False})
    after = [(one["content"], one["why"]) for one in found["results"]]
    assert [content for content, _ in after] == [content for content, _ in before]
    assert set(reasons(after)) == {"not reranked: it would have taken longer than 10 ms"}
    assert len(reasons(after)) == len(after)
    for _ in range(19):
        recalled(client)
    line = check(client)
    assert line is not None
    assert "too late for 20 of 20 recalls" in line["detail"]
    assert not line["ok"]
    assert "a smaller reranker" in line["fix"]


@pytest.mark.model
def test_an_agent_gets_nothing_through_it_that_is_not_granted(
    daemon_home: Any, until: Any, fact: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMVAULT_EMBEDDER", "fake")
    FILES.make_cross_encoder(daemon_home.root / "judge.gguf")
    settings(daemon_home, "judge.gguf")
    client = filled(daemon_home, fact)
    secret = "bob fixed the deploy of billing with a secret."
    assert client.call("memory.add", fact(secret, sensitivity="restricted"))["outcome"] == "active"
    ready(client, until)
    assert secret in {content for content, _ in recalled(client, limit=20)}
    token = client.call("agents.add", {"name": "robin"})["token"]
    agent_tokens.keep(daemon_home.layout, "robin", token)
    with Client(daemon_home.root, name="agent", agent="robin") as robin:
        seen = robin.call("recall", {"query": QUERY, "limit": 20})["results"]
    assert len(seen) > 1
    assert secret not in {one["content"] for one in seen}
    said = [reason for one in seen for reason in one["why"] if "rerank" in reason]
    assert len(said) == len(seen)
    assert all(reason.endswith(f"of {len(seen)}") for reason in said), "not even counted"


@pytest.mark.model
def test_a_reranker_is_no_model_to_embed_with(
    daemon_home: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMVAULT_EMBEDDER", "fake")
    monkeypatch.setenv("MEMVAULT_CACHE_HOME", str(tmp_path))
    FILES.make_cross_encoder(tmp_path / "judge.gguf")
    add_file(tmp_path / "judge.gguf", "judge", tmp_path)
    client = daemon_home.person()
    with pytest.raises(Illegal, match="embeds nothing"):
        client.call("models.use", {"id": "judge"})
