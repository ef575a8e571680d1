"""Browse against a real daemon: live changes, search, filters, and every action on memories."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from memvault_tui.screens.browse import BrowseScreen
from memvault_tui.screens.dialogs import Choice, Presence, TypedDeletion
from memvault_tui.screens.form import AddForm, EditForm
from memvault_tui.screens.memory import MemoryScreen
from memvault_tui.screens.why import WhyScreen
from memvault_tui.widgets.area import Area
from memvault_tui.widgets.fields import Field
from memvault_tui.widgets.memory_list import MemoryList

from .conftest import Driver, OpenTui, Vault

Prove = Callable[[Driver], Awaitable[None]]


def listing(driver: Driver) -> MemoryList:
    return driver.app.screen.query_one(MemoryList)


def cursor_line(driver: Driver) -> tuple[int, str]:
    return next((number, line) for number, line in enumerate(driver.lines) if line.startswith("▸"))


async def test_it_opens_on_the_list_with_the_cursor_on_the_newest(vault: Vault, tui: OpenTui) -> None:
    vault.add("Staging runs PostgreSQL 16", project="billing", evidence="psql says sixteen")
    vault.add("部署前先跑一遍冒烟测试", "preference", why="上次发布后接口报错")
    async with tui(vault.home) as driver:
        await driver.shows(BrowseScreen)
        await driver.sees("2 memories", "Staging runs PostgreSQL 16", "上次发布后接口报错")
        assert isinstance(driver.app.screen.focused, MemoryList)
        assert "部署前先跑一遍冒烟测试" in cursor_line(driver)[1]
        await driver.press("j")
        await driver.sees("psql says sixteen", "private · billing")


async def test_an_empty_vault_says_what_to_do_next(vault: Vault, tui: OpenTui) -> None:
    async with tui(vault.home) as driver:
        await driver.sees("Nothing is remembered yet.", "i brings some in")


async def test_what_others_add_appears_marked_and_the_cursor_stays(vault: Vault, tui: OpenTui) -> None:
    for number in range(5):
        vault.add(f"old fact {number}")
    async with tui(vault.home) as driver:
        await driver.sees("5 memories")
        await driver.press("j", "j")
        before = cursor_line(driver)
        vault.add("a fresh fact from elsewhere")
        await driver.sees("6 memories", "(new)")
        assert cursor_line(driver)[1].split("claim")[0] == before[1].split("claim")[0]
        assert "old fact 2" in cursor_line(driver)[1]


async def test_what_others_change_is_marked_where_it_stands(vault: Vault, tui: OpenTui) -> None:
    first = vault.add("the port is 8080")
    vault.add("another fact")
    async with tui(vault.home) as driver:
        await driver.sees("2 memories")
        vault.client.call("memory.edit", {"id": first, "changes": {"content": "the port is 9090"}})
        await driver.sees("the port is 9090", "(changed)")


async def test_search_as_you_type_and_escape_comes_back_to_the_same_row(vault: Vault, tui: OpenTui) -> None:
    for number in range(30):
        vault.add(f"filler number {number}")
    vault.add("Deploy billing with bash ship.sh", "preference")
    async with tui(vault.home) as driver:
        await driver.sees("31 memories")
        await driver.press(*"jjjjjjjj")
        before = cursor_line(driver)
        await driver.press("slash")
        await driver.type("ship")
        await driver.sees("1 of 31 memories")
        assert "ship.sh" in cursor_line(driver)[1]
        await driver.press("escape")
        await driver.sees("31 memories", "filler number 22")
        await driver.until(lambda: cursor_line(driver) == before, "cursor back")
        assert not driver.app.screen.query_one("#search").display


async def test_letters_typed_into_the_search_do_not_act(vault: Vault, tui: OpenTui) -> None:
    vault.add("quit Lock D x")
    async with tui(vault.home) as driver:
        await driver.sees("1 memory")
        await driver.press("slash")
        await driver.type("qLDxu?")
        assert driver.app.screen.query_one("#search", Field).value == "qLDxu?"
        assert isinstance(driver.app.screen, BrowseScreen)


async def test_two_chinese_characters_are_found(vault: Vault, tui: OpenTui) -> None:
    vault.add("部署前先跑一遍冒烟测试", "preference")
    vault.add("用中文写提交说明", "preference")
    async with tui(vault.home) as driver:
        await driver.sees("2 memories")
        await driver.press("slash")
        driver.app.screen.query_one("#search", Field).value = "部署"
        await driver.sees("1 of 2 memories")
        await driver.sees_not("用中文写提交说明")


async def test_nothing_found_says_how_to_get_back(vault: Vault, tui: OpenTui) -> None:
    vault.add("one fact")
    async with tui(vault.home) as driver:
        await driver.sees("1 memory")
        await driver.press("slash")
        await driver.type("zzzzqqqq")
        await driver.sees("Nothing fits.")


async def test_narrowing_by_kind_shows_counts_and_the_filter(vault: Vault, tui: OpenTui) -> None:
    vault.add("a fact")
    vault.add("a preference", "preference")
    async with tui(vault.home) as driver:
        await driver.sees("2 memories")
        await driver.press("f")
        await driver.shows(Choice)
        await driver.press("enter")
        await driver.sees("preference  1")
        await driver.type("pref")
        await driver.press("enter")
        await driver.sees("1 of 2 memories", "kind preference")
        await driver.press("escape")
        await driver.sees("2 memories")


async def test_editing_makes_a_version_and_asks_who_is_there(
    vault: Vault, tui: OpenTui, prove: Prove
) -> None:
    memory_id = vault.add("Deploy with npm run deploy", "preference")
    async with tui(vault.home) as driver:
        await driver.sees("1 memory")
        await driver.press("e")
        await driver.shows(EditForm)
        driver.app.screen.query_one("#content", Area).text = "Deploy with bash ship.sh"
        await driver.press("ctrl+s")
        await prove(driver)
        await driver.shows(BrowseScreen)
        await driver.sees("Deploy with bash ship.sh")
        assert vault.get(memory_id)["version"] == 2
        await driver.press("enter", "tab", "tab")
        await driver.shows(MemoryScreen)
        await driver.sees("version 2", "version 1", "npm run deploy")


async def test_a_form_says_what_is_wrong_before_anything_is_sent(vault: Vault, tui: OpenTui) -> None:
    memory_id = vault.add("a claim")
    async with tui(vault.home) as driver:
        await driver.sees("1 memory")
        await driver.press("e")
        await driver.shows(EditForm)
        driver.app.screen.query_one("#content", Area).text = "  "
        await driver.press("ctrl+s")
        await driver.sees("The claim is empty.")
        driver.app.screen.query_one("#content", Area).text = "a claim"
        driver.app.screen.query_one("#subject", Field).value = "deploy"
        await driver.press("ctrl+s")
        await driver.sees("Subject and attribute go together")
        driver.app.screen.query_one("#attribute", Field).value = "command"
        driver.app.screen.query_one("#expires_at", Field).value = "soon"
        await driver.press("ctrl+s")
        await driver.sees("Not a date")
        assert vault.get(memory_id)["version"] == 1


async def test_leaving_a_form_with_unsaved_text_asks(vault: Vault, tui: OpenTui) -> None:
    vault.add("a claim")
    async with tui(vault.home) as driver:
        await driver.sees("1 memory")
        await driver.press("e")
        await driver.shows(EditForm)
        driver.app.screen.query_one("#why", Field).value = "because"
        await driver.press("escape")
        await driver.sees("not saved")
        await driver.press("enter")
        await driver.shows(EditForm)
        await driver.press("escape", "tab", "enter")
        await driver.shows(BrowseScreen)


async def test_deleting_wants_the_word_typed_and_cancel_is_first(
    vault: Vault, tui: OpenTui, prove: Prove
) -> None:
    vault.add("kept fact")
    vault.add("the doomed fact of the typed deletion test")
    async with tui(vault.home) as driver:
        await driver.sees("2 memories")
        await driver.press("D")
        await driver.shows(TypedDeletion)
        await driver.sees("Delete 1 memory for good?", "tombstone", "No older backup holds it.")
        await driver.press("enter")
        await driver.shows(BrowseScreen)
        assert len(vault.contents()) == 2
        await driver.press("D")
        await driver.shows(TypedDeletion)
        await driver.press("tab")
        await driver.type("remove")
        await driver.press("enter")
        assert isinstance(driver.app.screen, TypedDeletion)
        driver.app.screen.query_one("#word", Field).clear()
        await driver.type("delete")
        await driver.press("enter")
        await prove(driver)
        await driver.sees("1 memory")
        await driver.sees_not("doomed")
        assert vault.contents() == ["kept fact"]


async def test_marked_memories_are_deleted_together(vault: Vault, tui: OpenTui, prove: Prove) -> None:
    for number in range(4):
        vault.add(f"bulk deletion row {number}")
    async with tui(vault.home) as driver:
        await driver.sees("4 memories")
        await driver.press("space", "j", "V")
        await driver.sees("3 marked")
        await driver.press("D")
        await driver.shows(TypedDeletion)
        await driver.sees("Delete 3 memories for good?")
        await driver.press("tab")
        await driver.type("delete 3")
        await driver.press("enter")
        await prove(driver)
        await driver.sees("1 memory")
        assert vault.contents() == ["bulk deletion row 0"]


async def test_verify_disable_and_undo(vault: Vault, tui: OpenTui, prove: Prove) -> None:
    memory_id = vault.add("Staging runs PostgreSQL 16")
    async with tui(vault.home) as driver:
        await driver.sees("(verify first)")
        await driver.press("v")
        await prove(driver)
        await driver.sees("1 memory verified")
        await driver.sees_not("(verify first)")
        await driver.press("x")
        await driver.sees("switched off")
        assert vault.get(memory_id)["status"] == "disabled"
        await driver.press("u")
        await driver.sees("Taken back.")
        await driver.until(lambda: vault.get(memory_id)["status"] == "active", "active again")


async def test_what_a_check_finds_wrong_is_shown_before_the_persons_word_counts(
    vault: Vault, tui: OpenTui, prove: Prove, tmp_path: Path
) -> None:
    page = tmp_path / "queue.md"
    page.write_text("The queue is redis.\n")
    source = {"type": "file", "ref": str(page), "evidence": "The queue is redis."}
    asked = {"content": "Redis holds the queue", "kind": "fact", "scope": "private", "source": source}
    memory_id = vault.client.call("memory.add", asked)["id"]
    page.write_text("The queue is kafka.\n")
    async with tui(vault.home) as driver:
        await driver.sees("1 memory")
        await driver.press("v")
        await prove(driver)
        await driver.sees("Not as the memory says:")
        await driver.press("escape")
        await driver.until(lambda: "needs_verification" in vault.get(memory_id)["flags"], "the flag")
        await driver.press("v")
        await driver.sees("Is it still true all the same?")
        await driver.press("tab", "enter")
        await driver.sees("1 memory verified")
        assert vault.get(memory_id)["flags"] == []


async def test_declining_proof_changes_nothing(vault: Vault, tui: OpenTui) -> None:
    vault.add("a fact nobody may take")
    async with tui(vault.home) as driver:
        await driver.sees("1 memory")
        await driver.press("u")
        await driver.shows(Presence)
        await driver.type("wrong")
        await driver.press("enter")
        await driver.sees("That does not open this vault.")
        await driver.press("escape")
        await driver.sees("Nothing was done.")
        assert vault.contents() == ["a fact nobody may take"]


async def test_writing_by_hand_wants_kind_and_scope_chosen(vault: Vault, tui: OpenTui) -> None:
    from textual.widgets import Select

    async with tui(vault.home) as driver:
        await driver.sees("Nothing is remembered yet.")
        await driver.press("a")
        await driver.shows(AddForm)
        await driver.type("Indent with four spaces")
        await driver.press("ctrl+s")
        await driver.sees("Choose what kind")
        driver.app.screen.query_one("#kind", Select).value = "preference"
        await driver.press("ctrl+s")
        await driver.sees("Choose its scope.")
        driver.app.screen.query_one("#scope", Select).value = "private"
        await driver.press("ctrl+s")
        await driver.shows(BrowseScreen)
        await driver.sees("Indent with four spaces", "1 memory")
        record = vault.client.call("memory.list", {"limit": 1, "offset": 0})["items"][0]
        assert (record["kind"], record["scope"]) == ("preference", "private")
        # No terminal and no proof here, so the daemon does not take the word of "user" for it.
        assert record["sources"][0]["type"] == "conversation"


async def test_why_shows_scores_and_reasons_and_leaves_no_trace(vault: Vault, tui: OpenTui) -> None:
    memory_id = vault.add("Deploy billing with bash ship.sh", "preference")
    async with tui(vault.home) as driver:
        await driver.sees("1 memory")
        await driver.press("w")
        await driver.shows(WhyScreen)
        await driver.type("deploy billing")
        await driver.press("enter")
        await driver.sees("1 memory is recalled", "this memory", "words:")
        await driver.press("escape")
        await driver.shows(BrowseScreen)
        assert vault.get(memory_id)["usage_count"] == 0


async def test_copying_says_which_way_it_went(
    vault: Vault, tui: OpenTui, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    vault.add("copy me")
    async with tui(vault.home) as driver:
        await driver.sees("1 memory")
        await driver.press("y")
        await driver.sees("terminal's clipboard")
        assert driver.app.clipboard == "copy me"


async def test_the_whole_memory_has_its_parts(vault: Vault, tui: OpenTui) -> None:
    vault.add("Deploy billing", "preference", evidence="ship with the script from now on", project="billing")
    async with tui(vault.home) as driver:
        await driver.sees("1 memory")
        await driver.press("enter")
        await driver.shows(MemoryScreen)
        await driver.sees("[text]", "verified", "never")
        await driver.press("tab")
        await driver.sees("[sources]", "ship with the script from now on")
        await driver.press("tab", "tab")
        await driver.sees("[events]", "new → active")
        await driver.press("escape")
        await driver.shows(BrowseScreen)
