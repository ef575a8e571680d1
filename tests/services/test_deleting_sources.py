"""SPEC 7: "delete everything from this source / session / project" is one command, and what of it stays out.

A source that was deleted whole is refused from then on. Narrowed to a project or a subject, the deletion
shuts the source out of that project or about that subject, and nowhere else. Beside single ids it shuts
nothing out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.model import Draft, Outcome, Source, SourceType
from memvault.services import recollect, remember
from memvault.services.caller import PERSON
from memvault.store.memories import Filter
from memvault.store.sourcenames import covers, names_of, tail, wholes


def say(
    desk: Any, content: str, ref: str, *, task: str | None = None, kind: str = "conversation", **claim: Any
) -> Any:
    draft = Draft(desk.draft(content, **claim).claim, (Source(SourceType(kind), ref, task),))
    return remember.add(desk.vault, PERSON, draft, correct=False)


PARTS = [
    "notes/a.md#port",
    "notes/a.md:12",
    "notes/a.md:12-20",
    "notes/a.md:3:7",
    "notes/a.md",
    "notes/a.md#x#y",
]
OTHERS = [
    "notes/a.md.bak",
    "notes/a.mdx",
    "my-notes/a.md",
    "notes/a.md/b",
    "notes/b.md#notes/a.md",
    "notes/a.md:x",
]


@pytest.mark.parametrize("named", ["notes/a.md", "file:notes/a.md"])
def test_deleting_a_file_covers_its_parts_and_its_tombstone_refuses_any_part_later(
    desk: Any, named: str
) -> None:
    parts = [say(desk, f"Lamp {n} is lit.", ref, kind="file").id for n, ref in enumerate(PARTS)]
    others = [say(desk, f"Lamp 1{n} is out.", ref, kind="file").id for n, ref in enumerate(OTHERS)]
    listed = recollect.page(desk.vault, PERSON, Filter(source=named), "created", 50, 0)["items"]
    assert {item["id"] for item in listed} == set(parts), "the list shows what a deletion would take"
    assert set(desk.delete(source=named).ids) == set(parts)
    for number, ref in enumerate([*PARTS, "notes/a.md#new", "notes/a.md:99"]):
        refused = say(desk, f"Door {number} is blue.", ref, kind="file")
        assert refused.outcome is Outcome.REFUSED, ref
        assert "its source was deleted" in refused.reason
    for number, ref in enumerate(OTHERS):
        assert say(desk, f"Door 1{number} is green.", ref, kind="file").outcome is Outcome.ACTIVE, ref
    assert all(desk.get(memory) for memory in others)


def test_deleting_a_part_leaves_the_rest_of_the_file(desk: Any) -> None:
    part = say(desk, "Lamp 1 is lit.", "notes/a.md#port", kind="file").id
    rest = say(desk, "Lamp 2 is lit.", "notes/a.md#host", kind="file").id
    assert desk.delete(source="notes/a.md#port").ids == [part]
    assert desk.get(rest)
    assert say(desk, "Lamp 3 is lit.", "notes/a.md#port", kind="file").outcome is Outcome.REFUSED
    assert say(desk, "Lamp 4 is lit.", "notes/a.md#ports", kind="file").outcome is Outcome.ACTIVE
    assert say(desk, "Lamp 5 is lit.", "notes/a.md", kind="file").outcome is Outcome.ACTIVE


def test_deleting_a_session_covers_its_messages(desk: Any) -> None:
    mine = [
        say(desk, f"Lamp {n} is lit.", "c", task=task).id for n, task in enumerate(["s-1", "s-1#4", "s-1:5"])
    ]
    other = say(desk, "Lamp 9 is lit.", "c", task="s-10").id
    assert set(desk.delete(session="s-1").ids) == set(mine)
    assert desk.get(other)
    for task, outcome in (
        ("s-1", Outcome.REFUSED), ("s-1#9", Outcome.REFUSED), ("s-1:9", Outcome.REFUSED),
        ("s-10", Outcome.ACTIVE), ("s-1x", Outcome.ACTIVE),
    ):  # fmt: skip
        assert say(desk, f"Door {task} is blue.", "d", task=task).outcome is outcome, task


def test_a_message_of_a_chat_belongs_to_the_chat(desk: Any) -> None:
    mine = say(desk, "Lamp 1 is lit.", "chat-7#12").id
    say(desk, "Lamp 2 is lit.", "chat-70#12")
    assert desk.delete(source="conversation:chat-7").ids == [mine]
    assert say(desk, "Lamp 3 is lit.", "chat-7:13").outcome is Outcome.REFUSED
    assert say(desk, "Lamp 4 is lit.", "chat-70:13").outcome is Outcome.ACTIVE


def note(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"---\nkind: fact\n---\n{text}\n")
    return path


@pytest.mark.parametrize("named", ["{path}", "markdown:{path}", "import:markdown:{path}"])
def test_an_imported_file_is_deleted_by_its_name_and_refused_at_the_next_import(
    desk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    """However its folder lies: the home folder may be written out or as `~`."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "notes"
    path = note(folder, "MEMORY.md", "Lamp 1 is lit.")
    note(folder, "MEMORY.md.md", "Lamp 2 is lit.")
    assert desk.take(folder).added == 2
    assert len(desk.delete(source=named.format(path=path)).ids) == 1
    note(folder, "MEMORY.md", "Door 1 is blue.")
    report = desk.take(folder)
    assert (report.added, report.unchanged, len(report.refused)) == (0, 1, 1)
    assert "its source was deleted" in report.refused[0]["reason"]


