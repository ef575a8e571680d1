"""The table of methods: name, parameters, who may call it, and the handler that answers.

Owns the table's shape and the checks that every call passes. Handlers live in `handlers`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from memvault.daemon.keeper import Keeper
from memvault.daemon.presence import Presence
from memvault.daemon.session import Session
from memvault.errors import UnknownMethod
from memvault.rpc.wire import Params, convert
from memvault.services.caller import Verb


class Who(Enum):
    """Who may call a method."""

    ANYONE = "anyone"
    READER = "reader"
    """Whoever may read or propose; the answer is limited to the caller's reach."""
    PERSON = "person"
    """A connection that is no agent's."""
    PRESENT = "present"
    """A person who has shown to be there."""


Tell = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Call:
    """Everything a handler gets: the vault's keeper, the caller's session, and a way to tell its progress."""

    keeper: Keeper
    session: Session
    presence: Presence
    tell: Tell
    stop_daemon: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Method:
    params: type[Params]
    who: Who
    handle: Callable[[Call, Any], Awaitable[Any]]
    verb: Verb = Verb.READ
    """What a reader's grant must allow."""


class Methods:
    """All methods by name."""

    def __init__(self) -> None:
        self.table: dict[str, Method] = {}

    def add(
        self,
        name: str,
        params: type[Params],
        who: Who,
        handle: Callable[[Call, Any], Awaitable[Any]],
        verb: Verb = Verb.READ,
    ) -> None:
        self.table[name] = Method(params, who, handle, verb)

    async def dispatch(self, call: Call, name: str, raw: Any) -> Any:
        """Check and run a call. Raises UnknownMethod, Usage, PresenceRequired, or what the handler raises."""
        method = self.table.get(name)
        if method is None:
            raise UnknownMethod(f"no method {name[:60]!r}")
        if method.who in (Who.PERSON, Who.PRESENT) and call.session.is_agent:
            # Before anything is looked up, so that the answer tells nothing about what exists.
            call.session.require_person()
        if method.who is Who.READER and call.session.is_agent:
            call.keeper.require()
            call.session.caller.require(method.verb)
        params = convert(raw if raw is not None else {}, method.params)
        if method.who is Who.PRESENT:
            call.keeper.require()
            call.session.require_person()
        if method.who is not Who.ANYONE and not call.session.is_agent:
            call.keeper.used_by_person()
            if call.session.client == "tui":
                call.presence.active(call.session.number)
        return await method.handle(call, params)
