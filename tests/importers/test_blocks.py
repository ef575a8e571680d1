"""How Markdown is cut into claims."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memvault.importers import blocks


def texts(body: str) -> list[str]:
    return [block.text for block in blocks.claims(blocks.parse(body))]


def test_wrapped_lines_become_one_sentence_without_spaces_between_chinese_characters():
    assert texts("The worker\nis drained first.\n\n部署之前\n先跑测试。") == [
        "The worker is drained first.",
        "部署之前先跑测试。",
    ]


def test_headings_of_both_styles_are_context_and_never_claims():
    found = blocks.parse("# A\n\nOne.\n\n## B\n\nTwo.\n\nC\n===\n\nThree.\n")
    assert [(block.text, block.headings) for block in found] == [
        ("One.", ("A",)),
        ("Two.", ("A", "B")),
        ("Three.", ("C",)),
    ]


def test_a_rule_below_a_sentence_does_not_swallow_the_sentence():
    assert texts("Invoices are numbered per year.\n---\nRefunds are not.") == [
        "Invoices are numbered per year.",
        "Refunds are not.",
    ]


def test_code_stays_with_the_paragraph_before_it_and_keeps_its_lines():
    assert texts("Drain the queue first\n\n```sh\nmake drain\n  make stop\n```\n\nThen ship.") == [
        "Drain the queue first\n```sh\nmake drain\n  make stop\n```",
        "Then ship.",
    ]


def test_marks_inside_code_are_no_headings_lists_or_comments():
    assert texts("Example\n\n```\n# no heading\n- no item\n<!-- kept -->\n```\n") == [
        "Example\n```\n# no heading\n- no item\n<!-- kept -->\n```"
    ]


def test_top_level_items_are_claims_and_nested_ones_stay_inside():
    assert texts("- one\n  - nested\n- two\n  goes on\n") == ["one\n- nested", "two goes on"]


def test_an_indented_fence_in_an_item_does_not_end_it():
    assert texts("- one\n\n  ```\n  - code\n  ```\n\n- two") == ["one\n\n```\n- code\n```", "two"]


def test_a_sentence_before_a_list_becomes_the_lead_of_its_items():
    found = list(blocks.claims(blocks.parse("On call means:\n\n- answer in ten minutes\n- write a note\n")))
    assert [(block.text, block.lead) for block in found] == [
        ("answer in ten minutes", "On call means:"),
        ("write a note", "On call means:"),
    ]


def test_introduced_steps_stay_together_in_their_order():
    assert texts("To restore:\n\n1. stop\n2. copy\n   slowly\n3. start\n") == [
        "To restore:\n1. stop\n2. copy slowly\n3. start"
    ]


def test_check_boxes_are_tasks_whether_done_or_not():
    found = blocks.parse("- [ ] open\n- [x] done\n- [link](x.md) said\n")
    assert [block.form for block in found] == ["task", "task", "item"]


def test_comments_are_dropped_and_lines_still_counted():
    found = blocks.parse("One.\n\n<!-- hidden\nhidden\n-->\n\nTwo <!-- here --> and on.\n", first_line=5)
    assert [(block.text, block.line) for block in found] == [("One.", 5), ("Two  and on.", 11)]


def test_a_comment_that_never_ends_hides_nothing():
    assert texts("One <!-- open\n\nTwo.") == ["One <!-- open", "Two."]


def test_tables_keep_their_rows():
    assert texts("| a | b |\n|---|---|\n| 1 | 2 |") == ["| a | b |\n|---|---|\n| 1 | 2 |"]


def test_quotes_lose_their_mark_and_link_targets_are_no_text():
    assert texts("> Ship on\n> Tuesdays.\n\n[1]: https://example.org\n") == ["Ship on Tuesdays."]


def test_an_unclosed_fence_runs_to_the_end():
    assert texts("Text\n\n```\ncode\n\n# more") == ["Text\n```\ncode\n\n# more"]


def test_short_notes_are_one_claim_and_bare_lists_are_not():
    assert blocks.is_one(blocks.parse("Steps\n\n1. a\n2. b\n"))
    assert not blocks.is_one(blocks.parse("- a\n- b\n"))
    assert not blocks.is_one(blocks.parse("# A\n\none\n\n# B\n\ntwo\n"))
    assert not blocks.is_one(blocks.parse("word " * 70 + "\n\n" + "word " * 70))
    assert not blocks.is_one(blocks.parse("text\n\n- [ ] task"))


MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# ",
            "## a",
            "- ",
            "* x",
            "1. ",
            "  ",
            "\t",
            "```",
            "~~~~",
            "---",
            "===",
            "<!--",
            "-->",
            "> ",
            "|",
            "[ ] ",
            "word",
            "部署：",
            "a:",
            "[x]: y",
            "![i](j)",
            "\n",
            "\n",
            "\n\n",
        ]
    ),
    max_size=40,
).map("".join)


@given(MARKDOWN)
def test_every_text_has_blocks_with_text_on_lines_of_the_file(body: str):
    found = blocks.parse(body, first_line=3)
    last = 3 + body.count("\n")
    assert all(3 <= block.line <= last for block in found)
    assert [block.line for block in found] == sorted(block.line for block in found)
    assert all(block.text.strip() for block in blocks.claims(found))


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "Z"]), max_size=300))
def test_no_letter_outside_a_comment_is_lost(body: str):
    if "<!--" in body or "]:" in body:
        return
    parts = [block.text + "".join(block.headings) + block.marker for block in blocks.parse(body)]
    kept = {char for part in parts for char in part}
    assert {char for char in body if char.isalpha()} <= kept
