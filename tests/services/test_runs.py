"""SPEC 4: a run is taken back as one; versions and events only grow, usage stays, deletions never return."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from memvault.errors import DependentChanges, Illegal, MemvaultError, NotFound
from memvault.model import Outcome, Status
from memvault.services import candidates, maintain, remember
from memvault.services.caller import PERSON
from memvault.services.change import image_of
from memvault.store import runs

PORT = {"project": "p", "subject": "app", "attribute": "port"}


def essence(record: Any) -> dict[str, Any]:
    """What a rollback restores: everything but the version, which only grows."""
    return {name: value for name, value in image_of(record).items() if name != "version"}


def notes(folder: Path, *texts: str) -> Path:
    folder.mkdir(exist_ok=True)
    for number, text in enumerate(texts):
        (folder / f"{number}.md").write_text(f"---\nkind: fact\n---\n{text}\n")
    return folder


def test_taking_an_edit_back_restores_the_claim_in_a_new_version(desk: Any) -> None:
    written = desk.add("Port 3000.", why="history")
    before = desk.get(written.id)
    remember.edit(desk.vault, PERSON, written.id, {"content": "Port 4000.", "why": None}, None, None)
    run = desk.events(written.id)[-1]["run"]
    done = desk.roll_back(run)
    after = desk.get(written.id)
    assert (done.restored, done.removed) == ([written.id], [])
    assert essence(after) == essence(before)
    assert after.version == 3
    desk.embed()
    assert [hit["content"] for hit in desk.recall("port 3000")] == ["Port 3000."]


def test_taking_a_correction_back_restores_both_sides(desk: Any) -> None:
    old = desk.add("Port 3000.", **PORT, value="3000")
    before = desk.get(old.id)
    new = desk.add("Port 4000.", **PORT, value="4000", correct=True)
    done = desk.roll_back(new.run)
    assert (done.restored, done.removed) == ([old.id], [new.id])
    assert essence(desk.get(old.id)) == essence(before)
    with pytest.raises(NotFound):
        desk.get(new.id)
    assert desk.add("Port 4000.", **PORT, value="4000", correct=True).outcome is Outcome.SUPERSEDED


def test_taking_a_merge_back_restores_sources_confidence_and_observations(desk: Any) -> None:
    first = desk.add("Use pnpm.", source="conversation:a")
    before = desk.get(first.id)
    again = desk.add("Use pnpm.", source="conversation:b")
    desk.roll_back(again.run)
    assert essence(desk.get(first.id)) == essence(before)


def test_taking_a_conflict_back_makes_the_older_claim_active_again(desk: Any) -> None:
    one = desk.add("Port 3000.", **PORT, value="3000", source="conversation:a")
    before = desk.get(one.id)
    two = desk.add("Port 4000.", **PORT, value="4000", source="conversation:b")
    assert desk.get(one.id).status is Status.CONFLICT
    desk.roll_back(two.run)
    assert essence(desk.get(one.id)) == essence(before)


def test_usage_is_not_taken_back(desk: Any) -> None:
    written = desk.add("Port 3000.")
    remember.edit(desk.vault, PERSON, written.id, {"content": "Port 4000."}, None, None)
    run = desk.events(written.id)[-1]["run"]
    desk.vault.writer.run("UPDATE memory SET usage_count = 7")
    desk.roll_back(run)
    assert desk.get(written.id).usage_count == 7


def test_a_run_with_later_changes_needs_them_named_and_takes_them_along(desk: Any) -> None:
    written = desk.add("Port 3000.")
    remember.edit(desk.vault, PERSON, written.id, {"content": "Port 4000."}, None, None)
    first = desk.events(written.id)[-1]["run"]
    remember.edit(desk.vault, PERSON, written.id, {"content": "Port 5000."}, None, None)
    second = desk.events(written.id)[-1]["run"]
    with pytest.raises(DependentChanges, match=second):
        desk.roll_back(first)
    assert desk.get(written.id).claim.content == "Port 5000."
    desk.roll_back(first, with_dependents=True)
    record = desk.get(written.id)
    assert (record.claim.content, record.version) == ("Port 3000.", 5)
    assert runs.get(desk.vault.reader, second)["status"] == "rolled_back"


def test_dependents_of_dependents_go_along(desk: Any) -> None:
    one = desk.add("Port 3000.", **PORT, value="3000")
    two = desk.add("Port 4000.", **PORT, value="4000", correct=True)
    three = desk.add("Port 5000.", **PORT, value="5000", correct=True)
    before = desk.get(one.id)
    assert before.status is Status.SUPERSEDED
    with pytest.raises(DependentChanges):
        desk.roll_back(two.run)
    done = desk.roll_back(two.run, with_dependents=True)
    assert set(done.removed) == {two.id, three.id}
    assert desk.get(one.id).status is Status.ACTIVE


def test_an_import_taken_back_leaves_no_tombstone_and_can_come_again(desk: Any, tmp_path: Path) -> None:
    folder = notes(tmp_path / "n", *(f"Office {number} has key {number}." for number in range(5)))
    report = desk.take(folder)
    assert report.added == 5
    desk.roll_back(report.run)
    assert len(desk.vault.index) == 0
    assert desk.take(folder).added == 5
    desk.whole()


def test_an_import_of_several_steps_is_one_run(desk: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("memvault.services.importing.STEP_S", 0.0005)
    kept = desk.add("Office 3 has key 3.", source="conversation:a")
    before = desk.get(kept.id)
    folder = notes(tmp_path / "n", *(f"Office {number} has key {number}." for number in range(30)))
    report = desk.take(folder)
    assert (report.added, report.merged) == (29, 1)
    done = desk.roll_back(report.run)
    assert len(done.removed) == 29
    assert essence(desk.get(kept.id)) == essence(before)


def test_deletions_and_rejections_are_never_taken_back(desk: Any, robot: Any) -> None:
    gone = desk.delete(desk.add("Gone.").id)
    waiting = desk.add("From now on always run the smoke test after a deploy.", caller=robot)
    candidates.reject(desk.vault, PERSON, waiting.id)
    rejected = runs.page(desk.vault.reader, 1, 0)[0][0]
    assert rejected["kind"] == "reject"
    for run in (gone.run, rejected["run"]):
        with pytest.raises(Illegal):
            desk.roll_back(run)


def test_a_deleted_memory_does_not_return_with_its_run(desk: Any, tmp_path: Path) -> None:
    report = desk.take(notes(tmp_path / "n", "Office 1 has key 1.", "Office 2 has key 2."))
    ids = [row["id"] for row in maintain.show_run(desk.vault, report.run)["changes"]]
    desk.delete(ids[0])
    assert desk.roll_back(report.run).removed == [ids[1]]
    assert len(desk.vault.index) == 0


def test_a_run_is_taken_back_once_and_only_if_it_exists(desk: Any) -> None:
    written = desk.add("Port 3000.")
    desk.roll_back(written.run)
    with pytest.raises(Illegal):
        desk.roll_back(written.run)
    with pytest.raises(NotFound):
        desk.roll_back("no-such-run")


def test_a_run_under_way_cannot_be_taken_back(desk: Any) -> None:
    with desk.vault.writer.transaction():
        runs.start(desk.vault.writer, "going", "import:markdown", "person", desk.vault.now())
    with pytest.raises(Illegal):
        desk.roll_back("going")


def test_a_rollback_can_itself_be_taken_back(desk: Any) -> None:
    old = desk.add("Port 3000.", **PORT, value="3000")
    remember.edit(desk.vault, PERSON, old.id, {"content": "Port 4000."}, None, None)
    run = desk.events(old.id)[-1]["run"]
    done = desk.roll_back(run)
    desk.roll_back(done.run)
    assert desk.get(old.id).claim.content == "Port 4000."


def test_undo_takes_back_the_persons_newest_change_and_then_the_one_before(desk: Any, robot: Any) -> None:
    one = desk.add("One.")
    remember.edit(desk.vault, PERSON, one.id, {"content": "Two."}, None, None)
    remember.verify(desk.vault, PERSON, one.id)
    gone = desk.add("Gone.")
    desk.delete(gone.id)
    waiting = desk.add("From now on always run the smoke test after a deploy.", caller=robot)
    maintain.undo(desk.vault, PERSON)
    assert desk.get(one.id).claim.content == "One."
    assert desk.get(waiting.id), "what others did is not undone"
    maintain.undo(desk.vault, PERSON)
    with pytest.raises(NotFound):
        desk.get(one.id)
    with pytest.raises(Illegal):
        maintain.undo(desk.vault, PERSON)


def test_what_a_crash_cut_short_is_marked_and_can_be_taken_back(desk: Any, tmp_path: Path) -> None:
    from memvault.services.importing import ImportJob

    job = ImportJob(desk.vault, PERSON, "markdown", notes(tmp_path / "n", "One.", "Two."), "private", None)
    job.step(False)
    with desk.vault.writer.transaction():
        desk.vault.writer.run("UPDATE run SET status = 'running' WHERE id = ?", (job.report.run,))
    desk.reopen()
    assert runs.get(desk.vault.reader, job.report.run)["status"] == "interrupted"
    assert len(desk.roll_back(job.report.run).removed) == 2


@pytest.mark.parametrize("seed", range(6))
def test_any_run_can_be_taken_back_to_what_it_found(desk: Any, robot: Any, seed: int) -> None:
    """Random changes; then the newest ones are taken back one by one, each to the state it found."""
    rnd = random.Random(seed)
    ids = [desk.add(f"Port {n}.", subject=f"app{n % 2}", attribute="port", value=str(n)).id for n in range(3)]
    states: list[tuple[str, dict[str, Any]]] = []

    def picture() -> dict[str, Any]:
        living = maintain.memories.get(desk.vault.writer, ids, maintain.EVERYTHING)
        return {id_: essence(record) for id_, record in living.items()}

    for step in range(14):
        before, count = picture(), len(runs.page(desk.vault.reader, 100, 0)[0])
        target = rnd.choice(ids)
        value = str(rnd.randrange(6))
        claim = {"subject": f"app{rnd.randrange(2)}", "attribute": "port", "value": value}
        try:
            match rnd.randrange(5):
                case 0:
                    source = rnd.choice(["user:me", "conversation:a", "conversation:b", "import:n"])
                    correct = rnd.random() < 0.3
                    written = desk.add(f"Port {value}.", **claim, source=source, correct=correct)
                    ids += [written.id] if written.id else []
                case 1:
                    remember.edit(
                        desk.vault, PERSON, target, {"content": f"Port {step}, edited."}, None, None
                    )
                case 2:
                    remember.switch(desk.vault, PERSON, target, on=rnd.random() < 0.5)
                case 3:
                    text = f"Always use port {value} from now on."
                    written = desk.add(text, **claim, caller=robot)
                    ids += [written.id] if written.id else []
                case _:
                    candidates.confirm(desk.vault, PERSON, target)
        except MemvaultError:
            continue
        newest, total = runs.page(desk.vault.reader, 1, 0)
        if total > count and runs.images(desk.vault.reader, newest[0]["run"]):
            states.append((newest[0]["run"], before))
    assert len(states) > 4
    for run, before in reversed(states):
        versions = {id_: r.version for id_, r in _living(desk, ids).items()}
        desk.roll_back(run)
        assert picture() == before
        assert all(r.version >= versions[id_] for id_, r in _living(desk, ids).items())
    desk.whole()


def _living(desk: Any, ids: list[str]) -> dict[str, Any]:
    return maintain.memories.get(desk.vault.writer, ids, maintain.EVERYTHING)
