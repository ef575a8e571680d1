"""Background means and centring. Owns the mean vector of each role and language; must not know the vault.

Raw vectors of e5 carry their language more than their meaning, so a question in one language does not find
a text in another, and unrelated texts look alike. Subtracting the mean of the text's own language and role
and normalising again mends both. The shipped means come from `data/background.jsonl`, written for this;
a vault can blend in its own statistics with `Means.refined`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from memvault_models.errors import ModelDamaged, ModelSourceMissing
from memvault_models.language import language
from memvault_models.port import LANGUAGES, ROLES, Embedder, Language, Progress, Role, Vector

_FORMAT = 1
_TINY = 1e-6  # below this length a centred vector has no direction left
_BATCH = 16  # texts between two progress reports


Style = Literal["statement", "episode", "question", "request", "conversation"]


class BackgroundText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the background: `lang` is its ISO 639-1 code, for people; keys come from
    `language(text)`."""

    role: Role
    style: Style
    lang: str
    text: str


class _MeansFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Stored form: `means` maps "role.language" to base64 of little-endian float32."""

    format: int
    model: str
    dims: int
    means: dict[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """Mean vectors of one model, keyed by role and language; "other" holds the mean over all languages.

    A key that is absent falls back to the role's "other", and that to no centring at all.
    """

    model_id: str
    dims: int
    by_key: Mapping[tuple[Role, Language], Vector] = field(
        default_factory=dict[tuple[Role, Language], Vector]
    )

    def of(self, role: Role, lang: Language) -> Vector:
        """The mean to subtract, shape (dims,); its norm is below 1, and 0 when nothing is known."""
        found = self.by_key.get((role, lang))
        if found is None:
            found = self.by_key.get((role, "other"))
        return np.zeros(self.dims, dtype=np.float32) if found is None else found

    def centre(self, vectors: npt.ArrayLike, role: Role, lang: Language) -> npt.NDArray[np.float32]:
        """Subtract the mean and normalise, shape (dims,) or (n, dims) as given.

        A vector equal to the mean becomes zero, so that it is near nothing. Raises ValueError on other dims.
        """
        given = np.asarray(vectors, dtype=np.float32)
        if given.ndim not in (1, 2) or given.shape[-1] != self.dims:
            raise ValueError(f"expected vectors of {self.dims} dimensions, not shape {given.shape}")
        moved = given - self.of(role, lang)
        lengths = np.linalg.norm(moved, axis=-1, keepdims=True)
        lengths = np.where(lengths > _TINY, lengths, np.inf)
        return (moved / lengths).astype(np.float32, copy=False)

    def refined(self, role: Role, lang: Language, vectors: npt.ArrayLike, weight: float) -> Means:
        """New means with a share of the vault's own: (1 - weight) * known + weight * mean(vectors).

        `vectors` are raw ones, shape (n, dims), or their mean as (1, dims); `weight` is within 0..1
        (`blend_weight` gives one). Without vectors nothing changes. Raises ValueError.
        """
        if not 0.0 <= weight <= 1.0:
            raise ValueError(f"weight must be within 0..1, not {weight}")
        given = np.atleast_2d(np.asarray(vectors, dtype=np.float32))
        if given.size == 0:
            return self
        if given.shape[1] != self.dims:
            raise ValueError(f"expected vectors of {self.dims} dimensions, not shape {given.shape}")
        own = given.mean(axis=0, dtype=np.float64)
        blended = ((1.0 - weight) * self.of(role, lang) + weight * own).astype(np.float32)
        return replace(self, by_key={**self.by_key, (role, lang): blended})

    def refined_from_passages(self, lang: Language, vectors: npt.ArrayLike, weight: float) -> Means:
        """`refined` for passages, the query mean moved by the same step: for vaults that keep no queries.

        Measured on MADial (160 memories): weight 0.5 raised the share of Chinese texts that found their
        English twin in a mixed vault from .950 to .994; moving the passages' mean alone gave no gain.
        """
        moved = self.refined("passage", lang, vectors, weight)
        step = moved.of("passage", lang) - self.of("passage", lang)
        query = (self.of("query", lang) + step).astype(np.float32)
        return replace(moved, by_key={**moved.by_key, ("query", lang): query})

    def encode(self) -> bytes:
        """Write as JSON, keys in order, so that equal means give equal bytes."""
        packed = {
            f"{role}.{lang}": base64.b64encode(self.by_key[role, lang].astype("<f4").tobytes()).decode(
                "ascii"
            )
            for role in ROLES
            for lang in LANGUAGES
            if (role, lang) in self.by_key
        }
        stored = _MeansFile(_FORMAT, self.model_id, self.dims, packed)
        return msgspec.json.format(msgspec.json.encode(stored), indent=1) + b"\n"


def decode_means(data: bytes) -> Means:
    """Read what `Means.encode` wrote. Raises ModelDamaged, naming what is wrong."""
    try:
        stored = msgspec.json.decode(data, type=_MeansFile)
    except msgspec.DecodeError as error:
        raise ModelDamaged(f"means: {error}") from error
    if stored.format != _FORMAT:
        raise ModelDamaged(f"means: format {stored.format} is not {_FORMAT}")
    known: dict[str, tuple[Role, Language]] = {
        f"{role}.{lang}": (role, lang) for role in ROLES for lang in LANGUAGES
    }
    by_key: dict[tuple[Role, Language], Vector] = {}
    for name, packed in stored.means.items():
        if name not in known:
            raise ModelDamaged(f"means: unknown key {name!r}")
        by_key[known[name]] = _unpack(name, packed, stored.dims)
    return Means(stored.model, stored.dims, by_key)


def _unpack(name: str, packed: str, dims: int) -> Vector:
    try:
        raw = base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ModelDamaged(f"means: {name} is not base64") from error
    if len(raw) != 4 * dims:
        raise ModelDamaged(f"means: {name} has {len(raw)} bytes, not {4 * dims}")
    vector = np.frombuffer(raw, dtype="<f4").astype(np.float32)
    if not np.isfinite(vector).all() or float(np.linalg.norm(vector)) > 1.0 + 1e-3:
        raise ModelDamaged(f"means: {name} is not a mean of unit vectors")
    return vector


def neutral_means(model_id: str, dims: int) -> Means:
    """Means that change nothing but the norm, for models whose vectors need no centring."""
    return Means(model_id, dims)


def blend_weight(count: int, half_at: int = 100) -> float:
    """Weight of a vault's own mean over `count` vectors: 0 without any, 0.5 at `half_at`, towards 1
    beyond."""
    return max(count, 0) / (max(count, 0) + half_at)


def background() -> list[BackgroundText]:
    """The shipped background texts. Raises ModelDamaged, naming the line."""
    source = resources.files("memvault_models").joinpath("data/background.jsonl")
    decoder = msgspec.json.Decoder(BackgroundText)
    texts: list[BackgroundText] = []
    for number, line in enumerate(source.read_bytes().splitlines(), start=1):
        try:
            texts.append(decoder.decode(line))
        except msgspec.DecodeError as error:
            raise ModelDamaged(f"background.jsonl line {number}: {error}") from error
    return texts


def compute_means(
    embedder: Embedder, texts: Iterable[BackgroundText] | None = None, progress: Progress | None = None
) -> Means:
    """Embed the background and average it by role and language; takes as long as its texts do.

    Styles weigh the same whatever their number of texts, for questions alone do not tell where conversations
    lie: R@10 of conversations over memories (MADial) rose from .638 to .688 in Chinese and from .572 to .652
    in English.
    """
    chosen = background() if texts is None else list(texts)
    groups: dict[tuple[Role, Language], dict[Style, list[Vector]]] = {}
    for start in range(0, len(chosen), _BATCH):
        batch = chosen[start : start + _BATCH]
        passages = [text.text for text in batch if text.role == "passage"]
        embedded = iter(embedder.embed_passages(passages) if passages else [])
        for text in batch:
            vector = next(embedded)[0] if text.role == "passage" else embedder.embed_query(text.text)
            styles = groups.setdefault((text.role, language(text.text)), {})
            styles.setdefault(text.style, []).append(vector)
        if progress is not None:
            progress(min(start + _BATCH, len(chosen)), len(chosen))
    return Means(embedder.model_id, embedder.dims, _average(groups))


def _average(
    groups: Mapping[tuple[Role, Language], Mapping[Style, list[Vector]]],
) -> dict[tuple[Role, Language], Vector]:
    """Mean of each group's styles; "other" is the mean of the languages, so that none outweighs the rest."""
    means: dict[tuple[Role, Language], Vector] = {}
    for role in ROLES:
        for lang in LANGUAGES:
            styles = groups.get((role, lang))
            if styles and lang != "other":
                means[role, lang] = _mean([_mean(vectors) for _, vectors in sorted(styles.items())])
        known = [mean for (of_role, _), mean in means.items() if of_role == role]
        if known:
            means[role, "other"] = _mean(known)
    return means


def _mean(vectors: list[Vector]) -> Vector:
    return np.stack(vectors).mean(axis=0, dtype=np.float64).astype(np.float32)


def shipped_means(file: str) -> Means:
    """Means that come with this package. Raises ModelSourceMissing, ModelDamaged."""
    source = resources.files("memvault_models").joinpath("data", file)
    if not source.is_file():
        raise ModelSourceMissing(f"the package has no {file}", "Install the package again.")
    return decode_means(source.read_bytes())


def read_means(path: Path) -> Means:
    """Means in a file. Raises ModelSourceMissing, ModelDamaged."""
    try:
        return decode_means(path.read_bytes())
    except OSError as error:
        raise ModelSourceMissing(f"cannot read {path}: {error.strerror}") from error
