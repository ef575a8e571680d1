"""SPEC 2: flagged "at once when its source file changes"; flags make neither version nor event."""

from __future__ import annotations

from typing import Any

import pytest

from memvault.model import Claim, Draft, Kind, Record, Scope, Source, SourceType, Status
from memvault.services import candidates, cited_files, maintain, remember
from memvault.services.caller import PERSON, Caller
from memvault.services.change import change
from memvault.services.cited_files import Seen
from memvault.services.plain import NEEDS_VERIFICATION, SOURCE_CHANGED

OLD, NEW = "a" * 64, "b" * 64
FLAGS = (NEEDS_VERIFICATION, SOURCE_CHANGED)


def citing(*refs: str, content: str = "The queue is redis.", content_hash: str = OLD) -> Draft:
    sources = [Source(SourceType.FILE, ref, evidence="redis", content_hash=content_hash) for ref in refs]
    return Draft(Claim(Kind.FACT, Scope.PRIVATE, content), tuple(sources))


def remembered(desk: Any, *refs: str, **more: Any) -> Record:
    return desk.get(remember.add(desk.vault, PERSON, citing(*refs, **more), correct=False).id)


def note(desk: Any, hashes: dict[str, str | None], moved: dict[str, str] | None = None) -> list[str]:
    refs = [ref for refs in cited_files.cited(desk.vault).values() for ref in refs]
    return cited_files.note(desk.vault, refs, Seen(hashes, moved or {}))


@pytest.mark.parametrize("now", [NEW, None, ""], ids=["changed", "gone", "unreadable"])
def test_a_changed_source_file_flags_at_once(desk: Any, now: str | None) -> None:
    record = remembered(desk, "/p/a.md#queue")
    other = remembered(desk, "/p/b.md", content="Beta has no queue.")
    assert note(desk, {"/p/a.md": now, "/p/b.md": OLD}) == [record.id]
    found = desk.get(record.id)
    assert (found.flags, found.version, found.status) == (FLAGS, record.version, Status.ACTIVE)
    assert desk.get(other.id).flags == ()
    assert note(desk, {"/p/a.md": now, "/p/b.md": OLD}) == [], "and once"


def test_flags_make_neither_version_nor_event_but_are_news(desk: Any) -> None:
    record = remembered(desk, "/p/a.md")
    before, said = desk.events(record.id), len(desk.news)
    note(desk, {"/p/a.md": NEW})
    assert desk.events(record.id) == before
    assert desk.news[said:] == [((record.id,), "watch")]


def test_a_file_that_is_as_before_takes_the_flag_off_again(desk: Any) -> None:
    record = remembered(desk, "/p/a.md")
    note(desk, {"/p/a.md": NEW})
    note(desk, {"/p/a.md": OLD})
    assert desk.get(record.id).flags == ()


def test_a_doubt_of_another_origin_stays(desk: Any) -> None:
    record = remembered(desk, "/p/a.md")
    with change(desk.vault, "forget", "memvault") as work:
        work.flag(desk.get(record.id), NEEDS_VERIFICATION)
    note(desk, {"/p/a.md": OLD})
    assert desk.get(record.id).flags == (NEEDS_VERIFICATION,)


def test_a_file_that_moved_as_it_was_is_noted_and_not_flagged(desk: Any) -> None:
    record = remembered(desk, "/p/a.md#queue")
    note(desk, {"/p/a.md": None, "/q/a.md": OLD}, {"/p/a.md": "/q/a.md"})
    found = desk.get(record.id)
    assert found.flags == ()
    assert [source.ref for source in found.sources] == ["/p/a.md#queue", "/q/a.md#queue"]
    assert candidates.sightings(found.sources) <= 1
    assert note(desk, {"/p/a.md": None, "/q/a.md": OLD}, {"/p/a.md": "/q/a.md"}) == []
    assert note(desk, {"/p/a.md": None, "/q/a.md": NEW}) == [record.id]
    assert desk.get(record.id).flags == FLAGS


def test_a_file_that_moved_and_changed_is_flagged(desk: Any) -> None:
    record = remembered(desk, "/p/a.md")
    note(desk, {"/p/a.md": None, "/q/a.md": NEW}, {"/p/a.md": "/q/a.md"})
    assert desk.get(record.id).flags == FLAGS
    assert len(desk.get(record.id).sources) == 1


def test_what_was_not_looked_at_decides_nothing(desk: Any) -> None:
    record = remembered(desk, "/p/a.md", "/p/b.md")
    with change(desk.vault, "add", "person") as work:
        work.add_sources(record, citing("/p/c.md", content_hash=NEW).sources)
    assert note(desk, {}) == []
    assert note(desk, {"/p/b.md": None}) == [], "the same content may lie at the other place"
    assert note(desk, {"/p/a.md": None, "/p/b.md": None}) == [record.id]
    assert note(desk, {"/p/a.md": OLD}) == [], "the third file was not looked at"
    assert note(desk, {"/p/a.md": OLD, "/p/c.md": NEW}) == [record.id]
    assert desk.get(record.id).flags == ()


def test_a_flagged_candidate_is_not_promoted(desk: Any, robot: Caller) -> None:
    first = candidate(desk, robot, "/p/a.md")
    note(desk, {"/p/a.md": NEW})
    again = candidate(desk, robot, "/p/b.md", content_hash=NEW)
    assert (again.id, again.status) == (first.id, Status.CANDIDATE)
    assert candidates.sightings(again.sources) == candidates.SIGHTINGS


def candidate(desk: Any, robot: Caller, ref: str, content_hash: str = OLD) -> Record:
    source = Source(SourceType.FILE, ref, evidence="redis", content_hash=content_hash, verified=True)
    draft = Draft(citing(ref).claim, (source,))
    with change(desk.vault, "add", robot.actor) as work:
        written = candidates.propose(work, robot, draft)
    return desk.get(written.id)


def test_only_what_is_used_or_waits_and_was_read_is_watched(desk: Any, robot: Caller) -> None:
    off = remembered(desk, "/p/off.md", content="Off.")
    remember.switch(desk.vault, PERSON, off.id, on=False)
    remembered(desk, "/p/a.md#x", content="One.")
    remembered(desk, "/p/a.md:3", content="Two.")
    desk.add("Never read.", source="file:/p/never.md")
    candidate(desk, robot, "/p/waits.md")
    assert cited_files.cited(desk.vault) == {
        "/p/waits.md": ["/p/waits.md"],
        "/p/a.md": ["/p/a.md:3", "/p/a.md#x"],
    }
    assert cited_files.beside(desk.vault, ["/p/a.md#x"]) == {"/p/a.md"}


def test_a_run_of_the_watcher_is_no_change_of_the_person_to_undo(desk: Any) -> None:
    record = remembered(desk, "/p/a.md")
    note(desk, {"/p/a.md": None, "/q/a.md": OLD}, {"/p/a.md": "/q/a.md"})
    assert maintain.undo(desk.vault, PERSON).removed == [record.id]
