"""Agents: who may read and propose, what each brought in and how it was judged, and taking that back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container

from memvault.errors import NotFound
from memvault_tui.actions import bindings_of
from memvault_tui.agent_lines import agent_heading, agent_sheet, listed, told
from memvault_tui.grants import Agent, Judgement, Rests
from memvault_tui.i18n import _, n_
from memvault_tui.lines import Row, fit
from memvault_tui.screens.base import VaultScreen, state_cells
from memvault_tui.screens.dialogs import Choice, Offer, TypedDeletion, YesNo
from memvault_tui.widgets.agent_list import AgentList
from memvault_tui.widgets.bars import Bar
from memvault_tui.widgets.sheet import Sheet
from memvault_tui.words import utc_now

WIDE_FROM = 120


class TypedPurge(TypedDeletion):
    """Erasing what rests on an agent: says what goes and what stays, and wants the agent's name."""

    def __init__(
        self, agent: str, rests: Rests, confirmed: bool, claims: list[str], older_backups: tuple[str, ...]
    ) -> None:
        self._rests, self._confirmed = rests, confirmed
        gone = len(rests.waiting) + len(rests.unreviewed) + (len(rests.confirmed) if confirmed else 0)
        super().__init__(claims, gone, older_backups)
        self.word = agent

    def told(self, cells: int) -> list[Row]:
        total, rests = self.total, self._rests
        title = n_("Erase {n} memory for good?", "Erase {n} memories for good?", total)
        rows: list[Row] = [((title, "bad"),), ()]
        rows += [((fit(claim, cells), "plain"),) for claim in self.claims]
        if total > len(self.claims):
            more = total - len(self.claims)
            rows.append(((n_("and {n} more", "and {n} more", more), "dim"),))
        rows.append(())
        if total:
            rows += told(_("Gone: text, sources, versions, vectors. It cannot be undone."), cells)
            kept = _("Left: a tombstone, which holds no text and keeps it from coming back.")
            rows += told(kept, cells, "dim")
        if rests.shared:
            shared = n_(
                "Left: {n} that others said too, without this agent's sources.",
                "Left: {n} that others said too, without this agent's sources.",
                len(rests.shared),
            )
            rows += told(shared, cells, "dim")
        if rests.confirmed and not self._confirmed:
            mine = n_("Left: {n} that you confirmed.", "Left: {n} that you confirmed.", len(rests.confirmed))
            rows += told(mine, cells, "dim")
        rows += told(_("Left: its grant. r shuts it out, x takes nothing more from it."), cells, "dim")
        rows += self.backup_rows(cells)
        return [*rows, (), ((_("To do it, type: {word}").format(word=self.word), "strong"),)]


