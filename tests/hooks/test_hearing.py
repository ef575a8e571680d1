"""What hooks told of sessions is bounded, in memory only, and switched by the settings file."""

from __future__ import annotations

from pathlib import Path

import pytest

from memvault import config
from memvault.errors import ConfigInvalid
from memvault.services.hearing import MOST_MESSAGE_BYTES, MOST_SESSIONS, MOST_SHOWN, Hearing


def test_sixty_four_sessions_are_known_and_the_longest_silent_goes() -> None:
    hearing = Hearing()
    for number in range(MOST_SESSIONS):
        hearing.note_message(("agent:a", str(number)), f"message {number}")
    hearing.note_shown(("agent:a", "0"), ["x"])
    hearing.note_message(("agent:a", "new"), "message")
    assert len(hearing) == MOST_SESSIONS
    assert hearing.take_message(("agent:a", "0")) == "message 0"
    assert hearing.take_message(("agent:a", "1")) == ""


def test_only_the_end_of_a_message_is_kept_and_only_once() -> None:
    hearing, key = Hearing(), ("agent:a", "s")
    hearing.note_message(key, "好" * 20_000 + "the end")
    message = hearing.take_message(key)
    assert message.endswith("好the end")
    assert len(message.encode()) <= MOST_MESSAGE_BYTES
    assert hearing.take_message(key) == ""


def test_what_was_shown_is_of_that_agents_session_and_bounded() -> None:
    hearing, key = Hearing(), ("agent:a", "s")
    hearing.note_shown(key, (str(number) for number in range(MOST_SHOWN + 5)))
    assert len(hearing.shown(key)) == MOST_SHOWN
    assert "0" not in hearing.shown(key)
    assert hearing.shown(("agent:b", "s")) == frozenset()
    hearing.forget_shown(key)
    assert hearing.shown(key) == frozenset()
    hearing.note_shown(key, ["x"])
    hearing.end(key)
    assert len(hearing) == 0


def test_the_settings_of_hooks_are_read_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    found = config.load(path)
    assert (found.hook_recall, found.hook_proposals) == ("auto", True)
    path.write_text('[hooks]\nrecall = "always"\npropose = false\n')
    found = config.load(path)
    assert (found.hook_recall, found.hook_proposals) == ("always", False)
    path.write_text('[hooks]\nrecall = "start"\n')
    assert config.load(path).hook_recall == "start"
    for wrong in ('recall = "often"', "propose = 1", "shout = true"):
        path.write_text(f"[hooks]\n{wrong}\n")
        with pytest.raises(ConfigInvalid, match=r"config\.toml"):
            config.load(path)
