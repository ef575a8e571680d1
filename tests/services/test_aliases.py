"""Other names in a vault: learned, set, switched off, taken back, and gone with what taught them."""

from __future__ import annotations

from typing import Any

import pytest

from memvault.errors import LimitReached, NotFound, Refused, TextUnusable, Usage
from memvault.services import aliasing, candidates, learning, maintain
from memvault.services.caller import PERSON, SCRIPT
from memvault.store import aliases, settings


def names(desk: Any, **how: Any) -> list[tuple[str, ...]]:
    found = aliasing.listing(desk.vault, how.get("name"), how.get("origin"), 500, 0)["items"]
    return [tuple(item["names"]) for item in found]


def found(desk: Any, query: str, **how: Any) -> list[str]:
    return [item["content"] for item in desk.recall(query, **how)]


def test_a_memory_teaches_and_editing_deleting_or_rolling_back_takes_it_away(desk: Any) -> None:
    made = desk.add("The Zanzibar Event Bus (ZEB) carries all orders.")
    assert names(desk, origin="learned") == [("ZEB", "Zanzibar Event Bus")]
    desk.reopen()
    assert names(desk, origin="learned") == [("ZEB", "Zanzibar Event Bus")]
    desk.delete(made.id)
    assert names(desk, origin="learned") == []
    assert desk.vault.reader.all("SELECT 1 FROM alias_taught") == []
    again = desk.add("The Quartz Event Bus (QEB) carries all orders.")
    desk.roll_back(again.run)
    assert names(desk, origin="learned") == []


def test_a_candidate_teaches_nothing_until_it_stands(desk: Any) -> None:
    desk.add("The orders are carried by the Zanzibar Event Bus at night.")
    made = desk.add("The Zanzibar Event Bus (ZEB) is old.", caller=SCRIPT, source="conversation:c")
    assert desk.get(made.id).status == "candidate"
    assert not found(desk, "ZEB")
    candidates.confirm(desk.vault, PERSON, made.id)
    assert len(found(desk, "ZEB")) == 2


def test_what_one_project_taught_no_agent_of_another_gains_from(desk: Any, robot: Any) -> None:
    desk.add("The Falcon restarts on Mondays.", project="alpha")
    before = desk.recall("billing nest", caller=robot)
    desk.add("Falcon, also known as Nest, is restarted by hand.", project="beta")
    assert desk.recall("billing nest", caller=robot) == before == []
    desk.add("Falcon, also known as Nest, is restarted by hand.", project="alpha")
    assert any("nest (Falcon)" in why for hit in desk.recall("nest", caller=robot) for why in hit["why"])


def test_a_person_sets_names_and_undo_takes_them_back(desk: Any) -> None:
    desk.add("The Falcon restarts on Mondays.")
    assert not found(desk, "billing desk")
    done = aliasing.add(desk.vault, PERSON, ["billing desk", "Falcon"], None)
    assert found(desk, "billing desk") == ["The Falcon restarts on Mondays."]
    assert aliasing.add(desk.vault, PERSON, ["falcon", "Billing Desk"], None).run is None
    desk.reopen()
    assert names(desk, origin="set") == [("billing desk", "Falcon")]
    maintain.undo(desk.vault, PERSON)
    assert names(desk, origin="set") == []
    assert not found(desk, "billing desk")
    with pytest.raises(Exception, match="taken back already"):
        desk.roll_back(done.run)


def test_removing_is_taken_back_too_and_its_event_says_no_name(desk: Any) -> None:
    aliasing.add(desk.vault, PERSON, ["billing desk", "Falcon"], "alpha")
    done = aliasing.remove(desk.vault, PERSON, ["Falcon", "billing desk"], None)
    assert names(desk, origin="set") == []
    assert done.run is not None
    assert "alcon" not in str(maintain.show_run(desk.vault, done.run))
    maintain.undo(desk.vault, PERSON)
    assert aliasing.listing(desk.vault, "falcon", None, 5, 0)["items"][0]["project"] == "alpha"


