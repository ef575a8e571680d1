"""The demo: every step is done and reported, nothing is left behind, and the real model answers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memvault.cli.demo import traces

if TYPE_CHECKING:
    from conftest import Home


def test_the_demo_does_everything_and_removes_its_vault(bare: Home) -> None:
    done = bare.run("demo", "--json")

    report = json.loads(done.out)
    steps = {step["name"]: step for step in report["steps"]}
    assert report["questions"] == 10
    for name in (
        "vault",
        "import claude-code",
        "import mcp-memory",
        "import markdown",
        "correct",
        "delete",
        "write again",
    ):
        assert steps[name]["ok"], steps[name]
    assert steps["traces"]["ok"], steps["traces"]
    assert steps["traces"]["words"] > 100
    assert done.status == (0 if report["ok"] else 1)
    assert report["home"].startswith("/tmp/memvault-demo-")
    assert not Path(report["home"]).parent.exists()
    assert not bare.path.exists()


def test_the_search_for_traces_finds_what_is_readable_in_any_encoding(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one").write_bytes(os.urandom(50) + "quokka zanzibar".encode("utf-16-le"))
    (tmp_path / "two").write_bytes("青铜翡翠钥匙".encode())
    (tmp_path / "clean").write_bytes(os.urandom(4096))
    words = traces.distinctive_words(["The code is zanzibar.", "项目代号是青铜翡翠钥匙。"])
    result = traces.search(tmp_path, words | {"青铜翡翠"})
    assert set(result.found) == {"a/one", "two"}
    assert result.files == 3


def test_a_person_at_a_terminal_may_decline_to_look_around(bare: Home) -> None:
    done = bare.on_terminal("demo", answers=[("Look around in the terminal interface? [y/N] ", "n")])
    assert "A throwaway vault" in done.out
    assert "What is left in the files" in done.out
    home = re.search(r"A throwaway vault\S* in (\S+)", done.out)
    assert home is not None
    assert not Path(home[1]).parent.exists()


@pytest.mark.model
def test_with_the_real_model_every_question_of_the_demo_is_answered() -> None:
    command = [str(Path(sys.prefix) / "bin" / "memvault"), "demo", "--json"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["ok"]
    assert [step["name"] for step in report["steps"] if not step["ok"]] == []
