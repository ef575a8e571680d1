"""The official client against the real pipe and daemon, in both eras of the protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from memvault.mcp.envelope import NOTICE

from .conftest import ERAS, connected, let_in, repository, text_of

NOWHERE = "01999999-0000-7000-8000-000000000000"
LASTING = "From now on always run the harbour checks before a deployment."

pytestmark = [pytest.mark.parametrize("era", ERAS), pytest.mark.usefixtures("private_world")]


@pytest.fixture(scope="module")
def port(shared_home: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A home with an agent that works in a project, and one memory of it."""
    shared_home.person()
    let_in(shared_home, "robin")
    shared_home.cwd = repository(tmp_path_factory.mktemp("work") / "harbour")
    fact = {
        "content": "The harbour crane lifts twelve tonnes.\nHeavier loads go by `barge.sh`.",
        "kind": "fact",
        "scope": "private",
        "project": "harbour",
        "subject": "crane",
        "conditions": "in calm weather",
        "source": {"type": "user", "ref": "test", "evidence": "twelve tonnes"},
    }
    shared_home.memory = shared_home.person().call("memory.add", fact)["id"]
    yield shared_home
    shared_home.hang_up()


async def test_it_says_who_it_is_and_what_it_offers(port: Any, era: str) -> None:
    async with connected(port, "robin", era, port.cwd) as client:
        assert client.protocol_version == ("2025-11-25" if era == "legacy" else era)
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == [
            "memory_search", "memory_context", "memory_add", "memory_get", "memory_list", "memory_feedback",
            "memory_status", "task_notes",
        ]  # fmt: skip
        for tool in tools.values():
            assert tool.annotations is not None
            assert tool.annotations.destructive_hint is False
            assert tool.annotations.open_world_hint is False
            assert tool.output_schema is not None
        writing = {name for name, tool in tools.items() if not tool.annotations.read_only_hint}  # type: ignore[union-attr]
        assert writing == {"memory_add", "memory_feedback", "task_notes"}
        assert "BEFORE" in (tools["memory_search"].description or "")
        assert [one.uri for one in (await client.list_resources()).resources] == ["memory://index"]
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "memory://item/{id}"
        (prompt,) = (await client.list_prompts()).prompts
        assert prompt.name == "save_what_was_learned"


async def test_every_answer_is_framed_and_names_project_and_agent(port: Any, era: str) -> None:
    calls: dict[str, dict[str, Any]] = {
        "memory_search": {"query": "how much does the crane lift"},
        "memory_context": {"objective": "lift a load with the crane"},
        "memory_get": {"id": port.memory},
        "memory_list": {"subject": "crane"},
    }
    async with connected(port, "robin", era, port.cwd) as client:
        for name, arguments in calls.items():
            result = await client.call_tool(name, arguments)
            assert not result.is_error, (name, result)
            found = result.structured_content
            assert (found["project"], found["agent"], found["notice"]) == ("harbour", "robin", NOTICE)
            lines = text_of(result).split("\n")
            assert lines[0] == f"[{NOTICE}; project: harbour; agent: robin]", name
            assert lines[-1] == "[end of the history from memvault]"
            assert any(line.startswith("| ") and "twelve tonnes" in line for line in lines), name
        hit = (await client.call_tool("memory_search", calls["memory_search"])).structured_content["results"][
            0
        ]
        assert hit["id"] == port.memory
        assert (hit["source"], hit["trust"], hit["verify_first"]) == ("user:test", "medium", True)
        assert hit["conditions"] == "in calm weather"
        memory = (await client.call_tool("memory_get", {"id": port.memory})).structured_content["memory"]
        assert memory["sources"][0]["evidence"] == "twelve tonnes"
        state = (await client.call_tool("memory_status", {})).structured_content
        assert (state["state"], state["may"], state["memories"]) == ("unlocked", ["propose", "read"], 1)
        index = await client.read_resource("memory://index")
        assert "twelve tonnes" in index.contents[0].text  # type: ignore[union-attr]
        item = await client.read_resource(f"memory://item/{port.memory}")
        assert "| evidence from user:test: twelve tonnes" in item.contents[0].text  # type: ignore[union-attr]
        prompt = await client.get_prompt("save_what_was_learned", {"focus": "cranes"})
        assert "cranes" in prompt.messages[0].content.text  # type: ignore[union-attr]


