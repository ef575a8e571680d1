"""The log of use (SPEC 8 and 13): what was recalled, reached a context, was used or wrong; and no content."""

from __future__ import annotations

import json
from typing import Any

from memvault.compile.task import Mode, Task
from memvault.compile.tokens import estimate
from memvault.model import Kind
from memvault.services import comparing, compiling, feedback, prompting, recollect, stats
from memvault.services.caller import PERSON, Caller
from memvault.services.change import change
from memvault.services.recollect import Question, Use
from memvault.store import recalls

WORDS = ["zanzibar", "quokka", "翡翠钥匙", "pangolin", "okapi", "wisteria", "heron", "galleon", "moonraker"]
LOGS = ("recall_log", "task_stable", "comparison")


def asked(desk: Any, query: str, caller: Caller = PERSON) -> None:
    desk.embed()
    question = recollect.checked(Question(query, "alpha"))
    answer = recollect.recall(desk.vault, caller, question, desk.embedder.embed_query(query), "hybrid")
    recollect.note_uses(desk.vault, [Use(caller.actor, answer)])


def compiled(desk: Any, objective: str, caller: Caller = PERSON) -> None:
    desk.embed()
    task = compiling.checked(Task(objective, Mode.SCOPED, "alpha", "session-galleon"))
    gathered = compiling.gather(desk.vault, caller, task, desk.embedder.embed_query(objective), "hybrid")
    assert gathered.hold is not None
    compiling.hold(desk.vault, gathered.hold)
    context = compiling.finish(gathered, estimate, "estimate")
    recollect.note_uses(desk.vault, [Use(caller.actor, compiling.answer(desk.vault, caller, context))])


def prompted(desk: Any, prompt: str, caller: Caller) -> None:
    desk.embed()
    vector = desk.embedder.embed_query(prompt)
    shown = prompting.recalled(desk.vault, caller, prompt, vector, "hybrid", frozenset())
    assert shown.answer.used
    recollect.note_uses(desk.vault, [Use(caller.actor, shown.answer)])


def lived(desk: Any, robot: Caller) -> list[str]:
    """One of everything that is logged."""
    here = {"project": "alpha", "evidence": "he said wisteria aloud"}
    made = [
        desk.add(
            "The zanzibar lamp hangs over the quokka door.", subject="pangolin", attribute="okapi", **here
        ).id,
        desk.add("项目代号是翡翠钥匙。", **here).id,
        desk.add("Zanzibar commits are signed.", kind=Kind.PREFERENCE, subject="commits", **here).id,
    ]
    asked(desk, "zanzibar quokka lamp")
    asked(desk, "翡翠钥匙", robot)
    asked(desk, "heron moonraker")
    compiled(desk, "hang the zanzibar lamp of moonraker")
    prompted(desk, "where does the zanzibar lamp hang?", robot)
    feedback.used(desk.vault, robot, made[0])
    feedback.doubt(desk.vault, robot, made[1], "wrong", "The heron says otherwise.")
    found = comparing.blind(desk.vault, "hang the zanzibar lamp", "M1", 7)
    comparing.keep(desk.vault, found)
    comparing.prefer(desk.vault, found.id, "A")
    return made


def rows(desk: Any, table: str) -> str:
    """Every value of every row, blobs as text too."""
    found = desk.vault.writer.all(f"SELECT * FROM {table}")
    assert found, table
    values = [value for row in found for value in row]
    shown = [
        v.decode("utf-8", "ignore") + v.decode("utf-16-le", "ignore") for v in values if isinstance(v, bytes)
    ]
    return "\n".join([*map(str, values), *shown]).casefold()


def test_no_word_of_a_question_a_memory_or_a_session_is_in_the_decrypted_log(
    desk: Any, robot: Caller
) -> None:
    lived(desk, robot)
    for table in LOGS:
        text = rows(desk, table)
        assert [word for word in WORDS if word in text] == [], table
    assert "zanzibar" in rows(desk, "memory"), "the search finds what is there"


def test_what_was_recalled_reached_a_context_was_used_or_wrong_is_counted_apart(
    desk: Any, robot: Caller
) -> None:
    before = stats.stats(desk.vault, PERSON)["reached"]
    assert (before["memories"], before["unused_share"]) == (0, None)
    made = lived(desk, robot)
    found = stats.stats(desk.vault, PERSON)
    assert (found["recalls"]["asked"], found["recalls"]["answered"]) == (3, 2), (
        "no context, prompt or feedback"
    )
    reached = found["reached"]
    assert (reached["contexts"], reached["prompts"]) == (1, 1)
    assert (reached["memories"], reached["used"], reached["wrong"], reached["outdated"]) == (3, 1, 1, 0)
    assert reached["unused_share"] == round(2 / 3, 4)
    assert desk.get(made[0]).usage_count == 4, "a recall, a context, a prompt, and the agent's word"


