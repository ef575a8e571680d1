"""Every failure as a person or a program gets it: one sentence and a hint, or one JSON document, on stderr.

Owns the shape of errors on the command line. Shows no traceback: frames of a fault in memvault itself are
named by file and line, without values.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from memvault.cli.jsontext import encode
from memvault.errors import MemvaultError, Usage
from memvault.text import visible

INTERRUPTED = 130


def wants_json(argv: Sequence[str]) -> bool:
    """Whether --json stands among the options; asked when parsing itself failed."""
    before_dashes = argv[: argv.index("--")] if "--" in argv else argv
    return "--json" in before_dashes


def report(error: Exception, argv: Sequence[str]) -> int:
    """Print `error` on stderr and return the exit status it stands for."""
    if isinstance(error, click.Abort):
        print_error("interrupted", "stopped", "", as_json=wants_json(argv))
        return INTERRUPTED
    if isinstance(error, click.ClickException):
        return _report_usage(error, argv)
    if isinstance(error, MemvaultError):
        print_error(error.code, error.message, error.hint, as_json=wants_json(argv))
        return error.exit_status
    if isinstance(error, OSError):
        where = f": {error.filename}" if isinstance(error.filename, str) else ""
        print_error(
            "failure", f"{error.strerror or type(error).__name__}{where}", "", as_json=wants_json(argv)
        )
        return MemvaultError.exit_status
    print_error(
        "internal", f"a fault in memvault itself: {_place(error)}", "Please report it.", wants_json(argv)
    )
    return MemvaultError.exit_status


def _report_usage(error: click.ClickException, argv: Sequence[str]) -> int:
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context is not None else "memvault"
    message = error.format_message()
    if context is not None and not wants_json(argv):
        _write(visible(context.get_usage()) + "\n")
    print_error(Usage.code, message, f"`{path} --help` shows how.", as_json=wants_json(argv))
    return Usage.exit_status


def _place(error: Exception) -> str:
    """The kind of a fault and where it happened, without any value."""
    trace, last = error.__traceback__, None
    while trace is not None:
        last, trace = trace, trace.tb_next
    if last is None:
        return type(error).__name__
    return f"{type(error).__name__} at {Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}"


def print_error(code: str, message: str, hint: str, as_json: bool) -> None:
    """Write one error to stderr; texts are made safe for a terminal first."""
    if as_json:
        _write(encode({"error": {"code": code, "message": message, "hint": hint}}, pretty=False))
        return
    _write(f"Error: {visible(message)}\n")
    if hint:
        _write(f"Hint: {visible(hint)}\n")


def _write(text: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.flush()
        sys.stderr.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stderr.buffer.flush()