async def test_what_is_added_waits_for_the_person_in_the_project_of_the_working_directory(
    port: Any, era: str
) -> None:
    claim = {
        "content": f"{LASTING} ({era})", "kind": "preference", "scope": "private",
        "source": "conversation:s1", "evidence": "always run the harbour checks",
    }  # fmt: skip
    async with connected(port, "robin", era, port.cwd) as client:
        result = await client.call_tool("memory_add", claim)
        found = result.structured_content
        assert found["status"] == "pending", result
        assert found["id"] in text_of(result)
        twice = (await client.call_tool("memory_add", claim)).structured_content
        assert twice["status"] in ("pending", "refused")
        refused = (
            await client.call_tool("memory_add", {**claim, "content": "The test is slow today."})
        ).structured_content
        assert (refused["status"], refused["id"]) == ("refused", None)
        assert refused["reason"]
        foreign = await client.call_tool("memory_add", {**claim, "project": "elsewhere"})
        assert foreign.is_error
        assert "project" in text_of(foreign)
    person = port.person()
    record = person.call("memory.get", {"id": found["id"]})
    assert (record["status"], record["project"]) == ("candidate", "harbour")
    assert record["sources"][0]["type"] == "conversation"
    person.call("review.reject", {"id": found["id"]})


async def test_feedback_counts_uses_and_leaves_a_note_but_changes_no_claim(port: Any, era: str) -> None:
    person = port.person()
    given = {
        "content": f"The {era} lighthouse blinks three times.", "kind": "fact", "scope": "private",
        "source": {"type": "user", "ref": "test"},
    }  # fmt: skip
    memory = person.call("memory.add", given)["id"]
    before = person.call("memory.get", {"id": memory})
    async with connected(port, "robin", era, port.cwd) as client:
        used = await client.call_tool("memory_feedback", {"id": memory, "verdict": "used"})
        assert used.structured_content["status"] == "counted"
        bare = await client.call_tool("memory_feedback", {"id": memory, "verdict": "wrong"})
        assert bare.is_error
        doubt = {"id": memory, "verdict": "outdated", "evidence": "It blinks four times since March."}
        assert (await client.call_tool("memory_feedback", doubt)).structured_content["status"] == "flagged"
        assert (await client.call_tool("memory_feedback", doubt)).structured_content["status"] == "known"
    after = person.call("memory.get", {"id": memory})
    assert after["usage_count"] == before["usage_count"] + 1
    assert after["flags"] == ["needs_verification"]
    same = ("version", "content", "status", "confidence", "authority")
    assert [after[name] for name in same] == [before[name] for name in same]
    (item,) = [one for one in person.call("inbox")["items"] if one["id"] == memory]
    assert [(note["actor"], note["text"]) for note in item["notes"]] == [
        ("agent:robin", "outdated: It blinks four times since March.")
    ]
    (run,) = [one for one in person.call("runs.list")["items"] if one["kind"] == "feedback"][:1]
    person.call("runs.rollback", {"run": run["run"]})
    assert person.call("memory.get", {"id": memory})["flags"] == []


async def test_task_notes_survive_between_connections_and_go_at_the_end(port: Any, era: str) -> None:
    async with connected(port, "robin", era, port.cwd) as client:
        await client.call_tool(
            "task_notes", {"action": "open", "title": "Mend the crane", "task": f"t-{era}"}
        )
        noted = await client.call_tool(
            "task_notes", {"action": "note", "task": f"t-{era}", "kind": "todo", "text": "oil the wheel"}
        )
        assert noted.structured_content["result"]["outcome"] == "noted"
    async with connected(port, "robin", era, port.cwd) as client:
        kept = await client.call_tool("task_notes", {"action": "get", "task": f"t-{era}"})
        assert "oil the wheel" in text_of(kept)
        missing = await client.call_tool("task_notes", {"action": "done", "task": f"t-{era}"})
        assert "needs `note`" in text_of(missing)
        await client.call_tool("task_notes", {"action": "close", "task": f"t-{era}"})
        gone = await client.call_tool("task_notes", {"action": "get", "task": f"t-{era}"})
        assert gone.is_error


