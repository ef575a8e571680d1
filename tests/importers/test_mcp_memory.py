"""The reference server's memory.jsonl: sentences from entities and relations, and lines that are neither."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from memvault.importers import jsonl, mcp_memory
from memvault.model import Kind, Sensitivity


def lines(*rows: object) -> str:
    return "".join(
        (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows
    )


def entity(name: str, kind: str, *observations: object) -> dict[str, object]:
    return {"type": "entity", "name": name, "entityType": kind, "observations": list(observations)}


def relation(start: str, word: str, end: str) -> dict[str, object]:
    return {"type": "relation", "from": start, "to": end, "relationType": word}


def test_an_observation_becomes_a_sentence_about_its_entity(read, note):
    got = read(
        "mcp-memory",
        note(
            "memory.jsonl",
            lines(entity("Orla", "person", "leads the audit team", "Orla speaks Irish", "Runs")),
        ),
        project="atlas",
    )
    assert got.contents == ["Orla leads the audit team", "Orla speaks Irish", "Orla: Runs"]
    assert {(claim.subject, claim.attribute, claim.value) for claim in got.claims} == {
        ("person:Orla", None, None)
    }
    assert {claim.project for claim in got.claims} == {"atlas"}
    assert got.sources[0].evidence == "leads the audit team"
    assert got.sources[0].ref.startswith("mcp-memory:memory.jsonl#orla-")
    assert got.found[0].where == "memory.jsonl:1"


@pytest.mark.parametrize(
    ("name", "observed", "content"),
    [
        ("林晓", "负责对账", "林晓负责对账"),
        ("林晓", "林晓负责对账", "林晓负责对账"),
        ("Al", "also sings", "Al also sings"),
        ("Atlas", "ATLAS ships on Wednesdays", "ATLAS ships on Wednesdays"),
        ("deploy", "deploy_all is slow", "deploy deploy_all is slow"),
        ("Atlas", "API keys rotate monthly", "Atlas API keys rotate monthly"),
        ("Atlas", "每周三发布", "Atlas 每周三发布"),
        ("Roof", "the door closes by itself", "Roof: the door closes by itself"),
        ("Roof", "Open in summer", "Roof: Open in summer"),
        ("Roof", "thereby useless", "Roof thereby useless"),
    ],
)
def test_the_name_is_said_once(name, observed, content):
    assert mcp_memory.about(name, observed) == content


@pytest.mark.parametrize(
    ("kind", "observed", "expected"),
    [
        ("person", "prefers green tea", Kind.PREFERENCE),
        ("person", "likes short meetings", Kind.PREFERENCE),
        ("person", "always reviews before lunch", Kind.PREFERENCE),
        ("人物", "总是先写测试", Kind.PREFERENCE),
        ("人物", "偏好表格", Kind.PREFERENCE),
        ("person", "looks like her mother", Kind.FACT),
        ("project", "always ships on Wednesdays", Kind.FACT),
        ("项目", "缓存总是先失效", Kind.FACT),
        ("project", "ships on Wednesdays", Kind.FACT),
    ],
)
def test_what_is_said_to_be_liked_is_a_preference(read, note, kind, observed, expected):
    assert read("mcp-memory", note("m.jsonl", lines(entity("X", kind, observed)))).claim.kind is expected


def test_a_relation_is_a_sentence_with_subject_attribute_and_value(read, note):
    got = read(
        "mcp-memory",
        note("m.jsonl", lines(entity("Orla", "person", "x"), relation("Orla", "works_at", "Mill"))),
    )
    claim = got.claims[1]
    assert claim.content == "Orla works at Mill"
    assert (claim.subject, claim.attribute, claim.value) == ("person:Orla", "works_at:Mill", "Mill")
    assert (claim.kind, claim.sensitivity) == (Kind.FACT, Sensitivity.INTERNAL)


def test_relations_of_one_type_never_claim_the_same_attribute(read, note):
    """Two values for one (subject, attribute) would replace each other (SPEC 6); two edges are both true."""
    path = note(
        "m.jsonl",
        lines(relation("A", "needs", "B"), relation("A", "needs", "C"), relation("A", "needs", "B")),
    )
    first, second, again = read("mcp-memory", path).claims
    assert (first.subject, first.attribute) != (second.subject, second.attribute)
    assert first == again


def test_a_relation_between_people_is_a_personal_relationship(read, note):
    got = read(
        "mcp-memory",
        note(
            "m.jsonl",
            lines(
                entity("Orla", "person", "x"),
                entity("Kei", "colleague", "x"),
                relation("Orla", "mentors", "Kei"),
                relation("林晓", "妹妹", "林雨"),
                relation("Atlas", "partner of", "Billing"),
                entity("Atlas", "project", "x"),
                relation("Atlas", "child of", "Platform"),
            ),
        ),
    )
    kinds = {claim.content: (claim.kind, claim.sensitivity) for claim in got.claims if claim.attribute}
    assert kinds == {
        "Orla mentors Kei": (Kind.RELATIONSHIP, Sensitivity.PERSONAL),
        "林晓妹妹林雨": (Kind.RELATIONSHIP, Sensitivity.PERSONAL),
        "Atlas partner of Billing": (Kind.RELATIONSHIP, Sensitivity.PERSONAL),
        "Atlas child of Platform": (Kind.FACT, Sensitivity.INTERNAL),
    }


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("works_at", "works at"),
        ("worksAt", "works at"),
        ("depends-on", "depends on"),
        ("负责", "负责"),
        ("owns", "owns"),
    ],
)
def test_relation_types_are_read_as_words(word, words):
    assert mcp_memory.as_words(word) == words


def test_aliases_dated_observations_and_several_objects_on_a_line_are_read(read, note):
    first = json.dumps({"entityName": "Orla", "entity_type": "person", "contents": ["sings"]})
    second = json.dumps({"type": "relation", "from_id": "Orla", "to_id": "Kei", "relation_type": "knows"})
    dated = entity("Kei", "person", {"content": "plays chess", "timestamp": "2025-06-26T18:45:00Z"})
    got = read("mcp-memory", note("m.jsonl", f"{first}{second}, {json.dumps(dated)}\n"))
    assert got.contents == ["Orla sings", "Orla knows Kei", "Kei plays chess"]
    assert got.sources[2].observed_at == "2025-06-26T18:45:00.000Z"
    assert got.found[2].draft.created_at == "2025-06-26T18:45:00.000Z"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{broken", "not valid JSON"),
        ("[1, 2]", "not a JSON object"),
        ("7", "not a JSON object"),
        ('{"type": "entity", "name": "a", "name": "b", "observations": []}', "twice"),
        ('{"type": "entity", "name": "a", "x": NaN, "observations": []}', "NaN"),
        ('{"type": "entity", "name": "a", "x": %s, "observations": []}' % ("9" * 5_000), "digits"),
        ('{"x": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested"),
        ('{"type": "entity", "name": "\\ud800", "observations": ["x"]}', "surrogate"),
        ('{"type": "entity", "name": "a", "observations": ["a\\u0000b"]}', "NUL"),
        ('{"type": "entity", "name": "a", "observations": [" "]}', "empty"),
        ('{"type": "entity", "name": "a", "observations": [3]}', "not text"),
        ('{"type": "entity", "name": "a", "observations": "x"}', "not a list"),
        ('{"type": "entity", "observations": ["x"]}', "`name`"),
        ('{"type": "relation", "from": "a", "relationType": "b"}', "`to`"),
        ('{"type": "song", "name": "a"}', "neither"),
    ],
)
def test_a_broken_line_is_reported_with_its_number_and_costs_only_itself(read, note, line, says):
    good = lines(entity("Orla", "person", "sings"))
    got = read("mcp-memory", note("m.jsonl", f"{good}{line}\n{good.replace('sings', 'paints')}"))
    assert got.contents == ["Orla sings", "Orla paints"]
    assert list(got.unreadable) == ["m.jsonl:2"]
    assert says in got.unreadable["m.jsonl:2"]


def test_what_stands_before_the_break_on_a_line_is_kept(read, note):
    got = read("mcp-memory", note("m.jsonl", json.dumps(entity("Orla", "person", "sings")) + "{broken\n"))
    assert got.contents == ["Orla sings"]
    assert list(got.unreadable) == ["m.jsonl:1"]


def test_one_unusable_observation_does_not_cost_the_others(read, note):
    got = read(
        "mcp-memory", note("m.jsonl", lines(entity("Orla", "person", "sings", None, "x" * 70_000, "paints")))
    )
    assert got.contents == ["Orla sings", "Orla paints"]
    assert len([item for item in got.items if item not in got.found]) == 2


def test_entities_that_say_nothing_are_skipped_not_lost(read, note):
    got = read("mcp-memory", note("m.jsonl", lines(entity("Orla", "person"))))
    assert got.skipped == {"m.jsonl:1": "an entity without observations"}


def test_invalid_utf_8_and_endless_lines_cost_one_line(read, tmp_path, monkeypatch):
    monkeypatch.setattr(jsonl, "MAX_LINE_BYTES", 2_000)
    good = lines(entity("Orla", "person", "sings")).encode()
    path = tmp_path / "m.jsonl"
    path.write_bytes(b"\xff\xfe\n" + b"x" * 10_000 + b"\n\n" + good[:-1])
    got = read("mcp-memory", path)
    assert got.contents == ["Orla sings"]
    assert got.unreadable == {
        "m.jsonl:1": "not valid UTF-8",
        "m.jsonl:2": "the line is over the limit of 2,000 bytes",
    }
    assert (got.total, got.done) == (4, 4)


def test_a_file_over_the_limit_is_refused_unread(read, note, monkeypatch):
    path = note("m.jsonl", lines(entity("Orla", "person", "sings")))
    monkeypatch.setattr(jsonl, "MAX_FILE_BYTES", 10)
    got = read("mcp-memory", path)
    assert not got.found
    assert "the limit is 10" in got.unreadable["m.jsonl"]


def test_what_is_appended_while_reading_waits_for_the_next_import(note):
    from memvault.importers import IMPORTERS
    from memvault.importers.base import Found, Target
    from memvault.model import Scope

    path = note("m.jsonl", lines(entity("Orla", "person", "sings")))
    plan = IMPORTERS["mcp-memory"].plan(path, Target(Scope.PRIVATE, None, "2026-06-01T12:00:00.000Z"))
    with path.open("a") as stream:
        stream.write(lines(entity("Kei", "person", "paints")))
    assert [item.draft.claim.content for item in plan.items if isinstance(item, Found)] == ["Orla sings"]


def test_very_many_broken_lines_are_counted_after_the_first_hundreds(read, note):
    got = read("mcp-memory", note("m.jsonl", "{broken\n" * 3_000 + lines(entity("Orla", "person", "sings"))))
    assert got.contents == ["Orla sings"]
    assert len(got.unreadable) == mcp_memory.MAX_PROBLEMS + 1
    assert got.unreadable["m.jsonl"] == "2,500 more parts cannot be read"


def test_a_folder_gives_all_its_json_lines_files(read, note, tmp_path):
    note("a.jsonl", lines(entity("Orla", "person", "sings")))
    note("sub/memory.json", lines(entity("Kei", "person", "paints")))
    note("readme.md", "no")
    got = read("mcp-memory", tmp_path)
    assert got.contents == ["Orla sings", "Kei paints"]
    assert [source.ref.split("#")[0] for source in got.sources] == [
        "mcp-memory:a.jsonl",
        "mcp-memory:sub/memory.json",
    ]
    assert got.skipped == {".": "1 file of other types (.md)"}


def test_the_same_file_gives_the_same_refs_and_moved_lines_keep_theirs(read, note):
    rows = [entity("Orla", "person", "sings", "paints"), relation("Orla", "knows", "Kei")]
    first = read("mcp-memory", note("m.jsonl", lines(*rows)))
    assert first.items == read("mcp-memory", note("m.jsonl", lines(*rows))).items
    moved = read("mcp-memory", note("m.jsonl", lines(entity("Kei", "person", "rows"), *rows)))
    assert {source.ref for source in first.sources} < {source.ref for source in moved.sources}


def test_a_large_file_is_streamed(tmp_path):
    from memvault.importers import IMPORTERS
    from memvault.importers.base import Target
    from memvault.model import Scope

    path = tmp_path / "m.jsonl"
    with path.open("w") as stream:
        for number in range(1_500):
            stream.write(lines(entity(f"service {number}", "service", "x" * 4_000)))
    assert path.stat().st_size > 6_000_000
    plan = IMPORTERS["mcp-memory"].plan(path, Target(Scope.PRIVATE, None, "2026-06-01T12:00:00.000Z"))
    tracemalloc.start()
    try:
        count = sum(1 for _ in plan.items)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 1_500
    assert peak_bytes < 3_000_000
