"""The set-up script: its environment, its stamp, how it shows progress and how it fails."""

import sys
from pathlib import Path

import pytest

import bootstrap
import steps

ROOT = Path(__file__).resolve().parents[2]


def test_settings_that_bend_the_result_are_dropped_and_a_mirror_is_kept() -> None:
    given = {
        "PATH": "/bin",
        "PIP_INDEX_URL": "mirror",
        "PIP_FIND_LINKS": "/somewhere",
        "PIP_CONSTRAINT": "/somewhere/else.txt",
        "PIP_TARGET": "/elsewhere",
        "PIP_USER": "1",
        "PYTHONPATH": "/mine",
        "VIRTUAL_ENV": "/other",
    }
    env = bootstrap.clean_environment(given)
    assert env["PIP_CONSTRAINT"] == "/dev/null"
    assert {"PIP_INDEX_URL", "PIP_FIND_LINKS", "PATH"} <= env.keys()
    assert not {"PIP_TARGET", "PIP_USER", "PYTHONPATH", "VIRTUAL_ENV"} & env.keys()


def test_the_fingerprint_follows_lock_and_kind_of_build() -> None:
    names = {
        bootstrap.fingerprint("run.txt", False),
        bootstrap.fingerprint("dev.txt", False),
        bootstrap.fingerprint("run.txt", True),
    }
    assert len(names) == 3
    assert bootstrap.fingerprint("run.txt", False) in names


def test_settings_of_tools_ask_for_no_new_set_up_and_dependencies_do(tmp_path: Path) -> None:
    def part(text: str) -> bytes:
        project = tmp_path / "pyproject.toml"
        project.write_text(text, encoding="utf-8")
        return bootstrap._installed_part(project)

    usual = part("[project]\ndependencies = ['a']\n[tool.ruff]\nline-length = 110\n")
    assert part("[project]\ndependencies = ['a']\n[tool.ruff]\nline-length = 90\n") == usual
    assert part("[project]\ndependencies = ['a', 'b']\n[tool.ruff]\nline-length = 110\n") != usual


@pytest.fixture
def venv(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A finished set-up that consists of its stamp."""
    python = tmp_path / "bin/python"
    python.parent.mkdir()
    python.touch()
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "PYTHON", python)
    monkeypatch.setattr(bootstrap, "STAMP", tmp_path / "stamp.json")
    return tmp_path


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The labels of the steps that a set-up would run."""
    labels: list[str] = []
    monkeypatch.setattr(bootstrap, "run_step", lambda label, *rest: labels.append(label))
    monkeypatch.setattr(bootstrap, "_venv_abi", lambda env: bootstrap.llama_wheel.python_abi())
    monkeypatch.setattr(bootstrap.llama_wheel, "obtain", lambda *given: Path("llama.whl"))
    return labels


def test_a_second_set_up_does_nothing(venv: Path, ran: list[str]) -> None:
    assert bootstrap.main(["--dev"]) == 0
    assert len(ran) > 4
    ran.clear()
    assert bootstrap.main(["--dev"]) == 0
    assert bootstrap.main([]) == 0
    assert ran == []


def test_a_changed_lock_is_installed(venv: Path, ran: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    bootstrap.main([])
    ran.clear()
    monkeypatch.setattr(bootstrap, "fingerprint", lambda lock, portable: "another")
    assert bootstrap.main([]) == 0
    assert "installing the packages" in ran
    assert "installing llama.cpp" not in ran  # the wheel is the same


def test_an_interrupted_set_up_is_not_taken_for_a_finished_one(
    venv: Path, ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*given: object) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(bootstrap.llama_wheel, "obtain", stop)
    assert bootstrap.main([]) == 130
    assert not (venv / "stamp.json").exists()


def test_a_failed_step_is_told_without_a_traceback(
    venv: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*given: object) -> None:
        raise steps.StepFailed("no network")

    monkeypatch.setattr(bootstrap, "run_step", fail)
    assert bootstrap.main([]) == 1
    told = capsys.readouterr().err
    assert "no network" in told
    assert "Traceback" not in told


def test_an_old_python_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    assert bootstrap.main([]) == 1
    assert "Python 3.11 or newer" in capsys.readouterr().err


def test_a_step_reports_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []
    program = "print('first'); print('second', end='')"
    steps.run_step("trying", [sys.executable, "-c", program], {}, seen.append, ROOT)
    assert seen == ["first", "second"]
    assert "trying: done in" in capsys.readouterr().err


def test_a_failing_step_shows_the_end_of_its_output() -> None:
    program = "import sys; [print('line', n) for n in range(100)]; sys.exit(3)"
    with pytest.raises(steps.StepFailed) as caught:
        steps.run_step("trying", [sys.executable, "-c", program], {}, lambda line: None, ROOT)
    assert str(caught.value).endswith("line 99")
    assert "line 10\n" not in str(caught.value)


def test_without_a_terminal_a_line_comes_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr(steps.time, "monotonic", lambda: now)
    reporter = steps.Reporter("compiling")
    reporter.detail("[1/2] a.cpp")
    reporter.tick()
    assert capsys.readouterr().err == ""
    now = 110.5
    reporter.tick()
    assert capsys.readouterr().err == "  compiling (10 s) [1/2] a.cpp\n"
