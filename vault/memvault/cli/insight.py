"""about, why and stats: what is remembered of whom, why it is recalled, and how the vault is doing."""

from __future__ import annotations

from typing import Any, cast

import click

from memvault import text
from memvault.cli.answers import part, rows, texts
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.layout import cut, pad, width, wrap
from memvault.cli.options import KINDS, choice, command, paging
from memvault.cli.output import Output, bold, coloured, dim
from memvault.cli.read import INCLUDABLE
from memvault.cli.views import place, show_count, show_list, status_piece, words
from memvault.cli.write import memory_id
from memvault.errors import Usage

PAGE = 500
BAR = 24
"""Columns of the longest bar."""
_FULL = "█"
_COUNTED = (
    ("by scope", "scopes"),
    ("by kind", "kinds"),
    ("by state", "statuses"),
    ("by project", "projects"),
)
_MOST_BARS = 12


@command("about")
@click.argument("subject")
@paging(50)
@invoked
def about(at: Invocation, subject: str, limit: int, offset: int) -> None:
    """List everything that names somebody or something, with counts.

    What is about SUBJECT comes first, then what only mentions it: in the claim, its explanations or its
    evidence. Old states are included. `memvault delete ID...` erases what you choose.
    """
    items: list[dict[str, Any]] = []
    while True:
        size = min(PAGE, limit - len(items))
        page = at.call("memory.about", {"subject": subject, "limit": size, "offset": offset + len(items)})
        items += page["items"]
        if len(items) >= limit or not page["items"] or page["next"] is None:
            break
    if at.out.as_json:
        at.out.document({**page, "items": items})
        return
    for item in items:
        show_list(at.out, [item])
        at.out.line("  ", dim(f"named in: {', '.join(texts(item, 'because')).replace('_', ' ')}"))
    total = int(page["total"])
    show_count(at.out, len(items), total, offset)
    if not total:
        at.out.note("Nothing that is remembered names it.")
        return
    at.out.line(bold(f"{total:,} {'memory' if total == 1 else 'memories'}"))
    for label, name in _COUNTED:
        at.out.line(dim(f"{pad(label, 10)}  "), _counts(part(page, name)))
    at.out.tip("Next: `memvault get ID` shows one in full, `memvault delete ID...` erases what you choose.")


def _counts(found: dict[str, Any]) -> str:
    return ", ".join(f"{name or 'no project'} {number:,}" for name, number in found.items())


