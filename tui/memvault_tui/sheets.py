"""Pages of text about a memory, as rows for a given width. Pure.

Owns what is said about a memory and in which order: what it says, why to believe it, where it comes
from. Every function returns rows of (text, role) cells that fit `cells`.
"""

from __future__ import annotations

from datetime import datetime

from memvault_tui.diff import word_diff, wrap_cells
from memvault_tui.i18n import N_, _, n_
from memvault_tui.lines import Cell, Row, cut, fit, width, wrap
from memvault_tui.reasons import actor_words, long_reason
from memvault_tui.records import History, Memory, Recall, Source, Version
from memvault_tui.words import (
    AUTHORITY_WORDS,
    KIND_WORDS,
    SCOPE_WORDS,
    SENSITIVITY_WORDS,
    SOURCE_WORDS,
    STATUS_WORDS,
    age,
    day,
    moment,
    word,
)

FIELD_WORDS = {
    "content": N_("claim"),
    "kind": N_("kind"),
    "scope": N_("scope"),
    "project": N_("project"),
    "subject": N_("subject"),
    "attribute": N_("attribute"),
    "value": N_("value"),
    "why": N_("why"),
    "how_to_apply": N_("how"),
    "conditions": N_("when"),
    "context": N_("setting"),
    "about": N_("about"),
    "sensitivity": N_("sensitivity"),
    "valid_from": N_("valid from"),
    "valid_to": N_("valid to"),
    "expires_at": N_("expires"),
    "symptom": N_("symptom"),
    "cause": N_("cause"),
    "fix": N_("fix"),
    "verification": N_("check"),
    "stop_rule": N_("stop when"),
}


def labelled(label: str, text: str, cells: int, role: str = "plain", label_cells: int = 8) -> list[Row]:
    """A label in the margin and its text beside it, wrapped with a hanging indent."""
    rows: list[Row] = []
    for number, line in enumerate(wrap(text, cells - label_cells - 1)):
        rows.append(((fit(label if number == 0 else "", label_cells) + " ", "dim"), (line, role)))
    return rows


