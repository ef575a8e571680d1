"""The front matter of a note: what is taken, what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.importers import frontmatter
from memvault.importers.base import Problem
from memvault.importers.frontmatter import Front


def test_scalars_stay_as_they_were_written():
    front = frontmatter.split(
        "---\nValue: no\nversion: 1.10\ntime: 22:30\ncreated: 2026-03-12\nHow To-Apply: x\n---\nBody"
    )
    assert isinstance(front, Front)
    assert front.values == {
        "value": "no",
        "version": "1.10",
        "time": "22:30",
        "created": "2026-03-12",
        "how_to_apply": "x",
    }
    assert (front.body, front.body_line, front.lines["version"]) == ("Body", 8, 3)


def test_a_note_without_front_matter_is_all_body():
    for note in (
        "Body",
        "",
        "---",
        "---\n\nText\n\n---\nmore",
        "----\nkind: fact\n----\n",
        "text\n---\nkind: a\n---\n",
    ):
        front = frontmatter.split(note)
        assert isinstance(front, Front), note
        assert front.body == note
        assert not front.values


def test_empty_front_matter_is_taken_off():
    front = frontmatter.split("---\n---\nBody")
    assert isinstance(front, Front)
    assert (front.values, front.body, front.present) == ({}, "Body", True)


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("kind: fact\na: [1, 2", 3),
        ("kind: fact\n\tb: c", 3),
        ("a: &x 1\nb: *x", 2),
        ("a: *x", 2),
        ("a: [[[[[[[[1]]]]]]]]", 2),
        ("a: 1\na: 2", 3),
        ("a: 1\nA: 2", 3),
        ("[a, b]: c", 2),
        ("- a\n- b", 2),
        ('a: "\\UFFFFFFFF"', 1),
        ("a: b: c", 2),
    ],
)
def test_what_is_no_plain_yaml_is_refused_with_its_line(header: str, line: int):
    problem = frontmatter.split(f"---\n{header}\n---\nBody")
    assert isinstance(problem, Problem)
    assert problem.line == line


def test_a_bomb_of_aliases_is_refused_at_its_first_anchor():
    bomb = "a: &a [x,x]\n" + "\n".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)},*{chr(97 + n)}]" for n in range(9)
    )
    problem = frontmatter.split(f"---\n{bomb}\n---\nBody")
    assert isinstance(problem, Problem)
    assert "anchor" in problem.reason


def test_unclosed_and_endless_front_matter_is_refused():
    unclosed = frontmatter.split("---\nkind: fact\n\nBody")
    assert isinstance(unclosed, Problem)
    assert "not closed" in unclosed.reason
    endless = frontmatter.split("---\n" + "a: b\n" * 10_000 + "---\n")
    assert isinstance(endless, Problem)
    assert "longer" in endless.reason


def test_reasons_do_not_quote_the_file():
    for header in ("zanzibar: [quokka", "zanzibar: 1\nzanzibar: 2", "zanzibar: &quokka 1", '"zanzi\\qbar"'):
        problem = frontmatter.split(f"---\n{header}\n---\n")
        assert isinstance(problem, Problem)
        assert "zanzi" not in problem.reason
        assert "quokka" not in problem.reason


YAMLISH = st.lists(
    st.sampled_from(
        [
            *list("{}[]:,&*!|>'\"%@`#?-. \n\t"),
            "a",
            "b: c\n",
            "\\UFFFFFFFF",
            "\\ud800",
            "%YAML 1.1\n",
            "--- ",
            "<<: ",
            "!!python/object:os.system ",
            "é部",
        ]
    ),
    max_size=40,
).map("".join)


@given(st.one_of(YAMLISH, st.text(max_size=200)))
def test_any_header_is_split_or_refused(header: str):
    result = frontmatter.split(f"---\n{header}\n---\nBody")
    assert isinstance(result, Front | Problem)
    if isinstance(result, Front):
        assert result.body.endswith("Body")


def test_nesting_as_deep_as_the_limit_allows_is_refused_quickly():
    assert isinstance(frontmatter.split("---\na: " + "[" * 16_000 + "\n---\n"), Problem)
    assert isinstance(
        frontmatter.split("---\n" + "\n".join(" " * n + "a:" for n in range(150)) + "\n---\n"), Problem
    )
