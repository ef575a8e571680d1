"""Build the trimmed llama-cpp-python wheel once and keep it in the user's cache.

Owns: what a build depends on (the cache key), the CMake flags, the atomic place in the cache.
Must not know: which other requirements exist.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from locks import Pin
from steps import StepFailed, run_step

NAME = "llama-cpp-python"
TRIM_FILE = Path(__file__).resolve().with_name("llama_trim.cmake")
TRIM_FLAGS = ("-DLLAVA_BUILD=OFF",)
PORTABLE_FLAGS = ("-DGGML_NATIVE=OFF",)
LEFTOVER_AGE_S = 24 * 3600.0

_NINJA_STEP = re.compile(r"^\s*(\[\d+/\d+\])\s")
_SOURCE_NAME = re.compile(r"([\w.+-]+\.(?:c|cc|cpp|cxx|m|mm|S))(?:\s|$)")
_COMPILER_VARIABLES = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS")


@dataclass(frozen=True)
class BuildKey:
    """Everything that decides the bytes of the wheel; two equal keys may share one."""

    version: str
    source_hashes: tuple[str, ...]
    flags: tuple[str, ...]
    trim_sha256: str
    python: str
    machine: str
    libc: str
    compiler: str
    compiler_flags: tuple[str, ...]
    cpu_sha256: str

    def digest(self) -> str:
        """A short name for the cache folder."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


def build_key(pin: Pin, portable: bool, env: Mapping[str, str]) -> BuildKey:
    """Describe the build that this machine would make of `pin`."""
    return BuildKey(
        version=pin.version,
        source_hashes=tuple(sorted(pin.hashes)),
        flags=_flags(portable, env),
        trim_sha256=hashlib.sha256(TRIM_FILE.read_bytes()).hexdigest(),
        python=python_abi(),
        machine=f"{sys.platform}-{platform.machine()}",
        libc="-".join(platform.libc_ver()),
        compiler=_compiler_version(env),
        compiler_flags=tuple(f"{name}={env[name]}" for name in _COMPILER_VARIABLES if env.get(name)),
        cpu_sha256="portable" if portable else hashlib.sha256(_cpu_features().encode()).hexdigest(),
    )


def python_abi() -> str:
    """Name the interpreter as far as a compiled package depends on it."""
    return f"{sys.implementation.cache_tag}-{sysconfig.get_config_var('SOABI')}"


def cache_folder(env: Mapping[str, str]) -> Path:
    """Where built wheels are kept between set-ups."""
    named = Path(env.get("XDG_CACHE_HOME", ""))
    root = named if named.is_absolute() else Path.home() / ".cache"
    return root / "memvault" / "wheels"


def obtain(pin: Pin, portable: bool, env: Mapping[str, str], python: Path) -> Path:
    """Return the wheel from the cache, building it first when this machine has not built it yet."""
    folder = cache_folder(env)
    place = folder / build_key(pin, portable, env).digest()
    cached = _verified_wheel(place)
    if cached is not None:
        print(f"  {NAME} {pin.version}: built earlier, taken from the cache", file=sys.stderr)
        return cached
    _require_compilers(env)
    folder.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(folder)
    with tempfile.TemporaryDirectory(prefix=".build-", dir=folder) as scratch:
        made = _build(pin, _flags(portable, env), env, python, Path(scratch))
        _publish(made, place)
    wheel = _verified_wheel(place)
    if wheel is None:
        raise StepFailed(f"the wheel just built is not readable in {place}")
    return wheel


