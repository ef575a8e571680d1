from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault_models import ModelDamaged, ModelSourceMissing
from memvault_models.gguf_header import parse_pairs, read_head


def test_reads_what_an_entry_needs(tiny_gguf: Path) -> None:
    head = read_head(tiny_gguf)
    assert (head.architecture, head.dimensions, head.context_tokens) == ("bert", 32, 24)
    assert (head.pooling, head.licence) == ("mean", "mit")


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_damaged_bytes_are_read_or_refused(tiny_gguf: Path, data: st.DataObject) -> None:
    whole = bytearray(tiny_gguf.read_bytes()[:3000])
    for _ in range(data.draw(st.integers(0, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        parse_pairs(bytes(whole[: data.draw(st.integers(0, len(whole)))]), "x")
    except ModelDamaged:
        return


def test_other_files_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(ModelDamaged, match="not a GGUF"):
        read_head(other)
    other.write_bytes(b"")
    with pytest.raises(ModelDamaged, match="empty"):
        read_head(other)
    with pytest.raises(ModelSourceMissing):
        read_head(tmp_path / "absent.gguf")