class AgentsScreen(VaultScreen[None]):
    """The list of grants; who asks stands first."""

    PLACE = "agents"
    BINDINGS = [*bindings_of("agents")]  # noqa: RUF012 (Textual reads it)

    def __init__(self) -> None:
        super().__init__()
        self._judged: dict[str, Judgement] = {}

    def compose(self) -> ComposeResult:
        yield Bar(self.title_cells(_("Agents")), id="head")
        with Container(id="body"):
            with Container(id="left"):
                yield Bar(id="heading")
                yield AgentList(id="list")
            yield Sheet(id="detail", focusable=True)
        yield self.key_bar()

    def begin(self) -> None:
        self.listing.focus()
        self.action_reload()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width >= WIDE_FROM, "wide")

    @property
    def listing(self) -> AgentList:
        return self.query_one("#list", AgentList)

    # loading

    def action_reload(self) -> None:
        self.act(self._load, "load", exclusive=True)

    async def _load(self) -> None:
        agents = await self.gateway.agents()
        if not self.standing:  # the screen was left meanwhile
            return
        self._judged.clear()
        words = _("No agent was let in, and none asks. `memvault connect` brings one in.")
        self.listing.show(agents, words)
        self.connection_changed()

    def agents_changed(self) -> None:
        self.action_reload()

    def memories_changed(self, ids: frozenset[str]) -> None:
        """What an agent brought in may be judged otherwise now."""
        self.action_reload()

    def connection_changed(self) -> None:
        asking = sum(agent.standing == "pending" for agent in self.listing.agents)
        let_in = sum(agent.let_in for agent in self.listing.agents)
        note = _("{n} let in").format(n=f"{let_in:,}")
        if asking:
            note = listed((n_("{n} asks you", "{n} ask you", asking), note))
        self.query_one("#head", Bar).show(
            self.title_cells(_("Agents"), note), state_cells(self.memvault, asking=False)
        )

    @on(AgentList.LaidOut)
    def _after_layout(self) -> None:
        if self.standing:
            self.query_one("#heading", Bar).show(agent_heading(self.listing.size.width))

    @on(AgentList.CursorMoved)
    def _cursor_moved(self) -> None:
        if not self.standing:
            return
        current = self.listing.current
        self._show_detail()
        if current is not None and current.name not in self._judged:
            self.act(lambda: self._judge(current.name), "judge", exclusive=True)

    async def _judge(self, name: str) -> None:
        try:
            self._judged[name] = await self.gateway.judgement(name)
        except NotFound:
            return
        if self.standing:
            self._show_detail()

    def _show_detail(self) -> None:
        agent, detail = self.listing.current, self.query_one("#detail", Sheet)
        if agent is None:
            detail.show(None)
        else:
            found = self._judged.get(agent.name)
            detail.show(lambda cells: agent_sheet(agent, found, cells, utc_now()))

    # acting

    async def _do(self, call: Callable[[], Awaitable[None]], words: str) -> None:
        await self.as_person(call)
        self.memvault.say(words)
        await self._load()

    def _current_let_in(self) -> Agent | None:
        """The agent under the cursor, when it has a grant; else says how it gets one."""
        agent = self.listing.current
        if agent is not None and not agent.let_in:
            self.memvault.say(_("{name} is not let in; a does that.").format(name=agent.name))
            return None
        return agent

    @on(AgentList.Opened)
    def action_written(self) -> None:
        from memvault_tui.screens.written import WrittenScreen

        agent = self.listing.current
        if agent is not None:
            self.memvault.push_screen(WrittenScreen(agent.name))

    def action_other_half(self) -> None:
        self.memvault.action_focus_next()

    def action_approve(self) -> None:
        agent = self.listing.current
        if agent is None:
            return
        if agent.let_in:
            self.memvault.say(_("{name} is let in already; e changes its rights.").format(name=agent.name))
        else:
            self.act(lambda: self._ask_rights(agent, _("{name} is let in.").format(name=agent.name)))

    def action_rights(self) -> None:
        agent = self._current_let_in()
        if agent is not None:
            self.act(lambda: self._ask_rights(agent, _("Changed; it holds at its next call.")))

    async def _ask_rights(self, agent: Agent, words: str) -> None:
        from memvault_tui.screens.grant_form import GrantForm

        if await self.memvault.push_screen_wait(GrantForm(agent)):
            self.memvault.say(words)
        await self._load()

    def action_quarantine(self) -> None:
        agent = self._current_let_in()
        if agent is None:
            return
        on = agent.standing != "quarantined"
        words = _("Nothing more is taken from {name}.") if on else _("{name} may propose again.")
        self.act(
            lambda: self._do(lambda: self.gateway.quarantine(agent.name, on), words.format(name=agent.name))
        )

    def action_rotate(self) -> None:
        agent = self._current_let_in()
        if agent is not None:
            question = _("Give {name} a new token? What it holds now opens nothing any more.")
            self._ask_first(
                question.format(name=agent.name),
                _("New token"),
                lambda: self.gateway.rotate(agent.name),
                _("{name} has a new token.").format(name=agent.name),
            )

    def action_revoke(self) -> None:
        agent = self.listing.current
        if agent is None:
            return
        if agent.standing == "revoked":
            self.memvault.say(_("{name} is shut out already; a lets it in.").format(name=agent.name))
            return
        question = _("Shut {name} out? It reads nothing more and cannot ask again. What it wrote stays.")
        self._ask_first(
            question.format(name=agent.name),
            _("Shut out"),
            lambda: self.gateway.shut_out(agent.name),
            _("{name} is shut out.").format(name=agent.name),
        )

    def action_forget(self) -> None:
        agent = self.listing.current
        if agent is not None:
            question = _("Take {name} off the list? What it wrote stays, and it may ask to be let in again.")
            self._ask_first(
                question.format(name=agent.name),
                _("Forget"),
                lambda: self.gateway.forget_agent(agent.name),
                _("{name} is off the list.").format(name=agent.name),
            )

    def _ask_first(self, question: str, yes: str, call: Callable[[], Awaitable[None]], words: str) -> None:
        async def ask() -> None:
            if await self.memvault.push_screen_wait(YesNo(question, yes, _("Cancel"))):
                await self._do(call, words)

        self.act(ask)

    def action_purge(self) -> None:
        agent = self.listing.current
        if agent is not None:
            self.act(lambda: self._purge(agent.name))

    async def _purge(self, name: str) -> None:
        from memvault_tui.gateway import Filters

        rests = await self.gateway.rests_on(name)
        if not rests.parts:
            self.memvault.say(_("Nothing rests on {name}.").format(name=name))
            return
        confirmed = await self._which(rests)
        if confirmed is None:
            return
        gone = [*rests.waiting, *rests.unreviewed, *(rests.confirmed if confirmed else ())]
        backups = (await self.gateway.deletion_preview(gone)).older_backups if gone else ()
        named = (await self.gateway.page(Filters(), 0, 3, gone[:3])).items if gone else ()
        claims = [memory.content for memory in named]
        del named
        if not await self.memvault.push_screen_wait(TypedPurge(name, rests, confirmed, claims, backups)):
            return
        done = await self.as_person(lambda: self.gateway.purge(name, confirmed))
        words = n_("{n} memory erased for good.", "{n} memories erased for good.", len(done.ids))
        if done.older_backups:
            words += " " + n_(
                "{n} older backup still holds it.",
                "{n} older backups still hold it.",
                len(done.older_backups),
            )
        self.memvault.say(words)
        await self._load()

    async def _which(self, rests: Rests) -> bool | None:
        """Whether what the person confirmed goes too; None when they thought better of it."""
        if not rests.confirmed:
            return False
        unconfirmed = len(rests.waiting) + len(rests.unreviewed)
        offers = [
            Offer("rest", _("what you did not confirm"), f"{unconfirmed:,}"),
            Offer("all", _("all of it, also what you confirmed"), f"{unconfirmed + len(rests.confirmed):,}"),
        ]
        chosen = await self.memvault.push_screen_wait(Choice(_("Erase what it wrote"), offers))
        return None if chosen is None else chosen == "all"

    def action_browse(self) -> None:
        self.dismiss()

    def action_inbox(self) -> None:
        self.memvault.go("inbox")

    def action_back(self) -> None:
        self.dismiss()
