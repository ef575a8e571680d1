"""Whole screens as text, at fixed sizes: what a person sees does not change unnoticed.

`MEMVAULT_UPDATE_DUMPS=1 pytest tests/tui/test_dumps.py` writes the files anew; look at the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from memvault_tui.i18n import use_language
from memvault_tui.screens.browse import BrowseScreen
from memvault_tui.screens.dialogs import Choice, TypedDeletion
from memvault_tui.screens.first_run import HowItOpens
from memvault_tui.screens.form import AddForm
from memvault_tui.screens.locked import LockedScreen

from .conftest import Driver, OpenTui, Vault

DUMPS = Path(__file__).parent / "dumps"
UPDATING = bool(os.environ.get("MEMVAULT_UPDATE_DUMPS"))

_VARYING = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"), "0" * 36),
    (re.compile(r"20\d\d-\d\d-\d\d \d\d:\d\d"), "2026-03-12 10:41"),
    (re.compile(r"20\d\d-\d\d-\d\d"), "2026-03-12"),
    (re.compile(r"(?<=unlocked )\d\dm"), "29m"),
    (re.compile(r"(?<=已解锁 )\d\d分"), "29分"),
)


def check(driver: Driver, name: str) -> None:
    shown = "\n".join(line.rstrip() for line in driver.lines) + "\n"
    for pattern, instead in _VARYING:
        shown = pattern.sub(instead, shown)
    path = DUMPS / f"{name}.txt"
    if UPDATING:
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == shown


def fill(vault: Vault) -> None:
    """The sketch of TUI.md, as far as one person's hands can write it."""
    vault.add("Symptom: 502 after deploy → stale worker → restart, check /health", "reflection")
    vault.add("部署前先跑一遍冒烟测试", "preference", why="上次发布后接口报错，半小时才发现")
    vault.add("March release failed on a missing migration", "episode", project="billing")
    vault.add("Staging runs PostgreSQL 16", project="billing")
    vault.add("Never write to the production database by hand.", "policy")
    vault.add(
        "Deploy billing with `bash ship.sh`, never with npm",
        "preference",
        project="billing",
        conditions="production",
        why="npm run deploy skips the migration step",
        evidence="ship with the script from now on",
    )


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_browse(vault: Vault, tui: OpenTui, language: str, size: tuple[int, int]) -> None:
    fill(vault)
    use_language(language)
    async with tui(vault.home, size=size) as driver:
        await driver.shows(BrowseScreen)
        await driver.sees("ship with the script from now on", "29")
        check(driver, f"browse-{language}-{size[0]}x{size[1]}")


async def test_first_run_at_80x24(empty_home: Path, tui: OpenTui) -> None:
    async with tui(empty_home) as driver:
        await driver.shows(HowItOpens)
        await driver.sees("No usable system keychain")
        check(driver, "first-run-en-80x24")


async def test_locked_at_80x24(vault: Vault, tui: OpenTui) -> None:
    vault.client.call("vault.lock")
    async with tui(vault.home) as driver:
        await driver.shows(LockedScreen)
        await driver.sees("ctrl+q quit")
        check(driver, "locked-en-80x24")


async def test_dialogs_and_forms_at_80x24(vault: Vault, tui: OpenTui) -> None:
    fill(vault)
    async with tui(vault.home) as driver:
        await driver.sees("6 memories", "29m")
        await driver.press("D")
        await driver.shows(TypedDeletion)
        await driver.sees("No older backup")
        check(driver, "delete-en-80x24")
        await driver.press("escape", "question_mark")
        await driver.shows(Choice)
        await driver.sees("mark this memory".capitalize())
        check(driver, "help-en-80x24")
        await driver.press("escape", "a")
        await driver.shows(AddForm)
        await driver.sees("ctrl+s save")
        check(driver, "add-en-80x24")
