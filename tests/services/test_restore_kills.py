"""A restore that is killed leaves the old or the new vault, whole."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memvault.paths import HomeLayout
from memvault.services import exchange

pytestmark = pytest.mark.slow

_CALLS = ("rename", "replace", "unlink", "fsync", "mkdir", "link")


def killed_at(number: int, work: Callable[[], None]) -> bool:
    """Run `work` in a child that dies, as by kill -9, before its `number`th change of the file system."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
    left = [number]

    def armed(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **how: Any) -> Any:
            left[0] -= 1
            if left[0] <= 0:
                os._exit(9)
            return real(*args, **how)

        return call

    for name in _CALLS:
        setattr(os, name, armed(getattr(os, name)))
    try:
        work()
        os._exit(0)
    finally:
        os._exit(70)


def test_killed_at_any_step_of_a_restore_the_home_holds_the_old_or_the_new_vault_whole(
    house: Any, tmp_path: Path
) -> None:
    gone = house.desk.add("Deleted between the two.").id
    house.desk.add("In both.")
    path = house.back_up()
    house.desk.delete(gone)
    house.desk.add("Only in the newer one.")
    old = set(house.contents().values())
    new = {"In both."}
    house.desk.vault.close()
    safe = tmp_path / "safe"
    shutil.copytree(house.layout.root, safe)
    outcomes: list[bool] = []
    for number in range(1, 200):
        home = HomeLayout(tmp_path / f"k{number}")
        shutil.copytree(safe, home.root)
        died = killed_at(number, lambda home=home: house.put_back(home, path))
        exchange.finish(home)
        exchange.sweep(home)
        vault = house.opened(home, house.desk.key)
        found = set(house.everything(vault).values())
        assert found in (old, new), number
        assert vault.warnings == [], number
        assert vault.writer.damaged_pages() == [], number
        vault.close()
        leftovers = [one.name for one in home.root.iterdir() if one.name.startswith(".")]
        leftovers += [one.name for one in home.backups.iterdir() if one.name.startswith(".")]
        assert leftovers == [], number
        shutil.rmtree(home.root)
        outcomes.append(found == new)
        if not died:
            break
    assert outcomes[0] is False
    assert outcomes[-1] is True
    assert outcomes == sorted(outcomes)
    assert 20 < len(outcomes) < 199
    house.desk.open()
