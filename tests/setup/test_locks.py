"""The lock files: complete, hashed, of one piece, and naming no address."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import locks

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ["build", "chat", "dev", "run"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def path(name: str) -> Path:
    return ROOT / "requirements" / f"{name}.txt"


def versions(name: str) -> dict[tuple[str, str], str]:
    return {(pin.name, pin.marker): pin.version for pin in locks.read(path(name))}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_is_nothing_but_pins_with_hashes(name: str) -> None:
    text = path(name).read_text(encoding="utf-8")
    assert "".join(pin.render() for pin in locks.parse(text)) == text


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_address_and_no_path(name: str) -> None:
    text = path(name).read_text(encoding="utf-8")
    assert "/" not in text
    assert "index" not in text.replace("--hash", "")


def test_the_development_lock_holds_the_run_lock() -> None:
    assert versions("run").items() <= versions("dev").items()


def test_the_build_lock_agrees_with_the_development_lock() -> None:
    build, dev = versions("build"), versions("dev")
    assert {key: build[key] for key in build.keys() & dev.keys()} == {
        key: dev[key] for key in build.keys() & dev.keys()
    }


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("run", PROJECT["project"]["dependencies"]),
        ("dev", PROJECT["dependency-groups"]["dev"]),
        ("build", PROJECT["dependency-groups"]["build"]),
        ("chat", PROJECT["dependency-groups"]["chat"]),
    ],
    ids=["run", "dev", "build", "chat"],
)
def test_every_named_dependency_is_locked_within_its_bounds(name: str, wanted: list[str]) -> None:
    pins = locks.read(path(name))
    for line in wanted:
        requirement = Requirement(line)
        found = [pin.version for pin in pins if pin.name == canonicalize_name(requirement.name)]
        assert found, f"{requirement.name} is not in {name}.txt"
        assert all(requirement.specifier.contains(version) for version in found), line


@pytest.mark.parametrize(
    "line",
    [
        "click>=8\n",
        "click==8.5.1\n",
        "click==8.5.1 --hash=sha256:12\n",
        "--index-url somewhere\n",
        "-e .\n",
        "click @ file:click.whl --hash=sha256:" + "0" * 64 + "\n",
    ],
)
def test_anything_else_is_refused(line: str) -> None:
    with pytest.raises(locks.LockError):
        locks.parse(line)


def test_a_package_pinned_twice_has_no_single_pin() -> None:
    digest = "--hash=sha256:" + "0" * 64
    pins = locks.parse(f"a==1 ; x == '1' \\\n    {digest}\na==2 ; x != '1' \\\n    {digest}\n")
    with pytest.raises(locks.LockError, match="2 times"):
        locks.find(pins, "a")
