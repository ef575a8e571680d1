"""Agents: who may read and propose is decided here; what they wrote is seen, judged and taken back."""

from __future__ import annotations

import stat
from collections.abc import Awaitable, Callable

import pytest
from textual.widgets import Button, Select

from memvault import agent_tokens
from memvault.errors import MemvaultError
from memvault_tui.i18n import use_language
from memvault_tui.screens.agents import AgentsScreen, TypedPurge
from memvault_tui.screens.browse import BrowseScreen
from memvault_tui.screens.dialogs import Choice, Presence, YesNo
from memvault_tui.screens.grant_form import GrantForm
from memvault_tui.screens.inbox import InboxScreen
from memvault_tui.screens.locked import LockedScreen
from memvault_tui.screens.memory import MemoryScreen
from memvault_tui.screens.written import WrittenScreen
from memvault_tui.widgets.agent_list import AgentList
from memvault_tui.widgets.fields import Field
from memvault_tui.widgets.memory_list import MemoryList

from .conftest import Driver, House, OpenTui, may_read, propose
from .test_dumps import check

Prove = Callable[[Driver], Awaitable[None]]

SIZES = [(80, 24), (160, 45)]


async def open_agents(driver: Driver, *words: str) -> None:
    await driver.shows(BrowseScreen)
    await driver.press("8")
    await driver.shows(AgentsScreen)
    await driver.sees(*words)


def cursor_line(driver: Driver) -> str:
    return next(line for line in driver.lines if line.startswith("▸"))


@pytest.mark.parametrize("size", SIZES)
async def test_a_request_is_announced_where_one_is_and_stands_first(
    house: House, tui: OpenTui, size: tuple[int, int]
) -> None:
    house.let_in("aardvark")
    async with tui(house.vault.home, size=size) as driver:
        await driver.shows(BrowseScreen)
        await driver.sees("unlocked")
        assert "agent asks" not in driver.text
        house.ask("opencode", "OPENCODE")
        await driver.sees("1 agent asks (8)", "opencode asks to be let in")
        await driver.press("8")
        await driver.shows(AgentsScreen)
        await driver.sees("1 asks you, 1 let in", "asks you", "aardvark", "Until you do it reads nothing")
        assert "opencode" in cursor_line(driver)
        await driver.press("j")
        assert "aardvark" in cursor_line(driver)
        house.vault.client.call("agents.approve", {"name": "opencode"})
        await driver.sees("2 let in")
        assert "aardvark" in cursor_line(driver), "the list does not move under the cursor"
        await driver.sees_not("agent asks")


@pytest.mark.parametrize("size", SIZES)
async def test_letting_in_warns_of_the_cloud_wants_proof_and_writes_the_token(
    house: House, tui: OpenTui, prove: Prove, size: tuple[int, int]
) -> None:
    house.ask("opencode", "OPENCODE")
    async with tui(house.vault.home, size=size) as driver:
        await open_agents(driver, "asks you")
        await driver.press("a")
        await driver.shows(GrantForm)
        await driver.sees("may go to the provider of its", "read, and propose", "up to", "internal")
        await driver.press("escape")
        await driver.shows(AgentsScreen)
        assert house.grant("opencode")["state"] == "pending"
        await driver.press("a")
        await driver.shows(GrantForm)
        driver.app.screen.query_one("#verbs", Select).value = "read"
        await driver.press("ctrl+s")
        await prove(driver)
        await driver.sees("opencode is let in.", "1 let in")
        path = agent_tokens.path_of(house.layout, "opencode")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert house.grant("opencode")["verbs"] == ["read"]
        assert may_read(house.agent("opencode"))
        assert str(house.token("opencode")) not in driver.text
        await driver.press("a")
        await driver.sees("is let in already")


async def test_without_proof_nobody_is_let_in(house: House, tui: OpenTui) -> None:
    house.ask("opencode", "OPENCODE")
    async with tui(house.vault.home) as driver:
        await open_agents(driver, "asks you")
        await driver.press("a")
        await driver.shows(GrantForm)
        await driver.press("ctrl+s")
        await driver.shows(Presence)
        await driver.press("escape")
        await driver.sees("Nothing was done.")
        assert house.grant("opencode")["state"] == "pending"
        assert house.token("opencode") is None


