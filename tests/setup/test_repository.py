"""What holds for the repository as a whole: no registry is named, dependencies are explained, files parse."""

import configparser
import os
import plistlib
import re
import runpy
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# Written in two halves, so that this file does not name them either.
REGISTRIES = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "npm" + "js.org",
    "npm" + "js.com",
    "deb." + "debian.org",
    "crates" + ".io",
    "proxy." + "golang.org",
]


def own_files() -> Iterator[Path]:
    """Every file that is, or would be, part of the repository."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        yield from (ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file())
        return
    for folder, names, files in os.walk(ROOT):
        names[:] = [name for name in names if not name.startswith(".") and name != "__pycache__"]
        yield from (Path(folder) / name for name in files)


def test_no_file_names_a_registry() -> None:
    pattern = re.compile("|".join(re.escape(name) for name in REGISTRIES).encode())
    found = [str(path.relative_to(ROOT)) for path in own_files() if pattern.search(path.read_bytes())]
    assert found == []


def test_every_dependency_is_explained_and_nothing_else_is() -> None:
    tables = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    explained = [name for name in re.findall(r"(?m)^\| ([A-Za-z0-9-]+) \|", tables) if name != "package"]
    groups = PROJECT["dependency-groups"]
    lines = [*PROJECT["project"]["dependencies"], *groups["dev"], *groups["build"], *groups["chat"]]
    wanted = [Requirement(line).name for line in lines]
    assert sorted(explained) == sorted(wanted)


def test_packaging_is_a_folder_and_no_package() -> None:
    assert not list(PACKAGING.rglob("__init__.py"))


@pytest.mark.parametrize("name", [".ci/run", "packaging/lock.sh"])
def test_scripts_can_be_run(name: str) -> None:
    path = ROOT / name
    assert os.access(path, os.X_OK)
    assert "set -euo pipefail" in path.read_text(encoding="utf-8")


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(PACKAGING / "systemd" / name, encoding="utf-8")
    return parser


def test_the_socket_unit_is_the_owners_alone() -> None:
    socket = unit("memvault.socket")["Socket"]
    assert socket["ListenStream"] == "%h/.local/share/memvault/run/daemon.sock"
    assert (socket["SocketMode"], socket["DirectoryMode"]) == ("0600", "0700")


def test_the_service_unit_leaves_no_memory_image() -> None:
    service = unit("memvault.service")["Service"]
    assert (service["LimitCORE"], service["UMask"]) == ("0", "0077")
    assert service["ExecStart"].endswith("memvault serve")


def test_the_launch_agent_leaves_no_memory_image() -> None:
    agent = plistlib.loads((PACKAGING / "launchd/org.memvault.daemon.plist").read_bytes())
    assert agent["HardResourceLimits"] == {"Core": 0}
    assert agent["Umask"] == 0o077
    assert agent["ProgramArguments"][-2:] == ["memvault", "serve"]


def test_completion_files_are_those_of_the_installed_click() -> None:
    module = runpy.run_path(str(PACKAGING / "completion/generate.py"))
    for shell, name in module["FILES"].items():
        shipped = (PACKAGING / "completion" / name).read_text(encoding="utf-8")
        assert shipped == module["script"](shell), f"{name}: run `make completion`"
