"""SPEC 5 and 10: text recalled from memvault and fed back never counts as an observation."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from memvault.errors import NotFound
from memvault.model import Draft, Kind, Source, SourceType, Status
from memvault.services import candidates, recollect
from memvault.services.caller import Caller, agent
from memvault.services.change import change
from memvault.services.told import KEPT, MOST, MOST_WAITING, Told
from memvault.store import tellings
from memvault.store.tellings import Telling

DAY_S = 86_400

ENGLISH = [
    "The queue of alpha is redis, because kafka lost messages under load.",
    "The release branch is cut on Thursday, and Orla signs the notes.",
    "Deploy the billing service with the blue script, never with npm.",
    "Integration tests need the large runner and a warm cache.",
    "When error E42 appears, check the proxy settings first.",
    "The staging database lives in Frankfurt, its replica in Dublin.",
    "Feature flags are read from consul; the file in the repository is only a default.",
    "Customers on plan 3 keep their old invoices for 7 years.",
]
CHINESE = [
    "阿尔法项目的队列用 redis，因为 kafka 在高负载下丢消息。",
    "周四切发布分支，由张伟签署发布说明。",
    "计费服务用蓝色脚本部署，绝不用 npm。",
    "集成测试要用大型机器，并且预热缓存。",
    "出现错误 E42 时，先检查代理设置。",
    "测试数据库放在法兰克福，副本放在都柏林。",
    "功能开关从 consul 读取，仓库里的文件只是默认值。",
    "套餐 3 的客户保留旧发票 7 年。",
]
EVERY = [*ENGLISH, *CHINESE]


def chinese(text: str) -> bool:
    return not text.isascii()


def reordered(text: str) -> str:
    """The second clause first; of a single clause its words in another order."""
    for comma in (", ", "; ", "，"):
        if comma in text:
            first, _, second = text.rstrip(".。").partition(comma)
            return f"{second}{comma}{first}."
    words = text.rstrip(".。").split()
    return " ".join([*words[3:], *words[:3]])


def other_case(text: str) -> str:
    return text.upper()


def with_filler(text: str) -> str:
    if chinese(text):
        return f"请注意,其实{text.rstrip('。')}的。"
    first, _, rest = text.partition(" ")
    return f"By the way, {first} really {rest}".replace(" is ", " is basically ").replace(".", ", of course.")


def cut(text: str) -> str:
    """Without its second clause."""
    for comma in (",", ";", "，"):
        text = text.partition(comma)[0]
    return text + ("。" if chinese(text) else ".")


def wrapped(text: str) -> str:
    bare = text.rstrip(".。")
    if chinese(text):
        return f"根据之前的记忆，{bare}，所以照旧处理。"
    return f"According to our earlier notes, {bare[0].lower()}{bare[1:]}, so keep that in mind."


def reported(text: str) -> str:
    return f"用户之前说过：{text}" if chinese(text) else f"The user said earlier that {text}"


REWORDED = [reordered, other_case, with_filler, cut, wrapped, reported]


def heard(ref: str, evidence: str | None = None) -> Source:
    return Source(SourceType.USER, ref, evidence=evidence)


def propose(desk: Any, caller: Caller, content: str, *sources: Source, **claim: Any) -> Any:
    draft = Draft(desk.draft(content, **claim).claim, sources)
    reason = candidates.refusal(desk.vault, caller, draft)
    if reason is not None:
        return reason
    with change(desk.vault, "add", caller.actor) as work:
        return candidates.propose(work, caller, draft).id


def echoed(desk: Any, caller: Caller, content: str) -> bool:
    draft = Draft(desk.draft(content).claim, (heard("s1"),))
    reason = candidates.refusal(desk.vault, caller, draft)
    return reason is not None and "came from memvault" in reason


@pytest.fixture
def told(desk: Any, robot: Caller) -> dict[str, str]:
    """Content -> id of memories that the agent has been told, by the door that any answer leaves by."""
    ids = {content: str(desk.add(content).id) for content in EVERY}
    for memory in ids.values():
        recollect.get(desk.vault, robot, memory)
    return ids


@pytest.mark.parametrize("change_", REWORDED)
@pytest.mark.parametrize("content", EVERY)
def test_recalled_text_fed_back_lightly_reworded_is_recognised(
    desk: Any, robot: Caller, told: dict[str, str], content: str, change_: Callable[[str], str]
) -> None:
    assert echoed(desk, robot, change_(content)), change_(content)


@pytest.mark.parametrize("family", [ENGLISH, CHINESE], ids=["English", "Chinese"])
def test_two_recalled_memories_joined_are_an_echo(
    desk: Any, robot: Caller, told: dict[str, str], family: list[str]
) -> None:
    for one, other in pairwise(family):
        bare = one.rstrip(".。")
        joined = f"{bare}，并且{other}" if chinese(one) else f"{bare}, and {other[0].lower()}{other[1:]}"
        assert echoed(desk, robot, joined), joined
        assert echoed(desk, robot, f"{other} {one}")


OTHER = [
    ("The queue of alpha is redis", "The queue of beta is redis"),
    ("The queue of alpha is redis", "The queue of alpha is nats"),
    ("The queue of alpha is redis", "The queue of alpha is not redis"),
    ("lost messages under load", "lost no messages under load"),
    ("on Thursday", "on Friday"),
    ("Orla signs", "Bertram signs"),
    ("blue script, never with npm", "blue script, never with pnpm"),
    ("blue script, never with npm", "red script, never with npm"),
    ("with the blue script, never with npm", "with npm, never with the blue script"),
    ("error E42", "error E43"),
    ("Frankfurt", "Hamburg"),
    ("plan 3", "plan 4"),
    ("7 years", "10 years"),
    ("从 consul", "从 etcd"),
    ("用 redis", "不用 redis"),
    ("周四", "周五"),
    ("张伟", "李娜"),
    ("绝不用 npm", "绝不用 pnpm"),
    ("蓝色脚本", "红色脚本"),
    ("E42", "E43"),
    ("法兰克福", "慕尼黑"),
    ("7 年", "10 年"),
]


@pytest.mark.parametrize(("old", "new"), OTHER)
def test_a_different_number_name_word_or_negation_is_no_echo(
    desk: Any, robot: Caller, told: dict[str, str], old: str, new: str
) -> None:
    changed = [content.replace(old, new) for content in EVERY if old in content]
    assert changed
    for content in changed:
        assert not echoed(desk, robot, content), content


NEW = [
    "The queue of alpha is redis, and the port is 6379.",
    "The staging database lives in Frankfurt, and Marisol has the key.",
    "Integration tests need Docker.",
    "Always answer in English.",
    "The notes are kept by the customers.",
    "阿尔法项目的队列用 redis，端口是 6379。",
    "集成测试要用 Docker。",
    "以后都用中文回答。",
]


@pytest.mark.parametrize("content", NEW)
def test_what_says_something_new_is_no_echo(
    desk: Any, robot: Caller, told: dict[str, str], content: str
) -> None:
    assert not echoed(desk, robot, content)


def test_a_patchwork_of_many_told_memories_is_a_new_sentence(desk: Any, robot: Caller) -> None:
    words = ["copper", "walnut", "harbor", "lantern", "granite", "pepper", "violet", "meadow"]
    for word in words:
        recollect.get(desk.vault, robot, str(desk.add(f"The {word} gate is open.").id))
    assert not echoed(desk, robot, f"The {' '.join(words)} gate is open.")


@pytest.mark.parametrize("content", [ENGLISH[0], CHINESE[0]])
@pytest.mark.parametrize("change_", REWORDED)
def test_an_echo_never_counts_as_an_observation(
    desk: Any, robot: Caller, content: str, change_: Callable[[str], str]
) -> None:
    """A memory whose confidence an agent could talk up by what it was told itself."""
    about = {"subject": "alpha", "attribute": "queue", "value": "redis"}
    memory = desk.add(content, **about).id
    recollect.get(desk.vault, robot, memory)
    before = desk.get(memory)
    for number in range(3):
        refused = propose(desk, robot, change_(content), heard(f"s{number}"), **about)
        assert "came from memvault" in refused
        quoting = heard(f"q{number}", evidence=change_(content))
        assert "came from memvault" in propose(desk, robot, "Alpha queues like so", quoting, **about)
    assert desk.get(memory) == before


def test_what_a_memory_says_beside_its_claim_is_told_as_well(desk: Any, robot: Caller) -> None:
    memory = desk.add(
        "The queue of alpha is redis.",
        why="Kafka lost messages under load.",
        evidence="we moved to redis in May",
    ).id
    recollect.get(desk.vault, robot, memory)
    assert echoed(desk, robot, "As noted earlier, under load kafka lost messages")
    assert echoed(desk, robot, "The user said we moved to redis in May")


def test_only_the_one_it_was_told_to_is_an_echo(desk: Any, told: dict[str, str]) -> None:
    assert not echoed(desk, agent("other", (None,)), reordered(ENGLISH[0]))


def test_it_survives_a_restart_and_rolls_off_after_30_days(
    desk: Any, robot: Caller, told: dict[str, str]
) -> None:
    assert KEPT.days == 30
    desk.reopen()
    desk.clock.advance(29 * DAY_S)
    assert echoed(desk, robot, wrapped(ENGLISH[0]))
    desk.clock.advance(2 * DAY_S)
    assert not echoed(desk, robot, wrapped(ENGLISH[0]))
    assert not echoed(desk, robot, ENGLISH[0])
    assert desk.vault.writer.one("SELECT count(*) FROM told")[0] == 0
    assert desk.vault.writer.one("SELECT count(*) FROM told_band")[0] == 0


def test_what_is_told_again_later_counts_from_then(desk: Any, robot: Caller, told: dict[str, str]) -> None:
    assert not echoed(desk, robot, "Nothing of this was told before.")
    rows = desk.vault.writer.one("SELECT count(*) FROM told")[0]
    desk.clock.advance(20 * DAY_S)
    recollect.get(desk.vault, robot, told[ENGLISH[0]])
    desk.clock.advance(20 * DAY_S)
    assert echoed(desk, robot, reordered(ENGLISH[0]))
    assert not echoed(desk, robot, reordered(ENGLISH[1]))
    assert desk.vault.writer.one("SELECT count(*) FROM told")[0] < rows


def test_the_deletion_of_a_memory_erases_what_was_told_of_it(
    desk: Any, robot: Caller, told: dict[str, str]
) -> None:
    """Row by row: neither a hash nor a feature of it stays, in the vault or beside it."""
    assert echoed(desk, robot, reordered(ENGLISH[0]))
    gone = told[ENGLISH[0]]
    mine = desk.vault.writer.all("SELECT seq, print, features FROM told WHERE memory = ?", (gone,))
    assert len(mine) >= 3, "the sentence and its clauses"
    waits = desk.add("A lamp that was told and not yet taken in.").id
    recollect.get(desk.vault, robot, waits)
    desk.delete(gone, waits)
    tables = ("told", "told_band")
    left = repr([desk.vault.writer.all(f"SELECT * FROM {table}") for table in tables])
    for seq, print_, features in mine:
        assert repr(bytes(print_)) not in left
        assert features is None or repr(bytes(features)) not in left
        assert not desk.vault.writer.all("SELECT 1 FROM told_band WHERE told = ?", (seq,))
    with pytest.raises(NotFound):
        desk.get(gone)
    assert not echoed(desk, robot, reordered(ENGLISH[0]))
    desk.vault.close()
    wal = desk.layout.database.with_name("vault.db-wal")
    assert not wal.exists() or wal.stat().st_size == 0
    desk.open()
    assert not desk.vault.writer.all("SELECT 1 FROM told WHERE memory IN (?, ?)", (gone, waits))


def many(number: int, actor: str, seed: int = 5) -> list[Telling]:
    """Told pieces of a vocabulary as small as that of one project, so that many share their words."""
    rnd = random.Random(seed)
    vocabulary = [rnd.getrandbits(31) for _ in range(900)]
    common = vocabulary[:12]
    found: list[Telling] = []
    for n in range(number):
        words = {*rnd.sample(common, 3), *rnd.sample(vocabulary, rnd.randint(2, 9))}
        hashes = tuple(word << 1 for word in words)
        found.append(Telling(actor, f"m{n // 3}", rnd.randbytes(16), True, 0, hashes))
    return found


@pytest.mark.slow
def test_a_look_up_among_50000_told_pieces_takes_less_than_5_ms(desk: Any, robot: Caller) -> None:
    db, at = desk.vault.writer, desk.vault.now()
    pieces = many(MOST, robot.actor)
    with db.transaction():
        tellings.keep(db, at, pieces)
    took: list[float] = []
    for one in random.Random(1).sample(pieces, 60):
        asked = [*one.hashes, *pieces[7].hashes]
        # The time of this thread alone: other tests run beside it.
        started = time.thread_time()
        found = tellings.near(db, (robot.actor,), "", asked)
        took.append((time.thread_time() - started) * 1000)
        assert any(piece.memory == one.memory for piece in found)
    assert sorted(took)[len(took) // 2] < 5, sorted(took)[-5:]


def test_the_table_is_bounded_and_what_was_told_first_goes_first(desk: Any, robot: Caller) -> None:
    db, at = desk.vault.writer, desk.vault.now()
    with db.transaction():
        tellings.keep(db, at, many(300, robot.actor))
        tellings.roll_off(db, "", 200)
    assert db.one("SELECT count(*), min(seq) FROM told") == (200, 101)
    assert db.one("SELECT count(DISTINCT told) FROM told_band")[0] <= 200


def test_what_waits_for_the_writer_is_bounded(desk: Any) -> None:
    said, db, at = Told(), desk.vault.writer, desk.vault.now()
    record = desk.get(desk.add("A lamp is lit in the hall.").id)
    said.note("agent:x", [replace(record, id=f"m{number}") for number in range(MOST_WAITING + 20)], at)
    with db.transaction():
        said.keep(db, at)
    assert db.one("SELECT count(DISTINCT memory) FROM told")[0] == MOST_WAITING


def test_a_fact_seen_twice_elsewhere_still_becomes_active(
    desk: Any, robot: Caller, told: dict[str, str]
) -> None:
    """The guard stands only in the way of echoes."""
    about = {"subject": "office", "attribute": "door", "value": "green", "kind": Kind.FACT}
    first = propose(desk, robot, "The office door is green.", heard("s1"), **about)
    second = propose(desk, robot, "They painted the office door green.", heard("s2"), **about)
    assert first == second
    assert desk.get(first).status is Status.ACTIVE
