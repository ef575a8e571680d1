"""Reads the public question sets that recall is measured on. Owns their formats and protocols.

Each set comes as folders of one data directory (`--data DIR`); its SOURCE.txt states origin, licence and
protocol. Nothing of their text is kept in this repository.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_EVIDENCE = re.compile(r"D(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Passage:
    """One memory of a set. `day` is a day number (1970-01-01 is 0).

    `thread` names the conversation it is a turn of, `turn` its position there.
    """

    id: str
    text: str
    day: int = 0
    thread: str | None = None
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """One question, the ids that answer it, and, for update questions, those ids from oldest to newest."""

    id: str
    text: str
    relevant: frozenset[str]
    day: int = 0
    kind: str = ""
    in_time: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pool:
    """Questions that are asked over one set of passages; `absent` have no answer among them."""

    set: str
    name: str
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]
    absent: tuple[Question, ...] = field(default=())


def load(data: Path, name: str) -> list[Pool]:
    """The pools of one set: locomo, madial, longmemeval or cmrc. Raises KeyError for another name."""
    return list(_READERS[name](data))


def _locomo(data: Path) -> Iterator[Pool]:
    """Each turn is one record, one index a conversation; adversarial questions (5) still have evidence."""
    for number, talk in enumerate(_json(data / "locomo" / "locomo5.json")):
        conversation = talk["conversation"]
        passages: list[Passage] = []
        for key, turns in conversation.items():
            if not (key.startswith("session_") and isinstance(turns, list)):
                continue
            day = _day(conversation[f"{key}_date_time"], "%I:%M %p on %d %B, %Y")
            passages.extend(Passage(t["dia_id"], _turn(t), day, key, at) for at, t in enumerate(turns))
        ids = {passage.id for passage in passages}
        asked: list[Question] = []
        for at, qa in enumerate(talk["qa"]):
            pairs = _EVIDENCE.findall(" ".join(qa["evidence"]))
            found = frozenset(f"D{int(session)}:{int(turn)}" for session, turn in pairs) & ids
            if found:
                last = max(passage.day for passage in passages)
                asked.append(Question(f"{number}:{at}", qa["question"], found, last, str(qa["category"])))
        yield Pool("locomo", str(talk.get("sample_id", number)), tuple(passages), tuple(asked))


def _turn(turn: dict[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['speaker']}: {turn['text']}" + (f" [shares {caption}]" if caption else "")


def _madial(data: Path) -> Iterator[Pool]:
    """Memories of one language asked in it, then both languages' memories together asked in each."""
    folder = data / "madial"
    memories = {lang: _madial_memories(folder, lang) for lang in ("zh", "en")}
    asked = {lang: _madial_questions(folder, lang) for lang in ("zh", "en")}
    for lang in ("zh", "en"):
        known = {passage.id for passage in memories[lang]}
        yield Pool("madial", lang, memories[lang], _among(asked[lang], known))
    mixed = tuple(memories["zh"] + memories["en"])
    known = {passage.id for passage in mixed}
    for lang, other in (("zh", "en"), ("en", "zh")):
        crossed = [
            Question(q.id, q.text, frozenset(f"{other}:{r.split(':')[1]}" for r in q.relevant))
            for q in _events(memories[lang])
        ]
        yield Pool("madial", f"{lang}-to-{other}", mixed, _among(tuple(crossed), known))


def _events(memories: tuple[Passage, ...]) -> list[Question]:
    """Each memory as a question for its own translation."""
    return [Question(memory.id, memory.text, frozenset({memory.id})) for memory in memories]


def _madial_memories(folder: Path, lang: str) -> tuple[Passage, ...]:
    out: list[Passage] = []
    for row in _lines(folder / f"memory-{lang}.jsonl"):
        for key, memory in row.items():
            day = _day(memory["time"], "%Y-%m-%d")
            out.append(Passage(f"{lang}:{key}", memory["event"], day))
    return tuple(out)


def _madial_questions(folder: Path, lang: str) -> tuple[Question, ...]:
    out: list[Question] = []
    for number, row in enumerate(_lines(folder / f"dialogue-{lang}.jsonl")):
        relevant = frozenset(f"{lang}:{key}" for key in row["relevant-id"])
        for at in row["test-turn"]:
            said = [turn.strip() for turn in row["dialogue"][:at] if "<BOD>" not in turn]
            out.append(Question(f"{lang}:{number}:{at}", "\n".join(said), relevant))
    return tuple(out)


def _among(asked: tuple[Question, ...], known: set[str]) -> tuple[Question, ...]:
    """The questions that some known passage answers."""
    return tuple(q for q in asked if q.relevant & known)


def _longmemeval(data: Path) -> Iterator[Pool]:
    """All evidence turns are one pool; questions marked as abstention have no answer in it."""
    passages: dict[str, Passage] = {}
    asked: list[Question] = []
    absent: list[Question] = []
    for row in _lines(data / "longmemeval_evidence" / "questions.jsonl"):
        day = _day((row["question_date"] or "1970/01/01")[:10], "%Y/%m/%d")
        dated: list[tuple[int, str]] = []
        for turn in row["evidence"]:
            when = _day(turn["session_date"][:10], "%Y/%m/%d")
            passages[turn["doc_id"]] = Passage(turn["doc_id"], turn["content"], when)
            dated.append((when, turn["doc_id"]))
        update = tuple(i for _, i in sorted(dated)) if row["question_type"] == "knowledge-update" else ()
        relevant = frozenset(i for _, i in dated)
        question = Question(row["question_id"], row["question"], relevant, day, row["question_type"], update)
        if row["abstention"]:
            absent.append(question)
        elif relevant:
            asked.append(question)
    yield Pool("longmemeval", "evidence", tuple(passages.values()), tuple(asked), tuple(absent))


def _cmrc(data: Path) -> Iterator[Pool]:
    """Each paragraph is one record; two questions of the trial split are empty and left out."""
    passages: list[Passage] = []
    asked: list[Question] = []
    for article in _json(data / "cmrc2018" / "cmrc2018_trial_squad.json")["data"]:
        for paragraph in article["paragraphs"]:
            passages.append(Passage(paragraph["id"], paragraph["context"]))
            answer = frozenset({paragraph["id"]})
            whole = [qa for qa in paragraph["qas"] if qa["question"].strip()]
            asked.extend(Question(qa["id"], qa["question"], answer) for qa in whole)
    yield Pool("cmrc", "trial", tuple(passages), tuple(asked))


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def _day(text: str, form: str) -> int:
    at = datetime.strptime(text, form).replace(tzinfo=UTC)
    return at.toordinal() - datetime(1970, 1, 1, tzinfo=UTC).toordinal()


_READERS = {"locomo": _locomo, "madial": _madial, "longmemeval": _longmemeval, "cmrc": _cmrc}
SETS = tuple(_READERS)
