"""SPEC 12: proof that a person is there lasts five minutes, per terminal session, and survives no lock."""

from __future__ import annotations

from typing import Any

import pytest

from memvault.daemon.presence import FREE_MISTAKES, LASTS_S, MISTAKE_WINDOW_S, Presence
from memvault.daemon.process import Peer, Terminal
from memvault.errors import TooManyMistakes, WrongKey

RIGHT = "correct horse"
TTY = Terminal(34_816, 100, 5_000)


def peer(terminal: Terminal | None = TTY, host: str | None = None) -> Peer:
    return Peer(1, 0, terminal, host, None)


def check(secret: str) -> None:
    if secret != RIGHT:
        raise WrongKey("no")


@pytest.fixture
def presence(clock: Any) -> Presence:
    return Presence(clock)


def test_a_proof_lasts_five_minutes_and_not_a_second_longer(presence: Presence, clock: Any) -> None:
    assert presence.left_s(1, peer()) == 0
    assert presence.prove(1, peer(), RIGHT, check) == LASTS_S == 300
    clock.advance(299.9)
    assert presence.left_s(1, peer()) == pytest.approx(0.1)
    clock.advance(0.1)
    assert presence.left_s(1, peer()) == 0


def test_putting_the_wall_clock_back_does_not_stretch_it(presence: Presence, clock: Any) -> None:
    presence.prove(1, peer(), RIGHT, check)
    clock.monotonic += 301
    clock.instant = clock.instant.replace(year=2001)
    assert presence.left_s(1, peer()) == 0


def test_it_is_remembered_for_the_terminal_session_and_no_other(presence: Presence) -> None:
    presence.prove(1, peer(), RIGHT, check)
    assert presence.left_s(2, peer()) > 0
    assert presence.left_s(2, peer(Terminal(34_817, 100, 5_000))) == 0
    assert presence.left_s(2, peer(Terminal(34_816, 100, 9_999))) == 0, "a new session on the same device"


def test_without_a_terminal_it_holds_for_one_connection_only(presence: Presence) -> None:
    presence.prove(1, peer(None), RIGHT, check)
    assert presence.left_s(1, peer(None)) > 0
    assert presence.left_s(2, peer(None)) == 0
    presence.closed(1)
    assert presence.left_s(1, peer(None)) == 0


def test_below_an_agent_host_it_is_never_remembered_for_the_terminal(presence: Presence) -> None:
    presence.prove(1, peer(host="claude-code"), RIGHT, check)
    assert presence.left_s(1, peer(host="claude-code")) > 0
    assert presence.left_s(2, peer(host="claude-code")) == 0
    assert presence.left_s(2, peer()) == 0


def test_an_agent_does_not_profit_from_a_proof_given_in_the_same_terminal(presence: Presence) -> None:
    presence.prove(1, peer(), RIGHT, check)
    assert presence.left_s(2, peer(host="codex")) == 0


def test_a_wrong_passphrase_proves_nothing(presence: Presence) -> None:
    with pytest.raises(WrongKey):
        presence.prove(1, peer(), "wrong", check)
    assert presence.left_s(1, peer()) == 0


def test_mistakes_are_throttled_and_forgiven_after_a_minute(presence: Presence, clock: Any) -> None:
    tried: list[str] = []

    def counting(secret: str) -> None:
        tried.append(secret)
        check(secret)

    for number in range(FREE_MISTAKES):
        with pytest.raises(WrongKey):
            presence.prove(1, peer(), f"wrong {number}", counting)
    for secret in ("another", RIGHT):
        with pytest.raises(TooManyMistakes):
            presence.prove(1, peer(), secret, counting)
    assert len(tried) == FREE_MISTAKES, "no guess is tried while throttled"
    clock.advance(MISTAKE_WINDOW_S)
    assert presence.prove(1, peer(), RIGHT, counting) > 0


def test_a_secret_that_was_right_is_not_derived_again(presence: Presence) -> None:
    presence.prove(1, peer(), RIGHT, check)
    presence.prove(2, peer(), RIGHT, lambda _: pytest.fail("derived again"))


def test_opening_the_vault_counts_as_a_proof_even_after_mistakes(presence: Presence) -> None:
    for number in range(FREE_MISTAKES):
        with pytest.raises(WrongKey):
            presence.prove(1, peer(), f"wrong {number}", check)
    presence.shown(2, peer(), RIGHT)
    assert presence.left_s(2, peer()) > 0


def test_locking_forgets_everybody_and_every_secret(presence: Presence) -> None:
    presence.prove(1, peer(), RIGHT, check)
    presence.forget()
    assert presence.left_s(1, peer()) == 0
    with pytest.raises(WrongKey):
        presence.prove(1, peer(), RIGHT, lambda _: check("asked again"))


def test_use_keeps_the_proof_of_an_open_connection_but_does_not_revive_it(
    presence: Presence, clock: Any
) -> None:
    presence.prove(1, peer(None), RIGHT, check)
    clock.advance(200)
    presence.active(1)
    clock.advance(200)
    assert presence.left_s(1, peer(None)) == pytest.approx(100)
    clock.advance(100)
    presence.active(1)
    assert presence.left_s(1, peer(None)) == 0


def test_dropping_ends_it_for_connection_and_terminal(presence: Presence) -> None:
    presence.prove(1, peer(), RIGHT, check)
    presence.drop(1, peer())
    assert presence.left_s(1, peer()) == presence.left_s(2, peer()) == 0
