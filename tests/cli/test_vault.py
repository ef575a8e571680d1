"""init, unlock, lock, status and doctor: documents, exit statuses, and what is asked of whom."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Home


def test_init_prints_the_recovery_code_once_and_leaves_the_vault_open(bare: Home) -> None:
    made = bare.json("init", "--no-keychain")
    assert {"vault", "slots", "recovery_code"} <= set(made)
    assert {slot["type"] for slot in made["slots"]} == {"passphrase", "recovery"}
    status = bare.json("status")
    assert (status["state"], status["memories"]) == ("unlocked", 0)
    assert made["recovery_code"] not in bare.run("status").out
    assert stat.S_IMODE(bare.path.stat().st_mode) == 0o700

    code = bare.root / "code.txt"
    code.write_text(made["recovery_code"] + "\n")
    bare.json("lock")
    assert bare.json("unlock", "--recovery-file", str(code))["state"] == "unlocked"


def test_a_second_init_is_refused_and_changes_nothing(fresh: Home) -> None:
    before = (fresh.path / "vault.json").read_bytes()
    error = fresh.error("init", "--no-keychain", status=2)
    assert "already" in error["message"]
    assert (fresh.path / "vault.json").read_bytes() == before


def test_init_without_passphrase_and_terminal_fails_with_a_hint(bare: Home) -> None:
    error = bare.error("init", "--no-keychain", status=2, env={"MEMVAULT_PASSPHRASE_FILE": ""})
    assert "--passphrase-file" in error["hint"]
    assert not (bare.path / "vault.json").exists()


def test_status_exits_0_in_every_state(bare: Home) -> None:
    absent = bare.json("status")
    assert (absent["state"], absent["memories"]) == ("absent", None)
    assert absent["daemon"]["pid"] > 0
    assert absent["daemon"]["protocol"] == 1
    bare.json("init", "--no-keychain")
    assert bare.json("lock")["state"] == "locked"
    assert bare.json("status")["memories"] is None
    assert bare.run("status").status == 0


def test_a_locked_vault_answers_4_until_it_is_unlocked(fresh: Home) -> None:
    made = fresh.add("The spare key hangs behind the red door.")
    fresh.json("lock")
    for args in (("list",), ("recall", "key"), ("get", made["id"]), ("inbox",), ("runs",), ("export", "-")):
        error = fresh.error(*args, status=4)
        assert error["code"] == "locked"
        assert "unlock" in error["hint"]
    assert fresh.json("unlock")["state"] == "unlocked"
    assert fresh.json("get", made["id"])["content"] == "The spare key hangs behind the red door."


def test_a_wrong_passphrase_is_told_apart_and_opens_nothing(fresh: Home) -> None:
    fresh.json("lock")
    wrong = fresh.root / "wrong.txt"
    wrong.write_text("something else\n")
    assert fresh.error("unlock", "--passphrase-file", str(wrong), status=4)["code"] == "wrong_key"
    assert fresh.json("status")["state"] == "locked"


def test_without_a_vault_every_command_says_so(bare: Home) -> None:
    for args in (("list",), ("recall", "x"), ("unlock",), ("inbox",)):
        assert bare.error(*args, status=4)["code"] == "absent", args


def test_home_is_taken_before_and_after_the_command(bare: Home) -> None:
    other = bare.beside("o")
    bare.json("--home", str(other.path), "init", "--no-keychain")
    assert bare.json("status")["state"] == "absent"
    assert bare.json("status", "--home", str(other.path))["state"] == "unlocked"
    assert bare.json("--home", "/nonexistent", "status", "--home", str(other.path))["state"] == "unlocked"
    other.stop()


def test_doctor_names_each_check_and_how_to_mend_it(fresh: Home) -> None:
    healthy = fresh.json("doctor")
    names = {check["name"] for check in healthy["checks"]}
    assert {"home", "socket path", "daemon", "version", "model"} <= names
    assert healthy["ok"] is True
    fresh.path.chmod(0o755)
    try:
        ill = fresh.json("doctor", status=1)
    finally:
        fresh.path.chmod(0o700)
    fixes = {check["name"]: check["fix"] for check in ill["checks"] if not check["ok"]}
    assert fixes["home"] == f"chmod 0700 {fresh.path}"


def test_a_person_at_a_terminal_is_asked_twice_and_shown_the_code(bare: Home) -> None:
    done = bare.on_terminal(
        "init", "--no-keychain",
        answers=[("New passphrase: ", "one"), ("Once more: ", "two"), ("New passphrase: ", bare.passphrase),
                 ("Once more: ", bare.passphrase)],
        env={"MEMVAULT_PASSPHRASE_FILE": ""},
    )  # fmt: skip
    assert done.status == 0, done
    assert "differ" in done.out
    assert "shown this once" in done.out
    assert bare.passphrase not in done.out
    assert bare.json("lock")["state"] == "locked"
    opened = bare.on_terminal(
        "unlock",
        answers=[("Passphrase: ", "wrong"), ("Passphrase: ", bare.passphrase)],
        env={"MEMVAULT_PASSPHRASE_FILE": ""},
    )
    assert opened.status == 0, opened
    assert "unlocked, 0 memories" in opened.out


def test_below_an_agent_host_the_passphrase_itself_is_the_proof(bare: Home) -> None:
    marked = {"AGENT": "1"}
    assert bare.json("init", "--no-keychain", env=marked)["recovery_code"]
    bare.json("lock", env=marked)
    assert bare.json("unlock", env=marked)["state"] == "unlocked"


def test_serve_runs_the_daemon_until_it_is_told_to_stop(bare: Home) -> None:
    program = Path(sys.executable).with_name("memvault")
    with subprocess.Popen([str(program), "serve"], env=bare.env, start_new_session=True) as server:
        socket = bare.path / "run" / "daemon.sock"
        deadline = time.monotonic() + 30
        while not socket.exists() and time.monotonic() < deadline:
            os.sched_yield()
        assert bare.json("status")["daemon"]["pid"] == server.pid
        server.terminate()
        assert server.wait(timeout=30) == 0
    assert not socket.exists()