async def test_a_token_that_cannot_be_kept_is_told_and_can_be_made_again(
    house: House, tui: OpenTui, prove: Prove
) -> None:
    house.ask("opencode", "OPENCODE")
    house.layout.tokens.mkdir(mode=0o700, exist_ok=True)
    house.layout.tokens.chmod(0o755)
    async with tui(house.vault.home) as driver:
        await open_agents(driver, "asks you")
        await driver.press("a")
        await driver.shows(GrantForm)
        await driver.press("ctrl+s")
        await prove(driver)
        await driver.sees("its token could not be kept")
        house.layout.tokens.chmod(0o700)
        await driver.press("escape")
        await driver.shows(AgentsScreen)
        await driver.sees("1 let in")
        await driver.press("t")
        await driver.shows(YesNo)
        await driver.press("tab", "enter")
        await driver.sees("opencode has a new token.")
        assert may_read(house.agent("opencode"))


@pytest.mark.parametrize("size", SIZES)
async def test_rights_are_changed_and_only_what_differs_is_sent(
    house: House, tui: OpenTui, prove: Prove, size: tuple[int, int]
) -> None:
    house.let_in("codex", projects=["Bill\u200bing"])
    async with tui(house.vault.home, size=size) as driver:
        await open_agents(driver, "codex", "up to internal")
        await driver.press("e")
        await driver.shows(GrantForm)
        await driver.sees("these, by name:", "Bill\\u200bing")
        driver.app.screen.query_one("#ceiling", Select).value = "public"
        driver.app.screen.query_one("#scopes", Select).value = "team"
        await driver.press("ctrl+s")
        await prove(driver)
        await driver.sees("Changed; it holds at its next call.", "up to public")
        grant = house.grant("codex")
        assert (grant["ceiling"], grant["scopes"], grant["projects"]) == (
            "public",
            ["team"],
            ["Bill\u200bing"],
        )
        await driver.press("e")
        await driver.shows(GrantForm)
        names = driver.app.screen.query_one("#names", Field)
        names.value = " , "
        await driver.press("ctrl+s")
        await driver.sees("Name at least one project")
        names.value = "billing， infra"
        await driver.press("ctrl+s")
        await driver.shows(AgentsScreen)
        await driver.sees("billing, infra")
        assert house.grant("codex")["projects"] == ["billing", "infra"]
        await driver.press("e")
        await driver.shows(GrantForm)
        driver.app.screen.query_one("#projects", Select).value = "all"
        await driver.press("ctrl+s")
        await driver.shows(AgentsScreen)
        await driver.sees("every project")
        assert house.grant("codex")["projects"] == "all"


async def test_leaving_rights_half_chosen_by_quitting_asks_first(house: House, tui: OpenTui) -> None:
    house.let_in("codex")
    async with tui(house.vault.home) as driver:
        await open_agents(driver, "codex")
        await driver.press("e")
        await driver.shows(GrantForm)
        assert not driver.app.screen.unsaved  # type: ignore[attr-defined]
        driver.app.screen.query_one("#verbs", Select).value = "propose read write"
        await driver.press("ctrl+q")
        await driver.sees("not saved. Leave anyway?")
        await driver.press("escape", "escape")
        await driver.shows(AgentsScreen)
        assert house.grant("codex")["verbs"] == ["propose", "read"]


@pytest.mark.parametrize("size", SIZES)
async def test_quarantine_takes_nothing_more_until_it_ends(
    house: House, tui: OpenTui, prove: Prove, size: tuple[int, int]
) -> None:
    codex = house.let_in("codex")
    propose(codex, "I always run the linter before a commit.")
    async with tui(house.vault.home, size=size) as driver:
        await open_agents(driver, "codex", "waiting for you 1")
        await driver.press("x")
        await prove(driver)
        await driver.sees("Nothing more is taken from codex.", "quarantined")
        with pytest.raises(MemvaultError):
            propose(codex, "I prefer tabs in every Makefile.")
        assert may_read(codex)
        await driver.press("x")
        await driver.sees("codex may propose again.")
        propose(codex, "I prefer tabs in every Makefile.")


@pytest.mark.parametrize("size", SIZES)
async def test_a_new_token_ends_the_old_one(
    house: House, tui: OpenTui, prove: Prove, size: tuple[int, int]
) -> None:
    old = house.let_in("codex")
    assert may_read(old)
    before = house.token("codex")
    async with tui(house.vault.home, size=size) as driver:
        await open_agents(driver, "codex")
        await driver.press("t")
        await driver.shows(YesNo)
        await driver.press("enter")
        await driver.shows(AgentsScreen)
        assert house.token("codex") == before, "the harmless answer is the first"
        await driver.press("t")
        await driver.shows(YesNo)
        await driver.press("tab", "enter")
        await prove(driver)
        await driver.sees("codex has a new token.")
        assert house.token("codex") not in (before, None)
        assert not may_read(old)
        assert may_read(house.agent("codex"))


