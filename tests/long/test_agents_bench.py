"""bench/agents.py at a size that fits into a test: twenty agents at once meet no error and lose nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.long, pytest.mark.model, pytest.mark.timeout(900)]

BENCH = Path(__file__).parents[2] / "bench" / "agents.py"


def figures(printed: str) -> dict[str, Any]:
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    return {line["figure"]: line["value"] for line in lines}


def test_twenty_agents_at_once_meet_no_error_and_lose_nothing(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCH), "--memories", "2000", "--seconds", "5"]
    done = subprocess.run(
        [*command, "--keep", str(tmp_path / "kept")],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = figures(done.stdout)
    for phase in ("alone", "paced", "saturated", "together"):
        assert found[f"{phase}_calls"] > 0
        assert found[f"{phase}_errors"] == {}
        assert set(found[f"{phase}_modes"]) <= {"hybrid", "hybrid-partial"}
    assert found["paced_rate_limited"] == 0
    assert found["proposals_lost"] == 0
    assert "| `recall` | 70 % |" in done.stdout
    if "was not run to its end" not in done.stdout:
        assert found["reference_together_per_s"] > 0
        assert found["reference_writes_acknowledged"] == 40
    assert found["fts5_together_per_s"] > 0
