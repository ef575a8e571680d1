"""Passphrases are read from the first line of a file, and from nothing that is not a readable text file."""

from __future__ import annotations

from pathlib import Path

import pytest

from memvault.cli import passphrase
from memvault.cli.options import Settings
from memvault.cli.output import Output
from memvault.errors import Usage

OUT = Output(Settings(None, False, False, False, None))


@pytest.mark.parametrize(
    ("data", "secret"),
    [
        (b"one two\n", "one two"),
        (b"one two", "one two"),
        (b"one two\r\nsecond line\n", "one two"),
        (b" spaces stay \n", " spaces stay "),
        ("密码 é\n".encode(), "密码 é"),
    ],
)
def test_the_first_line_counts_without_its_end(tmp_path: Path, data: bytes, secret: str) -> None:
    file = tmp_path / "p"
    file.write_bytes(data)
    assert passphrase.read(file, OUT) == secret


@pytest.mark.parametrize("data", [b"", b"\nsecond", b"\xff\xfe\n", b"x" * 5000])
def test_an_unusable_first_line_is_a_usage_error(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "p"
    file.write_bytes(data)
    with pytest.raises(Usage):
        passphrase.read(file, OUT)


def test_a_folder_or_nothing_is_a_usage_error_that_names_the_path(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(Usage, match=str(path)):
            passphrase.read(path, OUT)


def test_the_option_goes_before_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(passphrase.VARIABLE, "/from/variable")
    assert passphrase.source("/from/option") == passphrase.Source(Path("/from/option"), True)
    assert passphrase.source(None) == passphrase.Source(Path("/from/variable"), False)
    monkeypatch.delenv(passphrase.VARIABLE)
    assert passphrase.source(None) is None