def _build(pin: Pin, flags: tuple[str, ...], env: Mapping[str, str], python: Path, scratch: Path) -> Path:
    """Compile the wheel inside `scratch` and return the folder that holds it and its checksum."""
    requirement = scratch / "requirement.txt"
    requirement.write_text(pin.render(), encoding="utf-8")
    out = scratch / "out"
    work = scratch / "tmp"
    work.mkdir()
    include = f"-DCMAKE_PROJECT_llama_cpp_INCLUDE={TRIM_FILE}"
    build_env = dict(env)
    build_env.update(
        CMAKE_ARGS=shlex.join([include, *flags]),
        CMAKE_BUILD_PARALLEL_LEVEL=str(_cores()),
        PATH=f"{python.parent}{os.pathsep}{env.get('PATH', os.defpath)}",
        TMPDIR=str(work),
    )
    build_env.pop("CMAKE_GENERATOR", None)
    # Without pip's own cache: it would hand back a wheel built earlier with other flags.
    command = [str(python), "-m", "pip", "wheel", "--verbose", "--no-cache-dir", "--no-deps"]
    command += ["--no-build-isolation", "--no-binary", NAME, "--require-hashes"]
    command += ["--requirement", str(requirement), "--wheel-dir", str(out)]
    run_step(f"compiling llama.cpp on {_cores()} cores", command, build_env, _describe_build, scratch)
    wheels = sorted(out.glob("*.whl"))
    if len(wheels) != 1:
        raise StepFailed(f"expected one wheel of {NAME}, found {len(wheels)}")
    digest = hashlib.sha256(wheels[0].read_bytes()).hexdigest()
    (out / "SHA256").write_text(digest + "\n", encoding="ascii")
    return out


def _publish(made: Path, place: Path) -> None:
    """Move a finished build into the cache in one step; another set-up may have been first."""
    if place.exists() and _verified_wheel(place) is None:
        shutil.rmtree(place)
    try:
        made.replace(place)
    except OSError:
        if _verified_wheel(place) is None:
            raise


def _verified_wheel(place: Path) -> Path | None:
    """The wheel kept in `place`, or None when there is none or its bytes changed."""
    wheels = sorted(place.glob("*.whl"))
    checksum = place / "SHA256"
    if len(wheels) != 1 or not checksum.is_file():
        return None
    digest = hashlib.sha256(wheels[0].read_bytes()).hexdigest()
    return wheels[0] if checksum.read_text(encoding="ascii").strip() == digest else None


def _remove_leftovers(folder: Path) -> None:
    """Clear away builds that were killed before they could tidy up."""
    for left in folder.glob(".build-*"):
        if time.time() - left.stat().st_mtime > LEFTOVER_AGE_S:
            shutil.rmtree(left, ignore_errors=True)


def _describe_build(line: str) -> str | None:
    step = _NINJA_STEP.match(line)
    if step is None:
        return None
    source = _SOURCE_NAME.findall(line)
    return f"{step[1]} {source[-1] if source else 'linking'}"


def _flags(portable: bool, env: Mapping[str, str]) -> tuple[str, ...]:
    """The CMake flags of the build: ours, then those that the person set in CMAKE_ARGS."""
    return TRIM_FLAGS + (PORTABLE_FLAGS if portable else ()) + tuple(shlex.split(env.get("CMAKE_ARGS", "")))


def _compiler(env: Mapping[str, str], variable: str, names: tuple[str, ...]) -> str | None:
    """The path of a compiler: the one that the person names, else the first that is found."""
    candidates = (env[variable].split()[0],) if env.get(variable, "").strip() else names
    paths = (shutil.which(name, path=env.get("PATH")) for name in candidates)
    return next((path for path in paths if path), None)


def _require_compilers(env: Mapping[str, str]) -> None:
    found = (_compiler(env, "CC", ("cc", "gcc", "clang")), _compiler(env, "CXX", ("c++", "g++", "clang++")))
    if None in found:
        raise StepFailed("llama.cpp needs a C and a C++ compiler (on Debian: apt install gcc g++ make).")


def _compiler_version(env: Mapping[str, str]) -> str:
    path = _compiler(env, "CXX", ("c++", "g++", "clang++"))
    if path is None:
        return "none"
    done = subprocess.run(
        [path, "--version"], env=dict(env), capture_output=True, text=True, errors="replace", check=False
    )
    return done.stdout.splitlines()[0].strip() if done.stdout else path


def _cpu_features() -> str:
    """What the processor can do; a native build runs only where all of it is present."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        lines = info.read_text(encoding="utf-8", errors="replace").splitlines()
        wanted = ("flags", "Features", "model name", "CPU part")
        return "\n".join(sorted({line for line in lines if line.startswith(wanted)}))
    done = subprocess.run(
        ["sysctl", "machdep.cpu"], capture_output=True, text=True, errors="replace", check=False
    )
    kept = ("machdep.cpu.brand_string", "machdep.cpu.features", "machdep.cpu.leaf7_features")
    return "\n".join(line for line in done.stdout.splitlines() if line.startswith(kept))


def _cores() -> int:
    """How many processes this one may run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
