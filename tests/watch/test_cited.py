"""Files that memories cite are read so that nobody can lead the reader elsewhere."""

from __future__ import annotations

import hashlib
import os
import socket
import threading
from pathlib import Path

import pytest

from memvault.watch.cited import MOST_BYTES, Cited, Lack, bare, is_secret, project_root, read, stamp


def written(path: Path, text: str = "The queue is redis.\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_plain_file_is_read_with_its_hash(tmp_path: Path) -> None:
    path = written(tmp_path / "a.md", "one\r\ntwo\rthree\n")
    found = read(str(path))
    assert isinstance(found, Cited)
    assert found.text == "one\ntwo\nthree\n"
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.plain
    assert found.changed_at == path.stat().st_ctime


def test_nothing_there_is_missing_and_not_unreadable(tmp_path: Path) -> None:
    assert read(str(tmp_path / "a.md")) is Lack.MISSING
    assert read(str(tmp_path / "no" / "a.md")) is Lack.MISSING
    assert read(str(written(tmp_path / "a") / "b.md")) is Lack.MISSING


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link.md").symlink_to(written(tmp_path / "a.md"))
    assert read(str(tmp_path / "link.md")) is Lack.UNREADABLE


def test_a_file_behind_a_linked_folder_is_judged_by_where_it_lies(tmp_path: Path) -> None:
    written(tmp_path / "vault" / "notes.md")
    written(tmp_path / "free" / "notes.md")
    for name in ("vault", "free"):
        (tmp_path / f"to-{name}").symlink_to(tmp_path / name)
    assert read(str(tmp_path / "to-vault" / "notes.md"), [tmp_path / "vault"]) is Lack.UNREADABLE
    found = read(str(tmp_path / "to-free" / "notes.md"), [tmp_path / "vault"])
    assert isinstance(found, Cited)
    assert (found.path, found.plain) == (str(tmp_path / "free" / "notes.md"), False)


def test_dots_lead_nowhere_else(tmp_path: Path) -> None:
    written(tmp_path / "vault" / "config.toml")
    (tmp_path / "free").mkdir()
    around = f"{tmp_path}/free/../vault/config.toml"
    assert read(around, [tmp_path / "vault"]) is Lack.UNREADABLE


@pytest.mark.timeout(20)
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert read(str(tmp_path / "pipe.md")) is Lack.UNREADABLE


def test_devices_sockets_and_folders_are_not_opened(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(tmp_path / "s"))
        assert read(str(tmp_path / "s")) is Lack.UNREADABLE
    assert read("/dev/null") is Lack.UNREADABLE
    assert read(str(tmp_path)) is Lack.UNREADABLE


@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/self/cmdline", "/proc/self/status"])
def test_the_kernels_own_files_are_not_read(path: str) -> None:
    assert Path(path).exists()
    assert read(path) is Lack.UNREADABLE


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "big.md").open("wb") as opened:
        opened.truncate(MOST_BYTES + 1)
    assert read(str(tmp_path / "big.md")) is Lack.UNREADABLE
    (tmp_path / "fits.md").write_bytes(b"x" * MOST_BYTES)
    assert isinstance(read(str(tmp_path / "fits.md")), Cited)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_not_read(tmp_path: Path) -> None:
    os.chown(written(tmp_path / "a.md"), 12_345, -1)
    assert read(str(tmp_path / "a.md")) is Lack.UNREADABLE


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"a\x00b", b"\xc3\x28"])
def test_what_is_no_text_is_not_read(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.md").write_bytes(data)
    assert read(str(tmp_path / "a.md")) is Lack.UNREADABLE


@pytest.mark.parametrize(
    "name",
    [".env", ".env.local", "server.key", "ID_RSA", "credentials.json", ".ssh/known_hosts", ".git/config"],
)
def test_what_keeps_secrets_is_not_read(tmp_path: Path, name: str) -> None:
    assert read(str(written(tmp_path / name))) is Lack.UNREADABLE


@pytest.mark.parametrize("name", ["env.md", "docs/keys.md", "idea.md", ".github/workflow.yml", "monkey.py"])
def test_ordinary_names_are_no_secrets(name: str) -> None:
    assert not is_secret(f"/project/{name}")


@pytest.mark.parametrize(
    "path", ["a.md", "", "/", "/tmp/..", "/tmp/a\0b", "/" + "x" * 5_000, "/" + "y/" * 5_000]
)
def test_what_is_no_absolute_path_of_a_file_is_refused(path: str) -> None:
    assert isinstance(read(path), Lack)


def test_a_second_name_or_a_file_that_everybody_writes_is_not_plain(tmp_path: Path) -> None:
    one = written(tmp_path / "a.md")
    os.link(one, tmp_path / "b.md")
    found = read(str(one))
    assert isinstance(found, Cited)
    assert not found.plain
    (tmp_path / "b.md").unlink()
    one.chmod(0o666)
    found = read(str(one))
    assert isinstance(found, Cited)
    assert not found.plain


def test_the_hash_is_of_what_was_read_whoever_swaps_the_file(tmp_path: Path) -> None:
    """A thread puts one of two files in its place, and links to a third, as fast as it can."""
    path, secret = tmp_path / "a.md", written(tmp_path / "secret.txt", "the secret\n")
    texts, done = ("one\n" * 2_000, "two\n" * 3_000), threading.Event()
    written(path, texts[0])

    def swap() -> None:
        turn = 0
        while not done.is_set():
            fresh = tmp_path / f"new{turn}"
            if turn % 3 == 2:
                fresh.symlink_to(secret)
            else:
                fresh.write_text(texts[turn % 3])
            fresh.replace(path)
            turn += 1

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        found = [read(str(path)) for _ in range(500)]
    finally:
        done.set()
        thread.join()
    seen = [one for one in found if isinstance(one, Cited)]
    assert seen, "it is read now and then"
    assert {one.text for one in seen} <= set(texts)
    assert all(one.sha256 == hashlib.sha256(one.text.encode()).hexdigest() for one in seen)


def test_a_file_that_is_written_or_replaced_has_another_stamp(tmp_path: Path) -> None:
    path = written(tmp_path / "a.md")
    before = stamp(str(path))
    assert before == stamp(str(path))
    written(tmp_path / "b.md").replace(path)
    assert before != stamp(str(path))
    path.unlink()
    assert stamp(str(path)) is None


@pytest.mark.parametrize(
    ("ref", "path"),
    [
        ("/a.md", "/a.md"),
        ("/a.md#b", "/a.md"),
        ("/a.md:12", "/a.md"),
        ("/a.md:12-20", "/a.md"),
        ("/a#b:3", "/a"),
    ],
)
def test_an_anchor_or_a_line_is_no_part_of_the_path(ref: str, path: str) -> None:
    assert bare(ref) == path


def test_a_project_is_the_nearest_repository_and_never_all_of_a_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "u" / "p" / "docs").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "u"))
    assert project_root(tmp_path / "u" / "p" / "docs") is None
    (tmp_path / "u" / ".git").mkdir()
    assert project_root(tmp_path / "u" / "p" / "docs") is None
    (tmp_path / "u" / "p" / ".git").mkdir()
    assert project_root(tmp_path / "u" / "p" / "docs") == tmp_path / "u" / "p"
