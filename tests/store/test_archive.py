"""The backup file tells every change of its bytes, and what it is not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.errors import BackupDamaged, ForeignFile, SchemaNewer
from memvault.ids import new_id
from memvault.keys.envelope import VaultKey
from memvault.store import archive


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """A small backup and a folder to spoil copies of it in."""
    folder = tmp_path_factory.mktemp("sample")
    key = VaultKey.random()
    (folder / "db").write_bytes(os.urandom(20_000))
    target = folder / "whole.mvbackup"
    archive.pack(
        target, key.derive("backup"), b"header" * 30, folder / "db", lambda _done, _total: None,
        vault_id=new_id(), created_at="2026-03-02T09:00:00.000Z", schema=1, memories=3, event_seq=9,
        event_hash=bytes(32),
    ).place()  # fmt: skip
    return target, folder


def spoiled(sample: tuple[Path, Path], raw: bytes) -> None:
    target, folder = sample
    copy = folder / "spoiled.mvbackup"
    copy.write_bytes(raw)
    with pytest.raises((BackupDamaged, ForeignFile, SchemaNewer)):
        archive.check(copy, lambda _done, _total: None)
    archive.check(target, lambda _done, _total: None)


@given(at=st.integers(0, 21_203), bit=st.integers(0, 7))
def test_any_flipped_bit_is_found(sample: tuple[Path, Path], at: int, bit: int) -> None:
    raw = bytearray(sample[0].read_bytes())
    assert len(raw) == 21_204
    raw[at] ^= 1 << bit
    spoiled(sample, bytes(raw))


@given(length=st.integers(0, 21_203))
def test_any_cut_is_found(sample: tuple[Path, Path], length: int) -> None:
    spoiled(sample, sample[0].read_bytes()[:length])


@given(more=st.binary(min_size=1, max_size=64))
def test_anything_appended_is_found(sample: tuple[Path, Path], more: bytes) -> None:
    spoiled(sample, sample[0].read_bytes() + more)