async def test_errors_are_answers_that_say_what_to_do(port: Any, era: str) -> None:
    async with connected(port, "robin", era, port.cwd) as client:
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("memory_delete", {"id": port.memory})
        wrong = await client.call_tool("memory_search", {"query": "x", "limit": 1_000})
        assert wrong.is_error
        assert "limit" in text_of(wrong)
        with pytest.raises(MCPError, match="not found"):
            await client.read_resource("memory://elsewhere")
        with pytest.raises(MCPError) as absent:
            await client.read_resource(f"memory://item/{NOWHERE}")
        assert absent.value.code == -32_002
        with pytest.raises(MCPError, match="Unknown prompt"):
            await client.get_prompt("nothing")


async def test_progress_is_told_to_who_asked(port: Any, era: str) -> None:
    heard: list[tuple[float, float | None]] = []

    async def hear(done: float, total: float | None, _: str | None) -> None:
        heard.append((done, total))

    async with connected(port, "robin", era, port.cwd) as client:
        await client.call_tool("memory_search", {"query": "crane"}, progress_callback=hear)
        await client.call_tool("memory_search", {"query": "crane"})
    assert heard == [(0, 1), (1, 1)]


@pytest.mark.parametrize("wish", ["accept", "decline", "cancel", None])
async def test_the_person_is_asked_first_only_where_the_host_can_and_never_approves_by_it(
    port: Any, era: str, wish: str | None
) -> None:
    asked: list[str] = []

    async def answer(_: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action=wish, content={} if wish == "accept" else None)  # type: ignore[arg-type]

    content = f"From now on always tie up the {wish} boat with two ropes ({era})."
    claim = {"content": content, "kind": "preference", "scope": "private", "source": "conversation:s2"}
    how = {} if wish is None else {"elicitation_callback": answer}
    async with connected(port, "robin", era, port.cwd, **how) as client:
        found = (await client.call_tool("memory_add", {**claim, "ask": True})).structured_content
    waiting = [one for one in port.person().call("inbox")["items"] if one["content"] == content]
    assert len(asked) == (wish is not None)
    assert all(content in message for message in asked)
    if wish in (None, "accept"):
        assert found["status"] == "pending"
        assert [one["status"] for one in waiting] == ["candidate"]
        port.person().call("review.reject", {"id": found["id"]})
    else:
        assert (found["status"], found["id"], waiting) == ("refused", None, [])


async def test_who_was_not_let_in_learns_nothing(port: Any, era: str) -> None:
    async with connected(port, "stranger", era, port.cwd) as client:
        assert len((await client.list_tools()).tools) == 8
        for name, arguments in {
            "memory_search": {"query": "crane"},
            "memory_list": {},
            "memory_get": {"id": port.memory},
            "memory_context": {"objective": "crane"},
            "memory_feedback": {"id": port.memory, "verdict": "used"},
        }.items():
            result = await client.call_tool(name, arguments)
            assert result.is_error, name
            assert "memvault agents add stranger" in text_of(result)
        absent = await client.call_tool("memory_get", {"id": NOWHERE})
        assert text_of(absent) == text_of(await client.call_tool("memory_get", {"id": port.memory}))
        state = (await client.call_tool("memory_status", {})).structured_content
        assert (state["may"], state["memories"]) == ([], None)


async def test_a_grant_that_may_only_propose_reads_nothing(port: Any, era: str) -> None:
    let_in(port, "writer", verbs=["propose"])
    async with connected(port, "writer", era, port.cwd) as client:
        assert (await client.call_tool("memory_search", {"query": "crane"})).is_error
        assert (await client.call_tool("memory_get", {"id": port.memory})).is_error
        doubt = {"id": port.memory, "verdict": "wrong", "evidence": "x"}
        assert (await client.call_tool("memory_feedback", doubt)).is_error