@command("why")
@click.argument("query")
@click.argument("ident", metavar="[ID]", required=False)
@click.option(
    "--project", metavar="P", help="As for recall: memories of this project and those of no project."
)
@click.option("--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="As for recall.")
@click.option("--include", metavar="WORDS", help="As for recall: archived, expired (comma between).")
@click.option("--kind", type=choice(KINDS), help="As for recall: only of this kind.")
@invoked
def why(
    at: Invocation,
    query: str,
    ident: str | None,
    project: str | None,
    limit: int,
    include: str | None,
    kind: str | None,
) -> None:
    """Say why memories answer a question, or why one does not.

    Without ID: everything that `memvault recall QUERY` returns, and what came near. Nothing counts as used.
    """
    try:
        question = text.accept(query, "question")
    except Usage as error:
        raise Usage(error.message, "Say what you look for in words.") from error
    chosen = [word.strip() for word in (include or "").split(",") if word.strip()]
    if unknown := [word for word in chosen if word not in INCLUDABLE]:
        raise Usage(f"{', '.join(unknown)}: choose from {', '.join(INCLUDABLE)}")
    params = {
        "query": question, "id": None if ident is None else memory_id(ident), "project": project,
        "limit": limit, "include": chosen or None, "kind": kind,
    }  # fmt: skip
    answer = at.call("recall.explain", params)
    if at.out.as_json:
        at.out.document(answer)
        return
    for item in rows(answer, "items"):
        _show_why(at.out, item)
    if not answer["items"]:
        at.out.note("Nothing answers, and nothing came near.")
    at.out.note(
        dim(f"by {words(answer.get('mode'))}; relevance counts from {words(answer.get('threshold'))}")
    )


_VERDICTS = {
    "returned": ("returned", "green"),
    "beyond_limit": ("beyond the limit", "yellow"),
    "below_threshold": ("below the threshold", "yellow"),
    "not_matched": ("not found", "dim"),
    "not_permitted": ("not to be seen", "dim"),
    "kept_out": ("kept out", "red"),
}


def _show_why(out: Output, item: dict[str, Any]) -> None:
    verdict, style = _VERDICTS.get(words(item.get("verdict")), (words(item.get("verdict")), "dim"))
    rank = f"{item['rank']}. " if item.get("rank") else ""
    out.line(
        coloured(f"{rank}{verdict}", style), f"  {words(item.get('kind'))} · {place(item)}  ",
        status_piece(words(item.get("status"))),
    )  # fmt: skip
    for line in wrap(words(item.get("content")), out.width - 3):
        out.line("   ", bold(line))
    scores = [
        f"{name} {words(item[name])}"
        for name in ("relevance", "score", "lexical", "semantic", "weight")
        if item.get(name) is not None
    ]
    if scores:
        out.line("   ", ", ".join(scores))
    for reason in texts(item, "reasons"):
        for line in wrap(reason, out.width - 3):
            out.line("   ", line)
    out.line("   ", dim(words(item.get("id"))))


@command("stats")
@invoked
def stats(at: Invocation) -> None:
    """Show how the vault is doing, in numbers: growth, refusals, sources, candidates, recalls.

    None of it shows what is remembered.
    """
    found = at.call("stats")
    if at.out.as_json:
        at.out.document(found)
        return
    out = at.out
    out.line(bold(f"{found['memories']:,} memories"))
    for label, name in _COUNTED:
        _bars(out, label, part(found, name))
    weeks = rows(found, "growth")
    _bars(out, "added in the week of", {words(week["week"]): week["added"] for week in weeks})
    gone = sum(int(week["removed"]) for week in weeks)
    merged, again = (int(part(found, "duplicates").get(name, 0)) for name in ("merged", "seen_again"))
    _row(out, "removed in these weeks", f"{gone:,}")
    _row(out, "duplicates merged", f"{merged:,}, candidates seen again {again:,}")
    _bars(out, "refused", part(found, "refusals"), keep_zero=False)
    _row(out, "held as resembling", f"{found['held_resemblances']:,}")
    _quality(out, found)
    _people(out, found)
    index = part(found, "index")
    _row(
        out, "index",
        f"{index['memories']:,} memories, {_bytes(index['size_bytes'])} in memory, "
        f"{index['without_vectors']:,} without vectors; the vault has {_bytes(index['database_bytes'])}",
    )  # fmt: skip


def _quality(out: Output, found: dict[str, Any]) -> None:
    cited, sources = part(found, "citations"), part(found, "sources")
    unused, recalls = part(found, "unused"), part(found, "recalls")
    stale = f"{cited['stale']:,} of {cited['cited']:,} ({_percent(cited['share'])})"
    _row(out, "stale citations", stale)
    if cited["alarm"]:
        out.warn(
            "More than a tenth of what cites a file is stale: `memvault inbox` shows it,"
            " `memvault verify ID` checks it."
        )
    _row(
        out, "sources",
        f"{_percent(sources['complete'])} with an excerpt, {sources['with_source']:,} with a source, "
        f"{sources['with_several']:,} with several",
    )  # fmt: skip
    _row(
        out, "recalls", f"{recalls['asked']:,} asked, {_percent(recalls['hit_rate'])} found something"
    )  # fmt: skip
    _reached(out, part(found, "reached"))
    _row(
        out,
        "never recalled",
        f"{unused['never_recalled']:,} of {unused['standing']:,} ({_percent(unused['share'])})",
    )


def _reached(out: Output, found: dict[str, Any]) -> None:
    _row(
        out, "reached somebody",
        f"{found['memories']:,} memories, by {found['contexts']:,} contexts and {found['prompts']:,} prompts"
        " besides recalls",
    )  # fmt: skip
    judged = f"{found['used']:,} used, {found['wrong']:,} wrong, {found['outdated']:,} outdated"
    if found["unused_share"] is None:
        judged = "nobody said yet what was used"
    else:
        judged += f"; {_percent(found['unused_share'])} of them unused"
    _row(out, "of these", judged)


def _people(out: Output, found: dict[str, Any]) -> None:
    names = ("proposed", "confirmed", "promoted", "rejected", "lapsed", "waiting", "refused")
    for row in rows(found, "candidates"):
        said = ", ".join(f"{row[name]:,} {name}" for name in names if row[name])
        _row(out, f"candidates of {words(row['actor'])}", said)
    for row in rows(part(found, "recalls"), "by"):
        _row(
            out, f"recalls of {words(row['actor'])}", f"{row['asked']:,} asked, {row['answered']:,} answered"
        )


def _row(out: Output, label: str, said: str) -> None:
    out.line(bold(label), "  ", said)


def _bars(out: Output, label: str, counts: dict[str, Any], *, keep_zero: bool = True) -> None:
    """A line a name with a bar as long as its share of the largest, the largest first but for weeks."""
    shown = [(name or "no project", int(number)) for name, number in counts.items() if number or keep_zero]
    most = max((number for _, number in shown), default=0)
    if not shown:
        return
    out.line(bold(label))
    names = [cut(name, 30) for name, _ in shown[:_MOST_BARS]]
    widest = max(map(width, names))
    for name, (_, number) in zip(names, shown, strict=False):
        bar = _FULL * max(round(BAR * number / most), 1) if number else ""
        out.line("  ", pad(name, widest), f"  {number:>7,}  ", coloured(bar, "cyan"))
    if len(shown) > _MOST_BARS:
        rest = sum(number for _, number in shown[_MOST_BARS:])
        out.line("  ", dim(f"and {len(shown) - _MOST_BARS:,} more with {rest:,}"))


def _percent(share: object) -> str:
    return "none yet" if share is None else f"{100 * cast('float', share):.0f} %"


def _bytes(size: int) -> str:
    amount, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
