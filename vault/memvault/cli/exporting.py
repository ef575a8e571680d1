"""export: memories as readable text, to a private file or to stdout."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from memvault.cli.invocation import Invocation, invoked
from memvault.cli.jsontext import encode
from memvault.cli.markdown import as_markdown
from memvault.cli.options import SCOPES, STATUSES, choice, command
from memvault.cli.read import gather
from memvault.errors import UnsafePath, Usage
from memvault.text import visible

PAGE = 200
MOST_NAMES = 2_000


@command("export")
@click.argument("path", metavar="[PATH|-]", default="-")
@click.option("--scope", type=choice(SCOPES), help="Only of this scope.")
@click.option("--project", metavar="P", help="Only of this project.")
@click.option("--status", type=choice(STATUSES), help="Only in this state.")
@click.option(
    "--format", "form", type=choice(("jsonl", "markdown")), default="jsonl", show_default=True,
    help="jsonl is complete, a record a line; markdown is for reading.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Replace PATH if it is there.")
@invoked
def export(at: Invocation, path: str, form: str, force: bool, **filters: str | None) -> None:
    """Write memories to PATH, or to standard output for -. What comes out is plain text: anybody can read it.

    The file is yours alone (mode 0600) and never replaces another one without --force.
    """
    if path == "-":
        _to_stdout(at, form, filters)
        return
    target = Path(path).expanduser()
    if not force and os.path.lexists(target):
        raise Usage(f"{target} is there already", "Choose another name, or repeat with --force.")
    first = _page(at, filters, None)
    with _private_file(target, force) as file:
        count = 0
        for record in _records(at, filters, first):
            file.write(_encoded(record, form))
            count += 1
        for names in _names(at, filters):
            file.write(_names_encoded(names, form))
        size_bytes = file.tell()
    at.out.warn(f"{target} is not encrypted: anybody who gets the file can read it")
    if at.out.as_json:
        at.out.document({"path": str(target.absolute()), "items": count, "bytes": size_bytes, "format": form})
    else:
        at.out.line(f"{count:,} {'memory' if count == 1 else 'memories'} written to {target}")


def _to_stdout(at: Invocation, form: str, filters: dict[str, str | None]) -> None:
    records = _records(at, filters, _page(at, filters, None))
    if at.out.as_json:
        items = list(records)
        at.out.document({"items": items, "total": len(items), "aliases": _names(at, filters)})
        return
    for record in records:
        data = _encoded(record, form)
        if form == "markdown" and at.out.to_person:
            data = visible(data.decode("utf-8")).encode("utf-8")
        sys.stdout.buffer.write(data)
    for names in _names(at, filters):
        sys.stdout.buffer.write(_names_encoded(names, form))
    sys.stdout.buffer.flush()


def _encoded(record: dict[str, Any], form: str) -> bytes:
    line = encode(record, pretty=False) if form == "jsonl" else as_markdown(record)
    return line.encode("utf-8")


def _names(at: Invocation, filters: dict[str, str | None]) -> list[dict[str, Any]]:
    """Other names that the person set: all of them, or a project's; none beside a part of the memories."""
    if filters.get("scope") or filters.get("status"):
        return []
    items, _ = gather(at, "aliases.list", {"origin": "set"}, MOST_NAMES, 0)
    project = filters.get("project")
    return [
        {"names": item["names"], "project": item.get("project")}
        for item in items
        if project is None or item.get("project") == project
    ]


def _names_encoded(names: dict[str, Any], form: str) -> bytes:
    if form == "jsonl":
        return encode({"alias": names}, pretty=False).encode("utf-8")
    return f"Other names: {' = '.join(visible(name, one_line=True) for name in names['names'])}\n\n".encode()


def _page(at: Invocation, filters: dict[str, str | None], cursor: str | None) -> dict[str, Any]:
    return at.call("export.page", {**filters, "cursor": cursor, "limit": PAGE})


def _records(
    at: Invocation, filters: dict[str, str | None], page: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    while True:
        yield from page["items"]
        if page.get("cursor") is None:
            return
        page = _page(at, filters, page["cursor"])


@contextlib.contextmanager
def _private_file(target: Path, force: bool) -> Iterator[BinaryIO]:
    """A new 0600 file that gets its name only when it is whole; a link at `target` is replaced, not followed.

    Raises UnsafePath when another file of that name appears meanwhile and not `force`.
    """
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(part, flags, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            yield file
            file.flush()
            os.fsync(file.fileno())
        if force:
            part.replace(target)
            return
        try:
            os.link(part, target)
        except FileExistsError as error:
            raise UnsafePath(
                f"{target} appeared meanwhile", "Nothing was written; choose another name."
            ) from error
        part.unlink()
    except BaseException:
        part.unlink(missing_ok=True)
        raise
