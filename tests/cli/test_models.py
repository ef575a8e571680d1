"""models add and models list: a reranker is known as one."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conftest import Home


def _reranker_files() -> Any:
    """The module beside this folder that makes them."""
    path = Path(__file__).parents[1] / "reranker_files.py"
    spec = importlib.util.spec_from_file_location("reranker_files", path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules["reranker_files"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_file_with_a_classification_head_is_added_as_a_reranker(shared: Home, tmp_path: Path) -> None:
    elsewhere = {"MEMVAULT_CACHE_HOME": str(tmp_path)}
    _reranker_files().make_cross_encoder(tmp_path / "judge.gguf")
    shown = shared.run("models", "add", str(tmp_path / "judge.gguf"), "--id", "judge", env=elsewhere)
    assert shown.status == 0
    assert "judge is known: a reranker" in shown.out
    listed = shared.run("models", "list", env=elsewhere)
    (line,) = [line for line in listed.out.splitlines() if line.startswith("judge")]
    assert "reranker" in line
    assert "dimensions" not in line
