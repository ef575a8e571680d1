"""Issue 2, 9: an import can be repeated, stopped and believed, and undoes nothing a person decided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memvault.errors import Usage
from memvault.model import Status
from memvault.services import recollect, remember
from memvault.services.caller import PERSON
from memvault.services.importing import ImportJob
from memvault.store import events, runs

TEXTS = [f"Office {number} keeps its spare key in drawer {number}." for number in range(8)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    for number, text in enumerate(TEXTS):
        (made / f"{number}.md").write_text(f"---\nkind: fact\n---\n{text}\n")
    return made


def total(desk: Any) -> int:
    return recollect.page(desk.vault, PERSON, recollect.Filter(), "updated", 0, 0)["total"]


def all_ids(desk: Any) -> list[str]:
    return [
        item["id"]
        for item in recollect.page(desk.vault, PERSON, recollect.Filter(), "created", 100, 0)["items"]
    ]


def test_the_same_folder_again_changes_nothing(desk: Any, folder: Path) -> None:
    assert desk.take(folder).added == len(TEXTS)
    before = events.head(desk.vault.writer)
    again = desk.take(folder)
    assert (again.added, again.merged, again.unchanged) == (0, 0, len(TEXTS))
    assert events.head(desk.vault.writer) == before


def test_a_dry_run_says_what_would_happen_and_writes_nothing(desk: Any, folder: Path) -> None:
    desk.add(TEXTS[3], source="conversation:a")
    before = (events.head(desk.vault.writer), total(desk), runs.page(desk.vault.reader, 1, 0)[1])
    report = desk.take(folder, dry=True)
    assert (report.added, report.merged) == (len(TEXTS) - 1, 1)
    assert (events.head(desk.vault.writer), total(desk), runs.page(desk.vault.reader, 1, 0)[1]) == before
    assert len(desk.vault.index) == 1


def test_what_a_person_did_with_an_imported_memory_is_not_undone_by_importing_again(
    desk: Any, folder: Path
) -> None:
    desk.take(folder)
    edited, disabled, *_ = all_ids(desk)
    remember.edit(desk.vault, PERSON, edited, {"content": "Office 7 has no key at all."}, None, None)
    remember.switch(desk.vault, PERSON, disabled, on=False)
    report = desk.take(folder)
    assert (report.added, report.unchanged) == (0, len(TEXTS))
    assert total(desk) == len(TEXTS)
    assert desk.get(edited).claim.content == "Office 7 has no key at all."
    assert desk.get(disabled).status is Status.DISABLED


def test_a_replaced_claim_does_not_come_back_with_its_old_file(desk: Any, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    rows = [
        {"type": "entity", "name": "Atlas", "entityType": "project", "observations": ["ships on Wednesday"]},
        {"type": "entity", "name": "Orla", "entityType": "person", "observations": []},
        {"type": "relation", "from": "Orla", "to": "Atlas", "relationType": "maintains"},
    ]
    file.write_text("\n".join(map(json.dumps, rows)) + "\n")
    desk.take(file, kind="mcp-memory")
    items = recollect.page(desk.vault, PERSON, recollect.Filter(), "created", 100, 0)["items"]
    relation = next(item for item in items if item["attribute"])
    claim = {name: relation[name] for name in ("project", "subject", "attribute")}
    new = desk.add("Orla maintains Borea.", **claim, value="Borea", correct=True)
    assert desk.get(relation["id"]).status is Status.SUPERSEDED
    with file.open("a") as more:
        more.write(
            json.dumps({"type": "entity", "name": "X", "entityType": "t", "observations": ["is new"]}) + "\n"
        )
    report = desk.take(file, kind="mcp-memory")
    assert report.added == 1
    assert desk.get(relation["id"]).status is Status.SUPERSEDED
    assert desk.get(new.id).status is Status.ACTIVE


def test_a_changed_note_is_a_new_claim(desk: Any, folder: Path) -> None:
    desk.take(folder)
    (folder / "0.md").write_text("---\nkind: fact\n---\nOffice 0 keeps its spare key at the bank.\n")
    report = desk.take(folder)
    assert (report.added, report.unchanged) == (1, len(TEXTS) - 1)


def test_the_same_note_in_another_project_is_another_memory(desk: Any, folder: Path) -> None:
    desk.take(folder, project="alpha")
    assert desk.take(folder, project="beta").added == len(TEXTS)


def test_deleted_claims_are_refused_with_where_and_why_but_never_quoted(desk: Any, folder: Path) -> None:
    desk.delete(desk.add(TEXTS[2]).id)
    report = desk.take(folder)
    assert report.added == len(TEXTS) - 1
    (refused,) = report.refused
    assert refused["where"].startswith("2.md")
    assert "drawer" not in refused["reason"]


def test_an_import_that_was_stopped_keeps_its_part_and_goes_on_from_there(
    desk: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memvault.services.importing.STEP_S", 0.0)
    job = ImportJob(desk.vault, PERSON, "markdown", folder, "private", None)
    monkeypatch.setattr("memvault.services.importing.STEP_S", 0.001)
    job.step(False)
    written = job.report.added
    assert 0 < written < len(TEXTS)
    job.stop()
    assert runs.get(desk.vault.reader, job.report.run)["status"] == "interrupted"
    assert total(desk) == written
    again = desk.take(folder)
    assert (again.added, again.unchanged) == (len(TEXTS) - written, written)


def test_importers_at_once_lose_nothing(desk: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memvault.services.importing.STEP_S", 0.001)
    jobs = [ImportJob(desk.vault, PERSON, "markdown", folder, "private", p) for p in ("alpha", "beta", None)]
    going = list(jobs)
    while going:
        going = [job for job in going if job.step(False)]
    assert [job.report.added for job in jobs] == [len(TEXTS)] * 3
    assert total(desk) == 3 * len(TEXTS)
    desk.roll_back(jobs[1].report.run)
    assert total(desk) == 2 * len(TEXTS)
    desk.whole()


def test_progress_counts_up_to_its_total(desk: Any, folder: Path) -> None:
    job = ImportJob(desk.vault, PERSON, "markdown", folder, "private", None)
    while job.step(False):
        assert 0 <= job.read <= (job.total or 0)
    assert job.read == job.total == len(TEXTS)


def test_an_unknown_kind_or_a_missing_path_is_refused_before_anything_is_written(
    desk: Any, tmp_path: Path
) -> None:
    for kind, path in (("carrier-pigeon", tmp_path), ("markdown", tmp_path / "nowhere")):
        with pytest.raises(Usage):
            ImportJob(desk.vault, PERSON, kind, path, "private", None)
    assert runs.page(desk.vault.reader, 1, 0)[1] == 0


def test_notes_of_one_name_in_two_folders_are_two_memories(desk: Any, tmp_path: Path) -> None:
    for name, text in (
        ("one", "The lighthouse is painted in May."),
        ("two", "Invoices are numbered by year."),
    ):
        made = tmp_path / name
        made.mkdir()
        (made / "readme.md").write_text(f"---\nkind: fact\n---\n{text}\n")
        assert desk.take(made).added == 1
    items = recollect.page(desk.vault, PERSON, recollect.Filter(), "created", 10, 0)["items"]
    assert [item["status"] for item in items] == ["active", "active"]


def test_a_changed_note_replaces_what_it_said_before(desk: Any, tmp_path: Path) -> None:
    note = tmp_path / "a.md"
    note.write_text("---\nkind: fact\n---\nThe lighthouse is painted in May.\n")
    desk.take(tmp_path)
    note.write_text("---\nkind: fact\n---\nThe lighthouse is painted in June.\n")
    report = desk.take(tmp_path)
    assert (report.added, report.superseded) == (1, 1)
    items = recollect.page(desk.vault, PERSON, recollect.Filter(), "created", 10, 0)["items"]
    assert {item["content"]: item["status"] for item in items} == {
        "The lighthouse is painted in May.": "superseded",
        "The lighthouse is painted in June.": "active",
    }
