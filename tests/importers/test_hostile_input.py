"""No file whatsoever stops an importer, slows it beyond reason or slips unusable text through."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault import clock, text
from memvault.importers import IMPORTERS
from memvault.importers.base import MAX_EVIDENCE_CHARS, Found, Item, Target, Unreadable
from memvault.model import Scope

pytestmark = pytest.mark.slow

NOW = "2026-06-01T12:00:00.000Z"
PARTS = [
    b"---\n", b"kind: fact\n", b"subject: a\nattribute: b\nvalue: c\n", b"why: x\n", b"created: 2026-01-01\n",
    b"created: 0001-01-01T00:00:00+14:00\n", b"expires: 9999-12-31T23:59:59-14:00\n",
    b"tags: [a, b]\n",
    b"metadata:\n  type: user\n", b"name: x\n", b"description: y\n", b"a: &b *b\n",
    b"# head\n", b"- item\n",
    b"- [ ] task\n", b"- [x](y.md) z\n", b"[[wiki]]\n", b"**Why:** because\n", b"How to apply: so\n",
    b"text. ",
    b"```\n", b"<!--", b"-->", b"\n\n", b"\x00", b"\xff", b"\xed\xa0\x80", "部署：\n".encode(), b"\x1b[31m",
    "\u202e\u2028".encode(),
    b'{"type":"entity","name":"a","entityType":"person","observations":["b"]}\n',
    b'{"type":"relation","from":"a","to":"b","relationType":"c"}\n',
    b'{"name":"\\ud800","observations":["a\\u0000"]}',
    b'{"type":"entity","name":"a","observations":[{"content":"b","timestamp":"0001-01-01T00:00:00+23:00"}]}\n',
    b'{"a":NaN}', b'{"a":1,"a":2}', b"[[[[", b"{", b"}", b'"', b"\r\n", b"\r",
]  # fmt: skip
HOSTILE = st.one_of(st.binary(max_size=200), st.lists(st.sampled_from(PARTS), max_size=25).map(b"".join))


def items(kind: str, path: Path) -> list[Item]:
    return list(IMPORTERS[kind].plan(path, Target(Scope.TEAM, None, NOW)).items)


def check(found: Item) -> None:
    assert found.where.isprintable()
    if not isinstance(found, Found):
        assert found.reason.isprintable()
        return
    claim, (source,) = found.draft.claim, found.draft.sources
    said = [
        claim.content,
        claim.why,
        claim.how_to_apply,
        claim.context,
        claim.subject,
        claim.attribute,
        claim.value,
    ]
    said += [claim.conditions, claim.about, claim.project, source.evidence, source.ref, source.task]
    for part in said:
        assert part is None or "\x00" not in part
        assert part is None or part.encode("utf-8").decode("utf-8") == part
    assert text.accept(claim.content) == claim.content
    assert claim.scope in {Scope.PRIVATE, Scope.TEAM}
    assert len(source.evidence or "") <= MAX_EVIDENCE_CHARS
    for instant in (source.observed_at, claim.expires_at, claim.valid_from, found.draft.created_at):
        assert instant is None or clock.iso(clock.parse(instant)) == instant


@pytest.mark.parametrize("kind", sorted(IMPORTERS))
@settings(max_examples=80, deadline=None)
@given(first=HOSTILE, second=HOSTILE)
def test_no_bytes_stop_an_importer_or_slip_through(kind: str, first: bytes, second: bytes):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "team").mkdir()
        names = (
            ("memory.jsonl", "team/b.jsonl") if kind == "mcp-memory" else ("MEMORY.md", "team/feedback_b.md")
        )
        for name, data in zip(names, (first, second), strict=True):
            (root / name).write_bytes(data)
        found = items(kind, root)
        for item in found:
            check(item)
        assert found == items(kind, root)


@pytest.mark.parametrize(
    "content",
    [
        "![" * 150_000,
        ">" * 300_000,
        "x\n" * 40_000,
        "a:\n\n- b\n\n" * 10_000,
        "text\n\n" + "```\n```\n\n" * 30_000,
        "<!-- -->" * 40_000,
        "<!--" * 75_000 + "\n-->",
        "[" + " " * 300_000,
        "[a](" + " " * 300_000,
        "`*_ " * 75_000,
        "-" * 300_000,
        "x **Why: " * 30_000,
        "x" + " " * 300_000 + "**Why",
        "- [x](y.md)\n" * 20_000,
        "1. a\n" * 60_000,
        "|\n" * 60_000,
        "#" * 300_000,
        "prefers can't " * 20_000,
    ],
    ids=range(18),
)
def test_the_time_for_a_note_grows_with_its_size_only(tmp_path, content):
    (tmp_path / "MEMORY.md").write_text(content)
    (tmp_path / "topic.md").write_text(content)
    begun = time.process_time()
    items("claude-code", tmp_path)
    assert time.process_time() - begun < 8


def test_reasons_do_not_quote_what_a_file_says(tmp_path):
    word = "zanzibarquokka"
    (tmp_path / "a.md").write_text(f"---\nkind: {word}\n---\n{word}")
    (tmp_path / "b.md").write_text(f"---\n{word}: [\n---\n{word}")
    (tmp_path / "c.md").write_text(f"---\nexpires: {word}\n{word}: x\n---\n{word}")
    (tmp_path / "d.md").write_text(f"- [ ] {word}\n- [{word}]({word}.md)\n")
    (tmp_path / "m.jsonl").write_text(f'{{"type":"{word}"}}\n{{"{word}\n{{"{word}":1,"{word}":2}}\n')
    (tmp_path / "MEMORY.md").write_text(f"- [{word}]({word}.md)\n- [ ] {word}\n")
    for kind in IMPORTERS:
        reasons = [item.reason for item in items(kind, tmp_path) if not isinstance(item, Found)]
        assert reasons
        assert not [reason for reason in reasons if word in reason]


def test_a_folder_of_many_notes_is_read_one_by_one(tmp_path):
    import tracemalloc

    for number in range(150):
        (tmp_path / f"{number}.md").write_text("word " * 10_000)
    plan = IMPORTERS["markdown"].plan(tmp_path, Target(Scope.PRIVATE, None, NOW))
    tracemalloc.start()
    try:
        count = sum(isinstance(item, Found | Unreadable) for item in plan.items)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 150
    assert peak_bytes < 3_000_000


def test_a_file_that_vanishes_between_counting_and_reading_is_reported(tmp_path):
    (tmp_path / "a.md").write_text("One.")
    (tmp_path / "b.md").write_text("Two.")
    found = iter(IMPORTERS["markdown"].plan(tmp_path, Target(Scope.PRIVATE, None, NOW)).items)
    assert isinstance(next(found), Found)
    (tmp_path / "b.md").unlink()
    rest = list(found)
    assert rest == [Unreadable("b.md", "the file cannot be read: no such file or directory")]