def test_of_a_source_narrowed_by_project_only_that_pair_is_refused_later(desk: Any, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    path = note(folder, "a.md", "Lamp 1 is lit.")
    desk.take(folder, project="alpha")
    note(folder, "a.md", "Lamp 2 is lit.")
    desk.take(folder, project="beta")
    assert len(desk.delete(source=str(path), project="alpha").ids) == 1

    note(folder, "a.md", "Door 3 is blue.")
    again = desk.take(folder, project="alpha")
    assert (again.added, len(again.refused)) == (0, 1)
    for project in ("beta", "gamma", None):
        elsewhere = desk.take(folder, project=project)
        assert (elsewhere.added, len(elsewhere.refused)) == (1, 0), project


def test_a_session_narrowed_by_project_likewise(desk: Any) -> None:
    say(desk, "Lamp 1 is lit.", "c", task="s-1", project="alpha")
    desk.delete(session="s-1", project="alpha")
    assert say(desk, "Door 1 is blue.", "d", task="s-1#3", project="alpha").outcome is Outcome.REFUSED
    assert say(desk, "Door 2 is blue.", "d", task="s-1#3", project="beta").outcome is Outcome.ACTIVE
    assert say(desk, "Door 3 is blue.", "d", task="s-2", project="alpha").outcome is Outcome.ACTIVE


def test_of_a_source_narrowed_by_subject_only_what_is_about_it_is_refused_later(desk: Any) -> None:
    lamp, door = {"subject": "Lamp", "attribute": "state"}, {"subject": "door", "attribute": "state"}
    gone = say(desk, "The lamp is lit.", "chat-7", **lamp, value="lit").id
    kept = say(desk, "The door is open.", "chat-7", **door, value="open").id
    assert desk.delete(source="chat-7", subject="Lamp").ids == [gone]
    assert desk.get(kept)
    refused = say(desk, "It burns at night.", "chat-7", subject="LAMP", attribute="hours", value="night")
    assert refused.outcome is Outcome.REFUSED, "in whatever case"
    assert (
        say(desk, "It creaks.", "chat-7", **{**door, "attribute": "sound"}, value="x").outcome
        is Outcome.ACTIVE
    )
    assert say(desk, "It is on.", "chat-8", **{**lamp, "attribute": "x"}, value="x").outcome is Outcome.ACTIVE


def test_ids_beside_a_source_say_nothing_of_the_source(desk: Any) -> None:
    one = say(desk, "Lamp 1 is lit.", "chat-7").id
    two = say(desk, "Lamp 2 is lit.", "chat-7").id
    assert desk.delete(one, source="chat-7").ids == [one]
    assert desk.get(two)
    assert say(desk, "Lamp 3 is lit.", "chat-7").outcome is Outcome.ACTIVE
    assert say(desk, "Lamp 1 is lit.", "chat-8").outcome is Outcome.REFUSED, "the claim itself stays out"


def test_a_restored_copy_is_measured_by_the_narrowed_source_as_well(house: Any) -> None:
    desk = house.desk
    say(desk, "Lamp 1 is lit.", "notes/a.md#x", kind="file", project="alpha")
    path = house.back_up()
    desk.delete(source="notes/a.md", project="alpha")
    house.restore(path)
    assert house.contents() == {}
    assert (
        say(desk, "Door 1 is blue.", "notes/a.md#y", kind="file", project="alpha").outcome is Outcome.REFUSED
    )
    assert say(desk, "Door 1 is red.", "notes/a.md#y", kind="file", project="beta").outcome is Outcome.ACTIVE


names = st.text(st.sampled_from("ab#:12-/.中"), min_size=1, max_size=9)
ends = st.sampled_from(
    ["", "#", "#x", "#x#y", ":1", ":12-20", ":1:2", ":1#x", ".bak", "x", "/b", ":x", ":80/b", "1"]
)


@given(names, ends)
def test_a_name_covers_what_is_behind_a_boundary_and_nothing_else(name: str, end: str) -> None:
    ref = name + end
    heads = [ref, *(ref[:at] for at, char in enumerate(ref) if char == "#")]
    lines = re.compile(re.escape(name) + r"(:\d+([-,]\d+)*){1,3}")
    part = ref == name or ref.startswith(f"{name}#") or any(map(lines.fullmatch, heads))
    assert (name in wholes(ref)) == part
    assert covers(name, "file", ref) == covers(f"file:{name}", "file", ref) == part
    assert tail(name) in ref


def test_a_name_of_nothing_but_boundaries_costs_little() -> None:
    hostile = ("#" * 8_000, ":1" * 8_000, "a:1#" * 4_000)
    assert all(len(names_of("import", ref)) < 100 for ref in hostile)
