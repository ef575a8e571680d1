"""Files as sources, with the real daemon and real files: read on writing, watched while the vault is open."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SAYS = "The queue of alpha is redis."


class Project:
    """A repository with a file, a home, and a person who cites it."""

    def __init__(self, home: Any, root: Path, until: Callable[..., Any]) -> None:
        self.home, self.root, self.until = home, root, until
        (root / ".git").mkdir(parents=True)
        self.page = self.write("docs/queue.md")

    def write(self, name: str, text: str = f"# Queue\n\n{SAYS}\n") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def cite(self, path: Path, content: str = SAYS, **more: Any) -> dict[str, Any]:
        """Parameters of memory.add."""
        source = {"type": "file", "ref": str(path), "evidence": SAYS}
        return {"content": content, "kind": "fact", "scope": "private", "source": source, **more}

    def remembered(self, client: Any, path: Path | None = None, content: str = SAYS) -> str:
        return str(client.call("memory.add", self.cite(path or self.page, content))["id"])

    def flagged(self, client: Any, memory: str) -> None:
        self.until(lambda: "source_changed" in self.flags(client, memory), "the flag")
        assert "needs_verification" in self.flags(client, memory)

    def flags(self, client: Any, memory: str) -> list[str]:
        return client.call("memory.get", {"id": memory})["flags"]

    def watched(self, client: Any) -> None:
        """Wait until the watcher observes as many folders as it will."""
        self.until(lambda: self.threads() > 0 and _inotify_watches(self.home.pid()), "the watch")

    def threads(self) -> int:
        return len(list(Path(f"/proc/{self.home.pid()}/task").iterdir()))


def _inotify_watches(pid: int) -> int:
    """Folders that a process observes, as the kernel tells."""
    found = 0
    for entry in Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            found += entry.read_text().count("inotify wd:")
        except FileNotFoundError:
            continue
    return found


@pytest.fixture
def project(daemon_home: Any, tmp_path: Path, until: Callable[..., Any]) -> Project:
    return Project(daemon_home, tmp_path / "alpha", until)


@pytest.fixture
def person(project: Project) -> Iterator[Any]:
    client = project.home.person()
    yield client
    client.close()


def test_a_cited_file_is_read_by_the_daemon_itself(project: Project, person: Any) -> None:
    record = person.call("memory.get", {"id": project.remembered(person)})
    (source,) = record["sources"]
    assert record["authority"] == "file"
    assert source["content_hash"] == hashlib.sha256(project.page.read_bytes()).hexdigest()
    assert source["observed_at"] is not None
    assert not source["verified"], "it was written a moment ago"


def test_what_a_caller_says_about_hashes_is_not_taken(project: Project, person: Any) -> None:
    for name, value in (("content_hash", "0" * 64), ("verified", True)):
        params = project.cite(project.page)
        params["source"] = {**params["source"], name: value}
        with pytest.raises(Exception, match=name):
            person.call("memory.add", params)


def _pipe(project: Project) -> Path:
    os.mkfifo(project.root / "pipe.md")
    return project.root / "pipe.md"


def _link(project: Project) -> Path:
    (project.root / "link.md").symlink_to(project.page)
    return project.root / "link.md"


def _into_the_vault(project: Project) -> Path:
    (project.home.root / "notes.md").write_text(SAYS)
    return project.home.root / "notes.md"


def _huge(project: Project) -> Path:
    path = project.write("huge.md")
    os.truncate(path, 9 * 1024 * 1024)
    return path


HOSTILE: list[Callable[[Project], Path]] = [
    _pipe, _link, _into_the_vault, _huge,
    lambda _: Path("/proc/self/environ"), lambda _: Path("/dev/zero"), lambda p: p.root / "no" / "such.md",
]  # fmt: skip


@pytest.mark.parametrize("place", HOSTILE)
def test_what_is_no_plain_file_is_kept_as_a_mere_reference(
    project: Project, person: Any, place: Callable[[Project], Path]
) -> None:
    record = person.call("memory.get", {"id": project.remembered(person, place(project))})
    assert (record["authority"], record["sources"][0]["content_hash"]) == ("user_confirmed", None)


def test_an_agents_answer_tells_nothing_about_files(project: Project, person: Any, puppet: Any) -> None:
    robot = puppet(project.home.root, marks={"CLAUDECODE": "1"}, cwd=project.root)
    secret = project.root.parent / "secret.txt"
    secret.write_text(SAYS)
    answers = []
    for number, place in enumerate([lambda p: p.page, lambda _: secret, *HOSTILE]):
        claim = f"Always restart worker {number} after a deploy, never before."
        answers.append(robot.call("memory.add", project.cite(place(project), claim, everywhere=True)))
    assert {(answer["outcome"], answer["version"]) for answer in answers} == {("candidate", 1)}, answers
    assert len({answer["reason"] for answer in answers}) == 1
    kept = {item["sources"][0]["ref"]: item for item in person.call("inbox", {"limit": 100})["items"]}
    assert kept[str(project.page)]["sources"][0]["content_hash"] is not None
    assert kept[str(secret)]["sources"][0]["content_hash"] is None, (
        "outside of its project nothing is read for it"
    )


def test_an_agent_that_writes_two_files_and_cites_both_proves_nothing(
    project: Project, person: Any, puppet: Any
) -> None:
    robot = puppet(project.home.root, marks={"CLAUDECODE": "1"}, cwd=project.root)
    claim = "Always deploy alpha with the script, never by hand."
    for name in ("one.md", "two.md"):
        project.write(name, f"# {name}\n\n{claim}\n")
        source = {"type": "file", "ref": name, "evidence": claim}
        params = {**project.cite(project.page, claim, everywhere=True), "source": source}
        assert robot.call("memory.add", params)["outcome"] == "candidate"
    (item,) = person.call("inbox")["items"]
    assert (item["status"], item["authority"], len(item["sources"])) == ("candidate", "inferred", 2)
    assert {source["ref"] for source in item["sources"]} == {
        str(project.root / n) for n in ("one.md", "two.md")
    }
    assert all(source["content_hash"] and not source["verified"] for source in item["sources"])


def test_an_agent_reads_no_hash_of_a_file(project: Project, person: Any, puppet: Any) -> None:
    memory = project.remembered(person)
    person.call("agents.add", {"name": "claude-code", "host": "claude-code"})
    robot = puppet(project.home.root, marks={"CLAUDECODE": "1"}, cwd=project.root)
    found = [
        robot.call("memory.get", {"id": memory}),
        *robot.call("memory.list")["items"],
        *robot.call("recall", {"query": SAYS})["results"],
    ]
    assert len(found) == 3
    assert all(one["sources"][0]["content_hash"] is None for one in found)


def _rewritten(page: Path) -> None:
    page.write_text("# Queue\n\nThe queue is kafka.\n")


def _saved_atomically(page: Path) -> None:
    fresh = page.with_name(".queue.md.swp")
    fresh.write_text("# Queue\n\nThe queue is kafka.\n")
    fresh.replace(page)


def _deleted(page: Path) -> None:
    page.unlink()


def _moved_out_of_sight(page: Path) -> None:
    away = page.parents[2] / "elsewhere"
    away.mkdir()
    page.rename(away / "other.md")


@pytest.mark.parametrize("change", [_rewritten, _saved_atomically, _deleted, _moved_out_of_sight])
def test_a_memory_is_flagged_at_once_when_its_source_file_changes(
    project: Project, person: Any, change: Callable[[Path], None]
) -> None:
    memory = project.remembered(person)
    project.watched(person)
    change(project.page)
    project.flagged(person, memory)
    (item,) = person.call("inbox")["items"]
    assert (item["id"], item["because"], item["version"]) == (memory, "flagged", 1)


def test_whoever_listens_hears_of_the_flag(project: Project, person: Any, until: Callable[..., Any]) -> None:
    memory = project.remembered(person)
    project.watched(person)
    wire = project.home.wire()
    wire.ask("hello", {"client": "t", "version": "0", "protocol": 1})
    wire.ask("events.subscribe", number=2)
    heard: list[dict[str, Any]] = []

    def listen() -> None:
        while (message := wire.read()) is not None:
            heard.append(message)
            if message.get("params", {}).get("reason") == "watch":
                return

    thread = threading.Thread(target=listen)
    thread.start()
    _rewritten(project.page)
    until(lambda: not thread.is_alive(), "the news")
    thread.join()
    assert heard[-1]["params"]["ids"] == [memory]


def test_a_save_that_changes_nothing_flags_nothing(project: Project, person: Any) -> None:
    memory = project.remembered(person)
    other = project.remembered(person, project.write("docs/other.md"), "Beta has no queue.")
    project.watched(person)
    project.page.write_text(project.page.read_text())
    fresh = project.page.with_name("tmp")
    fresh.write_text(project.page.read_text())
    fresh.replace(project.page)
    _rewritten(project.root / "docs/other.md")
    project.flagged(person, other)
    assert project.flags(person, memory) == []


def test_a_file_deleted_and_written_anew_flags_nothing(project: Project, person: Any) -> None:
    memory = project.remembered(person)
    other = project.remembered(person, project.write("docs/other.md"), "Beta has no queue.")
    project.watched(person)
    text = project.page.read_text()
    project.page.unlink()
    project.page.write_text(text)
    _rewritten(project.root / "docs/other.md")
    project.flagged(person, other)
    assert project.flags(person, memory) == []


@pytest.mark.parametrize("where", ["docs/renamed.md", "src/queue.md"])
def test_a_file_that_moved_within_sight_is_followed(project: Project, person: Any, where: str) -> None:
    memory = project.remembered(person)
    project.remembered(person, project.write("src/other.md"), "Beta has no queue.")
    project.until(lambda: _inotify_watches(project.home.pid()) >= 2, "two watches")
    there = project.page.rename(project.root / where)

    def places() -> list[str]:
        return [source["ref"] for source in person.call("memory.get", {"id": memory})["sources"]]

    project.until(lambda: str(there) in places(), "the new place")
    assert project.flags(person, memory) == []
    project.until(lambda: _inotify_watches(project.home.pid()) >= 2, "two watches")
    _rewritten(there)
    project.flagged(person, memory)


def test_a_file_that_is_as_before_is_in_doubt_no_more(project: Project, person: Any) -> None:
    memory, text = project.remembered(person), project.page.read_text()
    project.watched(person)
    _rewritten(project.page)
    project.flagged(person, memory)
    project.page.write_text(text)
    project.until(lambda: project.flags(person, memory) == [], "the flag to go")


def test_what_changed_while_the_vault_was_locked_is_found_on_unlock(project: Project) -> None:
    client = project.home.person()
    memory = project.remembered(client)
    project.watched(client)
    client.call("vault.lock")
    project.until(lambda: _inotify_watches(project.home.pid()) == 0, "the end of watching")
    _rewritten(project.page)
    client.call("vault.unlock", {"passphrase": project.home.passphrase})
    project.flagged(client, memory)


def test_watching_costs_nothing_while_nothing_happens(project: Project, person: Any) -> None:
    project.remembered(person)
    project.watched(person)
    pid = project.home.pid()

    def switches() -> int:
        """How often the threads of the watcher woke."""
        found = 0
        for task in Path(f"/proc/{pid}/task").iterdir():
            if task.joinpath("comm").read_text().startswith(("Thread-", "watcher", "files")):
                status = task.joinpath("status").read_text()
                found += int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])
        return found

    settled = [switches()]

    def quiet() -> bool:
        threading.Event().wait(0.4)
        settled.append(switches())
        return settled[-1] == settled[-2]

    project.until(quiet, "threads that sleep")


def test_a_further_cited_folder_is_watched_and_a_forgotten_one_is_not(project: Project, person: Any) -> None:
    first = project.remembered(person)
    project.until(lambda: _inotify_watches(project.home.pid()) == 1, "one watch")
    second = project.remembered(person, project.write("src/other.md"), "Beta has no queue.")
    project.until(lambda: _inotify_watches(project.home.pid()) == 2, "two watches")
    person.call("memory.delete", {"ids": [first]})
    project.until(lambda: _inotify_watches(project.home.pid()) == 1, "one watch")
    _rewritten(project.root / "src/other.md")
    project.flagged(person, second)


def doctor(client: Any) -> dict[str, Any]:
    return next(check for check in client.call("doctor")["checks"] if check["name"] == "cited files")


def test_doctor_says_when_there_are_more_folders_than_are_watched(project: Project, person: Any) -> None:
    assert doctor(person)["ok"]
    for number in range(66):
        path = project.write(f"many/{number}/a.md")
        project.remembered(person, path, f"Worker {number} has no queue.")
    project.until(lambda: not doctor(person)["ok"], "the limit")
    assert doctor(person)["detail"] == "2 folders of cited files beyond the 64 that are watched"
    assert _inotify_watches(project.home.pid()) == 64


def test_watching_can_be_switched_off(project: Project) -> None:
    project.home.layout.config.write_text("[watch]\nenabled = false\n")
    client = project.home.person()
    project.remembered(client)
    assert doctor(client) == {
        "name": "cited files", "ok": True, "detail": "cited files are not watched", "fix": ""
    }  # fmt: skip
    assert _inotify_watches(project.home.pid()) == 0


def test_verify_checks_the_file_and_does_not_silently_pass(project: Project, person: Any) -> None:
    memory = project.remembered(person)
    found = person.call("memory.verify", {"id": memory})
    assert found["verified"]
    assert found["checks"] == [{"what": f"file {project.page}", "state": "ok", "detail": ""}]
    project.page.unlink()
    found = person.call("memory.verify", {"id": memory})
    assert (found["verified"], found["may_expire"]) == (False, True)
    assert "needs_verification" in found["flags"]
    with pytest.raises(Exception, match="either"):
        person.call("memory.verify", {"id": memory, "sure": True, "expire": True})
    assert person.call("memory.verify", {"id": memory, "expire": True})["status"] == "expired"


def test_a_daemon_that_watches_ends_when_told(project: Project, person: Any) -> None:
    project.remembered(person)
    project.watched(person)
    project.home.end(project.home.pid())
    assert "Traceback" not in project.home.log()
