"""The interface's only I/O: the memvault client behind typed methods.

Owns connecting and reconnecting, the subscription to news, and decoding. Knows nothing of screens;
what arrives unasked is handed to `post`. Every method raises memvault.errors.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textual.message import Message

from memvault import agent_tokens
from memvault.async_client import AsyncClient
from memvault.client import Progress
from memvault.errors import MemvaultError, UnsafePath
from memvault.text import visible
from memvault_tui.answers import Added, Created, Deletion, Found, Probe, Report, Status, Undone
from memvault_tui.grants import Agent, Judgement, Rests
from memvault_tui.i18n import _
from memvault_tui.news import (
    AgentsChanged,
    Connected,
    ConnectionLost,
    MemoriesChanged,
    StateChanged,
    Unreachable,
)
from memvault_tui.records import Checked, Facets, History, Memory, Page, Recall, text, texts

FIRST_RETRY_S = 0.1
LONGEST_RETRY_S = 5.0
MOST_ROWS = 500
"""Rows the daemon gives in one page."""


@dataclass(frozen=True, slots=True)
class Filters:
    """How a list is narrowed and ordered; None means any."""

    kind: str | None = None
    project: str | None = None
    status: str | None = None
    scope: str | None = None
    text: str | None = None
    sort: str = "created"

    def params(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value}

    @property
    def narrowed(self) -> bool:
        return any((self.kind, self.project, self.status, self.scope, self.text))


class Gateway:
    """One connection for the whole interface; calls may overlap."""

    def __init__(self, home: Path | None, post: Callable[[Message], object]) -> None:
        self._home = home
        self._post = post
        self._client = AsyncClient(home, name="tui")

    async def run(self) -> None:
        """Stay connected until cancelled, posting what the daemon says."""
        pause_s = FIRST_RETRY_S
        try:
            while True:
                try:
                    await self._client.connect()
                    await self._client.call("events.subscribe")
                except MemvaultError as error:
                    self._post(Unreachable(visible(error.message), visible(error.hint)))
                    await asyncio.sleep(pause_s)
                    pause_s = min(pause_s * 2, LONGEST_RETRY_S)
                else:
                    pause_s = FIRST_RETRY_S
                    self._post(Connected(text(self._client.hello.get("state"))))
                    async for method, params in self._client.notifications():
                        self._hear(method, params)
                    self._post(ConnectionLost())
                await self._client.close()
                self._client = AsyncClient(self._home, name="tui")
        finally:
            await self._client.close()

    def _hear(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "changed" and params.get("reason") == "grant":
            self._post(AgentsChanged())
        elif method == "changed":
            self._post(MemoriesChanged(frozenset(texts(params.get("ids")))))
        elif method == "state":
            self._post(StateChanged(text(params.get("state"))))

    async def _call(self, method: str, *, on_progress: Progress | None = None, **params: Any) -> Any:
        given = {name: value for name, value in params.items() if value is not None}
        return await self._client.call(method, given, on_progress=on_progress)

    # vault

    async def status(self) -> Status:
        return Status.read(await self._call("status"))

    async def create(self, passphrase: str | None, keychain: bool) -> Created:
        answer = await self._client.call("vault.init", {"passphrase": passphrase, "keychain": keychain})
        return Created.read(answer)

    async def keychain_probe(self) -> Probe:
        return Probe.read(await self._call("vault.keychain_probe"))

    async def unlock(self, **proof: Any) -> Status:
        """`passphrase=`, `recovery_code=` or `keychain=True`."""
        return Status.read(await self._call("vault.unlock", **proof))

    async def lock(self) -> Status:
        return Status.read(await self._call("vault.lock"))

    async def prove(self, **proof: Any) -> None:
        """Show that a person is here, by the same proofs as `unlock`."""
        await self._call("presence.prove", **proof)

    # memories

    async def page(self, filters: Filters, offset: int, limit: int, ids: list[str] | None = None) -> Page:
        answer = await self._call("memory.list", **filters.params(), ids=ids, offset=offset, limit=limit)
        return Page.read(answer)

    async def facets(self, filters: Filters) -> Facets:
        params = filters.params()
        params.pop("sort", None)
        return Facets.read(await self._call("memory.facets", **params))

    async def memory(self, memory_id: str) -> Memory:
        return Memory.read(await self._call("memory.get", id=memory_id))

    async def history(self, memory_id: str) -> History:
        return History.read(await self._call("memory.history", id=memory_id))

    async def add(self, fields: Mapping[str, Any]) -> Added:
        return Added.read(await self._call("memory.add", **fields))

    async def edit(self, memory_id: str, changes: Mapping[str, str | None], version: int) -> Memory:
        answer = await self._client.call(
            "memory.edit", {"id": memory_id, "changes": dict(changes), "version": version}
        )
        return Memory.read(answer)

    async def verify(self, memory_id: str, sure: bool | None = None) -> Checked:
        """`sure`: the person says so, whatever was found."""
        return Checked.read(await self._call("memory.verify", id=memory_id, sure=sure))

    async def switch(self, memory_id: str, on: bool) -> Memory:
        return Memory.read(await self._call("memory.enable" if on else "memory.disable", id=memory_id))

    async def deletion_preview(self, ids: list[str]) -> Deletion:
        return Deletion.read(await self._call("memory.delete_preview", ids=ids))

    async def delete(self, ids: list[str]) -> Deletion:
        return Deletion.read(await self._call("memory.delete", ids=ids))

    async def recall(self, query: str, limit: int, project: str | None = None) -> Recall:
        """Ask as an agent would, without leaving a trace in the recall log."""
        answer = await self._call("recall", query=query, limit=limit, project=project, log=False)
        return Recall.read(answer)

    async def undo(self) -> Undone:
        return Undone.read(await self._call("undo"))

    # inbox

    async def inbox(self, offset: int, limit: int) -> Page:
        return Page.read(await self._call("inbox", offset=offset, limit=limit))

    async def confirm(self, memory_id: str) -> None:
        await self._call("review.confirm", id=memory_id)

    async def reject(self, memory_id: str) -> None:
        await self._call("review.reject", id=memory_id)

    # agents

    async def agents(self) -> tuple[Agent, ...]:
        return Agent.read_all(await self._call("agents.list"))

    async def judgement(self, name: str) -> Judgement:
        return Judgement.read(await self._call("agents.report", name=name))

    async def rests_on(self, name: str) -> Rests:
        return Rests.read(await self._call("agents.written", name=name))

    async def let_in(self, name: str, rights: Mapping[str, Any]) -> None:
        """Give a grant and keep its token where the agent finds it. Raises UnsafePath when that fails."""
        await self._keep(name, await self._call("agents.approve", name=name, **rights))

    async def set_rights(self, name: str, rights: Mapping[str, Any]) -> None:
        await self._call("agents.set", name=name, **rights)

    async def rotate(self, name: str) -> None:
        """As `let_in`, for an agent that has a grant."""
        await self._keep(name, await self._call("agents.rotate", name=name))

    async def _keep(self, name: str, answer: Mapping[str, Any]) -> None:
        try:
            await asyncio.to_thread(agent_tokens.keep, self._client.layout, name, str(answer["token"]))
        except (OSError, UnsafePath) as error:
            raise UnsafePath(
                _("It is let in, but its token could not be kept on this machine."),
                _("Make the folder of tokens yours alone, with room in it; then t makes another token."),
            ) from error

    async def shut_out(self, name: str) -> None:
        await self._call("agents.revoke", name=name)
        await self._drop(name)

    async def forget_agent(self, name: str) -> None:
        await self._call("agents.remove", name=name)
        await self._drop(name)

    async def _drop(self, name: str) -> None:
        """Its token opens nothing any more, so that a file that cannot be removed does no harm."""
        with contextlib.suppress(OSError):
            await asyncio.to_thread(agent_tokens.drop, self._client.layout, name)

    async def quarantine(self, name: str, on: bool) -> None:
        await self._call("agents.quarantine", name=name, on=on)

    async def purge(self, name: str, confirmed: bool) -> Deletion:
        """Erase what rests on the agent alone; `confirmed`: also what the person confirmed."""
        return Deletion.read(await self._call("agents.purge", name=name, confirmed=confirmed))

    # import

    async def importable(self) -> tuple[Found, ...]:
        return Found.read_all(await self._call("import.found"))

    async def import_run(
        self, kind: str, path: str, *, project: str | None, dry_run: bool, on_progress: Progress
    ) -> Report:
        """Import into private scope; `on_progress` hears {done, total, stage}."""
        answer = await self._call(
            "import.run",
            kind=kind,
            path=path,
            scope="private",
            project=project,
            dry_run=dry_run,
            on_progress=on_progress,
        )
        return Report.read(answer)
