"""Claude Code's memory: index, topic files, team folder, and all projects of a home."""

from __future__ import annotations

import pytest

from memvault.importers import claude_code
from memvault.model import Kind, Scope

FEEDBACK = (
    "---\nname: Real databases\ndescription: how tests reach data\nmetadata:\n  type: feedback\n"
    "  originSessionId: 8f2c\n---\n\nIntegration tests hit a real database.\n\n"
    "**Why:** mocks hid a broken migration.\n\n**How to apply:** in every test below tests/db.\n"
)


def test_a_topic_file_is_one_memory_with_its_reason_and_application(read, note, tmp_path):
    note("feedback_testing.md", FEEDBACK)
    got = read("claude-code", tmp_path, project="billing")
    claim = got.claim
    assert claim.content == "Integration tests hit a real database."
    assert claim.why == "mocks hid a broken migration."
    assert claim.how_to_apply == "in every test below tests/db."
    assert (claim.kind, claim.scope, claim.project) == (Kind.PREFERENCE, Scope.PRIVATE, "billing")
    assert claim.context == "Real databases: how tests reach data"
    assert got.sources[0].ref == "claude-code:feedback_testing.md#note"
    assert got.sources[0].task == "8f2c"
    assert "mocks hid" in (got.sources[0].evidence or "")


@pytest.mark.parametrize(
    ("front", "body", "kind"),
    [
        ("metadata:\n  type: user", "Prefers tables over prose.", Kind.PREFERENCE),
        ("metadata:\n  type: user", "Works as a data engineer.", Kind.FACT),
        ("type: feedback", "Keep commits small.", Kind.PREFERENCE),
        ("type: project", "The freeze begins on 5 March.", Kind.FACT),
        ("type: project", "The team prefers trunk builds.", Kind.FACT),
        ("type: reference", "Bugs are tracked in Linear.", Kind.FACT),
        ("type: poem", "以后都用中文写提交说明。", Kind.PREFERENCE),
        ("kind: episode", "The March release failed.", Kind.EPISODE),
    ],
)
def test_types_become_kinds(read, note, tmp_path, front, body, kind):
    note("topic.md", f"---\nname: x\n{front}\n---\n{body}\n")
    assert read("claude-code", tmp_path).claim.kind is kind


def test_the_type_can_stand_in_the_file_name(read, note, tmp_path):
    note("feedback_style.md", "Write short sentences.\n")
    assert read("claude-code", tmp_path).claim.kind is Kind.PREFERENCE


@pytest.mark.parametrize(
    "body",
    [
        "Ship on Tuesdays.\n\nWhy: fewer people are away.\n\nHow to apply: not in a freeze.\n",
        "Ship on Tuesdays.\n**Why:** fewer people are away.\n**How to apply:** not in a freeze.\n",
        "Ship on Tuesdays. **Why:** fewer people are away. **How to apply:** not in a freeze.\n",
        "Ship on Tuesdays.\n\n## Why\n\nfewer people are away.\n\n## How to apply\n\nnot in a freeze.\n",
        "Ship on Tuesdays.\n\n**Why**: fewer people\nare away.\n\n**How to apply**: not in\na freeze.\n",
        "- Ship on Tuesdays.\n  **Why:** fewer people are away.\n  **How to apply:** not in a freeze.\n",
    ],
)
def test_reasons_are_found_however_they_are_set(read, note, tmp_path, body):
    note("feedback_x.md", f"---\ntype: feedback\n---\n{body}")
    claim = read("claude-code", tmp_path).claim
    assert claim.content == "Ship on Tuesdays."
    assert claim.why == "fewer people are away."
    assert claim.how_to_apply == "not in a freeze."


def test_chinese_labels_and_lists_under_a_label_are_understood(read, note, tmp_path):
    note(
        "a.md",
        "---\ntype: feedback\n---\n周五不发布。\n\n**原因：** 周末没人值班。\n\n"
        "如何应用：\n\n- 热修复除外\n- 先问值班\n",
    )
    claim = read("claude-code", tmp_path).claim
    assert (claim.content, claim.why) == ("周五不发布。", "周末没人值班。")
    assert claim.how_to_apply == "- 热修复除外\n- 先问值班"


def test_several_rules_in_a_file_keep_their_own_reasons(read, note, tmp_path):
    note(
        "rules.md",
        "## Tests\n\nUse real databases.\n\n**Why:** mocks lie.\n\n"
        "## Commits\n\nKeep them small.\n\n**Why:** reviews.\n",
    )
    got = read("claude-code", tmp_path)
    assert [(claim.content, claim.why, claim.context) for claim in got.claims] == [
        ("Use real databases.", "mocks lie.", "Tests"),
        ("Keep them small.", "reviews.", "Commits"),
    ]


def test_index_lines_that_name_a_topic_are_not_imported_twice(read, note, tmp_path):
    note(
        "MEMORY.md",
        "# Memory\n\n- [Real databases](feedback_testing.md) — tests hit a real database\n- [[plan]]\n"
        "- [Gone](gone.md) — was here\n- [Guide](https://example.org/a.md) explains the retry policy\n\n"
        "## Billing\n\nInvoices are numbered per calendar year.\n\n"
        "- Always run `make lint` first\n- [ ] tidy up\n",
    )
    note("feedback_testing.md", FEEDBACK)
    note("plan.md", "---\ntype: project\n---\nThe freeze begins on 5 March.\n")
    got = read("claude-code", tmp_path)
    assert got.contents == [
        "[Guide](https://example.org/a.md) explains the retry policy",
        "Invoices are numbered per calendar year.",
        "Always run `make lint` first",
        "Integration tests hit a real database.",
        "The freeze begins on 5 March.",
    ]
    assert [claim.kind for claim in got.claims[:3]] == [Kind.FACT, Kind.FACT, Kind.PREFERENCE]
    assert got.claims[1].context == "Memory > Billing"
    assert got.skipped == {
        "MEMORY.md:5": "the index names a topic file that does not exist",
        "MEMORY.md:13": "a check box is a task, not a memory",
        "MEMORY.md": "2 index lines name topic files, which are imported themselves",
    }
    assert (got.total, got.done) == (3, 3)


