"""A memory as a piece of Markdown for reading: heading, claim, a list of what is known about it. Pure."""

from __future__ import annotations

import json
from typing import Any

from memvault.cli import answers

_FIELDS = {
    "why": "why",
    "how_to_apply": "how to apply",
    "conditions": "when",
    "context": "context",
    "about": "about",
    "subject": "subject",
    "attribute": "attribute",
    "value": "value",
    "authority": "trust",
    "confidence": "confidence",
    "sensitivity": "sensitivity",
    "created_at": "created",
    "updated_at": "updated",
    "verified_at": "verified",
    "expires_at": "expires",
    "supersedes": "replaces",
    "id": "id",
}


def as_markdown(record: dict[str, Any]) -> str:
    """One memory; its text stands in it unchanged."""
    place = " / ".join(str(record[name]) for name in ("scope", "project") if record.get(name))
    lines = [f"## {record.get('kind')}, {record.get('status')}, {place}", "", str(record.get("content")), ""]
    lines += [
        f"- {label}: {_one_line(record[name])}"
        for name, label in _FIELDS.items()
        if record.get(name) is not None
    ]
    for part, text in answers.part(record, "failure").items():
        if text:
            lines.append(f"- {part}: {_one_line(text)}")
    for source in answers.rows(record, "sources"):
        lines.append(f"- source: {source.get('type')}:{_one_line(source.get('ref'))}")
        if source.get("evidence"):
            lines.append(f"  - {_one_line(source['evidence'])}")
    return "\n".join(lines) + "\n\n"


def _one_line(value: object) -> str:
    """A value on one line: a text with line feeds is written as a JSON string."""
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if "\n" in text else text
