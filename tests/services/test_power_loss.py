"""SECURITY 2: after a power loss at any moment nothing that was acknowledged is missing.

A child works on a vault while its system calls are recorded (ptrace; no library or file system of our own is
in between). A power loss at a moment is then replayed: of each file, what was written before its last sync is
there whole; of what came after it, any part may be there, in sectors of 512 bytes, in any selection. Files
that were created count as there: file systems in use make a name durable with the first sync of its file.
"""

from __future__ import annotations

import ctypes
import os
import platform
import random
import shutil
import signal
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memvault.paths import HomeLayout
from memvault.services import checkup

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or platform.machine() != "x86_64",
        reason="reads registers of x86-64 Linux",
    ),
]

SECTOR_BYTES = 512
ACK = "acknowledged"
"""A file in which the child notes each acknowledgement: recorded in order with everything else."""

_TRACEME, _GETREGS, _SYSCALL, _SETOPTIONS, _SYSGOOD = 0, 12, 24, 0x4200, 1
_WRITE, _PWRITE, _FSYNC, _FDATASYNC, _FTRUNCATE, _UNLINK = 1, 18, 74, 75, 77, 87
_CALLS = {_WRITE, _PWRITE, _FSYNC, _FDATASYNC, _FTRUNCATE, _UNLINK}
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_REGISTERS = (
    "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base"
    " ds es fs gs"
)


class Registers(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in _REGISTERS.split()]


@dataclass(frozen=True)
class Op:
    """One call that reached a file: `write` (offset, data), `truncate` (offset), `sync` or `unlink`."""

    what: str
    name: str
    offset: int = 0
    data: bytes = b""


@dataclass
class Recording:
    """What a child did to the files of one folder, in order."""

    folder: Path
    ops: list[Op] = field(default_factory=list[Op])
    positions: dict[str, int] = field(default_factory=dict[str, int])

    def note(self, pid: int, found: Registers) -> None:
        call = int(found.orig_rax)
        if call == _UNLINK:
            path = Path(_memory(pid, int(found.rdi), 4_096).partition(b"\0")[0].decode())
        else:
            path = Path(f"/proc/{pid}/fd/{found.rdi}").readlink()
        if path.parent != self.folder or path.name.endswith("-shm"):
            return
        size = ctypes.c_longlong(found.rax).value
        name = path.name
        if call in (_FSYNC, _FDATASYNC):
            self.ops.append(Op("sync", name))
        elif call == _FTRUNCATE:
            self.ops.append(Op("truncate", name, int(found.rsi)))
        elif call == _UNLINK:
            self.ops.append(Op("unlink", name))
        else:
            at = int(found.r10) if call == _PWRITE else self.positions.get(name, 0)
            self.positions[name] = at + size
            self.ops.append(Op("write", name, at, _memory(pid, int(found.rsi), size)))


def _memory(pid: int, address: int, size: int) -> bytes:
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(size)


