"""`verify ID` re-checks what can be checked (SPEC 4, 10): files, excerpts, names; nothing is ever run."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from memvault.errors import Illegal
from memvault.model import Authority, Claim, Draft, Kind, Record, Scope, Source, SourceType, Status
from memvault.services import cited_files, remember, verification
from memvault.services.caller import PERSON
from memvault.services.change import change
from memvault.services.cited_files import Seen
from memvault.services.verification import Check, Examination
from memvault.watch.names import State

SAYS = "The queue is redis."


def cite(path: Path, evidence: str = SAYS) -> Source:
    read = hashlib.sha256(path.read_bytes()).hexdigest()
    return Source(SourceType.FILE, str(path), evidence=evidence, content_hash=read)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "p" / "a.md"
    path.parent.mkdir()
    path.write_text(f"# Notes\n{SAYS}\n")
    return path


def remembered(desk: Any, *sources: Source, content: str = SAYS, kind: Kind = Kind.FACT) -> Record:
    draft = Draft(Claim(kind, Scope.PRIVATE, content), sources)
    return desk.get(remember.add(desk.vault, PERSON, draft, correct=False).id)


def examined(desk: Any, record: Record) -> Examination:
    return verification.examine(desk.get(record.id), [desk.layout.root], desk.vault.now(), lambda: False)


def verified(desk: Any, record: Record, *, sure: bool = False, expire: bool = False) -> Any:
    return verification.conclude(desk.vault, PERSON, examined(desk, record), sure=sure, expire=expire)


def doubt(desk: Any, record: Record, path: Path) -> None:
    now = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None
    cited_files.note(desk.vault, [record.sources[0].ref], Seen({str(path): now}, {}))
    assert "needs_verification" in desk.get(record.id).flags


def test_a_file_that_is_as_it_was_verifies_and_clears_the_flags(desk: Any, page: Path) -> None:
    record = remembered(desk, cite(page))
    with change(desk.vault, "forget", "memvault") as work:
        work.flag(record, "needs_verification")
    found = verified(desk, record)
    assert (found.verified, found.may_expire) == (True, False)
    assert found.record.verified_at is not None
    assert (found.record.flags, found.record.sources) == ((), record.sources)
    assert examined(desk, record).checks == (Check(f"file {page}", State.OK),)


def test_a_changed_file_that_still_has_the_excerpt_passes_and_is_known_anew(desk: Any, page: Path) -> None:
    record = remembered(desk, cite(page))
    page.write_text(f"# Other notes\n{SAYS}\nMore.\n")
    doubt(desk, record, page)
    found = verified(desk, record)
    assert found.verified
    assert found.record.flags == ()
    assert found.record.sources[0].content_hash == cite(page).content_hash
    assert found.record.authority is Authority.FILE
    assert cited_files.note(desk.vault, [str(page)], Seen({str(page): cite(page).content_hash}, {})) == []


def test_a_failed_check_does_not_silently_verify(desk: Any, page: Path) -> None:
    record = remembered(desk, cite(page))
    page.write_text("# Notes\nThe queue is kafka.\n")
    found = verified(desk, record)
    assert (found.verified, found.record.verified_at) == (False, None)
    assert found.record.flags == ("needs_verification",)
    assert [check.state for check in examined(desk, record).checks] == [State.CHANGED]
    assert not found.may_expire, "the file is there"


def test_a_fact_whose_file_is_gone_may_expire(desk: Any, page: Path) -> None:
    record, hint = (
        remembered(desk, cite(page)),
        remembered(desk, cite(page), content="x", kind=Kind.REFLECTION),
    )
    page.unlink()
    assert verified(desk, record).may_expire
    assert not verified(desk, hint).may_expire
    found = verified(desk, record, expire=True)
    assert (found.record.status, found.verified) == (Status.EXPIRED, False)
    event = desk.events(record.id)[-1]
    assert (event["type"], event["to"], event["reason"]) == ("expire", "expired", "a verification failed")


def test_nothing_expires_that_passes(desk: Any, page: Path) -> None:
    assert verified(desk, remembered(desk, cite(page)), expire=True).record.status is Status.ACTIVE


def test_the_persons_word_verifies_what_failed_and_stands_for_itself(desk: Any, page: Path) -> None:
    record = remembered(desk, cite(page))
    assert record.authority is Authority.FILE
    page.write_text("The queue is kafka.\n")
    doubt(desk, record, page)
    found = verified(desk, record, sure=True).record
    assert (found.flags, found.authority) == ((), Authority.USER_CONFIRMED)
    assert found.verified_at is not None
    page.unlink()
    found = verified(desk, record, sure=True).record
    assert found.sources[0].content_hash is None, "a file that is gone is not watched any more"
    assert found.sources[0].evidence == SAYS


def test_nothing_checkable_is_verified_by_the_persons_word(desk: Any) -> None:
    for source in (Source(SourceType.USER, "me"), Source(SourceType.FILE, "/nowhere/a.md", evidence="x")):
        record = remembered(desk, source, content=f"Deploy with `npm run x`, {source.type}.")
        found = verified(desk, record)
        assert found.verified
        assert {check.state for check in examined(desk, record).checks} <= {State.UNKNOWN, State.OK}


def test_a_moved_file_is_looked_for_at_both_places(desk: Any, page: Path) -> None:
    record = remembered(desk, cite(page))
    there = page.rename(page.with_name("b.md"))
    moved = {str(page): None, str(there): cite(there).content_hash}
    cited_files.note(desk.vault, [str(page)], Seen(moved, {str(page): str(there)}))
    found = verified(desk, record)
    assert found.verified
    assert [source.content_hash for source in found.record.sources] == [None, cite(there).content_hash]


@pytest.mark.parametrize(
    ("content", "state"),
    [
        ("Call `load_index()` before the queue.", State.MISSING),
        ("Call `save_index()` before the queue.", State.OK),
        ("The importer takes `--fast`.", State.MISSING),
        ("The rules are in `docs/rules.md`.", State.MISSING),
        ("The rules are in `src/index.py`.", State.OK),
        ("Deploy with `no-such-program --force`.", State.UNKNOWN),
    ],
)
def test_functions_flags_and_commands_are_looked_for_in_the_project(
    desk: Any, page: Path, content: str, state: State
) -> None:
    (page.parent / ".git").mkdir()
    (page.parent / "src").mkdir()
    (page.parent / "src" / "index.py").write_text("def save_index(): ...\n")
    record = remembered(desk, cite(page), content=content)
    checks = examined(desk, record).checks[1:]
    assert {check.state for check in checks} == {state}
    assert verified(desk, record).verified is (state is not State.MISSING)


def test_a_memory_that_changed_while_it_was_checked_is_not_verified(desk: Any, page: Path) -> None:
    record = remembered(desk, cite(page))
    found = examined(desk, record)
    remember.edit(desk.vault, PERSON, record.id, {"why": "because"}, None, None)
    with pytest.raises(Illegal):
        verification.conclude(desk.vault, PERSON, found, sure=False, expire=False)


def test_an_expired_memory_that_passes_is_active_again(desk: Any, page: Path) -> None:
    record = remembered(desk, cite(page))
    page.write_text("Gone.")
    verified(desk, record, expire=True)
    page.write_text(SAYS)
    assert verified(desk, record).record.status is Status.ACTIVE
