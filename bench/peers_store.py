"""Peers that keep their own files: installing them, running each in processes of its own, and their files.

Knows nothing of questions' answers. Nothing is installed among this project's packages.
"""

from __future__ import annotations

import json
import mmap
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import reference_memory as reference
from peers_ways import Floats

CHROMADB = "chromadb==1.5.1"


@dataclass(frozen=True, slots=True)
class Given:
    """What every peer is given; vectors have shape (texts, dims) and (questions, dims)."""

    texts: Sequence[str]
    vectors: Floats
    questions: Sequence[str]
    asked: Floats


def chroma_python(folder: Path) -> str:
    """The interpreter of an environment with chromadb; made the first time. Raises reference.NotThere."""
    python = folder / "chroma" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / "chroma")], check=True)
    if _imports(python):
        return str(python)
    wanted = [str(python), "-m", "pip", "install", "--quiet", CHROMADB]
    done = subprocess.run(wanted, capture_output=True, check=False)
    if done.returncode or not _imports(python):
        raise reference.NotThere(f"pip could not install {CHROMADB}")
    return str(python)


def _imports(python: Path) -> bool:
    wanted = [str(python), "-c", "import chromadb"]
    return not subprocess.run(wanted, capture_output=True, check=False).returncode


@contextmanager
def handed(given: Given) -> Iterator[Path]:
    """A folder with what `peers_driver.py` reads; gone at the end."""
    with TemporaryDirectory(prefix="mvp") as name:
        folder = Path(name)
        np.save(folder / "vectors.npy", given.vectors)
        np.save(folder / "asked.npy", given.asked)
        (folder / "texts.json").write_text(json.dumps(list(given.texts), ensure_ascii=False), "utf-8")
        (folder / "questions.json").write_text(json.dumps(list(given.questions)), "utf-8")
        yield folder


def driven(
    python: str, way: str, step: str, folder: Path, most: int, threads: int | None = None
) -> dict[str, Any]:
    """What the driver reports of one step. Raises reference.Died with the last line of its complaint."""
    driver = Path(__file__).with_name("peers_driver.py")
    command = [python, str(driver), way, step, str(folder), str(most)]
    limits = {} if threads is None else {"OPENBLAS_NUM_THREADS": str(threads)}
    done = subprocess.run(command, capture_output=True, check=False, env=os.environ | limits)
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["it ended without a word"]
        raise reference.Died(lines[-1][:200])
    return json.loads(done.stdout.splitlines()[-1])


def disk_mb(folder: Path) -> float:
    """Size of all files, MB of 10^6 bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def readable(folder: Path, wanted: bytes) -> bool:
    """Whether any file holds these bytes as they are."""
    return any(_holds(path, wanted) for path in folder.rglob("*") if path.is_file())


def _holds(path: Path, wanted: bytes) -> bool:
    if not path.stat().st_size:
        return False
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
        return held.find(wanted) >= 0
