"""An unlocked vault without a daemon: the real store, index and services, the deterministic embedder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memvault.ids import new_id
from memvault.keys import header, header_file, passphrase, recovery
from memvault.keys.envelope import VaultKey
from memvault.keys.kdf import KdfProfile, calibrate
from memvault.model import Claim, Draft, Kind, Record, Scope, Source, SourceType
from memvault.paths import HomeLayout
from memvault.services import backup, erase, exchange, maintain, recollect, remember, restore
from memvault.services.caller import PERSON, Caller, agent
from memvault.services.change import EVERYTHING, fetch
from memvault.services.erase import Selection
from memvault.services.importing import ImportJob
from memvault.services.recollect import Question
from memvault.services.remember import Written
from memvault.services.restore import Restored, Secret
from memvault.services.vault import Vault, create_database, open_vault
from memvault.store import memories
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


class House:
    """A desk whose vault has a header, and what is done with its backups."""

    passphrase = "a passphrase for tests only"

    def __init__(self, desk: Desk) -> None:
        self.desk, self.layout, self.clock = desk, desk.layout, desk.clock
        self.code = recovery.new_code()
        vault_id, now = new_id(), desk.clock.now()
        cheap = calibrate(KdfProfile.test())
        slots = (
            recovery.make(vault_id, 1, desk.key, self.code, now),
            passphrase.make(vault_id, 1, desk.key, self.passphrase, cheap, now),
        )
        header_file.create(self.layout.root, header.new(vault_id, desk.key, slots, now))

    def back_up(self, path: Path | None = None) -> Path:
        target = backup.target_of(self.layout, path, self.clock)
        packed = backup.make(self.layout, self.desk.key, target, self.clock, lambda _stage, _done, _all: None)
        assert backup.keep(self.desk.vault, packed)
        return target

    def restore(self, path: Path) -> Restored:
        """Put a backup in the place of this vault, as the daemon does, and open what is there then."""
        self.desk.vault.close()
        try:
            return self.put_back(self.layout, path, key=self.desk.key)
        finally:
            self.desk.open()

    def put_back(
        self, layout: HomeLayout, path: Path, secret: Secret | None = None, key: VaultKey | None = None
    ) -> Restored:
        """Restore into any home that nobody has open; without `secret` by the passphrase."""
        given = secret or Secret(self.passphrase, False)
        present = restore.look(layout, key, [given])
        room = backup.new_room(layout.root, exchange.RESTORING)
        try:
            ready = restore.prepare(layout, room, path, given, present, lambda _stage, _done, _all: None)
            return restore.put_in_place(
                ready, present, self.clock, PERSON.actor, lambda _stage, _done, _all: None
            )
        finally:
            shutil.rmtree(room, ignore_errors=True)

    def opened(self, layout: HomeLayout, key: VaultKey) -> Vault:
        means = neutral_means(FAKE_MODEL_ID, FAKE_DIMS)
        return open_vault(layout, key, self.clock, FAKE_MODEL_ID, means, lambda _ids, _reason: None)

    def everything(self, vault: Vault) -> dict[str, str]:
        """Id -> content of every memory."""
        found = memories.ids_of(vault.reader, EVERYTHING, memories.Filter())
        return dict(memories.contents(vault.reader, found))

    def contents(self) -> dict[str, str]:
        return self.everything(self.desk.vault)


@pytest.fixture
def house(desk: Desk) -> House:
    return House(desk)


@pytest.fixture
def new_layout(tmp_path: Path) -> HomeLayout:
    """A home that is absent: an empty folder."""
    home = tmp_path / "new"
    home.mkdir(mode=0o700)
    return HomeLayout(home)
