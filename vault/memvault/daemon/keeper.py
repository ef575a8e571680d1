"""The vault's keeper: its state, its threads, its clocks. Opens and closes what the handlers use.

Owns the lanes of the vault (one writes, one reads, one reads at length), the embedding worker, idle and
absolute lock, and the news that memories changed. Knows nothing of the wire or of who may do what.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import os
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from memvault.clock import Clock
from memvault.config import Config
from memvault.daemon.asking import vector_of
from memvault.daemon.jobs import Jobs
from memvault.daemon.means import brings_its_own, starting_means
from memvault.daemon.news import News
from memvault.daemon.readers import TURN, Courtesy, Lane
from memvault.errors import (
    HeaderDamaged,
    Illegal,
    Locked,
    MemvaultError,
    ModelUnavailable,
    VaultAbsent,
    VaultMissing,
)
from memvault.gate.score import THETA
from memvault.keys import header_file, ring
from memvault.keys.envelope import VaultKey
from memvault.keys.header import VaultHeader
from memvault.paths import HomeLayout, cache_dir
from memvault.services import daily, places
from memvault.services.embedding import EmbeddingWorker
from memvault.services.opinion import Opinion
from memvault.services.places import Place
from memvault.services.recollect import Use, note_uses
from memvault.services.reranking import Reranking
from memvault.services.vault import Vault, create_database, load_index, open_vault
from memvault.store import settings, vectors
from memvault_models.fake import FAKE_MODEL_ID
from memvault_models.manifest import DEFAULT_MODEL_ID
from memvault_models.means import Means

log = logging.getLogger(__name__)

T = TypeVar("T")
P = ParamSpec("P")
Matrix = npt.NDArray[np.float32]

USE_PAUSE_S = 0.5
"""Uses within this time are written in one transaction, so that a recall does not wait for the disk."""
DAY_S = 86_400.0
DRAIN_AT_MOST = 64
DRAIN_TIMEOUT_S = 3.0
"""A recall waits for so many fresh memories to be embedded, and no longer than this."""


class Keeper:
    """One vault in one of three states: absent, locked, unlocked."""

    def __init__(self, layout: HomeLayout, config: Config, clock: Clock) -> None:
        self.layout, self.config, self.clock = layout, config, clock
        self.vault: Vault | None = None
        self.embedding: EmbeddingWorker | None = None
        self.news = News()
        self.listeners = self.news.listeners
        self.on_lock: list[Callable[[], None]] = []
        self.courtesy = Courtesy()
        self.searching = Courtesy()
        """Hurried while a question is searched for, not while it is embedded: that needs no interpreter."""
        self._writer, self._reader, self._browser = (Lane(name) for name in ("writer", "reader", "browser"))
        self._asking: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._opening = asyncio.Lock()
        self._opened_at = 0.0
        self._used_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._daily: asyncio.TimerHandle | None = None
        self._uses: list[Use] = []
        self._locking: asyncio.Task[None] | None = None
        self.jobs = Jobs()
        self.opinion = Opinion(config.chat_model)
        self.reranking = Reranking(config, layout.root, cache_dir())

    @property
    def state(self) -> str:
        if self.vault is not None:
            return "unlocked"
        traces = (self.layout.header, self.layout.root / header_file.COPY_NAME, self.layout.database)
        return "locked" if any(path.exists() for path in traces) else "absent"

    def header(self) -> VaultHeader:
        """Raises VaultAbsent, HeaderDamaged, ForeignFile, UnsafePath, VaultMissing."""
        try:
            return header_file.read(self.layout.root)
        except VaultAbsent as error:
            if self.state == "absent":
                raise
            raise HeaderDamaged("the vault's header is gone, its database is there") from error

    def require(self) -> Vault:
        """The open vault. Raises VaultAbsent, Locked."""
        if self.vault is None:
            raise (
                VaultAbsent("there is no vault yet")
                if self.state == "absent"
                else Locked("the vault is locked")
            )
        return self.vault

    async def read(self, call: Callable[Concatenate[Vault, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `call(vault, ...)` in the reader's thread. Raises Locked, VaultAbsent."""
        return await self._on(self._reader, call, *args, **kwargs)

    async def browse(self, call: Callable[Concatenate[Vault, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As `read`, for what takes long and reads through `vault.browser`: recalls do not wait for it."""
        return await self._on(self._browser, call, *args, **kwargs)

    async def write(self, call: Callable[Concatenate[Vault, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `call(vault, ...)` in the writer's thread; writes happen one after the other."""
        return await self._on(self._writer, call, *args, **kwargs)

    async def _on(self, lane: Lane, call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        vault = self.require()

        def run() -> T:
            if self.vault is not vault:
                raise Locked("the vault was locked")
            return call(vault, *args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(lane, run)

    async def create(self, passphrase: str | None, use_keychain: bool) -> ring.Created:
        """Make a vault and leave it unlocked. Raises Illegal when one is there, Usage, KeychainTrouble."""
        return await self.jobs.whole(self._create(passphrase, use_keychain))

    async def _create(self, passphrase: str | None, use_keychain: bool) -> ring.Created:
        async with self._opening:
            if self.state != "absent":
                raise Illegal("there is a vault already", "`memvault status` shows its state.")
            make = functools.partial(
                ring.create, self.layout.root, passphrase=passphrase, use_keychain=use_keychain
            )
            created = await asyncio.to_thread(make)
            try:
                await asyncio.to_thread(create_database, self.layout, created.key)
            except (MemvaultError, OSError):
                header_file.discard_new(self.layout.root)
                raise
            await self._open(created.key)
            return created

    async def unlock(self, find: Callable[[VaultHeader], VaultKey]) -> None:
        """Open with the key that `find` gets out of the header; nothing happens when it is open already."""
        await self.jobs.whole(self._unlock(find))

    async def _unlock(self, find: Callable[[VaultHeader], VaultKey]) -> None:
        async with self._opening:
            header = self.header()
            if not self.layout.database.exists():
                raise VaultMissing("the vault's database is missing, its header and key slots are there")
            key = await asyncio.to_thread(find, header)
            if self.vault is None:
                await asyncio.to_thread(header_file.settle_copy, self.layout.root)
                await self._open(key)

    async def _open(self, key: VaultKey) -> None:
        loop = asyncio.get_running_loop()

        def changed(ids: Sequence[str], reason: str) -> None:
            if self.embedding is not None:
                self.embedding.passages_wait()
            loop.call_soon_threadsafe(self.news.changed, list(ids), reason)

        def work() -> Vault:
            model_id = self._model_id()
            return open_vault(self.layout, key, self.clock, model_id, starting_means(model_id), changed)

        vault = await loop.run_in_executor(self._writer, work)
        model_id = await loop.run_in_executor(self._writer, lambda: self._chosen(vault))
        if model_id != vault.model_id:
            await loop.run_in_executor(self._writer, self._switch, vault, model_id)
        vault.theta = self.config.theta or THETA
        self.vault = vault
        self.opinion.start()
        self.reranking.start()
        self._start_embedding(vault)
        self._opened_at = self._used_at = self.clock.monotonic_s()
        self._watch_clock()
        self._each_day()
        self.news.announce("state", {"state": "unlocked"})

    def _model_id(self) -> str:
        if os.environ.get("MEMVAULT_EMBEDDER") == "fake":
            return FAKE_MODEL_ID
        return self.config.model_id or DEFAULT_MODEL_ID

    def _chosen(self, vault: Vault) -> str:
        """The model this vault was told to use, unless tests or the settings file say otherwise."""
        kept = settings.get(vault.reader, "model")
        fixed = os.environ.get("MEMVAULT_EMBEDDER") == "fake" or self.config.model_id is not None
        return vault.model_id if fixed or kept is None else kept.decode()

    @staticmethod
    def _switch(vault: Vault, model_id: str) -> None:
        vault.model_id = model_id
        vault.index = load_index(vault.reader, vault.labels, model_id, starting_means(model_id))
        vault.waiting.clear()
        vault.waiting.extend(vectors.missing(vault.reader, model_id))

    def _start_embedding(self, vault: Vault) -> None:
        def take(limit: int) -> list[tuple[str, str]]:
            return self._reader.result_of(vault.take_waiting, limit)

        def put(found: list[tuple[str, Matrix]]) -> None:
            self._writer.result_of(vault.put_vectors, found)

        def ready(means: Means) -> None:
            self._writer.result_of(_refit, vault, means)

        self.embedding = EmbeddingWorker(vault.model_id, cache_dir(), take, put, ready)
        self.embedding.start()

    async def use_model(self, model_id: str) -> None:
        """Embed everything with another model from now on; recall by words goes on meanwhile."""
        await self.jobs.whole(self._use_model(model_id))

    async def _use_model(self, model_id: str) -> None:
        vault = self.require()
        await self._stop_embedding()

        def keep(opened: Vault) -> None:
            with opened.writer.transaction():
                settings.put(opened.writer, "model", model_id.encode())
                vectors.drop_other_models(opened.writer, model_id)
            self._switch(opened, model_id)

        await self.write(keep)
        self._start_embedding(vault)

    async def _stop_embedding(self) -> None:
        worker, self.embedding = self.embedding, None
        if worker is not None:
            await asyncio.to_thread(worker.stop)

    async def lock(self) -> None:
        """Close everything; calls under way finish first. Nothing happens when it is not open."""
        await self.jobs.whole(self._lock())

    async def _lock(self) -> None:
        async with self._opening:
            await self._close()

    async def _close(self) -> None:
        vault, self.vault = self.vault, None
        if vault is None:
            return
        for timer in filter(None, (self._timer, self._daily)):
            timer.cancel()
        for forget in self.on_lock:
            forget()
        self.news.announce("state", {"state": "locked"})
        await self.jobs.stop_all()
        await asyncio.to_thread(self.opinion.stop)
        await asyncio.to_thread(self.reranking.stop)
        await self._stop_embedding()
        loop = asyncio.get_running_loop()
        for lane in (self._reader, self._browser):
            await loop.run_in_executor(lane, lambda: None)
        await loop.run_in_executor(self._writer, self._write_uses, vault)
        await loop.run_in_executor(self._writer, vault.close)

    async def replace(self, swap: Callable[[], T], key: VaultKey) -> T:
        """Close the vault, let `swap` put other files in its place, and open those with `key`.

        When `swap` fails, what was open before is opened again. Goes on when the caller gives up.
        """

        async def work() -> T:
            async with self._opening:
                before = None if self.vault is None else self.vault.key
                await self._close()
                try:
                    found = await asyncio.to_thread(swap)
                except BaseException:
                    if before is not None:
                        await self._open(before)
                    raise
                await self._open(key)
                return found

        return await self.jobs.whole(work())

    async def stop(self) -> None:
        await self.jobs.stop_all()
        await self.jobs.settled()
        await self.lock()
        for lane in (self._reader, self._browser, self._writer):
            lane.shutdown()

    def used_by_person(self) -> None:
        """Put the idle lock off. Agents never do (SPEC 12)."""
        self._used_at = self.clock.monotonic_s()

    def locks_in_s(self) -> float | None:
        """Seconds until the vault locks itself; None when it does not."""
        if self.vault is None:
            return None
        now, ends = self.clock.monotonic_s(), list[float]()
        if self.config.idle_lock_s:
            ends.append(self._used_at + self.config.idle_lock_s)
        if self.config.absolute_lock_s:
            ends.append(self._opened_at + self.config.absolute_lock_s)
        return max(0.0, min(ends) - now) if ends else None

    def _each_day(self) -> None:
        """Upkeep when the vault is opened and every day while it stays open."""
        if self.vault is not None:
            self._writer.submit(self._tidy, self.vault)
            self._daily = asyncio.get_running_loop().call_later(DAY_S, self._each_day)

    def _tidy(self, vault: Vault) -> None:
        try:
            if vault is self.vault and not vault.read_only:
                daily.tidy(vault)
        except MemvaultError as error:
            log.warning("daily upkeep failed: %s", error.code)

    def _watch_clock(self) -> None:
        left = self.locks_in_s()
        if left is None:
            return
        loop = asyncio.get_running_loop()
        if left <= 0:
            self._locking = loop.create_task(self.lock(), name="idle lock")
        else:
            self._timer = loop.call_later(min(left + 0.01, 60.0), self._watch_clock)

    async def question_vector(
        self, text: str, *, hasty: bool = False
    ) -> tuple[npt.NDArray[np.float32] | None, str]:
        """The vector of a question and the mode of recall: hybrid, hybrid-partial or keyword.

        `hasty`: memories that were written just now are not waited for.
        """
        worker, vault = self.embedding, self.vault
        if worker is None or vault is None:
            return None, "keyword"
        try:
            # One question of each connection at a time: nobody waits for the whole queue of another.
            async with self._asking.setdefault(TURN.get(), asyncio.Lock()):
                vector = await vector_of(worker, text)
        except ModelUnavailable:
            return None, "keyword"
        if not hasty and len(vault.waiting) <= DRAIN_AT_MOST and not worker.idle:
            await asyncio.to_thread(worker.drained, DRAIN_TIMEOUT_S)
        return vector, "hybrid" if worker.idle else "hybrid-partial"

    def note_use(self, use: Use) -> None:
        """Log a recall and count its uses, soon."""
        if not self._uses:
            asyncio.get_running_loop().call_later(USE_PAUSE_S, self._flush_uses)
        self._uses.append(use)

    def learn_place(self, place: Place, moved_from: str | None) -> None:
        """Keep where a project lies, soon."""
        if self.vault is not None:
            self._writer.submit(self._keep_place, self.vault, place, moved_from)

    def _keep_place(self, vault: Vault, place: Place, moved_from: str | None) -> None:
        if vault is self.vault and vault.writer.writable:
            with vault.writer.transaction():
                places.keep(vault.writer, place, moved_from)

    def _flush_uses(self) -> None:
        if self.vault is not None:
            self._writer.submit(self._write_uses, self.vault)

    def _write_uses(self, vault: Vault) -> None:
        uses, self._uses = self._uses, []
        try:
            if uses and not vault.read_only and (vault is self.vault or self.vault is None):
                note_uses(vault, uses, self.searching.give_way)
        except MemvaultError as error:
            log.warning("uses not written: %s", error.code)


def _refit(vault: Vault, means: Means) -> None:
    """Rebuild the index with the means of a model that brought its own only when it was loaded."""
    if brings_its_own(vault.model_id):
        vault.index = load_index(vault.writer, vault.labels, vault.model_id, means)
