"""Makes sure a model's file is there and whole. Owns the model folder, its stamps and locks; loads nothing.

Files live in `cache_dir/models/`. A verified file has a stamp beside it (size, modification time, sha256),
so that later opens do not hash again; a file that no longer fits its stamp is hashed again, and replaced
when it differs.
"""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from email.message import Message
from functools import partial
from pathlib import Path
from typing import IO

import msgspec

from memvault_models.container import find_resource, read_container
from memvault_models.errors import ModelDamaged, ModelSourceMissing
from memvault_models.files import locked, remove_parts, replace_file, sha256_of, write_atomically
from memvault_models.manifest import FileSource, ModelEntry, PackageSource, UrlSource
from memvault_models.port import Progress

_CHUNK_BYTES = 1 << 18
_TIMEOUT_S = 30.0


class Stamp(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file was when its hash was last computed."""

    size: int
    mtime_ns: int
    sha256: str


def models_dir(cache_dir: Path) -> Path:
    """The folder of model files."""
    return cache_dir / "models"


def model_path(entry: ModelEntry, cache_dir: Path) -> Path:
    """Where the file of a model is, or will be."""
    if isinstance(entry.source, FileSource):
        return Path(entry.source.path)
    return models_dir(cache_dir) / entry.file


def is_verified(entry: ModelEntry, cache_dir: Path) -> bool:
    """Whether the file is there and unchanged since its hash was found right; reads no more than the
    stamp."""
    seen = _look(model_path(entry, cache_dir))
    return seen is not None and seen == _read_stamp(entry, cache_dir, seen)


def ensure_entry(entry: ModelEntry, cache_dir: Path, progress: Progress | None = None) -> Path:
    """Path of a whole, verified file, made or fetched when absent; waits for another process doing so.

    Progress counts bytes. Raises ModelSourceMissing, ModelDamaged, OSError (a full disk, say).
    """
    path = model_path(entry, cache_dir)
    if is_verified(entry, cache_dir):
        return path
    with locked(models_dir(cache_dir) / f"{entry.file}.lock"):
        if is_verified(entry, cache_dir):
            return path
        remove_parts(models_dir(cache_dir) / entry.file)
        if _verify(entry, path, cache_dir):
            return path
        _obtain(entry, path, progress)
        if not _verify(entry, path, cache_dir):
            raise ModelDamaged(f"the file of {entry.id} changed while it was written")
    return path


def _obtain(entry: ModelEntry, path: Path, progress: Progress | None) -> None:
    """Put the file in place, or raise; what does not match the manifest never gets its name."""
    fill: Callable[[Path], None]
    if isinstance(entry.source, PackageSource):
        fill = partial(_convert, entry, entry.source, progress)
    elif isinstance(entry.source, UrlSource):
        fill = partial(_download, entry, entry.source, progress)
    elif path.exists():
        raise ModelDamaged(f"{path} is not the file that was added as {entry.id}", "Add the file again.")
    else:
        raise ModelSourceMissing(f"{path}, added as {entry.id}, is gone", "Put the file back or add another.")
    replace_file(path, fill)


def _convert(entry: ModelEntry, source: PackageSource, progress: Progress | None, part: Path) -> None:
    # The writer's package takes 0.15 s to import and is needed once in a model's life.
    from memvault_models.convert import write_gguf

    container = read_container(find_resource(source.distribution, source.resource))
    write_gguf(container, part, entry.id, entry.licence, progress)
    _check(entry, part)


def _check(entry: ModelEntry, part: Path) -> None:
    size = part.stat().st_size
    if size != entry.size_bytes:
        raise ModelDamaged(f"{entry.id} came out as {size} bytes, the manifest says {entry.size_bytes}")
    if sha256_of(part) != entry.sha256:
        raise ModelDamaged(f"{entry.id} came out with another sha256 than the manifest says")


class _HttpsOnly(urllib.request.HTTPRedirectHandler):
    """Follows redirects to https addresses only."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> urllib.request.Request | None:
        if not newurl.lower().startswith("https://"):
            raise ModelSourceMissing("the address of the model leads away from https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


def _download(entry: ModelEntry, source: UrlSource, progress: Progress | None, part: Path) -> None:
    request = urllib.request.Request(source.url, headers={"Accept": "application/octet-stream"})  # noqa: S310 - the manifest admits https only
    opener = urllib.request.build_opener(_HttpsOnly)
    try:
        with opener.open(request, timeout=_TIMEOUT_S) as reply:
            _copy(entry, reply, part, progress)
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
        raise ModelSourceMissing(
            f"cannot fetch {entry.id}: {error}", "Check the network and pull again."
        ) from error
    _check(entry, part)


def _copy(entry: ModelEntry, reply: IO[bytes], part: Path, progress: Progress | None) -> None:
    """Write the reply, giving up as soon as it is longer than the manifest says."""
    done = 0
    with part.open("wb") as target:
        while chunk := reply.read(_CHUNK_BYTES):
            done += len(chunk)
            if done > entry.size_bytes:
                raise ModelDamaged(
                    f"{entry.id} is longer than the {entry.size_bytes} bytes the manifest says"
                )
            target.write(chunk)
            if progress is not None:
                progress(done, entry.size_bytes)


def _verify(entry: ModelEntry, path: Path, cache_dir: Path) -> bool:
    """Hash the file when its size is right, and stamp it when the hash is."""
    seen = _look(path)
    if seen is None or seen.size != entry.size_bytes or sha256_of(path) != entry.sha256:
        return False
    stamp = Stamp(seen.size, seen.mtime_ns, entry.sha256)
    write_atomically(_stamp_path(entry, cache_dir), msgspec.json.encode(stamp))
    return True


def _look(path: Path) -> Stamp | None:
    """Size and time of a file as a stamp without hash, none when there is no file."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return Stamp(found.st_size, found.st_mtime_ns, "")


def _read_stamp(entry: ModelEntry, cache_dir: Path, seen: Stamp) -> Stamp | None:
    """`seen` when the stamp confirms it for this entry's hash, else none."""
    try:
        stamp = msgspec.json.decode(_stamp_path(entry, cache_dir).read_bytes(), type=Stamp)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    return seen if stamp == Stamp(seen.size, seen.mtime_ns, entry.sha256) else None


def _stamp_path(entry: ModelEntry, cache_dir: Path) -> Path:
    return models_dir(cache_dir) / f"{entry.file}.stamp"
