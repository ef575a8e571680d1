"""Set up .venv from the lock files: `python3 packaging/bootstrap.py [--dev] [--portable]`.

Owns: the virtual environment, the order of the steps and the stamp that makes a repeat cheap. Needs nothing
but Python 3.11 with venv and a C and C++ compiler. Every downloaded file is checked against its lock.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import llama_wheel
import locks
from steps import StepFailed, run_step

OLDEST_PYTHON = (3, 11)
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "memvault-setup.json"
REQUIREMENTS = ROOT / "requirements"
COMPILED_FROM_SOURCE = (llama_wheel.NAME,)

# Settings that would change what is installed or where; a person's mirror, proxy and certificates stay.
UNWANTED_PIP = (
    "PIP_DRY_RUN",
    "PIP_EDITABLE",
    "PIP_IGNORE_INSTALLED",
    "PIP_NO_BINARY",
    "PIP_NO_BUILD_ISOLATION",
    "PIP_NO_CLEAN",
    "PIP_NO_DEPS",
    "PIP_ONLY_BINARY",
    "PIP_PLATFORM",
    "PIP_PRE",
    "PIP_PREFIX",
    "PIP_PYTHON",
    "PIP_QUIET",
    "PIP_REQUIREMENT",
    "PIP_ROOT",
    "PIP_SRC",
    "PIP_TARGET",
    "PIP_USER",
    "PIP_VERBOSE",
    "PIP_WHEEL_DIR",
)
UNWANTED_PYTHON = ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")


def main(arguments: Sequence[str] | None = None) -> int:
    """Set up and return the exit status."""
    options = _parse(arguments)
    if sys.version_info < OLDEST_PYTHON:
        found = sys.version.split()[0]
        _say(f"memvault needs Python 3.11 or newer, this is {found}. Try: make PYTHON=python3.12 ...")
        return 1
    env = clean_environment(os.environ)
    try:
        with _one_at_a_time():
            _set_up(options.dev, options.portable, env)
    except (StepFailed, locks.LockError) as problem:
        _say(f"\nSet-up stopped: {problem}")
        return 1
    except KeyboardInterrupt:
        _say("\nSet-up interrupted; the next run goes on from here.")
        return 130
    return 0


def clean_environment(given: Mapping[str, str]) -> dict[str, str]:
    """The environment for pip and the compilers: the person's, less what would bend the result."""
    env = {name: value for name, value in given.items() if name not in (*UNWANTED_PIP, *UNWANTED_PYTHON)}
    # An empty constraints file also overrides one named in pip's own configuration.
    env.update(PIP_CONSTRAINT=os.devnull, PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1")
    return env


def fingerprint(lock: str, portable: bool) -> str:
    """Name the state that a finished set-up leaves; a stamp with the same name means nothing to do."""
    digest = hashlib.sha256()
    for path in (REQUIREMENTS / "build.txt", REQUIREMENTS / lock, llama_wheel.TRIM_FILE):
        digest.update(path.read_bytes() + b"\0")
    digest.update(_installed_part(ROOT / "pyproject.toml"))
    digest.update(f"{ROOT} {llama_wheel.python_abi()} {sys.version_info[:2]} portable={portable}".encode())
    return digest.hexdigest()


def _installed_part(project: Path) -> bytes:
    """What of pyproject.toml an installation depends on; settings of linters and tests are not among it."""
    import tomllib  # absent from the Pythons that `main` turns away

    tables = tomllib.loads(project.read_text(encoding="utf-8"))
    kept = {name: tables.get(name) for name in ("build-system", "project")}
    return json.dumps([kept, tables.get("tool", {}).get("hatch")], sort_keys=True).encode()


def _set_up(dev: bool, portable: bool, env: Mapping[str, str]) -> None:
    wanted = {"run": fingerprint("run.txt", portable)}
    if dev:
        wanted["dev"] = fingerprint("dev.txt", portable)
    stamped = _read_stamp()
    if all(stamped.get(name) == value for name, value in wanted.items()):
        return
    _say("Setting up .venv" + (" with the development tools" if dev else ""))
    new = _make_venv(env)
    _pip_install("installing the build tools", REQUIREMENTS / "build.txt", env)
    pin = locks.find(locks.read(REQUIREMENTS / "run.txt"), llama_wheel.NAME)
    wheel = llama_wheel.obtain(pin, portable, env, PYTHON)
    if new or stamped.get("wheel") != str(wheel):
        _pip("installing llama.cpp", ["--no-deps", "--no-index", "--force-reinstall", str(wheel)], env)
    _pip_install("installing the packages", REQUIREMENTS / ("dev.txt" if dev else "run.txt"), env)
    editable = ["--no-deps", "--no-index", "--no-build-isolation", "--editable", str(ROOT)]
    _pip("installing memvault", editable, env)
    _check_imports(env)
    kept = {"run": stamped["run"]} if stamped.get("run") == wanted["run"] else {}
    _write_stamp({**kept, **wanted, "wheel": str(wheel)})


def _make_venv(env: Mapping[str, str]) -> bool:
    """Make the virtual environment, anew when it is another Python's or a set-up of it was cut short.

    Returns whether it was made now.
    """
    settled = STAMP.is_file() and PYTHON.exists() and _venv_abi(env) == llama_wheel.python_abi()
    if settled:
        # Absent until the end: a pip stopped midway can leave packages that only look installed.
        STAMP.unlink()
        return False
    command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    try:
        run_step("making the virtual environment", command, env, lambda line: None, ROOT)
    except StepFailed as problem:
        raise StepFailed(f"{problem}\n\nOn Debian and Ubuntu: apt install python3-venv") from None
    return True


def _venv_abi(env: Mapping[str, str]) -> str:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import llama_wheel; print(llama_wheel.python_abi())"
    )
    done = subprocess.run(
        [str(PYTHON), "-I", "-c", program, str(Path(__file__).parent)],
        env=dict(env),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip()


def _pip_install(label: str, lock: Path, env: Mapping[str, str]) -> None:
    """Install a lock file, ready-made wheels only, each checked against its hashes."""
    pins = [pin for pin in locks.read(lock) if pin.name not in COMPILED_FROM_SOURCE]
    with tempfile.TemporaryDirectory(prefix="memvault-") as folder:
        listed = Path(folder) / lock.name
        listed.write_text("".join(pin.render() for pin in pins), encoding="utf-8")
        options = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--requirement", str(listed)]
        _pip(label, options, env, total=len(pins))


def _pip(label: str, options: Sequence[str], env: Mapping[str, str], total: int = 0) -> None:
    seen = 0

    def describe(line: str) -> str | None:
        nonlocal seen
        words = line.split()
        if total and line.startswith(("Collecting ", "Ignoring ", "Requirement already satisfied: ")):
            seen += 1
            return f"[{seen}/{total}] {words[1].partition('==')[0]}"
        return "unpacking" if line.startswith("Installing collected packages") else None

    run_step(label, [str(PYTHON), "-m", "pip", "install", *options], env, describe, ROOT)


def _check_imports(env: Mapping[str, str]) -> None:
    """Load the compiled packages once, so that an unusable build shows here, not in the first command."""
    command = [str(PYTHON), "-P", "-c", "import llama_cpp, sqlcipher3, numpy, memvault"]
    run_step("trying the compiled packages", command, env, lambda line: None, ROOT)


def _read_stamp() -> dict[str, str]:
    if not PYTHON.exists():
        return {}
    try:
        return dict(json.loads(STAMP.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return {}


def _write_stamp(content: Mapping[str, str]) -> None:
    half = STAMP.with_suffix(".part")
    half.write_text(json.dumps(dict(content), indent=1) + "\n", encoding="utf-8")
    half.replace(STAMP)


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Let a second set-up of the same folder wait for the first."""
    with (ROOT / "pyproject.toml").open("rb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("Waiting for another set-up of this folder...")
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Set up memvault's virtual environment from the lock files.")
    parser.add_argument("--dev", action="store_true", help="also install what tests and checks need")
    portable = "build llama.cpp for any processor of this kind, not for this one alone"
    parser.add_argument("--portable", action="store_true", help=portable)
    return parser.parse_args(arguments)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
