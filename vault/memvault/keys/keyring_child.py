"""The process that talks to the system keychain, so that a hanging one can be ended after five seconds.

Reads one JSON request on standard input, writes one JSON answer on standard output, ends. The secret travels
in these two pipes only: never in arguments, environment, logs or a core dump. Owns the choice of the backend;
knows nothing of vaults. Never makes the desktop ask for a password: nobody may be looking at it.

Request: {"op": "probe" | "get" | "set" | "delete", "service", "account", "secret" (set), "allowed": [class
names], "expected": class name or null}. Answer: {"status": "ok" | "locked" | "unsafe" | "changed" | "failed",
"backend": class name or null, "secret": text or null (get), "reason": a few words}.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from contextlib import closing
from pathlib import Path
from typing import Any


class Trouble(Exception):
    """An answer other than ok."""

    def __init__(self, status: str, reason: str, backend: str | None = None) -> None:
        super().__init__(reason)
        self.answer = {"status": status, "reason": reason, "backend": backend}


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    _find_session_bus()
    request = json.load(sys.stdin.buffer)
    try:
        answer = _serve(request)
    except Trouble as trouble:
        answer = trouble.answer
    except Exception as error:  # noqa: BLE001  this process's boundary: backends raise what their platform does
        answer = {"status": "failed", "backend": None, "reason": type(error).__name__}
    with os.fdopen(answers, "w") as stream:
        json.dump(answer, stream)
    os._exit(0)


def _find_session_bus() -> None:
    """A shell without a desktop's environment still finds the user's bus where systemd puts it."""
    socket = Path(os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")) / "bus"
    if "DBUS_SESSION_BUS_ADDRESS" not in os.environ and socket.is_socket():
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={socket}"


def _serve(request: dict[str, Any]) -> dict[str, Any]:
    from keyring.errors import KeyringLocked, NoKeyringError, PasswordDeleteError

    operation, service, account = request["op"], request["service"], request["account"]
    ring, name = _select(request["allowed"], request["expected"])
    secret: str | None = None
    try:
        there = _refuse_locked(ring, name)
        if operation == "get" and there:
            secret = ring.get_password(service, account)
        elif operation == "set":
            if not there:
                raise Trouble("locked", "it has no default keyring yet", name)
            ring.set_password(service, account, request["secret"])
        elif operation == "delete" and there:
            ring.delete_password(service, account)
    except KeyringLocked:
        raise Trouble("locked", "", name) from None
    except NoKeyringError:
        raise Trouble("unsafe", "there is none", name) from None
    except UnicodeDecodeError:
        raise Trouble("changed", "what it keeps is no text", name) from None
    except PasswordDeleteError:
        secret = None
    return {"status": "ok", "backend": name, "secret": secret, "reason": ""}


def _select(allowed: list[str], expected: str | None) -> tuple[Any, str]:
    """The backend that keyring's own detection and the user's configuration choose, if its class is allowed.

    Of several, which keyring chains, only allowed ones count, and the expected one comes first.
    """
    import keyring
    from keyring.backends.chainer import ChainerBackend

    chosen: Any = keyring.get_keyring()
    members: list[Any] = list(ChainerBackend.backends) if type(chosen) is ChainerBackend else [chosen]
    names = [_class_name(ring) for ring in members]
    fit = [(ring, name) for ring, name in zip(members, names, strict=True) if name in allowed]
    if not fit:
        what = ", ".join(names) or "none"
        none_at_all = names == ["keyring.backends.fail.Keyring"]
        reason = "there is none" if none_at_all else f"{what} does not keep secrets safely"
        raise Trouble("unsafe", reason, None if none_at_all else what)
    for ring, name in fit:
        if name == expected:
            return ring, name
    if expected is not None:
        raise Trouble("changed", f"{fit[0][1]} answers instead of {expected}", fit[0][1])
    return fit[0]


def _class_name(ring: object) -> str:
    """Where the class really lives; one that only claims a module's name gets its claim marked."""
    kind = type(ring)
    name = f"{kind.__module__}.{kind.__qualname__}"
    home = sys.modules.get(kind.__module__)
    return name if getattr(home, kind.__qualname__, None) is kind else f"{name} (not the original)"


def _refuse_locked(ring: Any, name: str) -> bool:
    """Whether there is a keyring to look into; only the Secret Service can say so before it asks the user."""
    if name != "keyring.backends.SecretService.Keyring":
        return True
    import secretstorage
    from secretstorage.collection import DEFAULT_COLLECTION

    path = getattr(ring, "preferred_collection", DEFAULT_COLLECTION)
    with closing(secretstorage.dbus_init()) as bus:
        try:
            locked = secretstorage.Collection(bus, path).is_locked()
        except secretstorage.ItemNotFoundException:
            return False
    if locked:
        raise Trouble("locked", "", name)
    return True


if __name__ == "__main__":
    main()