def recorded(folder: Path, work: Callable[[], None]) -> list[Op]:
    """Run `work` in a child and record what it does to the files in `folder`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        try:
            if _LIBC.ptrace(_TRACEME, 0, None, None) < 0:
                os._exit(71)
            os.kill(os.getpid(), signal.SIGSTOP)
            work()
            os._exit(0)
        finally:
            os._exit(70)
    _, state = os.waitpid(pid, 0)
    if os.WIFEXITED(state):
        pytest.skip("processes cannot be traced here")
    _LIBC.ptrace(_SETOPTIONS, pid, None, _SYSGOOD)
    recording, entering, passed = Recording(folder), True, 0
    while True:
        _LIBC.ptrace(_SYSCALL, pid, None, passed)
        _, state = os.waitpid(pid, 0)
        if os.WIFEXITED(state):
            assert os.WEXITSTATUS(state) == 0, os.WEXITSTATUS(state)
            return recording.ops
        passed = os.WSTOPSIG(state)
        if passed != signal.SIGTRAP | 0x80:
            continue
        passed, entering = 0, not entering
        if entering:
            found = Registers()
            _LIBC.ptrace(_GETREGS, pid, None, ctypes.addressof(found))
            if int(found.orig_rax) in _CALLS and ctypes.c_longlong(found.rax).value >= 0:
                recording.note(pid, found)


def _put(file: bytearray, offset: int, data: bytes) -> None:
    if len(file) < offset + len(data):
        file.extend(bytes(offset + len(data) - len(file)))
    file[offset : offset + len(data)] = data


def after_power_loss(
    start: dict[str, bytes], ops: list[Op], moment: int, rnd: random.Random
) -> dict[str, bytes]:
    """One state that the disk may be in when the power fails after the first `moment` calls."""
    synced = {op.name: at for at, op in enumerate(ops[:moment]) if op.what == "sync"}
    chance = rnd.choice((0.0, 0.3, 0.7, 1.0))
    torn = rnd.random() < 0.5
    files = {name: bytearray(raw) for name, raw in start.items()}
    for at, op in enumerate(ops[:moment]):
        durable = at < synced.get(op.name, -1)
        if op.what == "sync" or not (durable or torn or rnd.random() < chance):
            continue
        file = files.setdefault(op.name, bytearray())
        if op.what == "unlink":
            del files[op.name]
        elif op.what == "truncate":
            if durable or not torn or rnd.random() < chance:
                del file[op.offset :]
                file.extend(bytes(op.offset - len(file)))
        elif durable or not torn:
            _put(file, op.offset, op.data)
        else:
            for begin in range(0, len(op.data), SECTOR_BYTES):
                if rnd.random() < chance:
                    _put(file, op.offset + begin, op.data[begin : begin + SECTOR_BYTES])
    return {name: bytes(raw) for name, raw in files.items() if name != ACK}


def session(house: Any, synchronous: str) -> Callable[[], None]:
    """Add, correct, delete and checkpoint; after each step note what the vault holds now."""

    def work() -> None:
        desk = house.desk
        desk.open()
        desk.vault.writer.run(f"PRAGMA synchronous = {synchronous}")
        notes = os.open(desk.layout.root / ACK, os.O_CREAT | os.O_WRONLY, 0o600)

        def acknowledge() -> None:
            os.write(notes, "\n".join(sorted(house.contents().values())).encode() + b"\n\n")

        acknowledge()
        for number in range(24):
            made = desk.add(f"Ticket {number} is closed by the night shift.")
            acknowledge()
            if number % 6 == 4:
                desk.delete(made.id)
                acknowledge()
            if number % 8 == 5:
                desk.vault.writer.truncate_log()
        os._exit(0)

    return work


def replay(house: Any, tmp_path: Path, synchronous: str, points: int) -> tuple[int, list[str]]:
    """(power losses that cost something acknowledged, what was wrong beyond that)."""
    house.desk.add("Here before.")
    house.desk.vault.close()
    root = house.layout.root
    start = {path.name: path.read_bytes() for path in root.iterdir() if path.is_file()}
    ops = recorded(root, session(house, synchronous))
    acks = [
        (at, op.data.decode().strip()) for at, op in enumerate(ops) if op.name == ACK and op.what == "write"
    ]
    assert len(acks) > 24
    rnd = random.Random(20_261_130)
    lost, wrong = 0, list[str]()
    for number in range(points):
        moment = rnd.randrange(acks[0][0] + 1, len(ops) + 1)
        home = HomeLayout(tmp_path / f"p{number}")
        home.root.mkdir(mode=0o700)
        for name, raw in after_power_loss(start, ops, moment, rnd).items():
            (home.root / name).write_bytes(raw)
            (home.root / name).chmod(0o600)
        vault = house.opened(home, house.desk.key)
        held = "\n".join(sorted(house.everything(vault).values()))
        done = sum(at < moment for at, _ in acks)
        allowed = [text for _, text in acks[done - 1 : done + 1]]
        lost += held not in allowed
        faults = [one["name"] for one in checkup.complete(vault, lambda *_: None) if not one["ok"]]
        if held in allowed and (faults or vault.warnings):
            wrong.append(f"{moment}: {faults} {vault.warnings}")
        vault.close()
        shutil.rmtree(home.root)
    for path in root.iterdir():
        if path.is_file():
            path.unlink()
    for name, raw in start.items():
        (root / name).write_bytes(raw)
        (root / name).chmod(0o600)
    house.desk.open()
    return lost, wrong


@pytest.mark.parametrize("points", [25, pytest.param(300, marks=pytest.mark.long)])
def test_no_power_loss_costs_anything_acknowledged(house: Any, tmp_path: Path, points: int) -> None:
    assert replay(house, tmp_path, "FULL", points) == (0, [])


def test_the_replay_would_notice_commits_that_are_not_synced(house: Any, tmp_path: Path) -> None:
    lost, _ = replay(house, tmp_path, "NORMAL", 12)
    assert lost > 0
