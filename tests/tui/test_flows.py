"""First run, lock and unlock, lost connections, help and palette, sizes and hostile text."""

from __future__ import annotations

import gc
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.widgets import Button

from memvault.client import Client
from memvault_tui.actions import ACTIONS, EVERYWHERE, actions_of
from memvault_tui.records import History, Memory, Page
from memvault_tui.screens.agents import AgentsScreen, TypedPurge
from memvault_tui.screens.browse import BrowseScreen
from memvault_tui.screens.dialogs import Choice
from memvault_tui.screens.first_run import HowItOpens, OfferImport, RecoveryCode
from memvault_tui.screens.form import AddForm, EditForm
from memvault_tui.screens.grant_form import GrantForm
from memvault_tui.screens.importing import ImportScreen
from memvault_tui.screens.inbox import InboxScreen
from memvault_tui.screens.locked import LockedScreen
from memvault_tui.screens.memory import MemoryScreen
from memvault_tui.screens.why import WhyScreen
from memvault_tui.screens.written import WrittenScreen
from memvault_tui.themes import DARK, LIGHT
from memvault_tui.widgets.agent_list import AgentList
from memvault_tui.widgets.fields import Field
from memvault_tui.widgets.memory_list import MemoryList
from memvault_tui.widgets.sheet import Sheet

from .conftest import PASSPHRASE, Driver, OpenTui, Vault, stop_daemon

Prove = Callable[[Driver], Awaitable[None]]

HOSTILE = "[@click=app.quit]x[/] \x1b]52;c;aGFjaw==\x07 \u202egnp.exe [bold]y[/] \x9b31m"


async def make_vault(driver: Driver) -> None:
    await driver.shows(HowItOpens)
    await driver.type(PASSPHRASE)
    await driver.press("tab")
    await driver.type(PASSPHRASE)
    await driver.press("enter")
    await driver.shows(RecoveryCode)


async def test_first_run_makes_a_vault_and_ends_in_browse(empty_home: Path, tui: OpenTui) -> None:
    async with tui(empty_home) as driver:
        await make_vault(driver)
        code = re.search(r"^\s+([0-9A-Z]{5}(?:-[0-9A-Z]{5})+)\s*$", driver.text, re.MULTILINE)
        assert code is not None
        await driver.type("wrong")
        await driver.press("enter")
        await driver.sees("That is not how it ends")
        assert driver.app.screen.query_one("#done", Button).disabled
        driver.app.screen.query_one("#back", Field).value = code[1][-5:]
        await driver.press("enter")
        await driver.shows(OfferImport)
        await driver.sees("No memory of other programs")
        await driver.press("enter")
        await driver.shows(BrowseScreen)
        await driver.sees("Nothing is remembered yet.")
        assert code[1] not in driver.text
    with Client(empty_home) as client:
        assert client.call("vault.unlock", {"recovery_code": code[1]})["state"] == "unlocked"


async def test_the_passphrase_must_be_typed_twice_alike(empty_home: Path, tui: OpenTui) -> None:
    async with tui(empty_home) as driver:
        await driver.shows(HowItOpens)
        await driver.type("ship")
        await driver.sees("Short:")
        await driver.press("tab")
        await driver.type("shop")
        await driver.sees("The two differ.")
        await driver.press("enter")
        assert isinstance(driver.app.screen, HowItOpens)
        assert not (empty_home / "vault.json").exists()


async def test_not_now_ends_without_making_anything(empty_home: Path, tui: OpenTui) -> None:
    async with tui(empty_home) as driver:
        await driver.shows(HowItOpens)
        await driver.sees("Not now: memvault ends, and nothing is made.")
        driver.app.screen.query_one("#skip", Button).press()
        await driver.until(lambda: not driver.app.is_running or driver.app.return_value == 0, "left")
    assert not (empty_home / "vault.json").exists()