def test_feedback_on_what_reached_nobody_makes_no_use_of_what_was_shown(desk: Any, robot: Caller) -> None:
    shown = desk.add("The zanzibar lamp hangs over the door.", project="alpha").id
    other = desk.add("Orders live in a table of their own.", project="alpha").id
    asked(desk, "zanzibar lamp")
    feedback.used(desk.vault, robot, other)
    reached = stats.stats(desk.vault, PERSON)["reached"]
    assert (reached["memories"], reached["used"]) == (1, 0)
    assert desk.get(shown).usage_count == 1


def test_use_feeds_decay_and_a_word_against_a_memory_does_not(desk: Any, robot: Caller) -> None:
    used = desk.add("The zanzibar lamp hangs over the door.", project="alpha").id
    doubted = desk.add("Orders live in a table of their own.", project="alpha").id
    desk.clock.advance(40 * 86_400)
    feedback.used(desk.vault, robot, used)
    feedback.doubt(desk.vault, robot, doubted, "wrong", "They live in two.")
    assert desk.get(used).last_used_at == desk.vault.now()
    assert desk.get(doubted).last_used_at is None


def test_the_log_names_a_deleted_memory_no_more_and_its_counts_stay(desk: Any, robot: Caller) -> None:
    made = lived(desk, robot)
    before = stats.stats(desk.vault, PERSON)["recalls"]
    desk.delete(made[0])
    text = rows(desk, "recall_log")
    assert made[0] not in text
    assert made[1] in text
    after = stats.stats(desk.vault, PERSON)
    assert after["recalls"] == before
    assert (after["reached"]["contexts"], after["reached"]["memories"]) == (1, 2)
    desk.delete(*made[1:])
    assert made[1] not in rows(desk, "recall_log")


def test_many_deletions_at_once_leave_no_name_either(desk: Any) -> None:
    made = [
        desk.add(f"Lamp {number} hangs over door {number}.", subject=f"lamp {number}").id
        for number in range(12)
    ]
    with desk.vault.writer.transaction():
        for memory in made:
            recalls.log(desk.vault.writer, desk.vault.now(), "person", b"x", [{"id": memory, "score": 0.5}])
    desk.delete(*made[:10])
    text = rows(desk, "recall_log")
    assert [memory in text for memory in made] == [False] * 10 + [True] * 2


def test_a_recall_that_is_logged_after_the_deletion_does_not_bring_the_name_back(desk: Any) -> None:
    memory = desk.add("The zanzibar lamp hangs over the door.").id
    desk.embed()
    vector = desk.embedder.embed_query("zanzibar lamp")
    question = recollect.checked(Question("zanzibar lamp"))
    answer = recollect.recall(desk.vault, PERSON, question, vector, "hybrid")
    assert answer.used == [memory]
    desk.delete(memory)
    recollect.note_uses(desk.vault, [Use(PERSON.actor, answer)])
    assert memory not in rows(desk, "recall_log")


def test_what_is_older_than_half_a_year_goes_and_so_does_what_is_too_much(
    desk: Any, monkeypatch: Any
) -> None:
    asked(desk, "zanzibar")
    desk.clock.advance(int(recalls.KEPT.total_seconds()) - 60)
    asked(desk, "quokka")
    assert desk.vault.writer.one("SELECT count(*) FROM recall_log")[0] == 2
    desk.clock.advance(120)
    asked(desk, "okapi")
    assert desk.vault.writer.one("SELECT count(*) FROM recall_log")[0] == 2
    monkeypatch.setattr(recalls, "KEPT_ROWS", 1)
    asked(desk, "heron")
    assert desk.vault.writer.one("SELECT count(*) FROM recall_log")[0] == 1


def test_a_change_that_deletes_nothing_leaves_the_log_as_it_is(desk: Any, robot: Caller) -> None:
    lived(desk, robot)
    before = rows(desk, "recall_log")
    with change(desk.vault, "edit", PERSON.actor):
        pass
    assert rows(desk, "recall_log") == before
    assert json.loads(desk.vault.writer.all("SELECT results FROM recall_log")[0][0])[0].keys() >= {
        "id",
        "score",
    }
