"""SPEC 4: what time has caught up with expires or goes, when the vault is opened and once a day."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memvault.clock import iso
from memvault.config import Config
from memvault.daemon import keeper as keeping
from memvault.daemon.keeper import Keeper
from memvault.keys import ring
from memvault.model import Claim, Draft, Kind, Scope, Source, SourceType, Status
from memvault.paths import HomeLayout
from memvault.services import remember
from memvault.services.caller import PERSON, agent
from memvault.services.change import fetch
from memvault.services.forgetting import CLOCK_JUMPED
from memvault.store import memories

DAY_S = 86_400
PASSPHRASE = "a passphrase for tests only"


def proposal(ref: str) -> Draft:
    claim = Claim(Kind.FACT, Scope.PRIVATE, f"Always deploy office {ref} with the script, never by hand.")
    return Draft(claim, (Source(SourceType.CONVERSATION, ref),))


@pytest.mark.parametrize("how", ["reopened", "left open"])
async def test_a_candidate_lapses_at_unlock_and_daily(
    tmp_path: Path, clock: Any, monkeypatch: Any, how: str
) -> None:
    monkeypatch.setattr(keeping, "DAY_S", 0.05)
    home = tmp_path / "h"
    home.mkdir(mode=0o700)
    keeper = Keeper(HomeLayout(home), Config(0, 0, None), clock)
    try:
        await keeper.create(PASSPHRASE, False)
        written = await keeper.write(
            remember.add, agent("claude-code", (None,)), proposal("1"), correct=False
        )
        assert written.id is not None
        if how == "reopened":
            await keeper.lock()
        lapsed = asyncio.Event()
        keeper.listeners.append(lambda method, news: lapsed.set() if news.get("reason") == "lapse" else None)
        clock.advance(31 * DAY_S)
        if how == "reopened":
            await keeper.unlock(lambda header: ring.open_with_passphrase(header, PASSPHRASE))
        await asyncio.wait_for(lapsed.wait(), 10)
        assert await keeper.read(lambda vault: memories.count(vault.reader)) == 0
    finally:
        await keeper.stop()


@pytest.mark.parametrize(("ahead_days", "trusted"), [(31, True), (3_650, False)])
async def test_what_is_past_its_date_expires_at_unlock_unless_the_clock_is_ten_years_ahead(
    tmp_path: Path, clock: Any, ahead_days: int, trusted: bool
) -> None:
    home = tmp_path / "h"
    home.mkdir(mode=0o700)
    keeper = Keeper(HomeLayout(home), Config(0, 0, None), clock)
    claim = Claim(Kind.FACT, Scope.PRIVATE, "The trial runs.", expires_at=iso(clock.now() + timedelta(30)))
    try:
        await keeper.create(PASSPHRASE, False)
        dated = await keeper.write(
            remember.add, PERSON, Draft(claim, (Source(SourceType.USER, "x"),)), correct=False
        )
        await keeper.write(remember.add, agent("claude-code", (None,)), proposal("1"), correct=False)
        await keeper.lock()
        clock.advance(ahead_days * DAY_S)
        await keeper.unlock(lambda header: ring.open_with_passphrase(header, PASSPHRASE))
        record = await keeper.write(fetch, str(dated.id))  # upkeep was queued before it
        assert record.status is (Status.EXPIRED if trusted else Status.ACTIVE)
        assert await keeper.read(lambda vault: memories.count(vault.reader)) == (1 if trusted else 2)
        warnings = await keeper.read(lambda vault: list(vault.warnings))
        assert warnings == ([] if trusted else [CLOCK_JUMPED])
    finally:
        await keeper.stop()