def test_what_is_known_or_learned_is_switched_off_and_on_without_keeping_its_text(desk: Any) -> None:
    made = desk.add("The Zanzibar Event Bus (ZEB) carries all orders.")
    for pair in (["ZEB", "Zanzibar Event Bus"], ["k8s", "Kubernetes"]):
        aliasing.remove(desk.vault, PERSON, pair, None)
        (item,) = aliasing.listing(desk.vault, pair[0], None, 5, 0)["items"]
        assert (item["on"], item["off"]) == (False, [pair])
    desk.delete(made.id)
    for table in ("alias", "alias_off", "before_image", "event_payload"):
        assert "anzibar" not in str(desk.vault.reader.all(f"SELECT * FROM {table}"))
    aliasing.add(desk.vault, PERSON, ["k8s", "Kubernetes"], None)
    assert all(item["on"] for item in aliasing.listing(desk.vault, "k8s", None, 5, 0)["items"])


def test_what_cannot_be_kept_is_refused(desk: Any) -> None:
    with pytest.raises(Refused, match="credential"):
        aliasing.add(desk.vault, PERSON, ["key", "AKIA" + "Z7QJ4MX2KD5RT6WY"], None)
    for wrong in (["one"], ["one", "ONE"], ["it", "information"], ["...", "dots"]):
        with pytest.raises(Usage):
            aliasing.add(desk.vault, PERSON, wrong, None)
    with pytest.raises(TextUnusable):
        aliasing.add(desk.vault, PERSON, ["x" * 200, "y"], None)
    with pytest.raises(NotFound):
        aliasing.remove(desk.vault, PERSON, ["nowhere", "harbour"], None)
    assert names(desk, origin="set") == []


def test_sets_of_names_are_limited(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aliasing, "MOST_SET", 1)
    aliasing.add(desk.vault, PERSON, ["a1", "b1"], None)
    with pytest.raises(LimitReached):
        aliasing.add(desk.vault, PERSON, ["a2", "b2"], None)


def test_older_memories_are_read_when_the_patterns_change(desk: Any) -> None:
    desk.add("The Zanzibar Event Bus (ZEB) carries all orders.")
    with desk.vault.writer.transaction():
        desk.vault.writer.run("DELETE FROM alias_taught")
        settings.put(desk.vault.writer, learning.READ_BY, b"0")
    desk.reopen()
    assert names(desk, origin="learned") == [("ZEB", "Zanzibar Event Bus")]


def test_a_backup_carries_names_and_a_restore_brings_them(house: Any, desk: Any) -> None:
    desk.add("The Zanzibar Event Bus (ZEB) carries all orders.")
    aliasing.add(desk.vault, PERSON, ["billing desk", "Falcon"], None)
    copy = house.back_up()
    aliasing.remove(desk.vault, PERSON, ["billing desk", "Falcon"], None)
    house.restore(copy)
    assert names(desk, origin="set") == [("billing desk", "Falcon")]
    assert names(desk, origin="learned") == [("ZEB", "Zanzibar Event Bus")]
    assert len(aliases.every(desk.vault.reader)) == 1


def test_deleting_a_project_takes_the_names_that_were_set_for_it(desk: Any) -> None:
    desk.add("The Falcon restarts on Mondays.", project="alpha")
    aliasing.add(desk.vault, PERSON, ["billing desk", "Falcon"], "alpha")
    aliasing.add(desk.vault, PERSON, ["harbour desk", "Osprey"], "alpha")
    aliasing.remove(desk.vault, PERSON, ["harbour desk", "Osprey"], None)
    aliasing.add(desk.vault, PERSON, ["kitchen desk", "Heron"], None)
    desk.delete(project="alpha")
    assert names(desk, origin="set") == [("kitchen desk", "Heron")]
    for table in ("alias", "before_image", "event_payload"):
        rows = str(desk.vault.reader.all(f"SELECT * FROM {table}"))
        assert "Falcon" not in rows and "Osprey" not in rows