def _label_cells(labels: list[str], cells: int) -> int:
    return min(max((width(label) for label in labels), default=0), max(6, cells // 4))


def _trust(memory: Memory) -> str:
    sure = _("confidence {number}").format(number=f"{memory.confidence:.2f}")
    return f"{word(AUTHORITY_WORDS, memory.authority)} · {sure}" if memory.authority else sure


def title_row(memory: Memory, cells: int) -> Row:
    """Kind, status, scope and project at the left; trust at the right when there is room."""
    where = word(SCOPE_WORDS, memory.scope) + (f" · {memory.project}" if memory.project else "")
    left: list[Cell] = [
        (word(KIND_WORDS, memory.kind), "strong"),
        ("  ", "plain"),
        (word(STATUS_WORDS, memory.status), {"active": "good", "conflict": "bad"}.get(memory.status, "warn")),
        ("  ", "plain"),
        (cut(where, max(10, cells // 2)), "dim"),
    ]
    if memory.needs_check:
        left.append(("  " + _("(verify first)"), "warn"))
    used = sum(width(text) for text, _role in left)
    trust = _trust(memory)
    if used + 2 + width(trust) <= cells:
        left.append((fit(trust, cells - used, right=True), "dim"))
    return tuple(left)


def source_line(source: Source) -> str:
    """One source in a sentence: who, when, where."""
    parts = [word(SOURCE_WORDS, source.type)]
    if source.ref:
        parts.append(source.ref)
    if source.task:
        parts.append(_("task {task}").format(task=source.task))
    if source.message_index is not None:
        parts.append(f"#{source.message_index}")
    if source.observed_at:
        parts.append(day(source.observed_at))
    return " · ".join(parts)


def summary(memory: Memory, cells: int) -> list[Row]:
    """What Browse shows below its list: the claim, why, how, when, and the first source."""
    rows = [title_row(memory, cells)]
    rows += [((line, "plain"),) for line in wrap(memory.content, cells)]
    told = [(FIELD_WORDS[name], getattr(memory, name)) for name in ("why", "how_to_apply", "conditions")]
    labels = [_(label) for label, text in told if text] + [_("from")]
    margin = _label_cells(labels, cells)
    for label, text in told:
        if text:
            rows += labelled(_(label), text, cells, label_cells=margin)
    if memory.sources:
        first = memory.sources[0]
        line = source_line(first)
        if first.evidence:
            line += " · “" + first.evidence.replace("\n", " ") + "”"
        more = f" +{len(memory.sources) - 1}" if len(memory.sources) > 1 else ""
        rows += labelled(_("from"), line + more, cells, "dim", label_cells=margin)
    return rows


def waiting(memory: Memory, proposed_by: str, cells: int) -> list[Row]:
    """Why it is in the inbox, who proposed it, and what was said against it; then an empty line."""
    reason = long_reason(memory)
    if not reason:
        return []
    rows: list[Row] = [((line, "warn"),) for line in wrap(reason, cells)]
    if proposed_by not in ("", "person"):
        by = _("Brought in by {name}.").format(name=actor_words(proposed_by))
        rows += [((line, "dim"),) for line in wrap(by, cells)]
    for doubt in memory.notes:
        said = f"{actor_words(doubt.actor)}, {day(doubt.at)}: “{doubt.text}”"
        rows += [((line, "plain"),) for line in wrap(said, cells)]
    return [*rows, ()]


def _facts(memory: Memory, now: datetime) -> list[tuple[str, str]]:
    checked = age(memory.verified_at, now)
    used = age(memory.last_used_at, now)
    facts = [
        (_("trust"), _trust(memory)),
        (_("verified"), f"{day(memory.verified_at)} ({checked})" if checked else _("never")),
        (_("used"), n_("once", "{n} times", memory.usage_count) + (f", {used}" if used else "")),
        (_("seen"), n_("once", "{n} times", memory.observations)),
        (_("sensitivity"), word(SENSITIVITY_WORDS, memory.sensitivity)),
        (_("made"), moment(memory.created_at)),
        (_("changed"), moment(memory.updated_at)),
        (_("version"), str(memory.version)),
    ]
    facts += [(_(FIELD_WORDS[name]), day(at)) for name in ("valid_from", "valid_to", "expires_at")
              if (at := getattr(memory, name))]  # fmt: skip
    if memory.supersedes:
        facts.append((_("replaces"), memory.supersedes))
    if memory.flags:
        facts.append((_("flags"), ", ".join(flag.replace("_", " ") for flag in memory.flags)))
    facts.append((_("id"), memory.id))
    return facts


def full_text(memory: Memory, cells: int, now: datetime) -> list[Row]:
    """The whole memory: claim, explanation, structure, trust."""
    rows = [title_row(memory, cells), ()]
    rows += [((line, "plain"),) for line in wrap(memory.content, cells)]
    rows.append(())
    named = ["why", "how_to_apply", "conditions", "context", "about", "subject", "attribute", "value"]
    told = [(_(FIELD_WORDS[name]), getattr(memory, name)) for name in named if getattr(memory, name)]
    told += [(_(FIELD_WORDS[name]) if name in FIELD_WORDS else name, text) for name, text in memory.failure]
    facts = _facts(memory, now)
    margin = _label_cells([label for label, _text in told + facts], cells)
    for label, text in told:
        rows += labelled(label, text, cells, label_cells=margin)
    if told:
        rows.append(())
    for label, text in facts:
        rows += labelled(label, text, cells, "dim", label_cells=margin)
    if memory.hidden:
        rows.append(())
        note = _("Some characters of this text do not show; they are written out as \\u…")
        rows += [((line, "warn"),) for line in wrap(note, cells)]
    return rows


def sources(memory: Memory, cells: int) -> list[Row]:
    """Every source with its evidence."""
    rows: list[Row] = [((n_("{n} source", "{n} sources", len(memory.sources)), "strong"),)]
    for source in memory.sources:
        rows.append(())
        rows += [((line, "plain"),) for line in wrap(source_line(source), cells)]
        if source.evidence:
            rows += [(("  " + line, "dim"),) for line in wrap(f"“{source.evidence}”", cells - 2)]
    return rows


def _changes(before: Version, after: Version, cells: int) -> list[Row]:
    old, new = dict(before.fields), dict(after.fields)
    rows: list[Row] = []
    for name in dict.fromkeys([*old, *new]):
        if name not in FIELD_WORDS or old.get(name) == new.get(name):
            continue
        label = _(FIELD_WORDS[name])
        wrapped = wrap_cells(word_diff(old.get(name, ""), new.get(name, "")), cells - 10)
        for number, row in enumerate(wrapped):
            rows.append(((fit(label if number == 0 else "", 9) + " ", "dim"), *row))
    return rows or [((_("no field of the claim differs"), "dim"),)]


def versions(history: History, cells: int) -> list[Row]:
    """Newest first; each with the words that changed against the one before."""
    rows: list[Row] = []
    for number in range(len(history.versions) - 1, -1, -1):
        version = history.versions[number]
        head = _("version {number}").format(number=version.version)
        rows.append(((head, "strong"), (f"  {moment(version.at)}", "dim")))
        if number:
            rows += _changes(history.versions[number - 1], version, cells)
        else:
            content = dict(version.fields).get("content", "")
            rows += [((line, "plain"),) for line in wrap(content, cells)]
        rows.append(())
    return rows or [((_("No versions are kept."), "dim"),)]


def events(history: History, cells: int) -> list[Row]:
    """What happened to it, newest first: when, what, who, why."""
    rows: list[Row] = []
    for event in reversed(history.events):
        states = ""
        if event.before != event.after and (event.before or event.after):
            before = word(STATUS_WORDS, event.before) if event.before else _("new")
            states = f"  {before} → {word(STATUS_WORDS, event.after)}"
        head: Row = (
            (moment(event.at) + "  ", "dim"),
            (event.type.replace("_", " "), "strong"),
            (states, "plain"),
            (f"  {event.actor}" if event.actor else "", "dim"),
        )
        rows.append(_crop(head, cells))
        if event.reason:
            rows += [(("  " + line, "dim"),) for line in wrap(event.reason, cells - 2)]
    return rows or [((_("Nothing has happened to it."), "dim"),)]


def _crop(row: Row, cells: int) -> Row:
    left = cells
    out: list[Cell] = []
    for text, role in row:
        shown = cut(text, left)
        out.append((shown, role))
        left -= width(shown)
    return tuple(out)


def recall_answer(recall: Recall, cells: int, about: str | None) -> list[Row]:
    """What a question brings back, with scores and reasons; `about` is the memory asked from."""
    took = _("{ms} ms").format(ms=f"{recall.took_ms:.0f}")
    count = n_("{n} memory is recalled", "{n} memories are recalled", len(recall.hits))
    rows: list[Row] = [
        ((count, "strong"), (f"  {took}" + (f" · {recall.mode}" if recall.mode else ""), "dim")),
        (),
    ]
    if not recall.hits:
        text = _("Nothing is close enough to this question. That is an answer too: agents get nothing.")
        rows += [((line, "dim"),) for line in wrap(text, cells)]
    for place, hit in enumerate(recall.hits, start=1):
        mine = hit.id == about
        check = "  " + _("(verify first)") if hit.verify_first else ""
        rows.append(
            (
                (f"{place:>2}  ", "accent" if mine else "dim"),
                (f"{hit.score:.3f}  ", "strong"),
                (f"{word(KIND_WORDS, hit.kind)}  {hit.trust}", "dim"),
                (check, "warn"),
                ("  ← " + _("this memory") if mine else "", "accent"),
            )
        )
        rows += [(("    " + line, "plain"),) for line in wrap(hit.content, cells - 4)]
        for reason in hit.reasons:
            rows += [(("    " + line, "dim"),) for line in wrap("· " + reason, cells - 4)]
        rows.append(())
    if about is not None and about not in {hit.id for hit in recall.hits} and recall.hits:
        rows += [((line, "warn"),) for line in wrap(_("The memory you asked from is not among them."), cells)]
    return rows
