"""Measures the injection detector on attacks and look-alikes, one JSON line per figure. Owns its output only.

python bench/injection.py --data DIR     DIR holds *.jsonl with text, label (malicious, benign) and id

Rows are split by their id: three quarters were open while the words were chosen, a quarter was not read.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from pathlib import Path
from typing import Any

from memvault_sync.scan import injection

UNREAD = 3  # the residue, modulo 4, of the first byte of the id's hash


def rows(data: Path) -> list[dict[str, Any]]:
    """All rows of all files, in order."""
    return [json.loads(line) for path in sorted(data.glob("*.jsonl")) for line in path.open(encoding="utf-8")]


def is_unread(row: dict[str, Any]) -> bool:
    """Whether the row was left alone while the words were chosen."""
    return hashlib.sha256(str(row["id"]).encode()).digest()[0] % 4 == UNREAD


def main() -> None:
    """Print the share of attacks held and of look-alikes held, for both parts and together."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    every = rows(parser.parse_args().data)
    parts = {
        "all": every,
        "open": [row for row in every if not is_unread(row)],
        "unread": [row for row in every if is_unread(row)],
    }
    for part, chosen in parts.items():
        for label, figure in (("malicious", "attacks_held"), ("benign", "look_alikes_held")):
            texts = [row["text"] for row in chosen if row["label"] == label]
            held = sum(bool(injection(text)) for text in texts)
            report(
                figure,
                part,
                round(held / len(texts), 4) if texts else None,
                "share",
                held=held,
                of=len(texts),
            )
    size = sum(len(row["text"]) for row in every)
    began = time.process_time()
    for row in every:
        injection(row["text"])
    report("speed", "all", round(size / (time.process_time() - began) / 1e6, 2), "M characters/s")


def report(figure: str, part: str, value: float | None, unit: str, **more: int) -> None:
    """One line."""
    print(
        json.dumps(
            {"bench": "injection", "figure": figure, "part": part, "value": value, "unit": unit} | more
        )
    )


if __name__ == "__main__":
    main()
