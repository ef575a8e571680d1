"""Names that a claim mentions, and whether they are still to be found. Nothing is ever run."""

from __future__ import annotations

from pathlib import Path

import pytest

from memvault.watch import names
from memvault.watch.cited import Cited, read
from memvault.watch.names import Name, Sort, State, look_up, named


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Deploy with `npm run deploy --prod`.", [("command", "npm"), ("flag", "--prod")]),
        (
            "部署用 `bash deploy.sh`，不用 `make`",
            [("command", "bash"), ("path", "deploy.sh"), ("name", "make")],
        ),
        (
            "Call `load_index()` in `services/vault.py` with --fast.",
            [("function", "load_index"), ("path", "services/vault.py"), ("flag", "--fast")],
        ),
        (
            "save() first, see https://example.org/a.py and README.md",
            [("function", "save"), ("path", "README.md")],
        ),
        ("Use version 3.11 and/or e.g. two-word names", []),
        ("`$(rm -rf ~)` and `; reboot`", []),
    ],
)
def test_names_are_paths_functions_flags_and_commands(text: str, found: list[tuple[str, str]]) -> None:
    assert [(name.sort.value, name.text) for name in named([text])] == found


def test_a_claim_names_so_many_things_at_most() -> None:
    assert len(named([" ".join(f"`name_{n}`" for n in range(50))])) == names.MOST_NAMES


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "queue.py").write_text("class Queue:\n    def put(self): ...\n# takes --fast\n")
    (tmp_path / "deploy.sh").write_text("#!/bin/sh\ntouch ran\n")
    (tmp_path / "deploy.sh").chmod(0o700)
    return tmp_path


def states(project: Path, *wanted: Name, excerpts: tuple[str, ...] = (), root: bool = True) -> list[State]:
    cited = read(str(project / "src" / "queue.py"))
    assert isinstance(cited, Cited)
    found = look_up(wanted, [cited], excerpts, project if root else None, [], lambda: False)
    return [found[name] for name in wanted]


def test_what_the_cited_file_or_the_project_has_is_ok(project: Path) -> None:
    (project / "lib.py").write_text("def load_index(): ...\n")
    wanted = [
        Name(Sort.NAME, "Queue.put"),
        Name(Sort.FLAG, "--fast"),
        Name(Sort.PATH, "deploy.sh"),
        Name(Sort.PATH, "queue.py"),
        Name(Sort.FUNCTION, "load_index"),
        Name(Sort.COMMAND, "sh"),
    ]
    assert states(project, *wanted) == [State.OK] * len(wanted)
    assert not (project / "ran").exists()


def test_what_the_whole_project_has_not_is_missing(project: Path) -> None:
    wanted = [Name(Sort.FUNCTION, "drop_all"), Name(Sort.PATH, "src/gone.py"), Name(Sort.FLAG, "--slow")]
    assert states(project, *wanted) == [State.MISSING] * 3
    assert states(project, *wanted, root=False) == [State.UNKNOWN] * 3, "nobody looked everywhere"


def test_what_an_excerpt_had_and_the_file_has_no_more_is_missing(project: Path) -> None:
    assert states(project, Name(Sort.FLAG, "--slow"), excerpts=("takes --slow",), root=False) == [
        State.MISSING
    ]


def test_words_of_other_programs_are_unknown_rather_than_missing(project: Path) -> None:
    wanted = [
        Name(Sort.COMMAND, "no-such-program"),
        Name(Sort.FLAG, "--force", alone=False),
        Name(Sort.NAME, "redis"),
        Name(Sort.PATH, "/api/v1/users"),
    ]
    assert states(project, *wanted) == [State.UNKNOWN] * 4


def test_a_search_that_was_cut_short_calls_nothing_missing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(names, "MOST_FILES", 1)
    assert states(project, Name(Sort.FUNCTION, "drop_all")) == [State.UNKNOWN]


def test_links_are_not_searched(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "a.py").write_text("def drop_all(): ...\n")
    (project / "away").symlink_to(outside)
    (project / "a.py").symlink_to(outside / "a.py")
    assert states(project, Name(Sort.FUNCTION, "drop_all")) == [State.MISSING]
