"""Memories as lines for a person: one in full, a list of them, what was recalled.

Owns the words for kinds, states and trust on the command line. Takes the flat records of the protocol; every
text passes `Output`, which makes it safe.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from memvault.cli.answers import part, rows
from memvault.cli.layout import cut, pad, table, wrap
from memvault.cli.output import Output, Piece, bold, coloured, dim
from memvault.cli.times import age, day, when

Record = dict[str, Any]

_STATUS_STYLE = {"active": "green", "candidate": "cyan", "conflict": "yellow"}
_ID_COLUMNS = 36
_ONE_LINE_FROM = 120
"""Columns from which a list shows id and claim on one line; below, the id goes to a line of its own."""


def words(value: object) -> str:
    """A value of the protocol as words: lists joined, nothing for None and for zero counts in an object."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return "; ".join(filter(None, map(words, cast("Sequence[object]", value))))
    if isinstance(value, dict):
        return ", ".join(
            f"{key} {words(item)}" for key, item in cast("dict[str, object]", value).items() if item
        )
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def place(record: Record) -> str:
    """Scope and project."""
    return " · ".join(filter(None, (words(record.get("scope")), words(record.get("project")))))


def status_piece(status: str) -> Piece:
    return coloured(status, _STATUS_STYLE.get(status, "dim"))


def source_line(source: dict[str, Any]) -> str:
    """Type, reference and date of a source, with its excerpt."""
    where = f"{source.get('type')}:{source.get('ref')}"
    if source.get("task"):
        where += f", task {source['task']}"
    if source.get("message_index") is not None:
        where += f" #{source['message_index']}"
    if source.get("observed_at"):
        where += f", {day(source['observed_at'])}"
    return f"{where}: “{source['evidence']}”" if source.get("evidence") else where


def show_record(out: Output, record: Record) -> None:
    """Print one memory in full."""
    for line in wrap(words(record.get("content")), out.width):
        out.line(bold(line))
    out.line()
    out.line(
        status_piece(words(record.get("status"))),
        f" {record.get('kind')} · {place(record)} · version {record.get('version')}",
    )
    _show_rows(out, [*_claim_rows(record), *_trust_rows(record)])


def _show_rows(out: Output, labelled: Sequence[tuple[str, str]]) -> None:
    for label, text in table(labelled):
        first, *rest = wrap(text, out.width - len(label) - 2) or [""]
        out.line(dim(label), "  ", first)
        for line in rest:
            out.line(" " * (len(label) + 2), line)


def _claim_rows(record: Record) -> list[tuple[str, str]]:
    claim = words(record.get("subject"))
    if record.get("attribute"):
        claim += f" / {record['attribute']}"
    if record.get("value") is not None:
        claim += f" = {record['value']}"
    return [
        ("why", words(record.get("why"))),
        ("how", words(record.get("how_to_apply"))),
        ("when", words(record.get("conditions"))),
        ("context", words(record.get("context"))),
        ("about", words(record.get("about"))),
        ("claim", claim),
        *[(key, words(text)) for key, text in part(record, "failure").items()],
    ]


def _trust_rows(record: Record) -> list[tuple[str, str]]:
    trust = f"{words(record.get('authority'))}, confidence {words(record.get('confidence'))}"
    used = f"{record.get('usage_count') or 0} times"
    if record.get("last_used_at"):
        used += f", last {when(record['last_used_at'])}"
    return [
        ("trust", f"{trust}, {words(record.get('sensitivity'))}, seen {record.get('observations', 1)}×"),
        *[("from", source_line(source)) for source in rows(record, "sources")],
        ("flags", words(record.get("flags")).replace("_", " ")),
        ("replaces", words(record.get("supersedes"))),
        ("created", when(record.get("created_at"))),
        ("updated", when(record.get("updated_at"))),
        ("verified", when(record.get("verified_at")) or "never"),
        ("used", used),
        ("valid", _span(day(record.get("valid_from")), day(record.get("valid_to")))),
        ("expires", when(record.get("expires_at"))),
        ("id", words(record.get("id"))),
    ]


def _span(first: str, last: str) -> str:
    return " ".join(filter(None, (f"from {first}" if first else "", f"until {last}" if last else "")))


def show_list(out: Output, records: Iterable[Record]) -> None:
    """Print a line per memory: kind, status, age, id and claim; two lines on a narrow terminal."""
    for record in records:
        kind, status = words(record.get("kind")), words(record.get("status"))
        pieces: list[Piece] = [
            pad(kind, 12),
            " ",
            coloured(pad(status, 10), _STATUS_STYLE.get(status, "dim")),
        ]
        pieces += [" ", age(record.get("updated_at")).rjust(4), "  "]
        claim, ident = words(record.get("content")), words(record.get("id"))
        if record.get("due_at"):
            claim = f"(until {day(record['due_at'])}) {claim}"
        if out.width >= _ONE_LINE_FROM:
            out.line(dim(ident), "  ", *pieces, cut(claim, out.width - _ID_COLUMNS - 32))
        else:
            out.line(*pieces, cut(claim, out.width - 30))
            out.line(" " * 30, dim(ident)) if out.width >= 30 + _ID_COLUMNS else out.line("  ", dim(ident))


def show_count(out: Output, shown: int, total: int, offset: int, what: str = "memories") -> None:
    """Say on stderr how much of the whole was shown."""
    if shown < total:
        first = offset + 1 if shown else offset
        out.note(
            dim(f"{first:,} to {offset + shown:,} of {total:,} {what}; --limit and --offset show others.")
        )


def show_recall(out: Output, answer: dict[str, Any]) -> None:
    """Print what was recalled, best first, each with source, date, trust and reason."""
    for number, found in enumerate(rows(answer, "results"), 1):
        lead = f"{number}. "
        first, *rest = wrap(words(found.get("content")), out.width - len(lead)) or [""]
        out.line(dim(lead), bold(first))
        for line in rest:
            out.line("   ", bold(line))
        marks = [words(found.get("kind")), place(found), f"{words(found.get('trust'))} trust"]
        if found.get("verify_first"):
            marks.append("check before use")
        if words(found.get("status")) not in ("", "active"):
            marks.append(words(found.get("status")))
        out.line("   ", " · ".join(filter(None, marks)), dim(f"  score {words(found.get('score'))}"))
        for source in rows(found, "sources"):
            _indented(out, "from ", source_line(source))
        _indented(out, "updated ", when(found.get("updated_at")))
        _indented(out, "because ", words(found.get("why")))
        out.line("   ", dim(words(found.get("id"))))


def _indented(out: Output, label: str, text: str) -> None:
    for number, line in enumerate(wrap(text, out.width - 3 - len(label)) if text else []):
        out.line("   ", dim(label) if not number else " " * len(label), line)