@pytest.mark.parametrize("size", SIZES)
async def test_shutting_out_holds_at_once_and_can_be_taken_back(
    house: House, tui: OpenTui, prove: Prove, size: tuple[int, int]
) -> None:
    codex = house.let_in("codex")
    assert may_read(codex)
    async with tui(house.vault.home, size=size) as driver:
        await open_agents(driver, "codex")
        await driver.press("r")
        await driver.sees("Shut codex out?", "cannot ask again")
        await driver.press("tab", "enter")
        await prove(driver)
        await driver.sees("codex is shut out.", "kept out")
        assert not may_read(codex)
        assert house.token("codex") is None
        for key in ("e", "x", "t"):
            await driver.press(key)
            await driver.sees("codex is not let in; a does that.")
        await driver.press("r")
        await driver.sees("shut out already")
        await driver.press("a")
        await driver.shows(GrantForm)
        await driver.press("ctrl+s")
        await driver.sees("codex is let in.")
        assert may_read(house.agent("codex"))


@pytest.mark.parametrize("size", SIZES)
async def test_a_forgotten_agent_is_off_the_list(
    house: House, tui: OpenTui, prove: Prove, size: tuple[int, int]
) -> None:
    house.let_in("codex")
    async with tui(house.vault.home, size=size) as driver:
        await open_agents(driver, "codex")
        await driver.press("d")
        await driver.sees("Take codex off the list?", "What it wrote stays")
        await driver.press("tab", "enter")
        await prove(driver)
        await driver.sees("codex is off the list.", "No agent was let in, and none asks.")
        assert (house.grant("codex"), house.token("codex")) == ({}, None)
        await driver.press("a", "e", "x", "r", "t", "d", "D", "enter")
        assert isinstance(driver.app.screen, AgentsScreen), "nothing is under the cursor"


@pytest.mark.parametrize("size", SIZES)
async def test_what_an_agent_wrote_and_how_it_was_judged_can_be_seen(
    house: House, tui: OpenTui, size: tuple[int, int]
) -> None:
    name = f"heron-{size[0]}"
    heron = house.let_in(name)
    taken = propose(heron, "I always run the linter before a commit.")
    propose(heron, "I prefer tabs in every Makefile.", "c2")
    turned_down = propose(heron, "I never want dark themes.", "c3")
    house.vault.client.call("review.confirm", {"id": taken})
    house.vault.client.call("review.reject", {"id": turned_down})
    async with tui(house.vault.home, size=size) as driver:
        await open_agents(driver, "3 memories brought in", "confirmed 1", "rejected 1")
        await driver.sees("waiting for you 1", "confirmed by you 1")
        await driver.press("enter")
        await driver.shows(WrittenScreen)
        await driver.sees(f"Written by {name}", "2 memories", "tabs in every Makefile", "(confirmed)")
        assert "tabs" in cursor_line(driver), "what waits comes first"
        await driver.press("j")
        await driver.until(lambda: "linter" in cursor_line(driver), "the next row")
        await driver.press("enter")
        await driver.shows(MemoryScreen)
        await driver.press("escape")
        await driver.shows(WrittenScreen)
        assert "linter" in cursor_line(driver)
        await driver.press("tab")
        assert not isinstance(driver.app.screen.focused, MemoryList)
        house.vault.client.call("memory.delete", {"ids": [taken]})
        await driver.sees("1 memory")
        await driver.press("escape")
        await driver.shows(AgentsScreen)
        await driver.sees("deleted 1")
        await driver.press("tab")
        assert not isinstance(driver.app.screen.focused, AgentList)


