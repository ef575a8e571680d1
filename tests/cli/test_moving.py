"""import, export, runs, rollback, undo, inbox: what comes in, goes out and can be taken back."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Home


def _notes(home: Home, name: str, count: int = 3) -> Path:
    folder = home.root / name
    folder.mkdir()
    for number, town in zip(range(count), ("Oslo", "Quito", "Perth", "Lyon", "Turin"), strict=False):
        (folder / f"{number}.md").write_text(f"---\nkind: fact\n---\nThe {name} office keys lie in {town}.\n")
    return folder


def test_an_import_reports_runs_again_without_doubles_and_is_taken_back(shared: Home) -> None:
    folder = _notes(shared, "spare")
    dry = shared.json("import", "markdown", str(folder), "--scope", "private", "--dry-run")
    assert dry["added"] == 3
    assert shared.json("list", "--text", "office keys")["total"] == 0
    report = shared.json("import", "markdown", str(folder), "--scope", "private", "--project", "p")
    assert {"run", "added", "merged", "candidates", "refused", "unreadable"} <= set(report)
    assert report["added"] == 3
    assert (
        shared.json("import", "markdown", str(folder), "--scope", "private", "--project", "p")["added"] == 0
    )
    shown = shared.json("run", "show", report["run"])
    assert len({change["id"] for change in shown["changes"]}) == 3
    back = shared.json("rollback", report["run"])
    assert len(back["removed"]) == 3
    assert "restored" in back
    assert shared.json("list", "--text", "office keys")["total"] == 0


def test_refusals_and_unreadable_lines_are_listed_and_exit_0(shared: Home) -> None:
    file = shared.root / "memory.jsonl"
    file.write_text(
        json.dumps(
            {"type": "entity", "name": "Orla", "entityType": "person", "observations": ["likes green tea"]}
        )
        + "\n{broken\n"
    )
    done = shared.run("import", "mcp-memory", str(file), "--scope", "private")
    assert done.status == 0, done
    assert "unreadable" in done.out
    assert "memory.jsonl" in done.out


def test_without_arguments_import_shows_what_this_machine_has(shared: Home) -> None:
    memory = Path(shared.env["HOME"]) / ".claude" / "projects" / "-work-app" / "memory"
    memory.mkdir(parents=True)
    (memory / "MEMORY.md").write_text("- [Tests](tests.md) - how tests run\n")
    (memory / "tests.md").write_text(
        "---\nname: Tests\ndescription: d\nmetadata:\n  type: project\n---\nTests run on staging.\n"
    )
    found = shared.json("import")["found"]
    assert any(place["kind"] == "claude-code" for place in found)


def test_the_newest_change_is_undone(shared: Home) -> None:
    made = shared.add("Undo takes this.")
    back = shared.json("undo")
    assert back["removed"] == [made["id"]]
    assert shared.error("get", made["id"], status=3)


def test_runs_are_listed_newest_first(shared: Home) -> None:
    runs = [shared.add(f"Run number {word}.")["run"] for word in ("one", "two")]
    listed = shared.json("runs")
    assert [item["run"] for item in listed["items"]][:2] == runs[::-1]
    assert listed["total"] >= 2
    assert runs[0] in shared.run("runs").out


def test_an_exported_file_is_complete_private_and_never_replaced_unasked(shared: Home) -> None:
    mine = ("--project", "export")
    for word in ("one", "two"):
        shared.add(f"Exported {word}, 部署.", *mine)
    target = shared.root / "out.jsonl"
    done = shared.run("export", str(target), *mine)
    assert done.status == 0, done
    assert "not encrypted" in done.err
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    records = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
    assert {record["content"] for record in records} == {"Exported one, 部署.", "Exported two, 部署."}
    before = target.read_bytes()
    assert "there already" in shared.error("export", str(target), *mine, status=2)["message"]
    assert target.read_bytes() == before
    assert shared.json("export", str(target), *mine, "--force", "--format", "markdown")["items"] == 2
    assert target.read_text("utf-8").count("\n## ") + 1 == 2
    assert shared.json("export", "-", *mine)["total"] == 2
    assert not list(shared.root.glob("*.part"))


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_an_export_never_writes_through_a_link(shared: Home, force: tuple[str, ...]) -> None:
    victim = shared.root / "victim.txt"
    victim.write_text("mine")
    link = shared.root / f"link{len(force)}.jsonl"
    link.symlink_to(victim)
    done = shared.run("export", str(link), *force)
    assert done.status == (0 if force else 2), done
    assert victim.read_text() == "mine"


def test_a_proposal_waits_in_the_inbox_until_it_is_confirmed_or_rejected(shared: Home) -> None:
    agent = {"AGENT": "1", "MEMVAULT_PASSPHRASE_FILE": ""}

    def propose(text: str) -> str:
        args = ("add", text, "--kind", "fact", "--scope", "private", "--source", "user:me")
        made = shared.json(*args, status=5, env=agent)
        return str(made["id"])

    good, bad = propose("The queue is drained first."), propose("The queue is purple.")
    waiting = shared.json("inbox")
    assert {good, bad} <= {item["id"] for item in waiting["items"]}
    assert good in shared.run("inbox").out
    assert shared.json("confirm", good)["status"] == "active"
    assert shared.json("reject", bad, "--yes")
    assert shared.json("inbox")["total"] == waiting["total"] - 2
    assert shared.error("confirm", good, status=7)["code"] == "illegal_transition"
    assert shared.error("get", bad, status=3)["code"] == "not_found"


def test_an_interrupted_import_keeps_what_was_written_and_says_so(shared: Home) -> None:
    folder = shared.root / "many"
    folder.mkdir()
    for number in range(1500):
        (folder / f"{number}.md").write_text(f"---\nkind: fact\n---\nRoom {number} has {number * 7} lamps.\n")
    args = ("import", "markdown", str(folder), "--scope", "private", "--project", "many")
    done = shared.on_terminal(*args, answers=[("/1500", "\x03")])
    assert done.status == 130, done
    assert "running it again continues" in done.out
    assert "takes it back" in done.out
    kept = shared.json("list", "--project", "many", "--limit", "1")["total"]
    assert 0 < kept < 1500
    assert shared.json(*args)["added"] == 1500 - kept
