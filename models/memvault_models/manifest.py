"""Model manifests: the shipped one and the user's own. Owns their format; must not fetch or load anything.

The shipped `manifest.toml` is package data. The user's `models.toml` lies in the cache folder; an id there
must not repeat a shipped one. Both have the same form, `format = 1` and one `[[model]]` table a model.
"""

from __future__ import annotations

import json
import tomllib
from importlib import resources
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from memvault_models.errors import ManifestInvalid, ModelIdTaken, ModelNotFound
from memvault_models.files import locked, write_atomically
from memvault_models.port import Pooling

DEFAULT_MODEL_ID = "multilingual-e5-small-q4"
USER_MANIFEST = "models.toml"
_FORMAT = 1
_ID = r"^[a-z0-9][a-z0-9._-]{0,63}$"

ModelId = Annotated[str, Meta(pattern=_ID)]
FileName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,122}\.gguf$")]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
Prefix = Annotated[str, Meta(max_length=200)]
Text = Annotated[str, Meta(min_length=1, max_length=1000)]
Bytes = Annotated[int, Meta(ge=1, le=1 << 40)]
Dimensions = Annotated[int, Meta(ge=8, le=16384)]
Tokens = Annotated[int, Meta(ge=16, le=1 << 20)]


class PackageSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="package"):
    """Converted from a file of an installed distribution; `resource` is its path as the distribution lists
    it."""

    distribution: Text
    resource: Text


class UrlSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="url"):
    """Fetched over https; size and sha256 of the entry decide whether it is taken."""

    url: Annotated[str, Meta(pattern=r"^https://[^\s]+$", max_length=2000)]


class FileSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="file"):
    """A file of the user's, used where it lies and never changed; `path` is absolute."""

    path: Annotated[str, Meta(pattern=r"^/", max_length=4096)]


Source = PackageSource | UrlSource | FileSource


class ModelEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One model: what its file must be, and how texts are put to it.

    `context_tokens` counts prefix, begin and end marks; `means` names a means file, package data for shipped
    models, beside `models.toml` for the user's.
    """

    id: ModelId
    file: FileName
    size_bytes: Bytes
    sha256: Sha256
    dimensions: Dimensions
    context_tokens: Tokens
    pooling: Pooling
    query_prefix: Prefix
    passage_prefix: Prefix
    licence: Text
    source: Source
    means: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,120}\.json$")] | None = None


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A decoded manifest; ids and file names are unique."""

    format: Annotated[int, Meta(ge=_FORMAT, le=_FORMAT)]
    model: tuple[ModelEntry, ...] = ()

    def get(self, model_id: str) -> ModelEntry:
        """The entry of an id. Raises ModelNotFound, naming the ids there are."""
        for entry in self.model:
            if entry.id == model_id:
                return entry
        known = ", ".join(entry.id for entry in self.model)
        raise ModelNotFound(f"no model {model_id!r} in the manifest", f"Known models: {known}.")


def decode_manifest(data: bytes, where: str) -> Manifest:
    """Decode and check; `where` names the file in messages. Raises ManifestInvalid with the path of the
    fault."""
    try:
        table = tomllib.loads(data.decode("utf-8"))
        manifest = msgspec.convert(table, Manifest)
    except UnicodeDecodeError as error:
        raise ManifestInvalid(f"{where}: not UTF-8 at byte {error.start}") from error
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ManifestInvalid(f"{where}: {error}") from error
    _check_unique(manifest, where)
    return manifest


def _check_unique(manifest: Manifest, where: str) -> None:
    seen: dict[str, int] = {}
    for position, entry in enumerate(manifest.model):
        for name, value in (("id", entry.id), ("file", entry.file)):
            earlier = seen.setdefault(f"{name}={value}", position)
            if earlier != position:
                raise ManifestInvalid(
                    f"{where}: {value!r} repeats $.model[{earlier}].{name} - at `$.model[{position}].{name}`"
                )


def shipped_manifest() -> Manifest:
    """The manifest that comes with this package. Raises ManifestInvalid."""
    source = resources.files("memvault_models").joinpath("manifest.toml")
    return decode_manifest(source.read_bytes(), "manifest.toml")


def user_manifest(cache_dir: Path) -> Manifest:
    """The user's own models; none when there is no file. Raises ManifestInvalid."""
    path = cache_dir / USER_MANIFEST
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Manifest(_FORMAT)
    return decode_manifest(data, str(path))


def load_manifest(cache_dir: Path) -> Manifest:
    """Shipped models first, then the user's. Raises ManifestInvalid when an id or a file name repeats."""
    both = Manifest(_FORMAT, shipped_manifest().model + user_manifest(cache_dir).model)
    _check_unique(both, f"manifest.toml and {cache_dir / USER_MANIFEST}")
    return both


def add_entry(cache_dir: Path, entry: ModelEntry) -> None:
    """Append to the user's manifest, 0600, atomically. Raises ModelIdTaken, ManifestInvalid."""
    path = cache_dir / USER_MANIFEST
    with locked(path.with_name(f"{USER_MANIFEST}.lock")):
        known = load_manifest(cache_dir)
        if any(entry.id == other.id or entry.file == other.file for other in known.model):
            raise ModelIdTaken(f"a model {entry.id!r} is known already")
        text = encode_manifest(Manifest(_FORMAT, (*user_manifest(cache_dir).model, entry)))
        decode_manifest(text, str(path))
        write_atomically(path, text)


def encode_manifest(manifest: Manifest) -> bytes:
    """Write as TOML, so that `decode_manifest` gives the same back."""
    lines = [f"format = {manifest.format}"]
    for entry in manifest.model:
        fields = msgspec.to_builtins(entry)
        source = fields.pop("source")
        lines += ["", "[[model]]", *_pairs(fields), "[model.source]", *_pairs(source)]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _pairs(fields: dict[str, str | int | None]) -> list[str]:
    """JSON strings and integers are TOML ones too, but for DEL, which TOML wants escaped."""
    return [
        f"{name} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007F")
        for name, value in fields.items()
        if value is not None
    ]