@pytest.mark.parametrize("size", SIZES)
async def test_erasing_says_what_remains_and_wants_the_agents_name(
    house: House, tui: OpenTui, prove: Prove, size: tuple[int, int]
) -> None:
    codex = house.let_in("codex")
    taken = propose(codex, "I always run the linter before a commit.")
    propose(codex, "I prefer tabs in every Makefile.", "c2")
    shared = propose(codex, "I want all dates in ISO format.", "c3")
    house.vault.client.call("review.confirm", {"id": taken})
    house.vault.client.call("review.confirm", {"id": shared})
    house.vault.add("I want all dates in ISO format.", "preference")
    async with tui(house.vault.home, size=size) as driver:
        await open_agents(driver, "said by others too 1")
        await driver.press("D")
        await driver.shows(Choice)
        await driver.sees("what you did not confirm", "all of it, also what")
        await driver.press("enter")
        await driver.shows(TypedPurge)
        await driver.sees(
            "Erase 1 memory for good?",
            "tabs in every Makefile",
            "Left: 1 that you confirmed.",
            "Left: 1 that others said too",
            "Left: its grant.",
            "No older backup holds it.",
            "To do it, type: codex",
        )
        driver.app.screen.query_one("#word").focus()
        await driver.type("code")
        assert driver.app.screen.query_one("#yes", Button).disabled
        await driver.press("escape")
        await driver.shows(AgentsScreen)
        assert len(house.vault.contents()) == 3
        await driver.press("D")
        await driver.shows(Choice)
        await driver.press("down", "enter")
        await driver.shows(TypedPurge)
        await driver.sees("Erase 2 memories for good?")
        assert "that you confirmed" not in driver.text
        driver.app.screen.query_one("#word").focus()
        await driver.type("codex")
        await driver.press("enter")
        await prove(driver)
        await driver.sees("2 memories erased for good.")
        assert house.vault.contents() == ["I want all dates in ISO format."]
        await driver.press("D")
        await driver.sees("Nothing rests on codex.")


async def test_agents_inbox_and_browse_are_one_key_apart(house: House, tui: OpenTui) -> None:
    async with tui(house.vault.home) as driver:
        await open_agents(driver, "No agent was let in")
        for key, screen in (("3", InboxScreen), ("8", AgentsScreen), ("2", BrowseScreen), ("3", InboxScreen)):
            await driver.press(key)
            await driver.shows(screen)
            assert len(driver.app.screen_stack) <= 3
        await driver.press("8")
        await driver.shows(AgentsScreen)
        house.let_in("codex")
        await driver.sees("codex")
        await driver.press("R", "escape")
        await driver.shows(BrowseScreen)


async def test_a_long_list_is_walked_with_the_keys_of_every_list(house: House, tui: OpenTui) -> None:
    for number in range(30):
        house.vault.client.call("agents.add", {"name": f"agent-{number:02}"})
    async with tui(house.vault.home) as driver:
        await open_agents(driver, "30 let in")
        for keys, wanted in (("G", 29), ("k", 28), ("g", 0), ("j", 1), ("k", 0), ("k", 0)):
            await driver.press(keys)
            assert f"agent-{wanted:02}" in cursor_line(driver)
        await driver.press("pagedown")
        assert "agent-00" not in cursor_line(driver)
        await driver.press("pageup")
        assert "agent-00" in cursor_line(driver)
        await driver.pilot.click(AgentList, offset=(6, 3))
        assert "agent-03" in cursor_line(driver)


async def test_locking_takes_the_agents_from_the_screen(house: House, tui: OpenTui) -> None:
    house.let_in("codex")
    async with tui(house.vault.home) as driver:
        await open_agents(driver, "codex")
        await driver.press("L")
        await driver.shows(LockedScreen)
        assert "codex" not in driver.text
        await driver.until(lambda: house.vault.client.call("status")["state"] == "locked", "the vault locks")


@pytest.mark.parametrize(("language", "size"), [("en", (80, 24)), ("zh_CN", (160, 45))])
async def test_the_whole_screen(house: House, tui: OpenTui, language: str, size: tuple[int, int]) -> None:
    use_language(language)
    house.ask("opencode", "OPENCODE")
    raven = house.let_in({"en": "raven", "zh_CN": "magpie"}[language])
    house.vault.client.call(
        "review.confirm", {"id": propose(raven, "I always run the linter before a commit.")}
    )
    propose(raven, "I prefer tabs in every Makefile.", "c2")
    async with tui(house.vault.home, size=size) as driver:
        await driver.shows(BrowseScreen)
        await driver.until(lambda: bool(driver.app.asking), "the request is known")
        driver.app.clear_notifications()
        await driver.press("8", "j")
        await driver.shows(AgentsScreen)
        await driver.sees("29", {"en": "2 memories brought in", "zh_CN": "带来 2 条记忆"}[language])
        await driver.until(lambda: not driver.app.screen.query("Toast"), "no announcement is left")
        check(driver, f"agents-{language}-{size[0]}x{size[1]}")
