"""Proof that a person is there: a passphrase or recovery code, good for five minutes (SPEC 12).

Remembered per terminal session, as sudo does; for one connection where there is no terminal; never for a
process below an agent host beyond its own connection. Knows nothing of which methods ask for it.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable

from memvault.clock import Clock
from memvault.daemon.process import Peer, Terminal
from memvault.errors import TooManyMistakes

LASTS_S = 300.0
FREE_MISTAKES = 5
MISTAKE_WINDOW_S = 60.0


class Presence:
    """Who has shown to be there, and when. All of it is forgotten when the vault locks."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._terminals: dict[Terminal, float] = {}
        self._connections: dict[int, float] = {}
        self._mistakes: list[float] = []
        self._salt = secrets.token_bytes(32)
        self._known: set[bytes] = set()

    def prove(self, connection: int, peer: Peer, secret: str, check: Callable[[str], None]) -> float:
        """Check `secret` (raising what `check` raises) and remember it. Returns the seconds it lasts.

        A secret that was right before is recognised by a keyed hash, so that scripts do not pay for the
        key derivation at every command. Raises TooManyMistakes after several mistakes within a minute.
        """
        now = self._clock.monotonic_s()
        print_ = self._print(secret)
        if print_ not in self._known:
            self._mistakes = [at for at in self._mistakes if now - at < MISTAKE_WINDOW_S]
            if len(self._mistakes) >= FREE_MISTAKES:
                raise TooManyMistakes("too many wrong passphrases")
            self._mistakes.append(now)
            check(secret)
            self._mistakes.pop()
            self._known.add(print_)
        return self._remember(connection, peer)

    def shown(self, connection: int, peer: Peer, secret: str) -> None:
        """Whoever just made or opened the vault with `secret` has shown to be there."""
        self._known.add(self._print(secret))
        self._remember(connection, peer)

    def _print(self, secret: str) -> bytes:
        return hmac.digest(self._salt, secret.encode("utf-8", "surrogatepass"), "sha256")

    def _remember(self, connection: int, peer: Peer) -> float:
        now = self._clock.monotonic_s()
        self._connections[connection] = now
        if peer.terminal is not None and peer.agent_host is None:
            self._terminals[peer.terminal] = now
        return LASTS_S

    def left_s(self, connection: int, peer: Peer) -> float:
        """Seconds for which the proof still holds; 0 without one."""
        proofs = [self._connections.get(connection)]
        if peer.terminal is not None and peer.agent_host is None:
            proofs.append(self._terminals.get(peer.terminal))
        newest = max((at for at in proofs if at is not None), default=None)
        return 0.0 if newest is None else max(0.0, LASTS_S - (self._clock.monotonic_s() - newest))

    def active(self, connection: int) -> None:
        """A connection that is kept open and used keeps its proof (the TUI while it is open)."""
        proved = self._connections.get(connection)
        now = self._clock.monotonic_s()
        if proved is not None and now - proved < LASTS_S:
            self._connections[connection] = now

    def drop(self, connection: int, peer: Peer) -> None:
        self._connections.pop(connection, None)
        if peer.terminal is not None:
            self._terminals.pop(peer.terminal, None)

    def closed(self, connection: int) -> None:
        self._connections.pop(connection, None)

    def forget_secrets(self) -> None:
        """What opened the vault until now need not any more: look at every secret anew. Proofs stay."""
        self._known.clear()

    def forget(self) -> None:
        """Nobody is there any more: the vault was locked."""
        self._terminals.clear()
        self._connections.clear()
        self._known.clear()
        self._salt = secrets.token_bytes(32)
