"""Calibrating runs beside everything else, can be called off, and needs the model it is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memvault.errors import ModelUnavailable, Usage


@pytest.fixture
def wire(shared_home: Any) -> Any:
    """A raw connection of somebody who has unlocked the vault."""
    shared_home.person()
    wire = shared_home.wire()
    assert "result" in wire.ask("vault.unlock", {"passphrase": shared_home.passphrase})
    return wire


def labels(folder: Path, memory: str, count: int) -> str:
    path = folder / "labels.jsonl"
    rows = [
        {"query": f"which lantern is number {n}", "expects": [memory] if n % 2 else []} for n in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_a_calibration_that_is_called_off_stops_and_changes_nothing(
    shared_home: Any, wire: Any, fact: Any, tmp_path: Path
) -> None:
    memory = shared_home.person().call("memory.add", fact("The lantern has number seven."))["id"]
    params = {"path": labels(tmp_path, memory, 2_000)}
    asked = {"jsonrpc": "2.0", "id": 9, "method": "models.calibrate", "params": params}
    wire.send(json.dumps(asked).encode() + b"\n")
    while (news := wire.read())["params"]["done"] < 20:
        assert (news["method"], news["params"]["total"]) == ("progress", 2_000)
    assert shared_home.person().call("recall", {"query": "lantern"})["results"], (
        "others are answered meanwhile"
    )
    wire.send(b'{"jsonrpc":"2.0","method":"$/cancel","params":{"id":9}}\n')
    while "error" not in (news := wire.read()):
        assert news["method"] == "progress" and news["params"]["done"] < 2_000
    assert news["error"]["data"]["code"] == "cancelled"


def test_bounds_are_kept(shared_home: Any) -> None:
    client = shared_home.person()
    for params in ({"en": 0.16}, {"zh": -0.2}, {"other": 3}):
        with pytest.raises(Usage):
            client.call("models.set_shift", params)
    assert client.call("models.set_shift", {"en": -0.15})["shifts"] == {"en": -0.15, "zh": 0.0, "other": 0.0}
    assert client.call("models.set_shift", {})["before"]["en"] == -0.15


def test_without_its_model_nothing_is_measured_or_set_but_what_was_set_can_be_forgotten(
    daemon_home: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMVAULT_EMBEDDER")
    daemon_home.layout.config.write_text('[model]\nid = "there-is-none"\n')
    client = daemon_home.person()
    until(lambda: client.call("status")["model"]["state"] == "absent", "the model's absence")
    for method, params in (("models.calibrate", {}), ("models.set_shift", {"en": 0.05})):
        with pytest.raises(ModelUnavailable):
            client.call(method, params)
    assert client.call("models.set_shift", {})["shifts"] == {"en": 0.0, "zh": 0.0, "other": 0.0}
