"""What the demo does, step by step, each with its time and whether it came out as it should.

Talks to the daemon like any client. Knows nothing of how steps are printed.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memvault.cli.answers import Answer, rows
from memvault.cli.demo import traces
from memvault.cli.demo.material import Material, Question, Sample
from memvault.client import Client
from memvault.errors import MemvaultError

_POLL_S = 0.05
_EMBED_TIMEOUT_MS = 300_000.0
_RECALLED = 5

Embedding = Callable[[int, int], None]
"""Told (memories embedded, all memories) while vectors are made."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing done: `ok` is whether it came out as it should, `facts` go into the JSON report."""

    name: str
    ok: bool
    took_ms: float
    detail: str
    facts: dict[str, Any] = field(default_factory=dict[str, Any])


class Tour:
    """The demo on one home; `steps()` does the work while it is iterated."""

    def __init__(self, home: Path, material: Material, on_embedding: Embedding) -> None:
        self.home = home
        self.passphrase = secrets.token_urlsafe(24)
        self._material = material
        self._on_embedding = on_embedding
        self._client = Client(home, name="demo")
        self._texts: list[str] = []

    def close(self) -> None:
        self._client.close()

    def reopen(self) -> None:
        """Unlock the vault again, for somebody who wants to look around."""
        self._client.call("vault.unlock", {"passphrase": self.passphrase})

    def steps(self) -> Iterator[Step]:
        """Do everything, in order. Raises MemvaultError when the vault cannot be used at all."""
        yield self._make_vault()
        harmless = self._words_of_the_files()
        for sample in self._material.samples:
            yield self._import(sample)
        yield self._embed()
        self._texts += [str(record["content"]) for record in self._everything()]
        for question in self._material.questions:
            yield self._ask(question)
        yield self._correct()
        deleted = self._find(self._material.deletion)
        yield self._delete(deleted)
        yield self._write_again(str(deleted.get("content") or self._material.deletion))
        yield self._look_for_traces(harmless)

    def _call(self, method: str, params: dict[str, Any] | None = None) -> Any:
        return self._client.call(method, params)

    def _make_vault(self) -> Step:
        started_s = time.perf_counter()
        made = self._call("vault.init", {"passphrase": self.passphrase, "keychain": False})
        slots = [str(slot["type"]) for slot in rows(made, "slots")]
        took_ms = _ms_since(started_s)
        self._call("presence.prove", {"passphrase": self.passphrase})
        detail = f"encrypted, opened by {' or '.join(slots)}"
        return Step("vault", bool(made.get("recovery_code")), took_ms, detail, {"slots": slots})

    def _import(self, sample: Sample) -> Step:
        """Import a sample; what is broken on purpose must be reported, nothing else."""
        started_s = time.perf_counter()
        request = {"kind": sample.kind, "path": str(sample.path), "scope": "private", "dry_run": False}
        report: Answer = self._call("import.run", request)
        facts = {name: int(report.get(name) or 0) for name in ("added", "merged", "candidates")}
        facts |= {name: len(rows(report, name)) for name in ("refused", "unreadable")}
        detail = ", ".join(f"{count} {name}" for name, count in facts.items() if count) or "nothing"
        as_meant = facts["unreadable"] == sample.unreadable
        if as_meant and sample.unreadable:
            detail += " (broken on purpose)"
        ok = facts["added"] > 0 and not facts["refused"] and as_meant
        return Step(f"import {sample.kind}", ok, _ms_since(started_s), detail, facts)

    def _embed(self) -> Step:
        """Wait until every memory has its vectors."""
        started_s = time.perf_counter()
        while True:
            status: Answer = self._call("status")
            model: Answer = status.get("model") or {}
            pending, total = int(model.get("pending") or 0), int(status.get("memories") or 0)
            waiting = pending or model.get("state") == "loading"
            if not waiting or _ms_since(started_s) > _EMBED_TIMEOUT_MS:
                break
            self._on_embedding(total - pending, total)
            time.sleep(_POLL_S)
        self._on_embedding(total, total)
        detail = f"{total - pending} of {total} memories by {model.get('id') or 'no model'}"
        ok = not pending and model.get("state") == "ready"
        return Step("vectors", ok, _ms_since(started_s), detail, {"memories": total, "pending": pending})

    def _ask(self, question: Question) -> Step:
        started_s = time.perf_counter()
        answer: Answer = self._call("recall", {"query": question.query, "limit": _RECALLED})
        took_ms = _ms_since(started_s)
        found = [str(result["content"]) for result in rows(answer, "results")]
        wanted = question.expected
        rank = next((at for at, text in enumerate(found, 1) if wanted is not None and wanted in text), None)
        ok = rank is not None if wanted is not None else not found
        shown = found[(rank or 1) - 1] if found else "nothing" if wanted else "nothing, as it should be"
        facts = {"kind": question.kind, "query": question.query, "expected": wanted, "rank": rank}
        return Step("recall", ok, took_ms, shown, {**facts, "results": len(found)})

    def _correct(self) -> Step:
        record = self._find(self._material.correction.text)
        wanted = self._material.correction.content
        started_s = time.perf_counter()
        changes = {"content": wanted}
        after: Answer = self._call("memory.edit", {"id": record["id"], "changes": changes, "reason": "demo"})
        took_ms = _ms_since(started_s)
        self._texts.append(wanted)
        past: Answer = self._call("memory.history", {"id": record["id"]})
        versions = len(rows(past, "versions"))
        ok = after.get("content") == wanted and versions > 1
        return Step("correct", ok, took_ms, wanted, {"id": record["id"], "versions": versions})

    def _delete(self, record: Answer) -> Step:
        started_s = time.perf_counter()
        gone: Answer = self._call("memory.delete", {"ids": [record["id"]], "why": "demo"})
        took_ms = _ms_since(started_s)
        left = self._call("memory.list", {"text": record["content"], "limit": 1, "offset": 0})["total"]
        ok = gone["deleted"] == [record["id"]] and left == 0
        return Step("delete", ok, took_ms, str(record["content"]), {"id": record["id"]})

    def _write_again(self, content: str) -> Step:
        started_s = time.perf_counter()
        source = {"type": "user", "ref": "demo"}
        try:
            answer: Answer = self._call(
                "memory.add", {"content": content, "kind": "fact", "scope": "private", "source": source}
            )
            outcome, reason = str(answer["outcome"]), str(answer.get("reason") or "")
        except MemvaultError as error:
            outcome, reason = error.code, error.message
        return Step("write again", outcome == "refused", _ms_since(started_s), f"{outcome}: {reason}")

    def _look_for_traces(self, harmless: set[str]) -> Step:
        started_s = time.perf_counter()
        self._call("vault.lock")
        result = traces.search(self.home, traces.distinctive_words(self._texts) - harmless)
        outcome = f"found in {', '.join(result.found)}" if result.found else "none is there"
        detail = (
            f"locked; {result.words:,} words of the memories, the deleted one included, looked for in "
            f"{result.size_bytes:,} bytes of {result.files} files: {outcome}"
        )
        facts = {
            "files": result.files,
            "bytes": result.size_bytes,
            "words": result.words,
            "found": result.found,
        }
        return Step("traces", not result.found and result.words > 0, _ms_since(started_s), detail, facts)

    def _words_of_the_files(self) -> set[str]:
        """Words that stand in the files of an empty vault, such as the field names of its header."""
        return {
            word
            for data in traces.read_files(self.home).values()
            for word in traces.distinctive_words([data.decode("utf-8", "ignore")])
        }

    def _everything(self) -> list[Answer]:
        records: list[Answer] = []
        while True:
            page: Answer = self._call("memory.list", {"limit": 200, "offset": len(records)})
            records += rows(page, "items")
            if len(records) >= page["total"] or not rows(page, "items"):
                return records

    def _find(self, text: str) -> Answer:
        """The memory whose text holds `text`. Raises MemvaultError when there is none."""
        found = rows(self._call("memory.list", {"text": text, "limit": 1, "offset": 0}), "items")
        if not found:
            raise MemvaultError("a sample memory is missing from the demo's vault")
        return found[0]


def _ms_since(started_s: float) -> float:
    return (time.perf_counter() - started_s) * 1000
