"""A hostile client: sends seeded nonsense to a daemon's socket and reports what came back as JSON.

`python -P fuzzing.py HOME SEED CASES ROLE`. ROLE (person, agent, locked) says what may be answered: a person
who has shown no presence, a process with an agent's mark, anybody at a locked vault.
"""

from __future__ import annotations

import json
import random
import string
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from memvault import launch
from memvault.daemon.document import errors_of
from memvault.daemon.handlers import table
from memvault.daemon.methods import Method, Who
from memvault.errors import BY_CODE, MemvaultError
from memvault.paths import HomeLayout
from memvault.rpc import framing
from memvault.rpc.contract import CONTRACTS, EVERY

CANARIES = {
    "person": (),
    "agent": ("canaryrestricted", "canaryforeign"),
    "locked": ("canaryrestricted", "canaryforeign", "canaryplain"),
}
"""Words of memories that the role must never be sent."""
ALLOWED = {
    "person": {Who.ANYONE, Who.READER, Who.PERSON},
    "agent": {Who.ANYONE, Who.READER},
    "locked": {Who.ANYONE},
}
HARMLESS_UNLOCKED = {"backup.list", "events.subscribe", "import.found", "vault.check", "vault.recover"}
"""Of a person's methods those that say nothing of memories and so answer at a locked vault as well."""
NEVER_ANSWERED = {"import.run", "backup.restore", "backup.make"}
LEFT_OUT = {"shutdown", "vault.lock", "vault.keychain_probe", "keys.add_keychain", "doctor"}
"""They end the daemon or close the vault, which anybody may do, or start processes and take long."""
CASES_A_ROUND = 20
ROUNDS_A_CONNECTION = 15
PATIENCE_S = 60.0
LONG_LINE_BYTES = 10_000_000
WORDS = (
    "", "x", "canarysent", "\x00", "\x1b[31m", "\u202e", "' OR 1=1 --", "../../etc/passwd", "部署", "NaN",
    "-1", "2026-01-01", "a" * 3_000, "\U0001f600", "all", "{}", "[]", "$/cancel",
)  # fmt: skip
CUTS = (b"{", b"}", b'"', b"\\", b",", b":", b"\xff", b"\x00", b"\n", b"[")
BAD_TEXTS = (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\\ud800", b"\xf4\x90\x80\x80", b"\\u0000")
NUMBERS = (b"NaN", b"Infinity", b"-Infinity", b"9" * 5_000, b"1e999", b"-0", b"1.0", b"0x10")


class Generator:
    """Cases: each is the bytes to send, line ends included."""

    def __init__(self, seed: str) -> None:
        self.rnd = random.Random(seed)
        self.methods = {name: m for name, m in sorted(table().table.items()) if name not in LEFT_OUT}
        self.names = list(self.methods)
        self.fields = sorted({f for m in self.methods.values() for f in m.params.__struct_fields__})
        self.number = 0
        self.sent: dict[Any, str] = {}
        """Id of a well-formed request -> its method."""

    def value(self, depth: int = 3) -> Any:
        kinds = 9 if depth else 7
        match self.rnd.randrange(kinds):
            case 0:
                return None
            case 1:
                return self.rnd.random() < 0.5
            case 2:
                return self.rnd.choice((0, 1, -1, 5, 500, 2**31, 2**53, 2**53 + 1, 2**63, -(2**70)))
            case 3:
                return self.rnd.uniform(-1e9, 1e9)
            case 4 | 5:
                return self.rnd.choice(WORDS)
            case 6:
                return "".join(self.rnd.choices(string.printable + "é部\u200b", k=self.rnd.randrange(20)))
            case 7:
                return [self.value(depth - 1) for _ in range(self.rnd.randrange(4))]
            case _:
                return {self.name(): self.value(depth - 1) for _ in range(self.rnd.randrange(4))}

    def name(self) -> str:
        return self.rnd.choice(self.fields) if self.rnd.random() < 0.8 else str(self.rnd.choice(WORDS))

    def params(self, method: Method) -> Any:
        if self.rnd.random() < 0.15:
            return self.value()
        own = list(method.params.__struct_fields__)
        chosen = [f for f in own if self.rnd.random() < 0.6] + [self.name()] * (self.rnd.random() < 0.1)
        return {field: self.value() for field in chosen}

    def request(self, *, answered: bool = True) -> dict[str, Any]:
        method = self.rnd.choice(self.names)
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if self.rnd.random() < 0.95:
            message["params"] = self.params(self.methods[method])
        if answered:
            self.number += 1
            # Far apart, so that a changed digit is nobody's id.
            far = self.number * 1_000_003
            message["id"] = far if self.rnd.random() < 0.8 else f"n{far}"
            self.sent[message["id"]] = method
        return message

    def case(self) -> bytes:
        kind = self.rnd.choices(
            (self.plain, self.notified, self.mutated, self.noise, self.shape, self.nested, self.bad_text,
             self.numbers, self.cancels, self.batch, self.repeated, self.padded, self.blank),
            (30, 4, 18, 8, 8, 5, 5, 4, 8, 10, 3, 2, 2),
        )[0]  # fmt: skip
        return kind()

    def line(self, message: Any) -> bytes:
        return json.dumps(message, ensure_ascii=self.rnd.random() < 0.5).encode("utf-8", "replace") + b"\n"

    def plain(self) -> bytes:
        return self.line(self.request())

    def notified(self) -> bytes:
        return self.line(self.request(answered=False))

    def mutated(self) -> bytes:
        """A well-formed line with bytes changed, cut, doubled or put in; ids may stay what they were."""
        message = self.request()
        del self.sent[message["id"]]
        raw = bytearray(self.line(message)[:-1])
        for _ in range(self.rnd.randrange(1, 6)):
            at = self.rnd.randrange(len(raw)) if raw else 0
            match self.rnd.randrange(4):
                case 0 if raw:
                    raw[at] = self.rnd.randrange(256)
                case 1:
                    del raw[at : at + self.rnd.randrange(8)]
                case 2:
                    raw[at:at] = raw[at : at + self.rnd.randrange(30)]
                case _:
                    raw[at:at] = self.rnd.choice(CUTS)
        return bytes(raw) + b"\n"

    def noise(self) -> bytes:
        return self.rnd.randbytes(self.rnd.randrange(200)) + b"\n"

    def shape(self) -> bytes:
        """JSON, but no request or one with odd members."""
        if self.rnd.random() < 0.5:
            return self.line(self.value())
        message = self.request()
        del self.sent[message["id"]]
        message[self.rnd.choice(("id", "method", "jsonrpc", "params", "surprise"))] = self.value()
        return self.line(message)

    def nested(self) -> bytes:
        deep = self.rnd.choice((10, 40, 900, 1_100, 50_000))
        opened, closed = self.rnd.choice(((b"[", b"]"), (b'{"a":', b"}")))
        body = opened * deep + b"1" + closed * deep
        if self.rnd.random() < 0.5:
            body = b'{"jsonrpc":"2.0","id":null,"method":"recall","params":{"query":' + body + b"}}"
        return body[: framing.MAX_REQUEST_BYTES - 1] + b"\n"

    def bad_text(self) -> bytes:
        bad = self.rnd.choice(BAD_TEXTS)
        return b'{"jsonrpc":"2.0","id":null,"method":"recall","params":{"query":"' + bad + b'"}}\n'

    def numbers(self) -> bytes:
        number = self.rnd.choice(NUMBERS)
        place = self.rnd.choice(
            (b'"id":%s,"params":{}', b'"id":null,"params":{"limit":%s}', b'"id":1,"id":%s')
        )
        return b'{"jsonrpc":"2.0","method":"memory.list",' + place % number + b"}\n"

    def cancels(self) -> bytes:
        """Calls and their cancellation, in any order, some of them twice."""
        requests = [self.request() for _ in range(self.rnd.randrange(1, 4))]
        cancels = [
            {"jsonrpc": "2.0", "method": "$/cancel", "params": {"id": self.rnd.choice((one, self.value(1)))}}
            for one in [request["id"] for request in requests]
        ]
        lines = [*requests, *cancels]
        self.rnd.shuffle(lines)
        return b"".join(map(self.line, lines))

    def batch(self) -> bytes:
        sizes = (0, 1, 2, 5, 31, 33)
        elements = [
            self.rnd.choice((self.request, lambda: self.request(answered=False), self.value))()
            for _ in range(self.rnd.choice(sizes))
        ]
        return self.line(elements)

    def repeated(self) -> bytes:
        return self.line(self.request()) * self.rnd.randrange(2, 5)

    def padded(self) -> bytes:
        """As long as a line may be."""
        message = self.request()
        message["params"] = {"query": "x" * self.rnd.randrange(200_000, 261_000)}
        return self.line(message)

    def blank(self) -> bytes:
        return self.rnd.choice((b"\n", b"\r\n", b"   \n", b"\t\n\n"))


class Hostile:
    """Sends cases, reads everything that comes back, and notes what must not be."""

    def __init__(self, home: Path, seed: str, role: str) -> None:
        self.layout, self.role = HomeLayout(home), role
        self.generator = Generator(seed)
        self.violations: list[str] = []
        self.codes: Counter[str] = Counter()
        self.answers = self.connections = 0
        self.pid = 0

    def connect(self) -> None:
        sock = launch.try_connect(self.layout)
        if sock is None:
            raise SystemExit(json.dumps({"violations": ["the daemon is gone"]}))
        self.sock, self.held = sock, b""
        self.sock.settimeout(PATIENCE_S)
        self.connections += 1
        params = {"client": "fuzz", "version": "0", "protocol": 1}
        hello = self.ask("hello", params)
        self.pid = hello["result"]["pid"]
        kind = hello["result"]["principal"]["kind"]
        assert kind == ("agent" if self.role == "agent" else "person"), kind

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Send a call, and read what comes up to its answer."""
        mark = f"mark {self.connections} {time.monotonic_ns()}"
        while True:
            message = {"jsonrpc": "2.0", "id": mark, "method": method, "params": params}
            self.sock.sendall(json.dumps(message).encode() + b"\n")
            while True:
                answer = self.read()
                if answer is None:
                    raise ConnectionResetError
                if isinstance(answer, dict) and answer.get("id") == mark:
                    break
            if "result" in answer:
                return answer
            if answer["error"]["data"]["code"] not in ("busy", "rate_limited"):
                self.violations.append(f"{method} was answered by {answer['error']['data']['code']}")
                return answer
            time.sleep(answer["error"]["data"].get("retry_after_ms", 5) / 1000)

    def read(self) -> Any:
        """The next message, looked at; None at the end."""
        while b"\n" not in self.held:
            chunk = self.sock.recv(262_144)
            if not chunk:
                return None
            self.held += chunk
        line, _, self.held = self.held.partition(b"\n")
        try:
            message = framing.parse(line)
        except MemvaultError as error:
            self.violations.append(f"no JSON came back: {type(error).__name__}")
            return {}
        for word in CANARIES[self.role]:
            if word.encode() in line:
                self.violations.append(f"{word} came back")
        for one in message if isinstance(message, list) else [message]:
            self.look(one)
        return message

    def look(self, message: Any) -> None:
        self.answers += 1
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self.violations.append("an answer is no JSON-RPC")
        elif "error" in message:
            code = message["error"]["data"]["code"]
            asked = self.generator.sent.get(message.get("id"))
            self.codes[code] += 1
            if code not in BY_CODE or code == "failure":
                self.violations.append(f"{asked} was answered by {code}: {message['error']['message']}")
            elif asked is not None and not issubclass(BY_CODE[code], self.declared(asked)):
                self.violations.append(f"{asked} has no error {code} in its contract")
        elif "result" in message:
            self.codes["result"] += 1
            self.may_answer(self.generator.sent.get(message["id"]))

    def declared(self, method: str) -> tuple[type[MemvaultError], ...]:
        """The errors that docs/protocol.md names for a method."""
        return (*EVERY, *errors_of(self.generator.methods[method], CONTRACTS[method]))

    def may_answer(self, method: str | None) -> None:
        if method is None:
            return
        allowed = self.generator.methods[method].who in ALLOWED[self.role]
        if self.role == "locked" and method in HARMLESS_UNLOCKED:
            allowed = True
        if not allowed or method in NEVER_ANSWERED:
            self.violations.append(f"{method} was answered without the right to it")

    def round(self, cases: int) -> None:
        for _ in range(cases):
            raw = self.generator.case()
            if self.generator.rnd.random() < 0.1:
                cut = self.generator.rnd.randrange(len(raw))
                self.sock.sendall(raw[:cut])
                raw = raw[cut:]
            self.sock.sendall(raw)
        self.sock.sendall(b"\n")
        self.ask("status", {})

    def end(self) -> None:
        """Hang up: in order, in the middle of a line, or after a line that is far too long."""
        way = self.generator.rnd.random()
        try:
            if way < 0.3:
                self.sock.sendall(self.generator.plain()[:-5])
            elif way < 0.35:
                self.sock.sendall(b"x" * LONG_LINE_BYTES)
                while self.read() is not None:
                    pass
            elif way < 0.5:
                self.sock.sendall(b"".join(self.generator.plain() for _ in range(20)))
        except OSError:
            pass
        self.sock.close()

    def rss_mib(self) -> int:
        facts = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in facts if line.startswith("VmRSS")) // 1024

    def run(self, cases: int) -> dict[str, Any]:
        started, done, rss = time.monotonic(), 0, list[int]()
        next_look = 0
        while done < cases and len(self.violations) < 20:
            self.connect()
            try:
                for _ in range(ROUNDS_A_CONNECTION):
                    count = min(CASES_A_ROUND, cases - done)
                    self.round(count)
                    done += count
            except (OSError, TimeoutError) as error:
                self.violations.append(f"the connection broke or hung: {type(error).__name__}")
            self.end()
            self.generator.sent.clear()
            if done >= next_look:
                rss.append(self.rss_mib())
                next_look += max(1, cases // 20)
        return {
            "cases": done, "answers": self.answers, "connections": self.connections, "rss_mib": rss,
            "codes": dict(self.codes), "violations": self.violations,
            "seconds": round(time.monotonic() - started, 1),
        }  # fmt: skip


if __name__ == "__main__":
    where, seed, number, role = sys.argv[1:5]
    sys.stdout.write(json.dumps(Hostile(Path(where), seed, role).run(int(number))) + "\n")
