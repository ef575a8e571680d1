"""SECURITY 11 and 12: nothing readable on disk, ever; nothing at all of what was deleted."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from memvault_models.fake import FakeEmbedder

ENGLISH = "The launch code name is zanzibarquokka and it changes weekly."
CHINESE = "项目代号是青铜翡翠钥匙，每周更换。"
EDITED = "The launch code name is pangolinfirefly since Tuesday."
OLD, NEW = "Deploy with marzipanlathe.", "Deploy with turnipsextant."
EVIDENCE = "he said wisteriagalleon aloud"
WORDS = [
    "zanzibarquokka", "青铜翡翠钥匙", "项目代号", "pangolinfirefly", "marzipanlathe", "turnipsextant",
    "wisteriagalleon", "chrysanthemumgasket", "obsidianferret", "projectmoonraker",
]  # fmt: skip


def needles() -> dict[str, bytes]:
    """Everything that must not be readable: words in two encodings, vectors in every stored precision."""
    found: dict[str, bytes] = {}
    for word in WORDS:
        found[f"{word} utf-8"] = word.encode()
        found[f"{word} utf-16"] = word.encode("utf-16-le")
    embedder = FakeEmbedder()
    for text in (ENGLISH, CHINESE, EDITED, NEW):
        vector = embedder.embed_passages([text])[0][0]
        peak = float(np.abs(vector).max())
        for unit in (vector, vector / np.linalg.norm(vector)):
            found[f"{text} float32"] = unit.astype("<f4").tobytes()[400:432]
            found[f"{text} float16"] = unit.astype("<f2").tobytes()[200:224]
        found[f"{text} int8"] = np.rint(vector * (127.0 / peak)).astype(np.int8).tobytes()
    return found


def look(home: Any, when: str) -> None:
    """Search every byte of every file below the home."""
    patterns = needles()
    seen = 0
    for path, raw in home.files():
        seen += 1
        for what, pattern in patterns.items():
            assert pattern not in raw, (when, path.name, what)
    assert seen >= 4, when


def fill(client: Any, fact: Any) -> list[str]:
    """One of every change: add, edit, supersede, disable, delete; and recalls in between."""
    source = {
        "type": "conversation",
        "ref": "chat-obsidianferret",
        "evidence": EVIDENCE,
        "task": "projectmoonraker",
    }
    first = client.call("memory.add", fact(ENGLISH) | {"source": source, "why": "chrysanthemumgasket"})
    second = client.call("memory.add", fact(CHINESE))
    about = {"subject": "projectmoonraker", "attribute": "deploy", "project": "projectmoonraker"}
    client.call("memory.add", fact(OLD, **about, value="marzipanlathe"))
    client.call("memory.add", fact(NEW, **about, value="turnipsextant", correct=True))
    for question in ("zanzibarquokka code", "翡翠钥匙", "turnipsextant deploy"):
        assert client.call("recall", {"query": question})["results"]
    client.call(
        "memory.edit", {"id": first["id"], "changes": {"content": EDITED}, "reason": "wisteriagalleon"}
    )
    assert client.call("recall", {"query": "pangolinfirefly"})["mode"] == "hybrid"
    return [first["id"], second["id"]]


def test_nothing_is_readable_while_running_locked_or_killed(
    daemon_home: Any, fact: Any, until: Callable[..., Any]
) -> None:
    client = daemon_home.person()
    ids = fill(client, fact)
    until(lambda: client.call("status")["model"]["pending"] == 0, "every memory embedded")
    look(daemon_home, "running")
    daemon_home.kill(signal.SIGKILL)
    look(daemon_home, "killed")
    client = daemon_home.person()
    assert client.call("memory.get", {"id": ids[0]})["content"] == EDITED
    client.call("vault.lock")
    look(daemon_home, "locked")
    client.call("vault.unlock", {"passphrase": daemon_home.passphrase})
    client.call("memory.delete", {"ids": ids})
    look(daemon_home, "deleted")
    client.call("shutdown")
    look(daemon_home, "ended")
    assert daemon_home.log() == ""


def test_the_search_would_find_what_is_readable(daemon_home: Any) -> None:
    for what, pattern in needles().items():
        (daemon_home.root / "canary").write_bytes(b"\x07" * 11 + pattern + b"\x07" * 5)
        with pytest.raises(AssertionError, match="canary"):
            look(daemon_home, what)


def pages(home: Any) -> bytes:
    """The plain text of every page of the file, free ones included, by the cipher's own key."""
    raw = home.layout.database.read_bytes()
    size, reserve = 4096, 80
    key = bytes.fromhex(home.key().sqlcipher_key()[2:-1].decode())
    out = bytearray()
    for start in range(0, len(raw), size):
        page = raw[start : start + size]
        begin = 16 if start == 0 else 0
        iv = page[size - reserve : size - reserve + 16]
        cipher = Cipher(algorithms.AES(key), modes.CBC(iv)).decryptor()
        out += cipher.update(page[begin : size - reserve]) + cipher.finalize()
    return bytes(out)


