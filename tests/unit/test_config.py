"""config.toml: what the gate takes from it, and theta written without touching anything else."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.config import load, write_theta
from memvault.errors import ConfigInvalid

FULL = """# my settings
[lock]
idle_minutes = 5   # short

[gate]  # how strict
# chosen by hand
theta = 0.7  # was 0.6
chat_model = "models/small.gguf"

[model]
id = "x"
"""


def test_the_gate_has_no_theta_and_no_chat_model_of_its_own_by_default(tmp_path: Path) -> None:
    found = load(tmp_path / "config.toml")
    assert (found.theta, found.chat_model) == (None, None)


def test_there_is_no_reranker_by_default_and_its_bounds_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    found = load(path)
    assert (found.reranker, found.reranker_hits, found.reranker_within_s) == (None, 20, 0.15)
    path.write_text('[recall]\nreranker = "judge"\nreranker_hits = 8\nreranker_ms = 600\n')
    found = load(path)
    assert (found.reranker, found.reranker_hits, found.reranker_within_s) == ("judge", 8, 0.6)
    for wrong in ("reranker_hits = 1", "reranker_hits = 101", "reranker_ms = 9", "reranker_ms = 60001"):
        path.write_text(f"[recall]\n{wrong}\n")
        with pytest.raises(ConfigInvalid, match=wrong.split()[0]):
            load(path)


def test_theta_and_the_chat_model_are_read_and_a_relative_path_starts_at_the_file(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(FULL)
    found = load(path)
    assert (found.theta, found.chat_model) == (0.7, tmp_path / "models" / "small.gguf")


@pytest.mark.parametrize(
    "text",
    [
        "[gate]\ntheta = 0\n",
        "[gate]\ntheta = 1.01\n",
        "[gate]\ntheta = nan\n",
        "[gate]\ntheta = 'x'\n",
        "[gate]\nteta = 0.5\n",
        "[gate\n",
        "gate = 3\n",
    ],
)
def test_a_theta_out_of_range_or_a_misspelt_key_is_refused_naming_the_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigInvalid, match=r"config\.toml"):
        load(path)
    with pytest.raises(ConfigInvalid, match=r"config\.toml"):
        write_theta(path, 0.5)
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (FULL, FULL.replace("theta = 0.7  # was 0.6", "theta = 0.55  # was 0.6")),
        ("", "[gate]\ntheta = 0.55\n"),
        ("[lock]\nidle_minutes = 5", "[lock]\nidle_minutes = 5\n\n[gate]\ntheta = 0.55\n"),
        ("[gate]", "[gate]\ntheta = 0.55\n"),
        ("[gate]\n# none\n\n[lock]\n", "[gate]\ntheta = 0.55\n# none\n\n[lock]\n"),
        (
            '[gate]\nchat_model = "a # b"\n  theta=0.9\n',
            '[gate]\nchat_model = "a # b"\n  theta=0.55\n',
        ),
    ],
)
def test_setting_theta_keeps_every_other_line_and_comment(tmp_path: Path, before: str, after: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(before)
    write_theta(path, 0.55)
    assert path.read_text() == after
    assert load(path).theta == 0.55


@pytest.mark.parametrize("text", ["gate.theta = 0.7\n", "gate = {theta = 0.7}\n", "[gate]\n'theta' = 0.7\n"])
def test_a_file_that_sets_theta_in_an_unusual_way_is_left_to_the_person(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigInvalid, match="cannot be changed safely"):
        write_theta(path, 0.55)
    assert path.read_text() == text


def test_the_file_is_replaced_at_once_keeps_its_mode_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(FULL)
    path.chmod(0o640)
    before = path.stat().st_ino
    with path.open() as reading:
        write_theta(path, 0.55)
        assert reading.read() == FULL, "who reads the old file reads it whole"
    assert path.stat().st_ino != before
    assert path.stat().st_mode & 0o777 == 0o640
    assert [found.name for found in tmp_path.iterdir()] == ["config.toml"]


def test_a_new_file_is_for_its_owner_alone_and_a_link_stays_a_link(tmp_path: Path) -> None:
    fresh, link, target = tmp_path / "fresh.toml", tmp_path / "link.toml", tmp_path / "target.toml"
    write_theta(fresh, 0.5)
    assert fresh.stat().st_mode & 0o777 == 0o600
    target.write_text("")
    link.symlink_to(target)
    write_theta(link, 0.5)
    assert link.is_symlink()
    assert load(target).theta == 0.5


LINES = st.sampled_from(
    ["[lock]", "idle_minutes = 3", "[gate]", "theta = 0.4 # mine", "# theta = 0.1", "", "[model]",
     'id = "[gate]"', 'chat_model = """', '"""', "absolute_hours = 1"]
)  # fmt: skip


@given(st.lists(LINES, max_size=8), st.floats(0.01, 1))
def test_whatever_the_file_says_only_theta_changes_or_nothing(found: list[str], theta: float) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path, theta = Path(folder) / "config.toml", round(theta, 4)
        text = "\n".join(found)
        path.write_text(text)
        try:
            write_theta(path, theta)
        except ConfigInvalid:
            assert path.read_text() == text
            return
        wanted = tomllib.loads(text)
        wanted["gate"] = {**wanted.get("gate", {}), "theta": theta}
        assert tomllib.loads(path.read_text()) == wanted
