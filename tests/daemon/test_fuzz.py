"""SECURITY 18: whatever is sent is answered by an error or a close, nobody is answered beyond their rights.

3,000 seeded cases with the other tests, 100,000 by `make test-long`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HOSTILE = Path(__file__).with_name("fuzzing.py")
GROWTH_MIB = 64
"""More than the caches of a small vault need; a leak of a kilobyte a case would be 100 in the long run."""


def attack(home: Any, seed: int, cases: int, role: str) -> dict[str, Any]:
    marks = {"CLAUDECODE": "1"} if role == "agent" else {}
    command = [sys.executable, "-P", str(HOSTILE), str(home.root), f"seed {seed}", str(cases), role]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **marks}, cwd="/"
    )
    assert done.returncode == 0, done.stderr[-2_000:] + done.stdout[-500:]
    return json.loads(done.stdout)


def furnish(home: Any, fact: Any) -> int:
    """Memories that must not reach everybody. Returns the daemon's process id."""
    person = home.person()
    person.call("memory.add", fact("The canaryplain sings on the pier.", sensitivity="internal"))
    person.call("memory.add", fact("The canaryrestricted sings in the vault.", sensitivity="restricted"))
    person.call("memory.add", fact("The canaryforeign sings elsewhere.", project="elsewhere"))
    return person.hello["pid"]


def attack_by_all(home: Any, fact: Any, seed: int, person: int, agent: int, locked: int) -> dict[str, Any]:
    """Attack in every role; what each met."""
    pid = furnish(home, fact)
    found = {"person": attack(home, seed, person, "person"), "agent": attack(home, seed, agent, "agent")}
    home.person().call("vault.lock")
    found["locked"] = attack(home, seed, locked, "locked")
    client = home.person()
    assert client.hello["pid"] == pid, "the same daemon answers"
    assert all(check["ok"] for check in client.call("doctor")["checks"] if check["name"] != "embeddings")
    log = home.log()
    assert "failed" not in log, log[-3_000:]
    assert "stray" not in log, log[-3_000:]
    assert "canary" not in log
    for role, report in found.items():
        assert report["violations"] == [], (role, report)
        early, late = report["rss_mib"][len(report["rss_mib"]) // 5], report["rss_mib"][-1]
        assert late - early < GROWTH_MIB, (role, report["rss_mib"])
        met = {"frame_invalid", "usage", "result"} | ({"locked"} if role == "locked" else set())
        assert met <= set(report["codes"]), (role, report["codes"])
    return found


@pytest.mark.parametrize("seed", [1])
def test_a_short_attack_harms_nothing_and_learns_nothing(daemon_home: Any, fact: Any, seed: int) -> None:
    found = attack_by_all(daemon_home, fact, seed, person=2_400, agent=400, locked=200)
    assert sum(report["cases"] for report in found.values()) == 3_000


@pytest.mark.long
@pytest.mark.timeout(7_200)
def test_a_hundred_thousand_cases_harm_nothing_and_learn_nothing(daemon_home: Any, fact: Any) -> None:
    found = attack_by_all(daemon_home, fact, 2, person=85_000, agent=5_000, locked=10_000)
    assert sum(report["cases"] for report in found.values()) == 100_000
    sys.stdout.write(json.dumps(found) + "\n")
