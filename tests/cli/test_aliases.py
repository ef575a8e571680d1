"""aliases list, add, remove on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Home


def test_names_are_added_listed_used_removed_and_undone(fresh: Home) -> None:
    fresh.add("The Falcon restarts on Mondays.")
    made = fresh.json("aliases", "add", "billing desk", "Falcon")
    assert len(made["ids"]) == 1
    assert fresh.run("aliases", "add", "Falcon", "Billing desk").out == "known already\n"
    (item,) = fresh.json("aliases", "list", "--origin", "set")["items"]
    assert (item["names"], item["origin"], item["project"]) == (["billing desk", "Falcon"], "set", None)
    assert "billing desk = Falcon" in fresh.run("aliases", "list", "falcon").out
    (hit,) = fresh.json("recall", "billing desk")["results"]
    assert any("billing desk (Falcon)" in why for why in hit["why"])
    assert "1 removed" in fresh.run("aliases", "remove", "billing desk", "Falcon").out
    assert fresh.json("undo")["restored"] == []
    assert fresh.json("aliases", "list", "--origin", "set")["total"] == 1


def test_what_is_known_is_switched_off_and_shown_so(fresh: Home) -> None:
    assert fresh.json("aliases", "remove", "k8s", "Kubernetes")["switched"] == 1
    assert "switched off" in fresh.run("aliases", "list", "k8s").out
    assert fresh.json("aliases", "list", "k8s")["items"][0]["on"] is False


def test_errors_say_what_is_wrong(shared: Home) -> None:
    assert shared.error("aliases", "add", "one", status=2)["code"] == "usage"
    assert shared.error("aliases", "remove", "nowhere", "harbour", status=3)["code"] == "not_found"
    refused = shared.error("aliases", "add", "key", "AKIA" + "Z7QJ4MX2KD5RT6WY", status=6)
    assert refused["code"] == "refused"
    assert "AKIA" not in str(refused)


def test_an_export_carries_the_names_that_were_set(fresh: Home) -> None:
    fresh.add("The Falcon restarts on Mondays.", "--project", "alpha")
    fresh.json("aliases", "add", "billing desk", "Falcon", "--project", "alpha")
    carried = {"names": ["billing desk", "Falcon"], "project": "alpha"}
    assert fresh.json("export", "-")["aliases"] == [carried]
    assert fresh.json("export", "-", "--project", "alpha")["aliases"] == [carried]
    assert fresh.json("export", "-", "--project", "beta")["aliases"] == []
    assert fresh.json("export", "-", "--scope", "team")["aliases"] == []
    _, line = fresh.run("export", "-").out.splitlines()
    assert json.loads(line) == {"alias": carried}
    assert "Other names: billing desk = Falcon" in fresh.run("export", "-", "--format", "markdown").out
