"""The wheel cache: what a build depends on, and that only whole, unchanged wheels are used."""

import hashlib
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path

import pytest

import llama_wheel
from llama_wheel import BuildKey, build_key
from locks import Pin

PIN = Pin("llama-cpp-python", "0.3.36", "", ("sha256:" + "a" * 64,))
ENV = {"PATH": "/usr/bin:/bin"}


def key(portable: bool = False, **changes: str) -> str:
    return build_key(PIN, portable, {**ENV, **changes}).digest()


def test_the_same_machine_gives_the_same_key() -> None:
    assert key() == key()


@pytest.mark.parametrize("field", [field.name for field in fields(BuildKey)])
def test_every_part_of_the_key_counts(field: str) -> None:
    usual = build_key(PIN, False, ENV)
    value = getattr(usual, field)
    other = replace(usual, **{field: (*value, "other") if isinstance(value, tuple) else value + "other"})
    assert other.digest() != usual.digest()


def test_version_flags_and_compiler_settings_change_the_key() -> None:
    newer = build_key(replace(PIN, version="0.3.37"), False, ENV).digest()
    keys = {key(), newer, key(portable=True), key(CMAKE_ARGS="-DGGML_CUDA=ON"), key(CXXFLAGS="-O1")}
    assert len(keys) == 5


def test_another_python_changes_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = key()
    monkeypatch.setattr(llama_wheel, "python_abi", lambda: "cpython-399")
    assert key() != usual


def test_another_processor_changes_the_key_of_a_native_build_only(monkeypatch: pytest.MonkeyPatch) -> None:
    native, portable = key(), key(portable=True)
    monkeypatch.setattr(llama_wheel, "_cpu_features", lambda: "flags: none of those")
    assert key() != native
    assert key(portable=True) == portable


def test_the_trim_file_changes_the_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usual = key()
    other = tmp_path / "trim.cmake"
    other.write_text("set(LLAMA_BUILD_COMMON ON)\n")
    monkeypatch.setattr(llama_wheel, "TRIM_FILE", other)
    assert key() != usual


def test_the_cache_folder_ignores_a_relative_setting(tmp_path: Path) -> None:
    assert llama_wheel.cache_folder({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "memvault/wheels"
    assert llama_wheel.cache_folder({"XDG_CACHE_HOME": "here"}) == Path.home() / ".cache/memvault/wheels"


class Builder:
    """Stands for the compiler: counts its calls and leaves a wheel of a few bytes."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(
        self, pin: Pin, flags: tuple[str, ...], env: Mapping[str, str], python: Path, scratch: Path
    ) -> Path:
        self.calls += 1
        out = scratch / "out"
        out.mkdir()
        (out / "llama.whl").write_bytes(b"wheel")
        (out / "SHA256").write_text(hashlib.sha256(b"wheel").hexdigest() + "\n")
        return out


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> Builder:
    made = Builder()
    monkeypatch.setattr(llama_wheel, "_build", made)
    monkeypatch.setattr(llama_wheel, "_require_compilers", lambda env: None)
    return made


def obtain(tmp_path: Path) -> Path:
    return llama_wheel.obtain(PIN, False, {**ENV, "XDG_CACHE_HOME": str(tmp_path)}, Path("python"))


def test_a_wheel_is_built_once(builder: Builder, tmp_path: Path) -> None:
    assert obtain(tmp_path) == obtain(tmp_path)
    assert builder.calls == 1


def test_a_changed_wheel_is_built_anew(builder: Builder, tmp_path: Path) -> None:
    obtain(tmp_path).write_bytes(b"other")
    assert obtain(tmp_path).read_bytes() == b"wheel"
    assert builder.calls == 2


def test_a_failed_build_leaves_nothing(
    builder: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> Path:
        builder(*given)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(llama_wheel, "_build", fail)
    with pytest.raises(KeyboardInterrupt):
        obtain(tmp_path)
    assert list((tmp_path / "memvault/wheels").iterdir()) == []


def test_progress_shows_the_step_and_the_file() -> None:
    line = "  [37/83] /usr/bin/g++ -O3 -MF x.o.d -o x.o -c /tmp/src/llama-vocab.cpp"
    assert llama_wheel._describe_build(line) == "[37/83] llama-vocab.cpp"
    assert llama_wheel._describe_build("  -- Configuring done") is None