def test_index_links_cannot_leave_the_folder(read, note, tmp_path):
    note("secret.md", "outside")
    note(
        "memory/MEMORY.md", "- [Up](../secret.md) says more about the retry policy\n- [Abs](/etc/x.md) too\n"
    )
    got = read("claude-code", tmp_path / "memory")
    assert len(got.contents) == 2
    assert not got.skipped


def test_team_files_come_in_with_the_scope_of_the_caller_and_say_so(read, note, tmp_path):
    note("team/MEMORY.md", "- [Style](style.md)\n- Reviews take two people\n")
    note("team/style.md", "---\nname: Style\ntype: feedback\n---\nTabs, not spaces.\n")
    got = read("claude-code", tmp_path)
    assert [(claim.content, claim.scope, claim.context) for claim in got.claims] == [
        ("Reviews take two people", Scope.PRIVATE, "shared by the team"),
        ("Tabs, not spaces.", Scope.PRIVATE, "shared by the team: Style"),
    ]


def test_a_topic_that_is_only_a_description_is_the_description(read, note, tmp_path):
    note("a.md", "---\nname: Linear\ndescription: Bugs are tracked in Linear.\ntype: reference\n---\n")
    assert read("claude-code", tmp_path).contents == ["Bugs are tracked in Linear."]


def test_empty_topics_and_daily_logs_are_reported(read, note, tmp_path):
    note("a.md", "---\nname: x\ntype: user\n---\n")
    note("logs/2027/03/2027-03-14.md", "raw")
    note("b.md", "---\nname: [x\n---\ntext")
    got = read("claude-code", tmp_path)
    assert not got.found
    assert got.unreadable == {
        "a.md:5": "the note has front matter but no text",
        "b.md:2": "the front matter is not valid YAML",
    }
    assert got.skipped == {"logs/2027/03/2027-03-14.md": "a daily log, not a memory"}


def test_all_projects_of_a_home_come_in_each_with_its_project(read, note, tmp_path):
    for slug in ("-home-mira-billing", "-home-mira-atlas", "-home-mira-billing--claude-worktrees-fix"):
        note(f".claude/projects/{slug}/memory/a.md", f"---\ntype: project\n---\nThis is {slug}.\n")
    note(".claude/projects/-home-mira-empty/session.jsonl", "{}")
    (tmp_path / ".claude/projects/-home-mira-linked").mkdir()
    (tmp_path / ".claude/projects/-home-mira-linked/memory").symlink_to(tmp_path)
    for path in (tmp_path / ".claude", tmp_path / ".claude" / "projects"):
        got = read("claude-code", path)
        assert [claim.project for claim in got.claims] == ["atlas", "billing", "billing"]
        assert sorted(got.skipped.values()) == ["1 projects without memory", "a link: links are not followed"]
        assert got.total == 3
    assert read("claude-code", tmp_path / ".claude", project="one").claims[0].project == "one"
    one = read("claude-code", tmp_path / ".claude/projects/-home-mira-atlas")
    assert (one.claim.project, one.sources[0].ref) == ("atlas", "claude-code:memory/a.md#note")
    inner = read("claude-code", tmp_path / ".claude/projects/-home-mira-atlas/memory")
    assert inner.claim.project == "atlas"
    single = read("claude-code", tmp_path / ".claude/projects/-home-mira-atlas/memory/a.md")
    assert single.claim.project == "atlas"


def test_two_folders_of_one_name_are_two_projects(read, note, tmp_path):
    for slug in ("-home-mira-work-web", "-home-mira-play-web", "-home-mira-atlas"):
        note(f"projects/{slug}/memory/a.md", f"This is {slug}.\n")
    got = read("claude-code", tmp_path)
    assert [claim.project for claim in got.claims] == ["atlas", "play-web", "work-web"]


def test_a_folder_that_is_no_slug_names_no_project(read, note, tmp_path):
    note("memory/a.md", "The freeze begins on 5 March.")
    assert read("claude-code", tmp_path / "memory").claim.project is None


def test_an_empty_folder_says_so(read, tmp_path):
    assert read("claude-code", tmp_path).skipped == {".": "no Claude Code memory in this folder"}


def test_what_a_home_holds_is_counted_and_nothing_of_it_told(note, tmp_path):
    assert claude_code.discover(tmp_path) == []
    note(".claude/projects/-home-mira-billing/memory/a.md", "The zanzibar freeze begins on 5 March.")
    note(".claude/projects/-home-mira-billing/memory/MEMORY.md", "- [A](a.md)\n- Reviews take two people\n")
    note(".claude/projects/-home-mira-atlas/memory/b.md", "Atlas ships on Wednesdays.")
    note(".claude/projects/-home-mira-none/x.jsonl", "{}")
    assert claude_code.discover(tmp_path) == [
        {"kind": "claude-code", "path": str(tmp_path / ".claude"), "memories": 3, "projects": 2}
    ]
