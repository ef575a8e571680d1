"""Measures the scan on labelled rows and on ordinary text, one JSON line per figure. Owns its output only.

python bench/scan.py --data DIR [--text FOLDER] [--show]

DIR holds corpus.jsonl.gz (text, label secret or clean, hard: the disguise, ambiguous) and pii.jsonl.gz (text,
label pii or clean). FOLDER (by default the installed packages) is walked for .py, .md, .txt and .rst files.
Findings of local names are counted, not judged: ordinary text has them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memvault_sync.scan import Finding, Kind, Scanner, View

ENDINGS = {".py", ".md", ".txt", ".rst"}
MOST_TEXT_BYTES = 60_000_000


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of one file; none when it is not there."""
    if path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def credentials(scanner: Scanner, text: str) -> list[Finding]:
    """What would block or need a tick as a credential."""
    return [finding for finding in scanner.scan(text) if finding.kind is Kind.CREDENTIAL]


def corpus(scanner: Scanner, data: Path, show: bool) -> None:
    """Recall on plain and disguised rows, false alarms on clean ones."""
    counts = {"plain": [0, 0], "disguised": [0, 0], "clean": [0, 0]}
    for row in rows(data / "corpus.jsonl.gz"):
        if row.get("ambiguous"):
            continue
        part = "clean" if row["label"] == "clean" else "disguised" if row.get("hard") else "plain"
        hit = bool(credentials(scanner, row["text"]))
        counts[part][0] += hit
        counts[part][1] += 1
        if show and hit == (part == "clean"):
            print(json.dumps({"bench": "scan", "wrong": part, "id": row["id"], "rule": row["rule"]}))
    for part, (hits, total) in counts.items():
        if part == "clean":
            report("false_alarms_clean", hits, "rows", of=total)
        elif total:
            report(f"recall_{part}", round(hits / total, 4), "share", found=hits, of=total)


def personal(scanner: Scanner, data: Path, show: bool) -> None:
    """Valid personal numbers found, near misses blocked."""
    counts = {"pii": [0, 0], "clean": [0, 0]}
    for row in rows(data / "pii.jsonl.gz"):
        hit = any(finding.kind is not Kind.LOCAL for finding in scanner.scan(row["text"]))
        counts[row["label"]][0] += hit
        counts[row["label"]][1] += 1
        if show and hit == (row["label"] == "clean"):
            print(json.dumps({"bench": "scan", "wrong": row["label"], "id": row["id"], "kind": row["kind"]}))
    report("personal_found", counts["pii"][0], "rows", of=counts["pii"][1])
    report("personal_near_misses_blocked", counts["clean"][0], "rows", of=counts["clean"][1])


def ordinary(scanner: Scanner, folder: Path, show: bool) -> None:
    """False alarms on sources and documentation, and the speed over them, all views on."""
    size = alarms = local = 0
    spent = 0.0
    for path in sorted(folder.rglob("*")):
        if path.suffix not in ENDINGS or not path.is_file() or size > MOST_TEXT_BYTES:
            continue
        text = path.read_bytes()
        began = time.process_time()
        findings = scanner.scan(text)
        spent += time.process_time() - began
        size += len(text)
        judged = [finding for finding in findings if finding.kind is not Kind.LOCAL]
        alarms += len(judged)
        local += len(findings) - len(judged)
        if show:
            for finding in judged:
                place = f"{path.relative_to(folder)}:{finding.line}"
                print(json.dumps({"bench": "scan", "alarm": finding.rule, "view": finding.view, "at": place}))
    report("false_alarms_text", alarms, "findings", megabytes=round(size / 1e6, 1), local_names=local)
    report("speed", round(size / spent / 1e6, 1), "MB/s of processor time", views=len(View), cores=1)


def report(figure: str, value: float, unit: str, **more: float) -> None:
    """One line; the load tells apart figures of a busy machine."""
    load = round(os.getloadavg()[0], 2)
    line = {"bench": "scan", "figure": figure, "value": value, "unit": unit}
    print(json.dumps(line | more | {"load": load}), flush=True)


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--text", type=Path, default=Path(sysconfig.get_paths()["purelib"]))
    parser.add_argument("--show", action="store_true", help="name the rows and places that went wrong")
    chosen = parser.parse_args()
    scanner = Scanner()
    began = time.process_time()
    scanner.scan("warm up")
    report("first_scan", round((time.process_time() - began) * 1000, 1), "ms")
    corpus(scanner, chosen.data, chosen.show)
    personal(scanner, chosen.data, chosen.show)
    ordinary(scanner, chosen.text, chosen.show)


if __name__ == "__main__":
    main()
