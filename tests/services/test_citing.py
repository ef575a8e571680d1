"""Files as sources (SPEC 2 and 4): what the daemon finds in them, and when one is an observation by itself.

The files are real. As nothing can set the time a file was changed, it is the session that lies in the future.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memvault.clock import iso
from memvault.daemon.citations import looked_up
from memvault.model import Authority, Claim, Draft, Kind, Outcome, Record, Scope, Source, SourceType, Status
from memvault.services import candidates, recollect, remember
from memvault.services.caller import PERSON, Caller
from memvault.services.candidates import sightings
from memvault.services.change import change
from memvault.services.citing import MOST_VOUCHING_BYTES, SETTLED_S, Sitting, places
from memvault.watch.cited import bare

SAYS = "The queue of alpha is redis."
ABOUT = {"subject": "project:alpha", "attribute": "queue", "value": "redis"}
CLAIM = Claim(Kind.FACT, Scope.PRIVATE, SAYS, **ABOUT)


@dataclass
class Works:
    """A project's folder and an agent's session in it, days after its files were written."""

    desk: Any
    robot: Caller
    root: Path
    days_later: float = 3
    began_in_s: float = 60
    bound: bool = True

    def write(self, name: str, text: str = f"# Alpha\n\n{SAYS}\nIt runs on port 6379.\n") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def sitting(self) -> Sitting:
        return Sitting(time.time() + self.began_in_s, str(self.root), str(self.root), self.bound)

    def read(self, ref: str | Path, evidence: str | None = SAYS, claim: Claim = CLAIM) -> Source:
        """The source as the daemon makes it of what a caller says."""
        given = Source(SourceType.FILE, str(ref), evidence=evidence)
        at = iso(datetime.now(UTC) + timedelta(days=self.days_later))
        draft = Draft(claim, (given,))
        return looked_up(given, draft, self.sitting(), at, self.desk.vault.told, [self.desk.layout.root])

    def propose(self, *sources: Source, claim: Claim = CLAIM) -> Record:
        """Each source in a proposal of its own; what became of the candidate."""
        for source in sources:
            with change(self.desk.vault, "add", self.robot.actor) as work:
                written = candidates.propose(work, self.robot, Draft(claim, (source,)))
        assert written.outcome is Outcome.CANDIDATE
        return self.desk.get(written.id)


@pytest.fixture
def works(desk: Any, robot: Caller, tmp_path: Path) -> Works:
    root = tmp_path / "alpha"
    (root / ".git").mkdir(parents=True)
    return Works(desk, robot, root)


def test_a_file_whose_hash_and_excerpt_the_daemon_checked_itself(works: Works) -> None:
    path = works.write("a.md", f"# Alpha\r\n\r\n{SAYS}\r\nMore.\r\n")
    found = works.read("a.md#queue", f"# Alpha\n\n{SAYS}")
    assert found.ref == f"{path}#queue"
    assert found.content_hash == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.observed_at is not None


@pytest.mark.parametrize("evidence", ["The queue of beta is redis.", "the queue of alpha", None])
def test_without_the_excerpt_verbatim_nothing_is_checked(works: Works, evidence: str | None) -> None:
    path = works.write("a.md")
    assert works.read(path, evidence) == Source(SourceType.FILE, str(path), evidence=evidence)


def test_such_a_file_speaks_with_the_authority_of_a_file_for_a_person(works: Works) -> None:
    works.write("a.md")
    works.days_later = 0
    written = remember.add(works.desk.vault, PERSON, Draft(CLAIM, (works.read("a.md"),)), correct=False)
    assert works.desk.get(written.id).authority is Authority.FILE
    unread = Draft(
        Claim(Kind.FACT, Scope.PRIVATE, "Beta deploys by hand."), (works.read("a.md", "By hand."),)
    )
    written = remember.add(works.desk.vault, PERSON, unread, correct=False)
    assert works.desk.get(written.id).authority is Authority.USER_CONFIRMED


def test_for_an_agent_only_a_file_that_it_cannot_have_made_does(works: Works) -> None:
    works.write("a.md")
    fresh = works.propose(Works(works.desk, works.robot, works.root, days_later=0).read("a.md"))
    assert fresh.authority is Authority.INFERRED
    assert fresh.sources[0].content_hash, "it was read all the same, so that it is watched"
    other = Claim(Kind.FACT, Scope.PRIVATE, "It runs on port 6379.")
    old = works.propose(works.read("a.md", other.content, other), claim=other)
    assert old.authority is Authority.FILE


def test_two_independent_observations_from_verified_files_promote(works: Works) -> None:
    works.write("README.md")
    works.write("docs/queue.md", f"Notes on the queue.\n\n* {SAYS}\n")
    record = works.propose(works.read("README.md"), works.read("docs/queue.md"))
    assert (record.status, record.observations, record.authority) == (Status.ACTIVE, 2, Authority.FILE)


def test_one_is_not_enough(works: Works) -> None:
    works.write("README.md")
    record = works.propose(works.read("README.md"), works.read("README.md#queue"), works.read("README.md:3"))
    assert (record.status, sightings(record.sources)) == (Status.CANDIDATE, 1)


def test_one_file_in_two_places_is_one_observation(works: Works) -> None:
    works.write("README.md")
    works.write("docs/README.md")
    assert works.read("README.md").verified
    record = works.propose(works.read("README.md"), works.read("docs/README.md"))
    assert (record.status, sightings(record.sources)) == (Status.CANDIDATE, 1)


def _written_in_this_session(works: Works) -> list[Source]:
    works.write("one.md")
    works.write("two.md", SAYS)
    works.began_in_s = -3_600
    return [works.read("one.md"), works.read("two.md")]


def _written_yesterday_by_a_helper_that_outlived_its_session(works: Works) -> list[Source]:
    works.write("one.md")
    works.write("two.md", SAYS)
    works.days_later = (SETTLED_S - 600) / 86_400
    return [works.read("one.md"), works.read("two.md")]


def _dated_back(works: Works) -> list[Source]:
    for name, text in (("one.md", SAYS), ("two.md", f"{SAYS}\n")):
        os.utime(works.write(name, text), (1, 1))
    works.began_in_s, works.days_later = -3_600, 0
    return [works.read("one.md"), works.read("two.md")]


def _a_second_name(works: Works) -> list[Source]:
    works.write("one.md")
    os.link(works.write("two.md", SAYS), works.root / "three.md")
    return [works.read("one.md"), works.read("two.md"), works.read("three.md")]


def _links(works: Works) -> list[Source]:
    works.write("real/one.md")
    works.write("real/two.md", SAYS)
    (works.root / "docs").symlink_to(works.root / "real")
    return [works.read("docs/one.md"), works.read("docs/two.md")]


def _outside_of_the_project(works: Works) -> list[Source]:
    away = works.root.parent / "beta"
    away.mkdir()
    (away / "one.md").write_text(SAYS)
    (away / "two.md").write_text(f"{SAYS}\n")
    found = [works.read(away / "one.md"), works.read("../beta/two.md")]
    assert [source.content_hash for source in found] == [None, None], "an agent learns nothing of other files"
    works.bound = False
    return [works.read(away / "one.md"), works.read("../beta/two.md")]


def _of_an_unknown_session(works: Works) -> list[Source]:
    works.write("one.md")
    works.write("two.md", SAYS)
    works.sitting = lambda: Sitting(None, str(works.root), None, True)  # type: ignore[method-assign]
    return [works.read(works.root / "one.md"), works.read(works.root / "two.md")]


def _repeating_what_was_recalled(works: Works) -> list[Source]:
    recollect.get(works.desk.vault, works.robot, works.desk.add("Beta is written in Rust.").id)
    works.write("one.md", f"{SAYS}\n\n- beta is written in rust\n")
    works.write("two.md", f"Beta is written in Rust.\n\n{SAYS}\n")
    return [works.read("one.md"), works.read("two.md")]


def _naming_a_memory(works: Works) -> list[Source]:
    known = works.desk.add("Beta is written in Rust.").id
    works.write("one.md", f"{SAYS}\n\nAs memory {known} says.\n")
    works.write("two.md", f"({known})\n\n{SAYS}\n")
    return [works.read("one.md"), works.read("two.md")]


def _behind_a_link_out_of_the_project(works: Works) -> list[Source]:
    away = works.root.parent / "beta"
    away.mkdir()
    (away / "one.md").write_text(SAYS)
    (works.root / "docs").symlink_to(away)
    found = works.read("docs/one.md")
    assert found.content_hash is None, "an agent learns nothing of other files"
    return [found]


def _too_large_to_be_searched(works: Works) -> list[Source]:
    for name, fill in (("one.md", "x"), ("two.md", "y")):
        works.write(name, f"{SAYS}\n\n{fill * MOST_VOUCHING_BYTES}")
    return [works.read("one.md"), works.read("two.md")]


@pytest.mark.parametrize(
    "attack",
    [
        _written_in_this_session, _written_yesterday_by_a_helper_that_outlived_its_session, _dated_back,
        _a_second_name, _links, _outside_of_the_project, _of_an_unknown_session, _repeating_what_was_recalled,
        _naming_a_memory,
        _behind_a_link_out_of_the_project,
        _too_large_to_be_searched,
    ],
)  # fmt: skip
def test_files_that_an_agent_could_have_made_promote_nothing(
    works: Works, attack: Callable[[Works], list[Source]]
) -> None:
    record = works.propose(*attack(works))
    assert record.status is Status.CANDIDATE
    assert sightings(record.sources) < candidates.SIGHTINGS


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("Never believe that\nthe queue of alpha is redis.\n", "the queue of alpha is redis."),
        ("Alpha has a queue. It is redis.", "Alpha has a queue. It is redis."),
        ("The queue of alpha is redis only in tests.", "The queue of alpha is redis"),
        ("## Install\n\nThe queue of alpha is redis.", "## Install"),
    ],
)
def test_a_file_vouches_only_for_what_it_says_in_a_sentence_of_its_own(
    works: Works, text: str, evidence: str
) -> None:
    works.write("a.md", text)
    found = works.read("a.md", evidence)
    assert found.content_hash is not None
    assert not found.verified


@pytest.mark.parametrize(
    "more",
    [{"how_to_apply": "Pipe the installer into a shell."}, {"conditions": "always"}, {"why": "so"},
     {"attribute": "deploy.command"}, {"value": "curl"}],
)  # fmt: skip
def test_what_the_claim_says_beyond_the_file_is_not_vouched_for(works: Works, more: dict[str, str]) -> None:
    works.write("a.md")
    claim = Claim(Kind.FACT, Scope.PRIVATE, SAYS, **{**ABOUT, **more})
    assert not works.read("a.md", claim=claim).verified
    assert works.read("a.md").verified


@pytest.mark.parametrize("sentence", ["阿尔法的队列是 redis。", "The queue of alpha\n   is redis."])
def test_wrapped_lines_and_chinese_sentences_are_sentences(works: Works, sentence: str) -> None:
    works.write("a.md", f"# x\n\n- {sentence} 端口是 6379。\n")
    claim = Claim(Kind.FACT, Scope.PRIVATE, " ".join(sentence.split()))
    assert works.read("a.md", sentence, claim).verified


def test_a_relative_reference_is_looked_for_where_the_writer_stands() -> None:
    free = Sitting(None, "/p", "/p/docs", False)
    assert places("a.md", free) == ["/p/docs/a.md", "/p/a.md"]
    assert places("/etc/hosts", free) == ["/etc/hosts"]
    bound = Sitting(None, "/p", "/p/docs", True)
    assert places("../../etc/hosts", bound) == []
    assert places("/p/../etc/hosts", bound) == []
    assert places("../a.md", bound) == ["/p/docs/../a.md"]


def test_a_file_below_the_vaults_home_is_never_read(works: Works) -> None:
    kept = works.desk.layout.root / "notes.md"
    kept.write_text(SAYS)
    works.bound = False
    assert works.read(kept).content_hash is None


def test_a_further_source_keeps_what_was_found_when_it_was_cited(works: Works) -> None:
    path = works.write("one.md")
    works.propose(works.read("one.md"))
    path.write_text("Something else.\n")
    works.write("two.md", SAYS)
    record = works.propose(works.read("two.md"))
    assert [bare(source.ref) for source in record.sources] == [str(path), str(works.root / "two.md")]
    assert record.status is Status.ACTIVE, "each was verified in its time"
