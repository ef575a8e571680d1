"""Long prompts as questions: the informative parts are asked for, whatever was pasted around them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.paths import cache_dir
from memvault.recall import Index, Query, Shelf
from memvault.recall.gist import FITS_UNITS, KEPT_UNITS, gist, units
from memvault_models.language import language
from memvault_models.registry import means_for, open_embedder

ANSWER = "The ledger service takes its certificate from the blue cupboard host, renewed by the night crew."
QUESTION = "Where does the ledger service get its certificate from?"
OTHERS = [
    "The worker pool of the crawler is sized by the number of sockets.",
    "Requests of the gateway time out after thirty seconds.",
    "Breakfast is served in the east wing until ten.",
    "Traceback lines of the importer are kept for a week.",
]


def everything(shelf: Shelf) -> bool:
    return True


def trace(size: int, seed: int = 3) -> str:
    """Pasted output of about `size` characters: a log, tracebacks, a listing."""
    chance = random.Random(seed)
    lines: list[str] = []
    while sum(len(line) + 1 for line in lines) < size:
        clock = f"2026-11-{chance.randrange(10, 30)} 12:{chance.randrange(10, 60)}:{chance.randrange(10, 60)}"
        lines += [
            f"{clock},120 INFO worker-{chance.randrange(9)} request {chance.randrange(10**8):08x} served",
            "Traceback (most recent call last):",
            f'  File "/srv/app/pool_{chance.randrange(9)}.py", line {chance.randrange(400)}, in take',
            f"    sock = self.sockets[{chance.randrange(64)}]",
            "ConnectionResetError: [Errno 104] Connection reset by peer",
            "def take(self, at):",
            "    return self.sockets.pop(at)",
        ]
    return "\n".join(lines)


PROMPT = (
    f"I moved everything to the new machine this morning.\n\n{trace(20_000)}\n\n"
    f"It ran before the move.\n{QUESTION}"
)


@pytest.mark.parametrize(
    "text",
    [
        "how do we deploy?",
        "部署用哪个脚本",
        " spaced  question ",
        "",
        'Ada: "I moved to Oslo."\nBo: "When?"\nAda: "In May. Did I tell you where I lived before?"',
        '<Ada>: "I moved to Oslo."\n<Helper>: "When?"\n<Ada>: "In May."\n<Helper>: "Alone?"',
        "First do this.\nThen do that; keep the tests green.\nWhich style do we use?",
    ],
)
def test_a_prompt_that_fits_and_holds_nothing_pasted_is_its_own_gist(text: str) -> None:
    assert gist(text) == text


def test_of_a_long_prompt_the_question_stays_with_the_sentence_before_it() -> None:
    assert gist(PROMPT) == f"It ran before the move.\n{QUESTION}"


@pytest.mark.parametrize(
    "own",
    [
        "Why?",
        "Why does this fail?",
        "Fix it.",
        "What does the error mean for the ledger service?",
        "为什么报错？",
    ],
)
def test_what_failed_is_asked_for_where_the_prompt_means_it(own: str) -> None:
    assert gist(f"{trace(6_000)}\n{own}") == (
        f"{own}\nConnectionResetError: [Errno 104] Connection reset by peer"
    )


def test_without_a_question_instructions_are_what_is_asked_for() -> None:
    found = gist(
        f"It was quiet. Please renew the certificate of the ledger service.\n{trace(6_000)}\nIt ran well."
    )
    assert found == "It was quiet.\nPlease renew the certificate of the ledger service."


def test_of_a_conversation_the_last_turns_stay_whole() -> None:
    turns = [f"Ada: I tell you of day {number} here. It was a long one." for number in range(200)]
    found = gist("\n".join(turns))
    assert found.endswith("\n".join(turns[-10:]))
    assert units(found) <= FITS_UNITS
    assert gist("\n".join([trace(9_000), *turns[:5]])) == "\n".join(turns[:5])


@pytest.mark.parametrize("at", ["begin", "middle", "end"])
def test_a_question_is_found_wherever_it_stands_in_prose(at: str) -> None:
    prose = ["The garden was quiet and the gate stood open all day long. " * 30] * 2
    place = {"begin": 0, "middle": 1, "end": 2}[at]
    prose.insert(place, QUESTION)
    assert QUESTION in gist("\n".join(prose))


def test_a_chinese_question_below_an_english_trace_is_kept_and_gives_the_language() -> None:
    asked = gist(f"{trace(6_000)}\n\n昨天开始就这样。证书是从哪台机器取的？")
    assert "证书是从哪台机器取的？" in asked
    assert language(asked) == "zh"


def test_a_fenced_block_and_quoted_lines_are_pasted_whatever_they_hold() -> None:
    block = "\n".join(f"Where is item {number}?" for number in range(40))
    quoted = "\n".join(f"> Who asked {number}?" for number in range(40))
    found = gist(f"```\n{block}\n```\n{quoted}\n{QUESTION}")
    assert QUESTION in found
    assert "item" not in found
    assert "asked" not in found


def test_nothing_but_output_is_asked_for_by_what_failed_and_its_rare_names() -> None:
    found = gist(f"{trace(5_000)}\n  at ledger.certificates.renewAll\nfatal: no such cupboard")
    assert "fatal: no such cupboard" in found
    assert "ledger.certificates.renewAll" in found


@given(st.text(max_size=3_000) | st.lists(st.sampled_from(PROMPT.splitlines()), max_size=200).map("\n".join))
def test_any_text_has_a_gist_the_same_each_time_and_bounded(text: str) -> None:
    found = gist(text)
    assert found == gist(text)
    assert found == text or units(found) <= 5 * KEPT_UNITS
    assert bool(found.strip()) == bool(text.strip())


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a ",
        "?",
        "。",
        "```\n",
        "> x\n",
        "; ",
        "x.y_",
        "aA",
        "\n",
        " \n",
        "Error: ",
        "(((",
        "how ",
        "[",
        "a_b c.d ",
    ],
)
def test_hostile_prompts_of_64_kb_take_time_linear_in_their_length(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece.encode()))
        started = time.perf_counter()
        gist(text)
        return time.perf_counter() - started

    small = min(seconds(8_192) for _ in range(3))
    assert seconds(65_536) < 40 * small + 0.1  # 8 when linear, 64 when not


def test_words_of_the_gist_weigh_in_full_and_the_pasted_ones_less(desk: Any) -> None:
    weights = {term.text: term.weight for term in desk.analyser.query(PROMPT)}
    assert weights["certificate"] == weights["ledger"] == 1.0
    pasted = [weight for word, weight in weights.items() if word.startswith(("pool_", "2026-11", "worker-"))]
    assert len(pasted) > 3
    assert max(pasted) < 0.5


def test_a_short_question_has_the_terms_it_had(desk: Any) -> None:
    assert [term.text for term in desk.analyser.query(QUESTION)] == [
        "where", "does", "the", "ledger", "service", "get", "its", "certificate", "from",
    ]  # fmt: skip


def test_a_prompt_of_20_kb_with_its_question_at_the_end_finds_the_memory(desk: Any) -> None:
    for number, text in enumerate([*OTHERS, ANSWER]):
        desk.put(str(number), text)
    asked = gist(PROMPT)
    query = Query(
        PROMPT, desk.analyser.query(PROMPT), desk.embedder.embed_query(asked), language(asked), 20_000
    )
    assert desk.index.search(query, everything, 5)[0].id == "4"


def test_the_daemon_finds_it_by_recall_and_by_compile(
    daemon_home: Any, fact: Callable[..., dict[str, Any]]
) -> None:
    client = daemon_home.person()
    wanted = [client.call("memory.add", fact(text))["id"] for text in (*OTHERS, ANSWER)][-1]
    found = client.call("recall", {"query": PROMPT})
    assert found["results"][0]["id"] == wanted
    context = client.call("context.compile", {"objective": PROMPT})
    assert ANSWER in context["text"]


@pytest.mark.model
def test_the_real_model_finds_it_too(new_desk: Callable[[], Any]) -> None:
    desk = new_desk()
    embedder = open_embedder("multilingual-e5-small-q4", cache_dir())
    desk.embedder = embedder
    desk.index = Index(embedder.dims, means_for(embedder, cache_dir()))
    for number, text in enumerate([*OTHERS, ANSWER]):
        desk.put(str(number), text)
    try:
        for prompt in (PROMPT, f"{trace(20_000)}\n\n账本服务的证书是从哪里来的？"):
            asked = gist(prompt)
            terms = desk.analyser.query(prompt)
            query = Query(prompt, terms, embedder.embed_query(asked), language(asked), 20_000, threshold=0.0)
            assert desk.index.search(query, everything, 5)[0].id == "4"
    finally:
        embedder.close()
