"""The diagnostics file names types and places, never what an exception says or what it was given."""

from __future__ import annotations

import asyncio
import gc
import logging
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from memvault.daemon import logs
from memvault.daemon.main import _note_stray

SECRET = "zanzibarquokka"


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Path]:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    logs.start(tmp_path / "daemon.log")
    yield tmp_path / "daemon.log"
    for handler in root.handlers:
        handler.close()
    root.handlers[:] = before
    root.setLevel(level)


def fail(text: str) -> None:
    raise ValueError(f"cannot take {text}")


def test_an_exception_is_named_by_its_type_and_place_only(written: Path) -> None:
    try:
        fail(SECRET)
    except ValueError as error:
        logging.getLogger("memvault.test").exception("%s failed", type(error).__name__)
    text = written.read_text()
    assert SECRET not in text
    assert "ValueError at test_logs.py" in text


def test_an_exception_that_nobody_awaited_is_not_quoted_either(written: Path) -> None:
    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(_note_stray)

        async def lost() -> None:
            fail(SECRET)

        task = asyncio.ensure_future(lost())
        await asyncio.sleep(0)
        del task
        await asyncio.sleep(0)

    asyncio.run(run())
    gc.collect()
    text = written.read_text()
    assert "stray exception: ValueError" in text
    assert SECRET not in text


def test_the_file_is_private_and_starts_over_when_it_has_grown(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logging.getLogger("memvault.test").warning("first")
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    logging.getLogger().handlers[0].close()
    monkeypatch.setattr(logs, "MOST_BYTES", 10)
    logs.start(written)
    logging.getLogger("memvault.test").warning("second")
    text = written.read_text()
    assert "second" in text
    assert "first" not in text


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("precious")
    (tmp_path / "daemon.log").symlink_to(tmp_path / "target")
    handler = logs._PrivateFile(tmp_path / "daemon.log", delay=True)
    with pytest.raises(OSError, match="symbolic"):
        handler._open()
    assert (tmp_path / "target").read_text() == "precious"
