"""Runs in a network namespace of its own: a stand-in for the model's API, and the hosts that talk to it.

`unshare --net python stage.py`, standard library only. Takes one job a line on standard input, answers with
what the host printed and every request the stand-in received. Owns the two dialects of the API; knows nothing
of memvault. The model says what the job's steps say, one step at each turn, then "Done.".
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]

_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1
USAGE = {"input_tokens": 1, "output_tokens": 1}


def raise_loopback() -> None:
    """A new namespace has one interface, which is down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        asked = struct.pack("16sH14x", b"lo", 0)
        (flags,) = struct.unpack_from("H", fcntl.ioctl(sock, _GET_FLAGS, asked), 16)
        fcntl.ioctl(sock, _SET_FLAGS, struct.pack("16sH14x", b"lo", flags | _UP))


class Job:
    """What the model says in one run of a host, and what it was told."""

    def __init__(self, steps: list[Json]) -> None:
        self._left, self._lock = list(steps), threading.Lock()
        self.seen: list[Json] = []

    def next(self, body: Json) -> Json:
        """The next step. One that is `paused` waits for a line on standard input."""
        with self._lock:
            self.seen.append(body)
            step = self._left.pop(0) if self._left else {"say": "Done."}
            if "paused" in step:
                tell({"paused": step["paused"]})
                sys.stdin.readline()
            return step


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    job = Job([])

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it
        pass

    def do_GET(self) -> None:
        self._reply(b'{"data":[],"models":[]}')

    def do_HEAD(self) -> None:
        self._reply(b"")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path.startswith("/v1/responses"):
            body = json.loads(raw)
            self._stream(spoken_to_codex(self.job.next(body), body))
        elif self.path.startswith("/v1/messages") and "count_tokens" not in self.path:
            body = json.loads(raw)
            # Without tools it is no turn of the session: hosts ask for titles and the like.
            step = self.job.next(body) if body.get("tools") else {"say": "Done."}
            if body.get("stream"):
                self._stream(spoken_to_claude(step))
            else:
                self._reply(json.dumps(whole_for_claude(step)).encode())
        else:
            self._reply(b'{"input_tokens": 10}')

    def _stream(self, events: list[Json]) -> None:
        text = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
        self._reply(text.encode(), "text/event-stream")

    def _reply(self, body: bytes, kind: str = "application/json") -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def whole_for_claude(step: Json) -> Json:
    """An Anthropic message. `step`: {"say"} or {"tool", "arguments"}."""
    block = {"type": "text", "text": step.get("say", "")}
    if "tool" in step:
        block = {
            "type": "tool_use",
            "id": os.urandom(6).hex(),
            "name": step["tool"],
            "input": step["arguments"],
        }
    ends = "tool_use" if "tool" in step else "end_turn"
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "standin", "usage": USAGE}
    return {**head, "content": [block], "stop_reason": ends}


def spoken_to_claude(step: Json) -> list[Json]:
    """The same as a stream of events."""
    message = whole_for_claude(step)
    (block,) = message["content"]
    if block["type"] == "text":
        empty: Json = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": message["stop_reason"]}, "usage": USAGE},
        {"type": "message_stop"},
    ]


def spoken_to_codex(step: Json, body: Json) -> list[Json]:
    """OpenAI's response as a stream. A tool of a server is one of its namespace there."""
    item: Json = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": step.get("say", "")}],
    }
    if "tool" in step:
        call = os.urandom(6).hex()
        server, _, name = step["tool"].rpartition("__")
        item = {
            "type": "function_call",
            "id": f"fc_{call}",
            "call_id": call,
            "name": name,
            "arguments": json.dumps(step["arguments"]),
            **({"namespace": server} if server else {}),
        }
    usage = {**USAGE, "total_tokens": 2, "input_tokens_details": None, "output_tokens_details": None}
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}},
    ]


def tell(message: Json) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def run(order: Json, port: int) -> Json:
    """Run one host to its end, or to the end of its time."""
    Handler.job = job = Job(order["steps"])
    words = [word.replace("{port}", str(port)) for word in order["argv"]]
    env = {name: value.replace("{port}", str(port)) for name, value in order["env"].items()}
    odd, other = os.pipe()

    def confine() -> None:
        os.umask(order.get("umask", 0o022))
        for name, soft in order.get("limits", {}).items():
            which = getattr(resource, name)
            resource.setrlimit(which, (soft, resource.getrlimit(which)[1]))

    process = subprocess.Popen(
        words,
        cwd=order["cwd"],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        pass_fds=(other,) if order.get("leak") else (),
        preexec_fn=confine,  # noqa: PLW1509 - no lock is held: the handler's threads wait for the host
    )
    late = False
    try:
        out, err = process.communicate(timeout=order["timeout"])
    except subprocess.TimeoutExpired:
        late = True
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
    os.close(odd)
    os.close(other)
    return {"status": process.returncode, "late": late, "out": out, "err": err, "seen": job.seen}


def main() -> None:
    raise_loopback()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while line := sys.stdin.readline():
        tell(run(json.loads(line), server.server_address[1]))


if __name__ == "__main__":
    main()
