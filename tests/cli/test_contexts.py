"""compile and compare: the documents of SPEC 14, text for people, blind verdicts in one step and in two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memvault.cli import contexts, options
from memvault.compile.task import MOST_BUDGET, Level, Mode
from memvault.model import Sensitivity

if TYPE_CHECKING:
    from conftest import Home

OBJECTIVE = "deploy the gateway"


def fill(home: Home, project: str) -> None:
    for kind, text in (
        ("policy", "Never deploy on a Friday."),
        ("preference", "Answer in short sentences."),
        ("fact", "The gateway is deployed by a script."),
    ):
        home.json(
            "add", text, "--kind", kind, "--scope", "private", "--source", "user:me", "--project", project
        )


def test_compile_answers_the_document_of_the_command_contract(shared: Home) -> None:
    fill(shared, "kdoc")
    found = shared.json("compile", "--objective", OBJECTIVE, "--project", "kdoc", "--budget", "400")
    assert found.keys() >= {"text", "zones", "tokens", "stable_hash", "left_out", "mode", "drift"}
    assert all({"name", "lines"} <= zone.keys() for zone in found["zones"])
    assert found["tokens"] <= 400
    assert "Never deploy on a Friday." in found["text"]


def test_compile_prints_the_text_and_nothing_else_on_stdout(shared: Home) -> None:
    fill(shared, "ktext")
    args = ("compile", "--objective", OBJECTIVE, "--project", "ktext", "--mode", "M1")
    done = shared.run(*args)
    assert done.status == 0
    assert done.out == shared.json(*args)["text"]
    assert "M1, ktext: " in done.err


def test_what_is_left_out_is_told_by_reason_and_an_empty_answer_says_why(fresh: Home) -> None:
    fresh.json("add", "Use a dry tone.", "--kind", "preference", "--scope", "private", "--source", "user:me",
               "--subject", "prose", "--attribute", "tone")  # fmt: skip
    done = fresh.run("compile", "--objective", OBJECTIVE, "--mode", "M0")
    assert done.out == ""
    assert "M0, no project: 0 of 1000 tokens" in done.err
    assert "left out: 1 preference is not loaded in M0" in done.err
    assert "what is remembered was left out" in done.err
    empty = fresh.run("compile", "--objective", OBJECTIVE, "--mode", "M0", "--sensitivity", "public")
    assert "left out:" not in empty.err
    assert "Nothing that this task needs is remembered." in empty.err


def test_the_objective_can_come_from_standard_input(shared: Home) -> None:
    fill(shared, "kstdin")
    found = shared.json("compile", "--objective", "-", "--project", "kstdin", given=OBJECTIVE.encode())
    assert "by a script" in found["text"]


def test_every_input_is_passed_on(shared: Home) -> None:
    fill(shared, "kall")
    found = shared.json(
        "compile", "--objective", OBJECTIVE, "--project", "kall", "--session", "s", "--risk", "high",
        "--novelty", "low", "--continuity", "high", "--sensitivity", "internal", "--time-sensitivity", "high",
    )  # fmt: skip
    assert found["mode"] == "M2"
    assert "Friday" in found["text"]
    assert "short sentences" not in found["text"], "not verified"


def test_wrong_use_is_named(shared: Home) -> None:
    assert "objective" in shared.error("compile", status=2)["message"]
    shared.error("compile", "--objective", "x", "--budget", "8001", status=2)
    shared.error("compile", "--objective", "x", "--mode", "M9", status=2)
    shared.error("compare", "--objective", "x", "--pick", "A", status=2)
    shared.error("compare", "--comparison", "0190b2c0-0000-7000-8000-000000000000", status=2)
    shared.error("compare", "--comparison", "0190b2c0-0000-7000-8000-000000000000", "--pick", "A", status=3)
    shared.error("compare", "--objective", "x", "--with-answer", "/nowhere", status=2)


def test_two_packs_are_printed_for_m4(shared: Home) -> None:
    fill(shared, "kfour")
    out = shared.run("compile", "--objective", OBJECTIVE, "--project", "kfour", "--mode", "M4").out
    first, second = out.split("Without memory")
    assert first.startswith("With memory")
    assert "by a script" in first
    assert "by a script" not in second
    assert "Friday" in second


def test_a_blind_comparison_in_two_steps(fresh: Home) -> None:
    fill(fresh, "app")
    shown = fresh.json("compare", "--objective", OBJECTIVE, "--project", "app", "--seed", "3")
    assert shown.keys() == {"comparison", "A", "B"}
    with_memory = "A" if "by a script" in shown["A"] else "B"
    verdict = fresh.json("compare", "--comparison", shown["comparison"], "--pick", with_memory)
    assert verdict["picked"] == "with"
    assert verdict["so_far"] == {"with": 1, "without": 0, "neither": 0}
    again = fresh.error("compare", "--comparison", shown["comparison"], "--pick", "B", status=7)
    assert "verdict already" in again["message"]
    text = fresh.run("compare", "--objective", OBJECTIVE, "--project", "app")
    assert "--pick" in text.err
    assert "with memory" not in (text.out + text.err).casefold(), "blind"


def test_on_a_terminal_the_verdict_is_asked_for(fresh: Home) -> None:
    fill(fresh, "app")
    one, two = fresh.root / "one.txt", fresh.root / "two.txt"
    one.write_text("made with it\n")
    two.write_text("made alone\n")
    done = fresh.on_terminal(
        "compare", "--objective", OBJECTIVE, "--with-answer", str(one), "--without-answer", str(two),
        answers=[("A, B or neither:", "neither")],
    )  # fmt: skip
    assert done.status == 0
    assert "made with it" in done.out
    assert "made alone" in done.out
    assert "picked: neither" in done.out


def test_the_index_is_printed(shared: Home) -> None:
    fill(shared, "kindex")
    out = shared.run("compile", "--index", "--project", "kindex").out
    assert "The gateway is deployed by a script." in out
    assert shared.json("compile", "--index", "--project", "kindex")["lines"] == len(out.splitlines())


def test_the_words_of_the_options_are_those_of_the_daemon() -> None:
    assert tuple(Mode) == contexts.MODES
    assert tuple(Level) == contexts.LEVELS
    assert tuple(Sensitivity) == options.SENSITIVITIES
    assert MOST_BUDGET == 8_000
