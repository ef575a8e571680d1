"""What `bench/agents.py` found, as JSON lines and as the tables of docs/benchmarks.md.

Owns the shape of the result and its printing. Measures nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from agent_driver import MIX, Tally
from reference_memory import PACKAGE, VERSION, Asked

MIXED = ("paced", "saturated")
QUESTIONED = ("alone", "together")


@dataclass(slots=True)
class Found:
    """Every figure of a run. `rss_mb`: the daemon's before the phases and after each.

    `reference_writes`: (acknowledged, lost) of two writers; `missing` says why the reference was not run.
    """

    phases: dict[str, Tally] = field(default_factory=dict[str, Tally])
    rss_mb: dict[str, float] = field(default_factory=dict[str, float])
    proposals: int = 0
    lost: int = 0
    reference: dict[str, Asked] = field(default_factory=dict[str, Asked])
    reference_rss_mb: float = 0.0
    reference_writes: tuple[int, int] | None = None
    missing: str = ""
    fts5: dict[str, Asked] = field(default_factory=dict[str, Asked])

    @property
    def errors(self) -> int:
        return sum(tally.errors.total() for tally in self.phases.values())

    @property
    def sound(self) -> bool:
        """No error, nothing lost, and nobody told to slow down at a realistic pace."""
        return not (self.errors or self.lost or self.phases["paced"].rate_limited)


def figure(name: str, value: Any) -> None:
    rounded = round(value, 2) if isinstance(value, float) else value
    print(json.dumps({"bench": "agents", "figure": name, "value": rounded}), flush=True)


def percentiles(times_ms: Sequence[float]) -> tuple[float, float, float]:
    """p50, p95 and p99; nan without times."""
    if not times_ms:
        return (float("nan"), float("nan"), float("nan"))
    p50, p95, p99 = np.percentile(times_ms, (50, 95, 99))
    return float(p50), float(p95), float(p99)


def show(found: Found, memories: int, agents: int, think_s: float) -> None:
    """Every figure as a JSON line, then the tables."""
    _lines(found)
    thought = f"{think_s / 2:g} to {think_s * 1.5:g} s of thought"
    print(f"\n{memories:,} memories, {agents} agents; when paced, {thought}\n")
    _print_mix(found)
    _print_state(found)
    _print_beside(found, agents)


def _lines(found: Found) -> None:
    for phase, tally in found.phases.items():
        figure(f"{phase}_calls_per_s", tally.per_second)
        figure(f"{phase}_errors", dict(tally.errors))
        figure(f"{phase}_rate_limited", tally.rate_limited)
        figure(f"{phase}_modes", dict(tally.modes))
        figure(f"{phase}_proposals", dict(tally.outcomes))
        for method, times_ms in tally.times_ms.items():
            for name, value in zip(("p50", "p95", "p99"), percentiles(times_ms), strict=True):
                figure(f"{phase}_{method}_{name}_ms", value)
    figure("proposals_acknowledged", found.proposals)
    figure("proposals_lost", found.lost)
    if found.reference_writes is not None:
        figure("reference_writes_acknowledged", found.reference_writes[0])
        figure("reference_writes_lost", found.reference_writes[1])
    for system, all_asked in (("reference", found.reference), ("fts5", found.fts5)):
        for phase, asked in all_asked.items():
            figure(f"{system}_{phase}_per_s", len(asked.times_ms) / asked.seconds)
            for name, value in zip(("p50", "p95", "p99"), percentiles(asked.times_ms), strict=True):
                figure(f"{system}_{phase}_{name}_ms", value)


def _row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |")


def _head(*cells: str) -> None:
    _row(*cells)
    print("|" + "---|" * len(cells))


def _print_mix(found: Found) -> None:
    _head("method", "share", *(f"{name}: {of}" for name in MIXED for of in ("calls", "p50 / p95 / p99, ms")))
    for method, share in MIX.items():
        cells: list[str] = []
        for name in MIXED:
            times_ms = found.phases[name].times_ms.get(method, [])
            cells += [f"{len(times_ms):,}", _times(times_ms)]
        _row(f"`{method}`", f"{share} %", *cells)
    totals: list[str] = []
    for name in MIXED:
        tally = found.phases[name]
        totals += [f"{tally.calls:,}", f"**{tally.per_second:.1f} calls/s**"]
    _row("all", "", *totals)
    print()


def _times(times_ms: Sequence[float]) -> str:
    return " / ".join(f"{value:.1f}" for value in percentiles(times_ms)) if times_ms else "-"


def _print_state(found: Found) -> None:
    _head("", *MIXED)
    phases = [found.phases[name] for name in MIXED]
    _row("errors (must be 0)", *(_counted(tally.errors.items()) for tally in phases))
    _row("told to slow down (`rate_limited`)", *(str(tally.rate_limited) for tally in phases))
    _row("recalls by mode", *(_counted(tally.modes.items()) for tally in phases))
    _row("proposals by outcome", *(_counted(tally.outcomes.items()) for tally in phases))
    _row("processor, daemon / driver", *(_busy(tally) for tally in phases))
    _row(
        "daemon memory before, after",
        *(f"{_before(found, name):.0f}, {found.rss_mb[name]:.0f} MB" for name in MIXED),
    )
    _row("acknowledged proposals lost", f"{found.lost} of {found.proposals}", "(both phases)")
    print()


def _counted(items: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {number}" for name, number in items) or "0"


def _busy(tally: Tally) -> str:
    return f"{tally.daemon_cpu_s / tally.seconds:.2f} / {tally.driver_cpu_s / tally.seconds:.2f} cores"


def _before(found: Found, phase: str) -> float:
    names = list(found.rss_mb)
    return found.rss_mb[names[names.index(phase) - 1]]


def _print_beside(found: Found, agents: int) -> None:
    _head(
        "questions only, no pause", "clients", "questions/s", "p50 / p95 / p99, ms", "answered", "mean answer"
    )
    for name in QUESTIONED:
        tally = found.phases[name]
        times_ms = tally.times_ms["recall"]
        answered = f"{tally.answered / len(times_ms):.0%}"
        _row(
            "memvault `recall`",
            _clients(name, agents),
            f"{tally.per_second:.1f}",
            _times(times_ms),
            answered,
            "",
        )
    for system, all_asked in (
        ("MCP reference server, `search_nodes`", found.reference),
        ("plain FTS5", found.fts5),
    ):
        for name, asked in all_asked.items():
            told = f"{system}, one word of it" if name == "one_word" else system
            _row(told, _clients(name, agents), *_asked(asked))
    ended = f" was not run to its end: {found.missing}" if found.missing else ""
    print(f"\nReference: {PACKAGE} {VERSION}{ended}\n")
    _print_ratios(found, agents)
    if found.reference:
        print(f"* reference server, most memory: {found.reference_rss_mb:.0f} MB")
    if found.reference_writes is not None:
        acknowledged, lost = found.reference_writes
        print(
            f"* reference server, two processes, one file: {lost} of {acknowledged} acknowledged writes lost"
        )


def _print_ratios(found: Found, agents: int) -> None:
    """memvault over each reference, both asking questions only."""
    for name in QUESTIONED:
        tally = found.phases[name]
        own_p95 = percentiles(tally.times_ms["recall"])[1]
        for system, all_asked in (("reference server", found.reference), ("FTS5", found.fts5)):
            asked = all_asked.get(name)
            if asked is not None and asked.times_ms:
                more = tally.per_second / (len(asked.times_ms) / asked.seconds)
                p95 = own_p95 / percentiles(asked.times_ms)[1]
                who = "1 client" if name == "alone" else f"{agents} clients"
                print(f"* {who}, memvault / {system}: p95 {p95:.2f}, questions a second {more:.2f}")


def _clients(phase: str, agents: int) -> str:
    return str(agents) if phase == "together" else "1"


def _asked(asked: Asked) -> tuple[str, str, str, str]:
    if not asked.times_ms:
        return asked.died or "none", "-", "-", "-"
    number = len(asked.times_ms)
    size = f"{asked.bytes_back / number / 1e3:,.1f} kB" if asked.bytes_back else ""
    ended = f" ({asked.died})" if asked.died else ""
    return (
        f"{number / asked.seconds:.1f}{ended}",
        _times(asked.times_ms),
        f"{asked.answered / number:.0%}",
        size,
    )
