"""The inbox says why each thing is there and who brought it, and one key decides it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memvault_tui.i18n import use_language
from memvault_tui.lines import width
from memvault_tui.reasons import can_be_confirmed, can_be_rejected, long_reason, reason_of, short_reason
from memvault_tui.records import Doubt, Memory
from memvault_tui.screens.browse import BrowseScreen
from memvault_tui.screens.inbox import InboxScreen
from memvault_tui.sheets import waiting

from .conftest import Driver, House, OpenTui, Vault, propose

Prove = Callable[[Driver], Awaitable[None]]

SIZES = [(80, 24), (160, 45)]


async def open_inbox(driver: Driver, *words: str) -> None:
    await driver.shows(BrowseScreen)
    await driver.press("3")
    await driver.shows(InboxScreen)
    await driver.sees(*words)


def cursor_line(driver: Driver) -> str:
    return next(line for line in driver.lines if line.startswith("▸"))


@pytest.mark.parametrize("size", SIZES)
async def test_a_proposal_names_its_agent(house: House, tui: OpenTui, size: tuple[int, int]) -> None:
    propose(house.let_in("codex"), "I always run the linter before a commit.")
    propose(house.let_in("robin"), "I prefer tabs in every Makefile.", "c2")
    async with tui(house.vault.home, size=size) as driver:
        await open_inbox(driver, "2 wait for you", "Proposed: it is not recalled", "Brought in by robin.")
        await driver.press("j")
        await driver.sees("Brought in by codex.")


@pytest.mark.parametrize("size", SIZES)
async def test_what_the_person_said_is_confirmed_from_here(
    house: House, tui: OpenTui, prove: Prove, size: tuple[int, int]
) -> None:
    codex = house.let_in("codex")
    told = {
        "event": "UserPromptSubmit",
        "session": "s1",
        "prompt": "Remember that the gateway drops headers over 8 KB.",
    }
    codex.call("hook.event", told)
    (waits,) = house.vault.client.call("inbox")["items"]
    assert waits["flags"] == ["said"]
    async with tui(house.vault.home, size=size) as driver:
        await open_inbox(driver, "(you said so)", "You said so to an agent", "marked unconfirmed")
        await driver.press("c")
        await prove(driver)
        await driver.sees("Confirmed.", "Nothing waits for you.")
        found = house.vault.get(waits["id"])
        assert (found["status"], found["flags"]) == ("active", [])


@pytest.mark.parametrize("size", SIZES)
async def test_what_an_agent_doubts_shows_its_words_and_is_settled_by_a_check(
    house: House, tui: OpenTui, prove: Prove, size: tuple[int, int]
) -> None:
    memory = house.vault.add("The build runs on a laptop.")
    codex = house.let_in("codex")
    codex.call("recall", {"query": "where does the build run"})
    codex.call("memory.feedback", {"id": memory, "verdict": "outdated", "evidence": "CI has it since May"})
    async with tui(house.vault.home, size=size) as driver:
        await open_inbox(
            driver, "(doubted)", "An agent doubts it", "codex, 20", "outdated: CI has it since May"
        )
        await driver.press("c")
        await driver.sees("It is a memory already: v checks it")
        await driver.press("r")
        await driver.sees("opens")
        assert house.vault.get(memory)["status"] == "active"
        await driver.press("v")
        await prove(driver)
        await driver.until(lambda: house.vault.get(memory)["flags"] == [], "it is checked")
        await driver.sees("Nothing waits for you.")


@pytest.mark.parametrize("size", SIZES)
async def test_a_changed_file_and_a_near_end_say_so(
    vault: Vault, tui: OpenTui, tmp_path: Path, size: tuple[int, int]
) -> None:
    page = tmp_path / "queue.md"
    page.write_text("The queue is redis.\n")
    source = {"type": "file", "ref": str(page), "evidence": "The queue is redis."}
    asked = {"content": "Redis holds the queue", "kind": "fact", "scope": "private", "source": source}
    flagged = vault.client.call("memory.add", asked)["id"]
    soon = datetime.now(UTC) + timedelta(days=5)
    vault.add("The trial of the monitor runs.", expires_at=soon.strftime("%Y-%m-%d"))
    page.write_text("The queue is kafka.\n")
    async with tui(vault.home, size=size) as driver:
        await driver.until(
            lambda: "source_changed" in vault.get(flagged)["flags"], "the daemon saw the change"
        )
        await open_inbox(
            driver, "2 wait for you", "(file changed)", "(until ", "It ends on ", "gives it another"
        )
        await driver.press("j")
        await driver.sees("A file it cites has changed")


@pytest.mark.parametrize("size", SIZES)
async def test_what_resembles_something_deleted_says_so_and_may_be_let_in(
    house: House, tui: OpenTui, prove: Prove, size: tuple[int, int]
) -> None:
    gone = house.vault.add(
        "I always deploy the walnut gateway with the copper script on Monday", "preference"
    )
    house.vault.client.call("memory.delete", {"ids": [gone]})
    again = propose(house.let_in("codex"), "I always deploy the walnut gateway with copper on Monday")
    async with tui(house.vault.home, size=size) as driver:
        await open_inbox(driver, "(like deleted)", "It resembles something you deleted")
        await driver.press("c")
        await prove(driver)
        await driver.sees("Confirmed.")
        assert house.vault.get(again)["status"] == "active"


@pytest.mark.parametrize("size", SIZES)
async def test_skipping_goes_on_and_leaves_it(house: House, tui: OpenTui, size: tuple[int, int]) -> None:
    codex = house.let_in("codex")
    propose(codex, "I always run the linter before a commit.")
    propose(codex, "I prefer tabs in every Makefile.", "c2")
    async with tui(house.vault.home, size=size) as driver:
        await open_inbox(driver, "2 wait for you")
        assert "tabs" in cursor_line(driver)
        await driver.press("s")
        assert "linter" in cursor_line(driver)
        await driver.press("s")
        await driver.sees("That was the last one.")
        assert house.vault.client.call("inbox")["total"] == 2


def memory(because: str, *flags: str, status: str = "active", **fields: object) -> Memory:
    asked = {"id": "m", "kind": "fact", "content": "x", **fields}
    return Memory(status=status, because=because, flags=flags, **asked)  # type: ignore[arg-type]


DOUBT = (Doubt("2026-03-12T10:00:00Z", "agent:codex", "wrong: no"),)

REASONS = [
    (memory("candidate", status="candidate"), "proposed", True, True),
    (memory("candidate", "said", status="candidate"), "said", True, True),
    (memory("candidate", "said", "other", status="candidate"), "proposed", True, True),
    (memory("candidate", "resembles_deleted", status="candidate"), "resembles", True, True),
    (memory("flagged", "resembles_deleted", status="disabled"), "resembles", True, True),
    (memory("replaced", "review_replacement"), "replaced", True, False),
    (memory("flagged", "needs_verification", notes=DOUBT), "doubted", False, False),
    (memory("flagged", "needs_verification", "source_changed"), "file", False, False),
    (memory("flagged", "needs_verification"), "check", False, False),
    (memory("expiring", due_at="2026-03-12T10:00:00Z"), "expiring", False, False),
]


@pytest.mark.parametrize(("shown", "name", "confirm", "reject"), REASONS, ids=lambda value: str(value)[:12])
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_reason_has_words_that_fit_and_keys_that_work(
    shown: Memory, name: str, confirm: bool, reject: bool, language: str
) -> None:
    use_language(language)
    assert reason_of(shown) == name
    assert (can_be_confirmed(shown), can_be_rejected(shown)) == (confirm, reject)
    assert width(short_reason(shown)) <= 15
    assert bool(short_reason(shown)) == (name != "proposed")
    assert long_reason(shown)
    for cells in (60, 20):
        rows = waiting(shown, "agent:codex", cells)
        assert all(sum(width(text) for text, _role in row) <= cells for row in rows)
        assert "codex" in "".join(text for row in rows for text, _role in row)


def test_an_end_that_was_set_and_one_that_comes_of_age_are_told_apart() -> None:
    due = "2026-03-12T12:00:00Z"
    assert long_reason(memory("expiring", due_at=due, expires_at=due)).startswith("It ends on 2026-03-12")
    assert long_reason(memory("expiring", due_at=due)).startswith("From 2026-03-12 on")
    assert short_reason(memory("expiring", due_at=due)) == "(until 03-12)"


def test_a_memory_outside_of_the_inbox_has_no_reason() -> None:
    assert (reason_of(memory("")), short_reason(memory("")), waiting(memory(""), "person", 40)) == (
        "",
        "",
        [],
    )
