"""An unlocked vault without a daemon: the real store, index and services, the deterministic embedder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memvault.keys.envelope import VaultKey
from memvault.model import Claim, Draft, Kind, Record, Scope, Source, SourceType
from memvault.paths import HomeLayout
from memvault.services import erase, maintain, recollect, remember
from memvault.services.caller import PERSON, Caller, agent
from memvault.services.change import fetch
from memvault.services.erase import Selection
from memvault.services.importing import ImportJob
from memvault.services.recollect import Question
from memvault.services.remember import Written
from memvault.services.vault import Vault, create_database, open_vault
from memvault_models.fake import FAKE_DIMS, FAKE_MODEL_ID, FakeEmbedder
from memvault_models.means import neutral_means


@dataclass
class Desk:
    """A vault and the short names for what tests do with it."""

    layout: HomeLayout
    key: VaultKey
    clock: Any
    vault: Vault = field(init=False)
    news: list[tuple[tuple[str, ...], str]] = field(default_factory=list)
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)

    def open(self) -> None:
        def changed(ids: Sequence[str], reason: str) -> None:
            self.news.append((tuple(ids), reason))

        means = neutral_means(FAKE_MODEL_ID, FAKE_DIMS)
        self.vault = open_vault(self.layout, self.key, self.clock, FAKE_MODEL_ID, means, changed)

    def reopen(self) -> None:
        self.vault.close()
        self.open()

    def draft(
        self, content: str, *, source: str = "user:test", evidence: str | None = None, **claim: Any
    ) -> Draft:
        kind, _, ref = source.partition(":")
        fields = {"kind": Kind.FACT, "scope": Scope.PRIVATE, **claim}
        return Draft(Claim(content=content, **fields), (Source(SourceType(kind), ref, evidence=evidence),))

    def add(self, content: str, *, caller: Caller = PERSON, correct: bool = False, **more: Any) -> Written:
        return remember.add(self.vault, caller, self.draft(content, **more), correct=correct)

    def get(self, memory: str | None) -> Record:
        assert memory is not None
        return fetch(self.vault, memory)

    def delete(self, *ids: str, **wanted: Any) -> erase.Erased:
        return erase.erase(self.vault, PERSON, Selection(ids, **wanted), None)

    def embed(self) -> None:
        """Give every waiting memory its vectors, as the daemon's worker does."""
        while texts := self.vault.take_waiting(64):
            self.vault.put_vectors([(id_, self.embedder.embed_passages([text])[0]) for id_, text in texts])

    def recall(self, query: str, caller: Caller = PERSON, **how: Any) -> list[dict[str, Any]]:
        question = recollect.checked(Question(query, **how))
        vector = self.embedder.embed_query(query)
        return recollect.recall(self.vault, caller, question, vector, "hybrid").results

    def take(
        self, folder: Path, *, kind: str = "markdown", project: str | None = None, dry: bool = False
    ) -> Any:
        """Import a folder to its end."""
        job = ImportJob(self.vault, PERSON, kind, folder, "private", project)
        while job.step(dry):
            pass
        return job.report

    def roll_back(self, run: str | None, **how: Any) -> maintain.RolledBack:
        assert run is not None
        return maintain.roll_back(self.vault, PERSON, run, **{"with_dependents": False, **how})

    def events(self, memory: str | None) -> list[dict[str, Any]]:
        assert memory is not None
        return recollect.history(self.vault, PERSON, memory)["events"]

    def whole(self) -> None:
        """Every check of doctor is satisfied."""
        self.embed()
        wrong = [check for check in maintain.examine(self.vault) if not check["ok"]]
        assert not wrong


@pytest.fixture
def desk(tmp_path: Path, clock: Any) -> Iterator[Desk]:
    home = tmp_path / "h"
    home.mkdir(mode=0o700)
    made = Desk(HomeLayout(home), VaultKey.random(), clock)
    create_database(made.layout, made.key)
    made.open()
    yield made
    made.vault.close()


@pytest.fixture
def robot() -> Caller:
    """An agent working in the project `alpha`."""
    return agent("claude-code", (None, "alpha"))
