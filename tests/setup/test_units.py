"""The service manager's own judgement of the user units."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

UNITS = Path(__file__).resolve().parents[2] / "packaging" / "systemd"
ANALYSE = shutil.which("systemd-analyze")


@pytest.mark.skipif(ANALYSE is None, reason="there is no systemd-analyze")
@pytest.mark.parametrize("name", ["memvault.socket", "memvault.service"])
def test_systemd_accepts_the_user_units(tmp_path: Path, name: str) -> None:
    assert ANALYSE is not None
    installed = str(Path(sys.executable).with_name("memvault"))
    for unit in UNITS.iterdir():
        (tmp_path / unit.name).write_text(unit.read_text().replace("/usr/bin/memvault", installed))
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    done = subprocess.run(
        [ANALYSE, "--user", "verify", "--man=no", str(tmp_path / name)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "XDG_RUNTIME_DIR": str(runtime), "SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
    )
    assert done.returncode == 0, done.stderr
    assert name not in done.stderr
