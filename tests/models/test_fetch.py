from __future__ import annotations

import io
import os
import signal
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from memvault_models import ModelDamaged, ModelSourceMissing, fetch
from memvault_models.fetch import ensure_entry, is_verified, model_path
from memvault_models.files import locked, make_private_dir, replace_file
from memvault_models.manifest import FileSource, ModelEntry, PackageSource, UrlSource

MakeEntry = Callable[[Path, FileSource | UrlSource], ModelEntry]
URL = UrlSource("https://models.invalid/tiny.gguf")


class _Opener:
    """Answers every request with fixed bytes."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.opened = 0

    def open(self, _request: urllib.request.Request, timeout: float) -> io.BytesIO:
        assert timeout > 0
        self.opened += 1
        return io.BytesIO(self.body)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], _Opener]:
    def with_body(body: bytes) -> _Opener:
        opener = _Opener(body)
        monkeypatch.setattr(urllib.request, "build_opener", lambda *_: opener)
        return opener

    return with_body


def test_fetches_once_verifies_and_remembers(
    serve: Callable[[bytes], _Opener], tiny_gguf: Path, make_entry: MakeEntry, tmp_path: Path
) -> None:
    opener = serve(tiny_gguf.read_bytes())
    entry, cache = make_entry(tiny_gguf, URL), tmp_path / "cache"
    seen: list[tuple[int, int]] = []
    path = ensure_entry(entry, cache, lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == tiny_gguf.read_bytes()
    assert seen[-1] == (entry.size_bytes, entry.size_bytes)
    assert ensure_entry(entry, cache) == path
    assert opener.opened == 1
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in [cache, *cache.rglob("*")]}
    assert all(
        mode == (0o700 if (cache / name).is_dir() or name in {"cache", "models"} else 0o600)
        for name, mode in modes.items()
    )


def test_later_opens_do_not_hash(
    serve: Callable[[bytes], _Opener],
    tiny_gguf: Path,
    make_entry: MakeEntry,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    serve(tiny_gguf.read_bytes())
    entry = make_entry(tiny_gguf, URL)
    ensure_entry(entry, tmp_path)

    def never(*_: object) -> str:
        raise AssertionError("hashed again")

    monkeypatch.setattr(fetch, "sha256_of", never)
    assert ensure_entry(entry, tmp_path) == model_path(entry, tmp_path)


@pytest.mark.parametrize("wrong", [b"", b"GGUF", b"x" * 100_000])
def test_wrong_bytes_never_get_the_name(
    wrong: bytes, serve: Callable[[bytes], _Opener], tiny_gguf: Path, make_entry: MakeEntry, tmp_path: Path
) -> None:
    serve(wrong)
    entry = make_entry(tiny_gguf, URL)
    with pytest.raises(ModelDamaged):
        ensure_entry(entry, tmp_path)
    assert sorted(p.name for p in (tmp_path / "models").iterdir()) == ["tiny.gguf.lock"]


def test_same_size_other_bytes_are_damaged(
    serve: Callable[[bytes], _Opener], tiny_gguf: Path, make_entry: MakeEntry, tmp_path: Path
) -> None:
    serve(tiny_gguf.read_bytes()[:-1] + b"\xff")
    with pytest.raises(ModelDamaged, match="sha256"):
        ensure_entry(make_entry(tiny_gguf, URL), tmp_path)


def test_changed_file_is_noticed_and_replaced(
    serve: Callable[[bytes], _Opener], tiny_gguf: Path, make_entry: MakeEntry, tmp_path: Path
) -> None:
    opener = serve(tiny_gguf.read_bytes())
    entry = make_entry(tiny_gguf, URL)
    path = ensure_entry(entry, tmp_path)
    path.write_bytes(path.read_bytes()[:-1] + b"\xff")
    os.utime(path, ns=(1, 1))
    assert not is_verified(entry, tmp_path)
    ensure_entry(entry, tmp_path)
    assert path.read_bytes() == tiny_gguf.read_bytes()
    assert opener.opened == 2


def test_network_faults_are_missing_sources(
    tiny_gguf: Path, make_entry: MakeEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def open(self, *_: object, **__: object) -> io.BytesIO:
            raise urllib.error.URLError("no route")

    monkeypatch.setattr(urllib.request, "build_opener", lambda *_: Broken())
    with pytest.raises(ModelSourceMissing, match="no route"):
        ensure_entry(make_entry(tiny_gguf, URL), tmp_path)


def test_redirects_away_from_https_are_refused() -> None:
    handler = fetch._HttpsOnly()
    with pytest.raises(ModelSourceMissing, match="https"):
        handler.redirect_request(
            urllib.request.Request(URL.url),
            io.BytesIO(),
            302,
            "",
            __import__("email").message.Message(),
            "http://x/",
        )


def test_the_users_own_file_is_used_where_it_lies(
    tiny_entry: ModelEntry, tiny_gguf: Path, tmp_path: Path
) -> None:
    assert ensure_entry(tiny_entry, tmp_path) == tiny_gguf
    assert not list(tmp_path.rglob("*.gguf"))
    changed = msgspec.structs.replace(tiny_entry, sha256="0" * 64)
    with pytest.raises(ModelDamaged):
        ensure_entry(changed, tmp_path)
    gone = msgspec.structs.replace(tiny_entry, source=FileSource(str(tmp_path / "gone.gguf")))
    with pytest.raises(ModelSourceMissing):
        ensure_entry(gone, tmp_path)


def test_absent_package_says_so(tiny_entry: ModelEntry, tmp_path: Path) -> None:
    entry = msgspec.structs.replace(tiny_entry, source=PackageSource("no-such-distribution", "a/b.bin"))
    with pytest.raises(ModelSourceMissing, match="no-such-distribution"):
        ensure_entry(entry, tmp_path)


def test_a_failed_writer_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_bytes(b"old")

    def fail(part: Path) -> None:
        part.write_bytes(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        replace_file(target, fail)
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_missing_parents_are_private(tmp_path: Path) -> None:
    make_private_dir(tmp_path / "a" / "b")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700


def test_lock_frees_when_its_holder_dies(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from memvault_models.files import locked\n"
        "with locked(Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-P", "-c", code, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        holder.send_signal(signal.SIGKILL)
        started = time.monotonic()
        with locked(tmp_path / "lock"):
            assert time.monotonic() - started < 10
