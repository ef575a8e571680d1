"""docs/protocol.md is what the code says, names every method, and its example clients work."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from memvault.daemon import document
from memvault.daemon.handlers import table
from memvault.errors import BY_CODE
from memvault.rpc.contract import CONTRACTS

DOCS = Path(__file__).parents[2] / "docs"
CLIENTS = DOCS / "clients"
CLAIM = 'From now on always write "pnpm install" \\ never npm, in the harbour.'


def test_the_page_is_what_the_code_says() -> None:
    assert (DOCS / "protocol.md").read_text("utf-8") == document.page(), "run `make docs`"


def test_the_page_names_every_method_parameter_and_code() -> None:
    page = document.page()
    for name, method in table().table.items():
        at = page.index(f"### `{name}`\n")
        section = page[at : page.index("\n### ", at + 1)]
        for field in method.params.__struct_fields__:
            assert f"| `{field}` |" in section, (name, field)
        for error in document.errors_of(method, CONTRACTS[name]):
            assert f"`{error.code}`" in section, (name, error)
    for code in BY_CODE:
        assert f"| `{code}` |" in page


def test_every_link_of_the_page_leads_somewhere() -> None:
    page = document.page()
    anchors = {line.removeprefix("### ").lower() for line in page.splitlines() if line.startswith("### ")}
    linked = {part.partition(")")[0] for part in page.split("](#")[1:]}
    assert linked <= anchors
    assert linked


@pytest.fixture
def harbour(shared_home: Any) -> Any:
    """An open vault with one memory about the harbour."""
    person = shared_home.person()
    source = {"type": "user", "ref": "test"}
    given = {"content": "The harbour opens at 7.", "kind": "fact", "scope": "private", "source": source}
    person.call("memory.add", given)
    return shared_home


def run(home: Any, command: list[str], path: str = os.environ["PATH"]) -> subprocess.CompletedProcess[str]:
    given = [*command, str(home.layout.socket), "When does the harbour open?", CLAIM]
    return subprocess.run(
        given, capture_output=True, text=True, timeout=60, check=False, env={**os.environ, "PATH": path}
    )


def _help(program: str) -> str:
    return subprocess.run([program, "-h"], capture_output=True, text=True, check=False).stderr


def waits(home: Any) -> bool:
    """The proposal lies in the inbox, word for word."""
    return any(item["content"] == CLAIM for item in home.person().call("inbox")["items"])


@pytest.mark.parametrize("tool", ["socat", "nc"])
def test_the_shell_client_says_hello_recalls_and_proposes(harbour: Any, tool: str, tmp_path: Path) -> None:
    found = shutil.which(tool)
    if found is None:
        pytest.skip(f"{tool} is not installed")
    if tool == "nc" and "-N" not in _help(found):
        pytest.skip("this nc cannot end its input alone (-N)")
    for name in ("sh", "sed", "tr", "cat", tool):
        (tmp_path / name).symlink_to(shutil.which(name) or "")
    done = run(harbour, ["sh", str(CLIENTS / "client.sh")], str(tmp_path))
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert answers["hello"]["result"]["protocol"] == 1
    assert answers["recall"]["result"]["results"][0]["content"] == "The harbour opens at 7."
    assert answers["propose"]["result"]["outcome"] in ("candidate", "pending", "merged")
    assert waits(harbour)


def test_the_shell_client_is_twenty_lines() -> None:
    assert len((CLIENTS / "client.sh").read_text().splitlines()) <= 20


def test_the_javascript_client_says_hello_recalls_and_proposes(harbour: Any) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    done = run(harbour, [node, str(CLIENTS / "client.mjs")])
    hello, hit, proposal = done.stdout.splitlines()
    assert hello == "protocol 1, the vault is unlocked"
    assert hit.endswith("[medium] The harbour opens at 7.")
    assert proposal.split(":")[0] in ("candidate", "pending", "merged")
    assert waits(harbour)
    assert (done.returncode, done.stderr) == (0, "")
