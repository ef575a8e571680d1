"""Hostile input costs bounded time and memory; scanners are shared between threads; a floor for the speed."""

from __future__ import annotations

import random
import string
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest

from memvault_sync.scan import Scanner, injection
from memvault_sync.scan.rules import load

pytestmark = pytest.mark.slow

SIZE = 100_000
LETTERS = string.ascii_letters + string.digits
SECONDS = 6.0  # for 100 kB; a backtracking rule needs hours
WORST = {
    "one letter": "a",
    "prefix of signed tokens": "eyJ",
    "prefix after a dash": "-eyJ",
    "sk family": "sk-",
    "marker inside": "T3BlbkFJ-",
    "addresses": "://",
    "logins": "https://a:b",
    "key headers": "-----BEGIN PRIVATE KEY-----\n",
    "putty headers": "PuTTY-User-Key-File-2:\n",
    "putty ends": "Private-" + "Lines:\n",
    "escapes": "\\u0041",
    "percent codes": "%25",
    "entities": "&amp;",
    "terminal codes": "\x1b[",
    "quotes": '"',
    "quotes and plus": '" + "',
    "line breaks": "\n",
    "prefix and line break": "gh" + "p_\n",
    "prefix and space": "h" + "f_ab ",
    "spaced letters": "g h ",
    "digits": "4",
    "digits in groups": "4533 ",
    "digits and dots": "1.",
    "dots": ".",
    "base64 lines": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlq\n",
    "hex": "67",
    "zero width": "\u200b",
    "full width": "ａ",
    "look-alikes": "а",
    "look-alikes and letters": "аa",
    "combining marks": "a\u0336",
    "host labels": "a-.",
    "internal hosts": "a.b.local",
    "letters then host": "a" * 99 + ".internal",
    "backslashes": "\\",
    "unc": "\\\\a",
    "instruction words": "ignore all previous instructions ",
    "verbs": "send ",
    "sentences": "you. ",
    "ones": "1 0 ",
}


@pytest.mark.parametrize("unit", WORST.values(), ids=WORST)
def test_hostile_repetition_takes_bounded_time(scanner: Scanner, unit: str) -> None:
    text = unit * (SIZE // len(unit))
    began = time.process_time()
    scanner.scan(text)
    assert time.process_time() - began < SECONDS
    began = time.process_time()
    injection(text)
    assert time.process_time() - began < SECONDS


def test_every_literal_repeated_takes_bounded_time(scanner: Scanner) -> None:
    began = time.process_time()
    for rule in load().rules:
        for literal in rule.at[:2]:
            for joint in ("-", "\n"):
                unit = literal.decode() + joint
                scanner.scan(unit * (1_000 // len(unit)))
    assert time.process_time() - began < 2 * SECONDS


def test_rules_have_no_unbounded_repeats() -> None:
    for rule in load().rules:
        for pattern in filter(None, (rule.form, rule.lead)):
            assert "*" not in pattern.replace("\\*", "").replace("%*", "").replace("$|*", ""), rule.id
            assert ",}" not in pattern, rule.id


def test_memory_does_not_grow_with_the_text(scanner: Scanner) -> None:
    def peak(size: int) -> int:
        data = b"an ordinary line of text with some words and 12 numbers\n" * (size // 56)
        scanner.scan(data[:1000])
        tracemalloc.start()
        try:
            scanner.scan(data)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(8_000_000) < 2 * peak(1_000_000) + 1_000_000


def test_one_scanner_serves_many_threads(scanner: Scanner) -> None:
    texts = [
        f"note {number} " + "gh" + "p_" + "".join(random.Random(number).choices(LETTERS, k=36))
        for number in range(64)
    ]
    alone = [scanner.scan(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(scanner.scan, texts)) == alone


def test_ordinary_text_is_scanned_at_a_useful_speed(scanner: Scanner) -> None:
    """The bench measures; this floor, a fifth of the target, only notices a rule that costs too much."""
    chance = random.Random(1)
    words = ["".join(chance.choices(string.ascii_lowercase, k=chance.randint(2, 9))) for _ in range(3000)]
    lines = [" ".join(chance.choices(words, k=11)) + f" = {chance.randint(0, 999)}\n" for _ in range(30_000)]
    data = "".join(lines).encode()
    scanner.scan(data[:100_000])
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        scanner.scan(data)
        best = min(best, time.process_time() - began)
    assert len(data) / best > 4_000_000
