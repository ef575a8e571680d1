"""What in a text was pasted and not said: code, logs, stack traces, quoted lines. Pure.

Owns the patterns, for whoever looks for a person's own words. Each takes time linear in its line.
"""

from __future__ import annotations

import re

FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\|).*$", re.MULTILINE)

CODE_LINE = re.compile(
    r"[{};]\s*$|^\s*(?:def|class|import|from|return|if|for|while|try|except|else|elif|function|const|let"
    r"|var|public|"
    r"private|protected|static|#include|#!|package|func|fn|use|struct|interface|export|async|await|SELECT"
    r"|INSERT|"
    r"UPDATE|CREATE|FROM|WHERE)\b.*[({:;=<>]|^\s*(?://|/\*|\*/|#|<!--|--)|^\s*[\w.\[\]\"']+\s*(?:[-+*/|&]?="
    r"|:=)\s*\S"
    r"|^\s*</?\w[^>]*>|^\s*[)\]}]+[,;]?\s*$|^\s*\w+(?:\.\w+)*\(.*\)\s*$|^\s*\$ \S|^(?:\+\+\+|---|@@|[+-]\s)"
    r"|^\s*File \".*\", line \d+|^\s+at \S+|^Traceback|^\s*\"[\w-]+\"\s*:"
)
FAILED = re.compile(
    r"^(?:\w+(?:\.\w+)*(?:Error|Exception|Warning|Interrupt)\b.*|(?:error|fatal|panic|FAILED)\b.{3,}"
    r"|.{0,60}\berror(?:\[\w+\])?: .{3,})$",
    re.MULTILINE,
)
"""Of output, the lines that say what failed."""

LOG_LINE = re.compile(
    r"^\s*\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|^\s*\[?\d\d:\d\d:\d\d|^\s*\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR"
    r"|TRACE|FATAL|CRITICAL)\b|^\s*(?:\S+:\d+:(?:\d+:)?\s)|^\s*[|>]|^\s*\d+\s+[|│]|^\s*0x[0-9a-f]{4}"
    r"|^\s*(?:[.\w-]+/)+[\w.-]+\s*$|^    +\S|^\t+\S|^\s*\^+\s*$|^\s*~+\s*$"
)
"""Beside CODE_LINE: lines of logs, listings and traces. Indented lines count, as traces and code indent."""