def test_nothing_of_a_deleted_memory_is_left_even_for_who_holds_the_key(
    daemon_home: Any, fact: Any, until: Callable[..., Any]
) -> None:
    client = daemon_home.person()
    client.call("memory.add", fact("Port 3000 belongs to the gateway."))
    ids = fill(client, fact)
    for number in range(30):
        client.call("memory.add", fact(f"Ticket {number} is closed since Monday."))
    until(lambda: client.call("status")["model"]["pending"] == 0, "every memory embedded")
    everything = [item["id"] for item in client.call("memory.list", {"limit": 500})["items"]]
    kept = [item for item in everything if item not in ids]
    kept = [
        item["id"] for item in client.call("memory.list", {"ids": kept})["items"] if "Port" in item["content"]
    ]
    gone = [item for item in everything if item not in kept]

    client.call("vault.lock")
    before = pages(daemon_home)
    patterns = needles()
    assert b"Port 3000 belongs" in before, "the pages are decrypted"
    assert all(before.count(word.encode()) for word in WORDS), "there is something to find"
    vectors = [what for what in patterns if "float32" in what and patterns[what] in before]
    assert len(vectors) == 3, "all but that of the text before its edit"

    client.call("vault.unlock", {"passphrase": daemon_home.passphrase})
    assert len(
        client.call("memory.delete", {"ids": gone, "why": "marzipanlathe is secret"})["deleted"]
    ) == len(gone)
    wal = daemon_home.layout.database.with_name("vault.db-wal")
    assert wal.stat().st_size == 0, "the log holds nothing when the deletion is acknowledged"
    after = pages(daemon_home)
    assert b"Port 3000 belongs" in after
    found = [what for what, pattern in patterns.items() if pattern in after]
    assert not found
    assert b"Ticket" not in after
    for number in range(30):
        vector = FakeEmbedder().embed_passages([f"Ticket {number} is closed since Monday."])[0][0]
        assert vector.astype("<f4").tobytes()[:64] not in after


def test_a_correction_taken_back_leaves_nothing_of_the_new_claim(daemon_home: Any, fact: Any) -> None:
    client = daemon_home.person()
    about = {"subject": "s", "attribute": "deploy"}
    client.call("memory.add", fact(OLD, **about, value="marzipanlathe"))
    new = client.call("memory.add", fact(NEW, **about, value="turnipsextant", correct=True))
    client.call("runs.rollback", {"run": new["run"]})
    after = pages(daemon_home)
    assert b"marzipanlathe" in after
    assert b"turnipsextant" not in after


def test_a_rejected_candidate_leaves_nothing(daemon_home: Any, fact: Any, puppet: Callable[..., Any]) -> None:
    client = daemon_home.person()
    agent = puppet(daemon_home.root, marks={"CLAUDECODE": "1"})
    waiting = agent.call("memory.add", fact("The user loves chrysanthemumgasket."))
    client.call("review.reject", {"id": waiting["id"]})
    assert b"chrysanthemumgasket" not in pages(daemon_home)


def test_no_single_question_can_be_read_back(daemon_home: Any, fact: Any) -> None:
    """SPEC 8: a recall is logged by a hash; its words and its vector are not kept."""
    client = daemon_home.person()
    memory = client.call("memory.add", fact(ENGLISH))["id"]
    assert client.call("recall", {"query": "what is the zanzibarquokka code"})["results"]
    client.call("memory.delete", {"ids": [memory]})
    client.call("vault.lock")
    after = pages(daemon_home)
    assert b"zanzibarquokka" not in after
    vector = FakeEmbedder().embed_query("what is the zanzibarquokka code")
    for kind in ("<f4", "<f8", "<f2"):
        assert vector.astype(kind).tobytes()[:64] not in after, kind
