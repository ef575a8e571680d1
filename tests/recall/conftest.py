"""Indexes over the fake embedder, which knows words and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from memvault.recall import Analyser, Entry, Hit, Index, Query, Shelf
from memvault.recall.naming import Labels
from memvault_models.fake import FAKE_DIMS, FAKE_MODEL_ID, FakeEmbedder
from memvault_models.language import language
from memvault_models.means import neutral_means

TODAY = 20_000
OPEN = Shelf("private", None, 1, "current")


class Desk:
    """One index with what fills and asks it."""

    def __init__(self) -> None:
        self.embedder = FakeEmbedder()
        self.analyser = Analyser(bytes(range(32)))
        self.labels = Labels(self.analyser)
        self.index = Index(FAKE_DIMS, neutral_means(FAKE_MODEL_ID, FAKE_DIMS))

    def entry(
        self,
        id_: str,
        text: str,
        shelf: Shelf = OPEN,
        *,
        vectors: bool = True,
        subject: str | None = None,
        attribute: str | None = None,
        **more: object,
    ) -> Entry:
        made = Entry(
            id=id_,
            shelf=shelf,
            kind="fact",
            language=language(text),
            terms=self.analyser.passage([(text, 1.0)]),
            vectors=np.asarray(self.embedder.embed_passages([text])[0]) if vectors else None,
            confidence=0.9,
            authority="user_confirmed",
            created_day=TODAY,
        )
        for name, value in more.items():
            setattr(made, name, value)
        if subject or attribute:
            about = [(name, 0.6) for name in (subject, attribute) if name]
            made.terms = self.analyser.passage([(text, 1.0), *about])
            made.named = self.labels.named(subject, attribute)
        return made

    def put(self, id_: str, text: str, shelf: Shelf = OPEN, **more: Any) -> None:
        self.index.put(self.entry(id_, text, shelf, **more))

    def query(self, text: str, *, vector: bool = True, today: int = TODAY, **more: object) -> Query:
        return Query(
            text=text,
            terms=self.analyser.query(text),
            marks=self.analyser.marks(text),
            vector=self.embedder.embed_query(text) if vector else None,
            language=language(text),
            today=today,
            **more,  # type: ignore[arg-type]
        )

    def ask(
        self, text: str, allow: Callable[[Shelf], bool] = lambda shelf: True, limit: int = 5, **more: object
    ) -> list[Hit]:
        return self.index.search(self.query(text, **more), allow, limit)  # type: ignore[arg-type]

    def ids(self, text: str, **more: object) -> list[str]:
        return [hit.id for hit in self.ask(text, **more)]  # type: ignore[arg-type]


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture(scope="session")
def new_desk() -> type[Desk]:
    return Desk
