"""Drafts as an agent would propose them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memvault.gate.score import Decision, Writer, decide
from memvault.model import Claim, Draft, Kind, Scope, Source, SourceType

Propose = Callable[..., Decision]


def draft(text: str, *, kind: str = "fact", source: str | None = "conversation", **fields: Any) -> Draft:
    evidence = fields.pop("evidence", None)
    sources = () if source is None else (Source(SourceType(source), "session-1", evidence=evidence),)
    return Draft(Claim(kind=Kind(kind), scope=Scope.PRIVATE, content=text, **fields), sources)


@pytest.fixture(name="draft")
def _draft() -> Callable[..., Draft]:
    return draft


@pytest.fixture
def propose() -> Propose:
    """`propose(text, kind=, source=, who=, **decide options)`: what the gate makes of it."""

    def ask(
        text: str,
        *,
        kind: str = "fact",
        source: str | None = "conversation",
        who: Writer = Writer.AGENT,
        **more: Any,
    ) -> Decision:
        names = {"why", "evidence", "how_to_apply", "failure", "conditions", "about", "value"}
        fields = {name: more.pop(name) for name in names & set(more)}
        return decide(draft(text, kind=kind, source=source, **fields), who=who, **more)

    return ask
