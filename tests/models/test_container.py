from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault_models import ModelDamaged, ModelSourceMissing
from memvault_models.container import Container, find_resource, parse_container, read_container


def parse(data: bytes) -> Container:
    return parse_container(np.frombuffer(data, dtype=np.uint8))


def test_reads_shape_pieces_and_tensors(container_bytes: bytes) -> None:
    found = parse(container_bytes)
    assert (found.shape.hidden, found.shape.layers, found.shape.positions) == (32, 1, 24)
    assert found.pieces.texts[:4] == (b"<s>", b"<pad>", b"</s>", b"<unk>")
    assert found.tensors["l0.fi.w"].elements == 64 * 32
    assert found.tensors["l0.fi.w"].data.size == 64 * 18


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_cut_anywhere_is_damaged(container_bytes: bytes, data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(container_bytes) - 1))
    with pytest.raises(ModelDamaged):
        parse(container_bytes[:end])


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_changed_bytes_are_read_or_refused(container_bytes: bytes, data: st.DataObject) -> None:
    """Whatever stands there, the answer is a container or ModelDamaged, and views stay inside."""
    changed = bytearray(container_bytes)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, min(len(changed), 1400) - 1))
        changed[at] = data.draw(st.integers(0, 255))
    try:
        found = parse(bytes(changed))
    except ModelDamaged:
        return
    assert all(0 < tensor.data.size <= len(changed) for tensor in found.tensors.values())


@given(st.binary(max_size=400))
@settings(deadline=None)
def test_noise_after_the_magic_is_damaged(noise: bytes) -> None:
    with pytest.raises(ModelDamaged):
        parse(b"E5S1" + struct.pack("<I", 1) + noise)


def test_unknown_version_is_named(container_bytes: bytes) -> None:
    with pytest.raises(ModelDamaged, match="version 9"):
        parse(container_bytes[:4] + struct.pack("<I", 9) + container_bytes[8:])


def test_empty_and_absent_files(tmp_path: Path) -> None:
    empty = tmp_path / "empty.bin"
    empty.touch()
    with pytest.raises(ModelDamaged, match="empty"):
        read_container(empty)
    with pytest.raises(ModelSourceMissing):
        read_container(tmp_path / "absent.bin")


def test_absent_packages_and_files_are_missing_sources() -> None:
    with pytest.raises(ModelSourceMissing, match="not installed"):
        find_resource("no-such-distribution-here", "a/b.bin")
    with pytest.raises(ModelSourceMissing, match="has no file"):
        find_resource("numpy", "numpy/no-such-file.bin")
