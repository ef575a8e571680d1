"""A folder of Markdown notes: what becomes a memory, what does not, and how both are reported."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memvault.errors import Usage
from memvault.importers.files import MAX_NOTE_BYTES
from memvault.model import Kind, Scope, Sensitivity, SourceType


def test_a_short_note_is_one_memory_with_the_fields_of_its_front_matter(read, note, tmp_path):
    note(
        "deploy.md",
        "---\nkind: procedure\nsubject: project:billing\nattribute: deploy_command\nvalue: bash ship.sh\n"
        "why: npm skips the migration\nhow: production only\n"
        "condition: after the freeze\nabout: [Orla, Kei]\n"
        "sensitivity: personal\nproject: billing\ntags: [deploy, '#ops']\ncreated: 2026-03-12\n"
        "expires: 2027/1/2\nvalid_from: 2026-03-01T08:00:00+08:00\ntitle: Shipping\n---\n\n"
        "# Release\n\nShip billing with `bash ship.sh`.\n",
    )
    got = read("markdown", tmp_path)
    claim = got.claim
    assert claim.content == "Ship billing with `bash ship.sh`."
    assert claim.kind is Kind.PROCEDURE
    assert (claim.subject, claim.attribute, claim.value) == (
        "project:billing",
        "deploy_command",
        "bash ship.sh",
    )
    assert (claim.why, claim.how_to_apply) == ("npm skips the migration", "production only")
    assert (claim.conditions, claim.about) == ("after the freeze", "Orla; Kei")
    assert (claim.sensitivity, claim.project) == (Sensitivity.PERSONAL, "billing")
    assert claim.context == "Shipping > Release; #deploy #ops"
    assert claim.expires_at == "2027-01-02T00:00:00.000Z"
    assert claim.valid_from == "2026-03-01T00:00:00.000Z"
    assert got.found[0].draft.created_at == "2026-03-12T00:00:00.000Z"
    assert got.sources[0].observed_at == "2026-03-12T00:00:00.000Z"


def test_the_source_says_where_it_came_from_and_what_it_said(read, note, tmp_path):
    path = note("sub/a.md", "The spare key hangs\nbehind the red door.\n")
    os.utime(path, (1_767_225_600, 1_767_225_600))
    got = read("markdown", tmp_path)
    source = got.sources[0]
    assert (source.type, source.ref) == (SourceType.IMPORT, "markdown:sub/a.md#note")
    assert source.evidence == "The spare key hangs\nbehind the red door."
    assert source.observed_at == "2026-01-01T00:00:00.000Z"
    assert len(source.content_hash or "") == 64
    assert got.found[0].where == "sub/a.md:1"


def test_a_source_is_never_seen_after_its_import(read, note, tmp_path):
    path = note("a.md", "The alarm is tested on Fridays.")
    os.utime(path, (4_000_000_000, 4_000_000_000))
    assert read("markdown", tmp_path).sources[0].observed_at == "2026-06-01T12:00:00.000Z"


def test_a_long_note_gives_a_claim_for_each_block_under_its_headings(read, note, tmp_path):
    note(
        "team.md",
        f"---\ntitle: Team\n---\n# Habits\n\n{'Stand-up is at nine. ' * 20}\n\n{'Retro is on Friday. ' * 20}"
        "\n\n## Tools\n\nWe use:\n\n- Grafana for graphs\n- Loki for logs\n\n- [ ] move to Mimir\n",
    )
    got = read("markdown", tmp_path)
    assert [claim.context for claim in got.claims] == [
        "Team > Habits",
        "Team > Habits",
        "Team > Habits > Tools > We use",
        "Team > Habits > Tools > We use",
    ]
    assert got.contents[2:] == ["Grafana for graphs", "Loki for logs"]
    assert got.skipped == {"team.md:17": "a check box is a task, not a memory"}
    assert got.found[2].where == "team.md:14"


def test_a_note_that_names_its_attribute_is_one_claim_however_long(read, note, tmp_path):
    body = "\n\n".join("word " * 60 for _ in range(5))
    note("a.md", f"---\nsubject: s\nattribute: a\nvalue: v\n---\n{body}\n")
    assert len(read("markdown", tmp_path).claim.content) > 1_400


def test_a_file_can_narrow_the_scope_but_never_widen_it(read, note, tmp_path):
    note("a.md", "---\nscope: team\nauthority: system\nconfidence: 1.0\n---\nOne says it is for the team.")
    note("b.md", "---\nscope: private\n---\nTwo says it is private.")
    assert {claim.scope for claim in read("markdown", tmp_path).claims} == {Scope.PRIVATE}
    assert [claim.scope for claim in read("markdown", tmp_path, scope=Scope.TEAM).claims] == [
        Scope.TEAM,
        Scope.PRIVATE,
    ]
    assert all(item.draft.confidence is None for item in read("markdown", tmp_path).found)


def test_a_note_of_one_task_is_no_memory(read, note, tmp_path):
    note("a.md", "---\nscope: task\n---\nOpen the third file next.")
    got = read("markdown", tmp_path)
    assert not got.found
    assert got.skipped == {"a.md": "a note of one task, not a memory"}


def test_the_project_of_the_caller_wins(read, note, tmp_path):
    note("a.md", "---\nproject: atlas\n---\nAtlas ships on Wednesdays.")
    assert read("markdown", tmp_path).claim.project == "atlas"
    assert read("markdown", tmp_path, project="billing").claim.project == "billing"


def test_a_relationship_is_personal_at_least(read, note, tmp_path):
    note("a.md", "---\nkind: relationship\nsensitivity: public\n---\nOrla is Kei's sister.")
    assert read("markdown", tmp_path).claim.sensitivity is Sensitivity.PERSONAL


def test_a_failure_keeps_its_parts(read, note, tmp_path):
    note(
        "a.md",
        "---\nkind: reflection\nfailure:\n  symptom: 502\n  cause: stale worker\n  fix: restart\n---\n"
        "502 after a deploy means a stale worker.",
    )
    failure = read("markdown", tmp_path).claim.failure
    assert failure is not None
    assert (failure.symptom, failure.cause, failure.fix) == ("502", "stale worker", "restart")


@pytest.mark.parametrize(
    ("content", "where", "says"),
    [
        ("---\nkind: fact\nKIND: x\n---\nText", "a.md:3", "twice"),
        ("---\ntitle: x\nkind: gossip\n---\nText", "a.md:3", "`kind`"),
        ("---\nscope: world\n---\nText", "a.md:2", "`scope`"),
        ("---\nsensitivity: low\n---\nText", "a.md:2", "`sensitivity`"),
        ("---\nexpires: soon\n---\nText", "a.md:2", "`expires`"),
        ("---\nhow: a\nhow_to_apply: b\n---\nText", "a.md:3", "twice"),
        ("---\nwhy: {a: b}\n---\nText", "a.md:2", "`why`"),
        ("---\nfailure: {symptom: a}\n---\nText", "a.md:2", "`failure`"),
        ("---\nsubject: " + "x" * 2_000 + "\n---\nText", "a.md:2", "`subject`"),
        ('---\nwhy: "a\\ud800"\n---\nText', "a.md:2", "surrogate"),
        ("---\nkind: [fact\n---\nText", "a.md:2", "YAML"),
        ("---\nkind: fact\n---\n", "a.md:4", "no text"),
        ("---\nkind: fact\n---\n\n# Only a heading\n<!-- and a comment -->\n", "a.md", "no text of its own"),
        ("---\nkind: fact\n---\na\x00b", "a.md", "NUL"),
        ("---\nkind: fact\n---\n" + "x" * 70_000, "a.md:4", "limit"),
        ("x" * (MAX_NOTE_BYTES + 1), "a.md", "limit"),
    ],
)
def test_what_cannot_be_a_memory_is_reported_with_its_line(read, note, tmp_path, content, where, says):
    note("a.md", content)
    note("b.md", "A note beside it comes in.")
    got = read("markdown", tmp_path)
    assert got.contents == ["A note beside it comes in."]
    assert list(got.unreadable) == [where]
    assert says in got.unreadable[where]


@pytest.mark.parametrize(
    "data", [b"\xff\xfe\x00a", b"ok\nthen \xc3\x28\n", "Café".encode("latin-1"), b"\xed\xa0\x80"]
)
def test_bytes_that_are_not_utf_8_are_unreadable(read, tmp_path, data):
    (tmp_path / "a.md").write_bytes(data)
    got = read("markdown", tmp_path)
    assert not got.found
    assert list(got.unreadable) == ["a.md"]


def test_windows_line_ends_and_a_byte_order_mark_are_fine(read, tmp_path):
    (tmp_path / "a.md").write_bytes(
        b"\xef\xbb\xbf---\r\nkind: episode\r\n---\r\nThe March release\r\nfailed once.\r\n"
    )
    claim = read("markdown", tmp_path).claim
    assert (claim.kind, claim.content) == (Kind.EPISODE, "The March release failed once.")


def test_everything_left_out_has_a_reason(read, note, tmp_path):
    note("a.md", "Kept.")
    note("blank.md", " \n")
    note(".obsidian/x.md", "hidden")
    note("Templates/x.md", "template")
    note("template.md", "template")
    note(".draft.md", "hidden")
    note("picture.png", "no note")
    note("sub/data.csv", "no note")
    note("node_modules/readme.md", "not ours")
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    os.mkfifo(tmp_path / "pipe.md")
    got = read("markdown", tmp_path)
    assert got.contents == ["Kept."]
    assert not got.unreadable
    assert got.skipped == {
        ".draft.md": "a hidden file",
        ".obsidian": "a hidden folder",
        "Templates": "a folder of templates",
        "link.md": "a link: links are not followed",
        "node_modules": "a folder of a program, not of notes",
        "pipe.md": "not a regular file",
        "template.md": "a template",
        "blank.md": "the file is empty",
        ".": "1 file of other types (.png)",
        "sub": "1 file of other types (.csv)",
    }


def test_links_in_a_circle_end(read, note, tmp_path):
    note("sub/a.md", "Kept.")
    (tmp_path / "sub" / "up").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    got = read("markdown", tmp_path)
    assert got.contents == ["Kept."]
    assert set(got.skipped) == {"self", "sub/up"}


def test_unknown_keys_are_counted_and_not_named(read, note, tmp_path):
    note("a.md", "---\nzanzibar: 1\nquokka: 2\n---\nOne.")
    note("b.md", "---\nvalue: without attribute\ncreated: last spring\n---\nTwo.")
    got = read("markdown", tmp_path)
    assert got.skipped == {".": "front matter keys that are not used: 4 in 2 notes"}
    assert [claim.value for claim in got.claims] == [None, None]


def test_an_empty_folder_says_so(read, tmp_path):
    assert read("markdown", tmp_path).skipped == {".": "no Markdown file in this folder"}


def test_one_file_can_be_imported_whatever_its_name(read, note):
    got = read("markdown", note("notes.txt", "The spare key hangs behind the red door."))
    assert got.contents == ["The spare key hangs behind the red door."]
    assert got.sources[0].ref == "markdown:notes.txt#note"


def test_a_path_that_is_not_there_is_a_usage_error(read, tmp_path):
    for path in (tmp_path / "none", Path("a\x00b")):
        with pytest.raises(Usage):
            read("markdown", path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Usage):
        read("markdown", tmp_path / "pipe")
    with pytest.raises(Usage):
        read("markdown", tmp_path, scope=Scope.TASK)


def test_a_folder_that_cannot_be_read_does_not_stop_the_rest(read, note, tmp_path, monkeypatch):
    note("a/x.md", "Hidden by permissions.")
    note("b/y.md", "Kept.")
    scandir = os.scandir

    def refuse(path):
        if Path(path).name == "a":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    got = read("markdown", tmp_path)
    assert got.contents == ["Kept."]
    assert got.unreadable == {"a": "the folder cannot be read: permission denied"}


def test_names_that_are_not_utf_8_are_reported_printably(read, tmp_path):
    (tmp_path / os.fsdecode(b"bad\xff.md")).write_text("text")
    (tmp_path / "esc\x1b[31m\n.md").write_text("Kept.")
    got = read("markdown", tmp_path)
    assert got.unreadable == {"bad\\udcff.md": "the file's name is not valid UTF-8"}
    assert got.sources[0].ref == "markdown:esc\\x1b[31m .md#note"


def test_refs_are_the_same_in_every_run_and_survive_paragraphs_added_above(read, note, tmp_path):
    body = "# A\n\n" + "One is one. " * 40 + "\n\n" + "Two is two. " * 40 + "\n"
    note("a.md", body)
    note("b.md", "Short.")
    first, second = read("markdown", tmp_path), read("markdown", tmp_path)
    assert first.items == second.items
    assert len({source.ref for source in first.sources}) == 3
    note("a.md", body.replace("# A\n", "# A\n\nA new paragraph.\n"))
    refs = [source.ref for source in read("markdown", tmp_path).sources]
    assert {source.ref for source in first.sources} < set(refs)
    note("b.md", "Short, but edited.")
    assert "markdown:b.md#note" in [source.ref for source in read("markdown", tmp_path).sources]


def test_files_come_in_the_order_of_their_names_and_progress_counts_them(read, note, tmp_path):
    for name in ("b.md", "a/z.md", "c.MD", "a/b/x.markdown"):
        note(name, f"This is {name}.")
    got = read("markdown", tmp_path)
    assert [item.where for item in got.found] == ["b.md:1", "c.MD:1", "a/z.md:1", "a/b/x.markdown:1"]
    assert (got.total, got.done) == (4, 4)
