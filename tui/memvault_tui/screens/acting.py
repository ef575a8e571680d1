"""What can be done to memories, shared by every screen that shows them.

A screen says which memories are meant (`targets`) and what is under the cursor (`current`); this owns
the calls, the questions before them and the words after them.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial

from memvault_tui.i18n import _, n_
from memvault_tui.records import Checked, Memory
from memvault_tui.screens.base import Working


class ActsOnMemories(Working):
    """Actions on the memory under the cursor, or on all that are marked."""

    @abstractmethod
    def current_memory(self) -> Memory | None: ...

    def targets(self) -> list[str]:
        """Ids that an action is about: the marked ones, else the current one."""
        current = self.current_memory()
        return [current.id] if current is not None else []

    def changed_here(self, memories: list[Memory]) -> None:
        """These memories were changed from this screen."""

    def gone_here(self, ids: list[str]) -> None:
        """These memories were deleted from this screen."""

    def reload_here(self) -> None:
        """Anything may be different now."""

    def action_other_half(self) -> None:
        self.memvault.action_focus_next()

    def action_edit(self) -> None:
        current = self.current_memory()
        if current is not None:
            self.act(lambda: self._edit(current.id))

    async def _edit(self, memory_id: str) -> None:
        from memvault_tui.screens.form import EditForm

        memory = await self.gateway.memory(memory_id)
        edited = await self.memvault.push_screen_wait(EditForm(memory))
        if edited is not None:
            self.changed_here([edited])
            self.memvault.say(_("Corrected; the version before is kept. u takes it back."))

    def action_verify(self) -> None:
        targets = self.targets()
        if targets:
            self.act(lambda: self._verify(targets))

    async def _verify(self, ids: list[str]) -> None:
        found = [await self.as_person(partial(self.gateway.verify, memory_id)) for memory_id in ids]
        doubtful = [one for one in found if not one.verified]
        if doubtful and await self._still_true(doubtful):
            again = {
                one.memory.id: await self.as_person(partial(self.gateway.verify, one.memory.id, True))
                for one in doubtful
            }
            found = [again.get(one.memory.id, one) for one in found]
        self.changed_here([one.memory for one in found])
        done = sum(one.verified for one in found)
        self.memvault.say(n_("{n} memory verified as of today.", "{n} memories verified as of today.", done))

    async def _still_true(self, doubtful: list[Checked]) -> bool:
        from memvault_tui.screens.dialogs import YesNo

        failed = [what for one in doubtful for what in one.failed]
        listed = "\n".join(failed[:5]) + ("\n…" if len(failed) > 5 else "")
        question = _("Not as the memory says:\n{list}\nIs it still true all the same?").format(list=listed)
        return await self.memvault.push_screen_wait(YesNo(question, _("Still true"), _("Cancel")))

    def action_switch(self) -> None:
        current = self.current_memory()
        if current is not None:
            targets, on = self.targets(), current.status == "disabled"
            self.act(lambda: self._switch(targets, on))

    async def _switch(self, ids: list[str], on: bool) -> None:
        done = [await self.as_person(partial(self.gateway.switch, memory_id, on)) for memory_id in ids]
        self.changed_here(done)
        if on:
            words = n_("{n} memory is on again.", "{n} memories are on again.", len(done))
        else:
            words = n_(
                "{n} memory is switched off: kept, never recalled.",
                "{n} memories are switched off: kept, never recalled.",
                len(done),
            )
        self.memvault.say(words)

    def action_delete(self) -> None:
        targets = self.targets()
        if targets:
            self.act(lambda: self._delete(targets))

    async def _delete(self, ids: list[str]) -> None:
        from memvault_tui.gateway import Filters
        from memvault_tui.screens.dialogs import TypedDeletion

        preview = await self.gateway.deletion_preview(ids)
        named = await self.gateway.page(Filters(), 0, 3, ids[:3])
        claims = [memory.content for memory in named.items]
        del named
        dialog = TypedDeletion(claims, len(ids), preview.older_backups)
        if not await self.memvault.push_screen_wait(dialog):
            return
        done = await self.as_person(lambda: self.gateway.delete(ids))
        self.gone_here(list(done.ids) or ids)
        words = n_(
            "{n} memory deleted for good.", "{n} memories deleted for good.", len(done.ids) or len(ids)
        )
        if done.older_backups:
            words += " " + n_(
                "{n} older backup still holds it.",
                "{n} older backups still hold it.",
                len(done.older_backups),
            )
        self.memvault.say(words)

    def action_undo(self) -> None:
        self.act(self._undo)

    async def _undo(self) -> None:
        undone = await self.as_person(self.gateway.undo)
        self.reload_here()
        words = _("Taken back.")
        if undone.restored:
            words += " " + n_("{n} memory is as before.", "{n} memories are as before.", undone.restored)
        if undone.removed:
            words += " " + n_("{n} memory is gone again.", "{n} memories are gone again.", undone.removed)
        self.memvault.say(words)

    def action_copy(self) -> None:
        current = self.current_memory()
        if current is not None:
            self.act(lambda: self.memvault.copy_text(current.content))

    def action_why(self) -> None:
        from memvault_tui.screens.why import WhyScreen

        current = self.current_memory()
        self.memvault.push_screen(
            WhyScreen(current.id if current else None, current.project if current else None)
        )
