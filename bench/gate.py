"""How well the write gate tells what is worth keeping, on labelled claims. One JSON line per figure.

    python bench/gate.py [LABELS.jsonl ...] [--half tune|held|a|b] [--theta 0.6] [--curve] [--misses]

Each claim is proposed by an agent with a source that can be followed; a claim whose source is the user counts
as said in so many words. "Kept" is what the gate holds as a candidate. The rules were tuned on the
half "tune". Batch 1 of both halves was written before the rules, but by the same hand, so its held figures
flatter. Batch 2 of "held" was written after the rules, in settings and wordings meant to be unlike them,
and its misses were never looked at. The halves "a" and "b" were written by somebody who had not seen the
rules: "a" was looked at and tuned on afterwards, the texts of "b" never were: that is the figure to believe.
--misses lists the wrong ones, which spoils "held" and "b".
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memvault.gate.calibrate import Labelled, at, curve, judge, suggest
from memvault.gate.labels import label
from memvault.gate.score import THETA, Decision, Writer, decide
from memvault.model import Draft, SourceType

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
LABELS = [DATA / "gate.jsonl", DATA / "gate_blind.jsonl"]


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled claim, as a draft."""

    draft: Draft
    lang: str
    half: str
    batch: int
    reason: str
    keep: bool

    @property
    def said(self) -> bool:
        return self.draft.sources[0].type is SourceType.USER


def load(path: Path) -> list[Row]:
    return [_row(json.loads(line)) for line in path.read_text("utf-8").split("\n") if line.strip()]


def _row(raw: dict[str, Any]) -> Row:
    found, lang = label(raw), raw.get("lang") or raw["language"]
    return Row(found.draft, lang, raw["half"], raw.get("batch", 1), raw["reason"], found.keep)


def decided(row: Row, theta: float) -> Decision:
    return decide(row.draft, who=Writer.AGENT, theta=theta, said_explicitly=row.said)


def labelled(row: Row) -> Labelled:
    """The row's score; below 0 when it is refused whatever theta is."""
    return judge(row.draft, row.keep)


def figures(rows: list[Row], theta: float) -> Iterator[dict[str, Any]]:
    scored = [(row, labelled(row)) for row in rows]
    for half, batch in sorted({(row.half, each) for row in rows for each in (row.batch, "all")}, key=str):
        for lang in ("en", "zh", "all"):
            part = [
                label
                for row, label in scored
                if row.half == half and batch in {row.batch, "all"} and lang in {row.lang, "all"}
            ]
            yield {"half": half, "batch": batch, "lang": lang, "n": len(part), **_rounded(at(part, theta))}


def _rounded(point: Any) -> dict[str, Any]:
    return {name: round(value, 3) for name, value in asdict(point).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Precision and recall of the write gate.")
    parser.add_argument("labels", nargs="*", type=Path, default=LABELS)
    parser.add_argument("--half")
    parser.add_argument("--theta", type=float, default=THETA)
    parser.add_argument("--curve", action="store_true")
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    rows = [row for path in options.labels for row in load(path) if options.half in {None, row.half}]
    start = time.process_time()
    lines = list(figures(rows, options.theta))
    each_ms = (time.process_time() - start) * 1000 / len(rows)
    if options.curve:
        points = curve(labelled(row) for row in rows)
        lines += [{"curve": True, **_rounded(point)} for point in points]
        best = suggest(points)
        lines.append({"suggested": None if best is None else best.point.theta})
    if options.misses:
        lines += list(_misses(rows, options.theta))
    for line in [*lines, {"ms_per_claim": round(each_ms, 3)}]:
        print(json.dumps(line, ensure_ascii=False))


def _misses(rows: list[Row], theta: float) -> Iterator[dict[str, Any]]:
    for row in rows:
        decision = decided(row, theta)
        if (decision.verdict != "refuse") is not row.keep:
            codes = [signal.code for signal in decision.signals]
            text = row.draft.claim.content
            yield {
                "missed": row.reason,
                "keep": row.keep,
                "code": decision.code,
                "signals": codes,
                "text": text,
            }


if __name__ == "__main__":
    main()
