"""The list alone: any number of rows, only the pages in sight, and a cursor that stays where it is."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from textual.app import App, ComposeResult

from memvault_tui.records import Memory
from memvault_tui.widgets.memory_list import MOST_PAGES, PAGE_ROWS, MemoryList

ROWS = 100_000


def row(number: int) -> Memory:
    return Memory(id=f"m{number}", kind="fact", status="active", content=f"claim {number}")


class ListApp(App[None]):
    """A list over numbers; remembers which pages were asked for."""

    CSS = ".role-cursor { background: blue; } MemoryList { height: 1fr; scrollbar-size-horizontal: 0; }"

    def __init__(self, total: int = ROWS) -> None:
        super().__init__()
        self.rows = total
        self.asked: list[int] = []
        self.opened = 0

    def compose(self) -> ComposeResult:
        yield MemoryList(id="list")

    def on_mount(self) -> None:
        first = tuple(row(number) for number in range(min(PAGE_ROWS, self.rows)))
        self.listing.replace_all(self.rows, 0, first)
        self.listing.focus()

    def on_memory_list_opened(self) -> None:
        self.opened += 1

    @property
    def listing(self) -> MemoryList:
        return self.query_one(MemoryList)

    def on_memory_list_page_wanted(self, message: MemoryList.PageWanted) -> None:
        if not self.listing.still_wanted(message.generation, message.offset):
            return
        self.asked.append(message.offset)
        last = min(message.offset + PAGE_ROWS, self.rows)
        self.listing.deliver(
            message.generation, message.offset, [row(n) for n in range(message.offset, last)]
        )

    @property
    def lines(self) -> list[str]:
        return [strip.text for strip in self.screen._compositor.render_strips()]  # pyright: ignore[reportPrivateUsage]


@pytest.fixture
def app() -> Iterator[ListApp]:
    yield ListApp()


async def test_a_hundred_thousand_rows_scroll_by_fetching_only_what_is_seen(app: ListApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("G")
        await pilot.pause()
        assert "claim 99999" in app.lines[-1]
        started_s = time.perf_counter()
        for _ in range(10):
            await pilot.press("pageup")
        per_key_s = (time.perf_counter() - started_s) / 10
        while app.listing.current is None:
            await pilot.pause()
        assert app.listing.current == row(ROWS - 1 - 10 * 23)
        assert len(app.asked) < 8
        assert per_key_s < 0.25


async def test_memory_stays_flat_however_far_one_scrolls(app: ListApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        for offset in range(0, 3 * MOST_PAGES * PAGE_ROWS, PAGE_ROWS):
            app.listing.move_to(offset)
            app.listing.deliver(app.listing.generation, offset, [row(offset + n) for n in range(PAGE_ROWS)])
        await pilot.pause()
        assert app.listing.current is not None
        assert len(app.listing.held()) <= MOST_PAGES * PAGE_ROWS


async def test_all_movement_keys_move(app: ListApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        expected = {
            "j": 1,
            "down": 2,
            "k": 1,
            "up": 0,
            "pagedown": 23,
            "pageup": 0,
            "G": ROWS - 1,
            "g": 0,
            "end": ROWS - 1,
            "home": 0,
            "ctrl+f": 23,
            "ctrl+b": 0,
        }
        for key, cursor in expected.items():
            await pilot.press(key)
            assert app.listing.cursor == cursor, key


async def test_a_click_moves_and_a_double_click_opens(app: ListApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.click(MemoryList, offset=(10, 5))
        assert app.listing.cursor == 5
        assert app.opened == 0
        await pilot.click(MemoryList, offset=(10, 5), times=2)
        await pilot.pause()
        assert app.opened == 1


async def test_new_rows_above_do_not_move_the_row_under_the_cursor(app: ListApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        app.listing.move_to(50)
        await pilot.pause()
        before = next(number for number, line in enumerate(app.lines) if line.startswith("▸"))
        place = app.listing.position
        fresh = [Memory(id=f"n{n}", kind="fact", status="active", content="new") for n in range(3)]
        app.listing.replace_all(ROWS + 3, 0, [*fresh, *(row(n) for n in range(97))], 53, place.top + 3)
        await pilot.pause()
        after = next(number for number, line in enumerate(app.lines) if line.startswith("▸"))
        assert after == before
        assert "claim 50" in app.lines[after]


async def test_a_page_of_an_older_list_is_dropped(app: ListApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        stale = app.listing.generation
        app.listing.replace_all(2, 0, [row(1), row(2)])
        app.listing.deliver(stale, 0, [row(7)])
        await pilot.pause()
        assert not any("claim 7" in line for line in app.lines)


async def test_marks_follow_memories_not_rows(app: ListApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        app.listing.toggle_mark()
        await pilot.pause()
        assert app.listing.cursor == 1
        app.listing.replace_all(3, 0, [row(5), row(0), row(1)])
        await pilot.pause()
        assert app.lines[1].startswith(" *")
        assert not app.lines[0].startswith("▸*")


async def test_forgetting_leaves_nothing_to_draw(app: ListApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        app.listing.forget()
        await pilot.pause()
        assert app.listing.held() == {}
        assert not any("claim" in line for line in app.lines)
