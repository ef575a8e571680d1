"""SPEC 4: a candidate that nobody confirms for 30 days goes, when the vault is opened and once a day."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from memvault.config import Config
from memvault.daemon import keeper as keeping
from memvault.daemon.keeper import Keeper
from memvault.keys import ring
from memvault.model import Claim, Draft, Kind, Scope, Source, SourceType
from memvault.paths import HomeLayout
from memvault.services import remember
from memvault.services.caller import agent
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
