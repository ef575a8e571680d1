"""SPEC 3: what another project's memory, or a person for another project, taught helps no agent."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memvault import agent_tokens
from memvault.client import Client


@pytest.fixture
def agent_in_alpha(shared_home: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Client]:
    """An agent granted the project that its repository is."""
    folder = tmp_path / "alpha-of-names"
    subprocess.run(["git", "init", "-q", folder], check=True)
    monkeypatch.chdir(folder)
    person = shared_home.person()
    token = person.call("agents.add", {"name": "namer"})["token"]
    agent_tokens.keep(shared_home.layout, "namer", token)
    person.close()

    def connect() -> Client:
        client = Client(shared_home.root, name="agent", agent="namer")
        client.connect()
        return client

    return connect


def told(client: Client, query: str) -> list[tuple[Any, ...]]:
    found = client.call("recall", {"query": query, "log": False})["results"]
    return [(hit["content"], hit["score"], tuple(hit["why"])) for hit in found]


def test_an_agent_never_gains_from_a_name_taught_or_set_in_another_project(
    shared_home: Any, agent_in_alpha: Callable[[], Client], fact: Any
) -> None:
    person = shared_home.person()
    person.call("memory.add", fact("The Kingfisher restarts on Mondays.", project="alpha-of-names"))
    agent = agent_in_alpha()
    questions = ("harbour nest", "Kingfisher", "harbour nest Kingfisher")
    before = [told(agent, question) for question in questions]
    assert before[0] == [] and before[1]
    person.call("aliases.set", {"names": ["harbour nest", "Kingfisher"], "project": "beta-of-names"})
    taught = "Kingfisher, also known as Nest, is restarted by hand."
    person.call("memory.add", fact(taught, project="beta-of-names"))
    assert [told(agent, question) for question in questions] == before
    with pytest.raises(Exception, match="only a person"):
        agent.call("aliases.list")
    person.call("aliases.set", {"names": ["harbour nest", "Kingfisher"], "project": "alpha-of-names"})
    assert any("harbour nest (Kingfisher)" in " ".join(why) for _, _, why in told(agent, "harbour nest"))
    agent.close()
    person.close()