async def test_first_run_offers_what_is_found_and_looks_before_importing(
    empty_home: Path, tui: OpenTui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ".claude" / "projects" / "-work-billing" / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("- [Deploy](deploy.md): ship with the script\n", encoding="utf-8")
    (folder / "deploy.md").write_text(
        "---\nname: deploy\ndescription: how billing is deployed\nmetadata:\n  type: feedback\n---\n\n"
        "Deploy billing with bash ship.sh, never with npm.\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    async with tui(empty_home) as driver:
        await make_vault(driver)
        driver.app.screen.query_one("#skip", Button).press()
        await driver.shows(OfferImport)
        await driver.sees("Found on this machine", "Claude Code")
        await driver.press("enter")
        await driver.shows(ImportScreen)
        await driver.sees(".claude")
        driver.app.screen.query_one("#look", Button).press()
        await driver.sees("If you import this:")
        with Client(empty_home) as client:
            assert client.call("status")["memories"] == 0
        driver.app.screen.query_one("#import", Button).press()
        await driver.sees("Imported:")
        await driver.press("escape")
        await driver.shows(BrowseScreen)
        await driver.sees("ship.sh")


def content() -> list[object]:
    """Every record in this process, those that other tests are parametrized with included."""
    return [item for item in gc.get_objects() if isinstance(item, Memory | Page | History)]


async def test_locking_drops_all_content_at_once(vault: Vault, tui: OpenTui) -> None:
    before = {id(item) for item in content()}
    vault.add("the combination is 4711", why="written on the wall")
    async with tui(vault.home) as driver:
        await driver.sees("the combination is 4711")
        await driver.press("enter")
        await driver.shows(MemoryScreen)
        await driver.press("w")
        await driver.shows(WhyScreen)
        await driver.press("escape", "L")
        await driver.shows(LockedScreen)
        assert "4711" not in driver.text
        await driver.until(lambda: vault.client.call("status")["state"] == "locked", "the vault locks")
        await driver.pilot.pause()
        for screen in driver.app.screen_stack:
            assert not screen.query(MemoryList)
            assert not any("4711" in str(sheet.rows) for sheet in screen.query(Sheet))
        driver.app.screen.query_one("#secret").focus()
        gc.collect()
        assert [item for item in content() if id(item) not in before] == []


async def test_a_wrong_passphrase_says_so_and_the_right_one_opens(vault: Vault, tui: OpenTui) -> None:
    vault.add("behind the lock")
    vault.client.call("vault.lock")
    async with tui(vault.home) as driver:
        await driver.shows(LockedScreen)
        await driver.sees("memvault is locked.")
        assert "behind" not in driver.text
        await driver.type("nonsense")
        await driver.press("enter")
        await driver.sees("That does not open this vault.")
        await driver.type(PASSPHRASE)
        await driver.press("enter")
        await driver.shows(BrowseScreen)
        await driver.sees("behind the lock")


async def test_a_vault_locked_elsewhere_clears_the_screen_here(vault: Vault, tui: OpenTui) -> None:
    vault.add("seen only while unlocked")
    async with tui(vault.home) as driver:
        await driver.sees("seen only while unlocked")
        await driver.press("e")
        await driver.shows(EditForm)
        vault.client.call("vault.lock")
        await driver.shows(LockedScreen)
        assert len(driver.app.screen_stack) == 2
        assert "seen only" not in driver.text


async def test_a_restarted_daemon_is_found_again(vault: Vault, tui: OpenTui) -> None:
    vault.add("still here afterwards")
    async with tui(vault.home) as driver:
        await driver.sees("still here afterwards")
        stop_daemon(vault.home)
        await driver.shows(LockedScreen)
        await driver.until(lambda: driver.app.connected, "connected again")
        await driver.type(PASSPHRASE)
        await driver.press("enter")
        await driver.sees("still here afterwards")


async def test_help_lists_the_keys_of_this_screen_and_runs_one(vault: Vault, tui: OpenTui) -> None:
    vault.add("a memory")
    async with tui(vault.home, size=(100, 40)) as driver:
        await driver.sees("1 memory")
        await driver.press("question_mark")
        await driver.shows(Choice)
        await driver.sees("Keys that work here", "correct", "Delete for good")
        await driver.type("whole")
        await driver.press("escape")
        await driver.shows(BrowseScreen)
        await driver.press("question_mark")
        await driver.type("ask a question")
        await driver.press("enter")
        await driver.shows(WhyScreen)


@pytest.mark.parametrize("key", ["ctrl+p", "colon"])
async def test_the_palette_finds_an_action_by_name(vault: Vault, tui: OpenTui, key: str) -> None:
    vault.add("a memory")
    async with tui(vault.home) as driver:
        await driver.sees("1 memory")
        await driver.press(key)
        await driver.shows(Choice)
        await driver.type("light")
        await driver.press("enter")
        await driver.until(lambda: driver.app.theme == LIGHT.name, "light theme")
        await driver.press("ctrl+t")
        assert driver.app.theme == DARK.name


async def test_every_action_of_a_place_is_implemented_there() -> None:
    """No dead keys: what the table promises, the screen has."""
    from memvault_tui.app import MemvaultApp
    from memvault_tui.screens.dialogs import Presence, TypedDeletion, YesNo

    owners = {
        "browse": [BrowseScreen],
        "memory": [MemoryScreen],
        "why": [WhyScreen],
        "inbox": [InboxScreen],
        "agents": [AgentsScreen],
        "written": [WrittenScreen],
        "locked": [LockedScreen, Presence],
        "form": [EditForm, AddForm, GrantForm],
        "dialog": [Choice, YesNo, TypedDeletion, TypedPurge, Presence],
        "list": [MemoryList, AgentList],
        "sheet": [Sheet],
        EVERYWHERE: [MemvaultApp],
    }
    assert {place for action in ACTIONS for place in action.places} == set(owners)
    for place, classes in owners.items():
        for owner in classes:
            bound = {binding.action for binding in owner.BINDINGS if isinstance(binding, Binding)}
            for action in actions_of(place):
                assert hasattr(owner, f"action_{action.id}"), (owner, action.id)
                assert action.id in bound, (owner, action.id)


async def test_no_key_means_two_things_on_one_screen() -> None:
    moves = {"browse": "list", "inbox": "list", "agents": "list", "written": "list", "memory": "sheet"}
    for place in ("browse", "memory", "why", "inbox", "agents", "written", "locked", "form"):
        moving = moves.get(place, "")
        keys = [key for action in actions_of(place, moving, EVERYWHERE) for key in action.keys]
        assert sorted(keys) == sorted(set(keys)), place


@pytest.mark.parametrize("size", [(80, 24), (160, 45), (60, 20)])
async def test_every_screen_fits_its_size(vault: Vault, tui: OpenTui, size: tuple[int, int]) -> None:
    vault.add(
        "Deploy billing with `bash ship.sh`, never with npm",
        "preference",
        project="billing",
        why="npm skips a step",
    )
    async with tui(vault.home, size=size) as driver:
        await driver.sees("1 memory", "npm skips a step")
        assert len(driver.lines) == size[1]
        assert driver.app.screen.has_class("wide") is (size[0] >= 120)
        assert "enter open" in driver.lines[-1]
        assert "…" not in driver.lines[-1]


async def test_resizing_keeps_cursor_and_content(vault: Vault, tui: OpenTui) -> None:
    for number in range(20):
        vault.add(f"resized fact {number}")
    async with tui(vault.home) as driver:
        await driver.sees("20 memories")
        await driver.press(*"jjjjj")
        await driver.pilot.resize_terminal(160, 45)
        await driver.until(lambda: driver.app.screen.has_class("wide"), "wide layout")
        await driver.sees("▸ fact", "confidence 0.95")
        await driver.pilot.resize_terminal(80, 24)
        await driver.until(lambda: not driver.app.screen.has_class("wide"), "narrow layout")
        await driver.until(
            lambda: any(line.startswith("▸") and "resized fact 14" in line for line in driver.lines),
            "cursor kept",
        )


async def test_hostile_text_is_shown_and_does_nothing(vault: Vault, tui: OpenTui) -> None:
    vault.add(HOSTILE, why=HOSTILE, evidence=HOSTILE, project="[red]p[/]\x1b[2J")
    async with tui(vault.home, size=(160, 45)) as driver:
        await driver.sees("[@click=app.quit]x[/]", "\\x1b]52;c;aGFjaw==\\x07", "\\u202egnp.exe", "[bold]y[/]")
        await driver.pilot.click(MemoryList, offset=(40, 0))
        await driver.press("enter", "tab", "tab", "tab", "escape", "e")
        await driver.shows(EditForm)
        await driver.sees("written out")
        await driver.press("escape")
        await driver.shows(BrowseScreen)
        assert not any(ord(char) < 32 or char in "\x9b\u202e" for line in driver.lines for char in line)
        assert driver.app.return_value is None


async def test_an_untouched_hostile_field_is_not_rewritten(vault: Vault, tui: OpenTui, prove: Prove) -> None:
    memory_id = vault.add("bell \x07 claim", why="plain")
    async with tui(vault.home) as driver:
        await driver.sees("bell \\x07 claim")
        await driver.press("e")
        await driver.shows(EditForm)
        driver.app.screen.query_one("#why", Field).value = "other"
        await driver.press("ctrl+s")
        await prove(driver)
        await driver.shows(BrowseScreen)
        record = vault.get(memory_id)
        assert (record["content"], record["why"]) == ("bell \x07 claim", "other")


async def test_pasted_control_characters_become_visible(vault: Vault, tui: OpenTui) -> None:
    from textual.events import Paste

    async with tui(vault.home) as driver:
        await driver.shows(BrowseScreen)
        await driver.press("slash")
        driver.app.post_message(Paste("a\x1b[31mb"))
        await driver.until(
            lambda: driver.app.screen.query_one("#search", Field).value == "a\\x1b[31mb", "pasted"
        )


async def test_the_inbox_confirms_and_rejects(vault: Vault, tui: OpenTui, prove: Prove) -> None:
    with Client(vault.home, name="script") as script:
        for number in range(2):
            script.call(
                "memory.add",
                {
                    "content": f"candidate of the inbox test {number}",
                    "kind": "fact",
                    "scope": "private",
                    "source": {"type": "conversation", "ref": "c1", "evidence": "said so"},
                },
            )
    async with tui(vault.home) as driver:
        await driver.sees("2 memories")
        await driver.press("3")
        await driver.shows(InboxScreen)
        await driver.sees("2 wait for you")
        await driver.press("c")
        await prove(driver)
        await driver.sees("Confirmed.", "1 waits for you")
        await driver.press("r")
        await driver.sees("Reject this candidate?")
        await driver.press("tab", "enter")
        await driver.sees("Nothing waits for you.")
        await driver.press("escape")
        await driver.sees("1 memory")
        assert vault.contents() == ["candidate of the inbox test 1"]


async def test_locking_and_unlocking_in_quick_turns_breaks_nothing(vault: Vault, tui: OpenTui) -> None:
    """Screens are taken away while their answers are still on the way."""
    vault.add("quick turns")
    async with tui(vault.home) as driver:
        await driver.sees("quick turns")
        for _ in range(4):
            driver.app.action_lock()
            driver.app.show_browse()
            driver.app.show_locked()
            await driver.pilot.pause()
        await driver.shows(LockedScreen)
        await driver.until(lambda: vault.client.call("status")["state"] == "locked", "the vault locks")
        await driver.type(PASSPHRASE)
        await driver.press("enter")
        await driver.sees("quick turns")
