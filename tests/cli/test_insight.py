"""SPEC 14: about, why and stats; what a person asks of the memories as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Home


def test_about_lists_what_names_a_subject_with_counts_and_reasons(fresh: Home) -> None:
    tea = fresh.add("Drinks tea.", "--subject", "Orla", "--attribute", "drink", "--value", "tea")
    said = fresh.add("Ask Orla before a release.", "--project", "alpha")
    fresh.add("The lamp is lit.")
    found = fresh.json("about", "orla")
    assert [(item["id"], item["because"]) for item in found["items"]] == [
        (tea["id"], ["subject"]), (said["id"], ["content"]),
    ]  # fmt: skip
    assert (found["total"], found["projects"]) == (2, {"": 1, "alpha": 1})
    shown = fresh.run("about", "Orla").out
    assert tea["id"] in shown
    assert "named in: content" in shown
    assert "2 memories" in shown
    assert "no project 1, alpha 1" in shown
    assert len(fresh.json("about", "Orla", "--limit", "1")["items"]) == 1
    nobody = fresh.run("about", "Bertram")
    assert (nobody.status, nobody.out) == (0, "")
    assert "Nothing that is remembered names it" in nobody.err
    assert fresh.error("about", "...", status=2)["code"] == "usage"


def test_everything_about_somebody_is_listed_and_then_deleted_by_its_ids(fresh: Home) -> None:
    fresh.add("Orla drinks tea.")
    fresh.add("Releases wait.", "--why", "Orla signs them.")
    ids = [item["id"] for item in fresh.json("about", "Orla")["items"]]
    assert len(ids) == 2
    fresh.json("delete", *ids, "--yes")
    assert fresh.json("about", "Orla")["total"] == 0


def test_why_explains_the_answer_or_one_memory_in_json_and_in_words(fresh: Home) -> None:
    port = fresh.add("The gateway listens on port 8080.")["id"]
    off = fresh.add("The old gateway listened on port 9090.")["id"]
    fresh.json("disable", off)
    found = fresh.json("why", "gateway port")
    assert [(item["id"], item["verdict"], item["rank"]) for item in found["items"]] == [(port, "returned", 1)]
    assert set(found) == {"query", "mode", "threshold", "items"}
    shown = fresh.run("why", "gateway port").out
    assert "1. returned" in shown
    assert "relevance" in shown
    (one,) = fresh.json("why", "gateway port", off)["items"]
    assert (one["verdict"], one["reasons"]) == ("kept_out", ["it is switched off"])
    assert "kept out" in fresh.run("why", "gateway port", off).out
    (far,) = fresh.json("why", "zebra crossing", port)["items"]
    assert far["verdict"] in ("not_matched", "below_threshold")
    (kind,) = fresh.json("why", "gateway port", port, "--kind", "policy")["items"]
    assert (kind["verdict"], kind["kind"]) == ("kept_out", "fact")
    elsewhere = fresh.add("The mill gateway listens on port 7070.", "--project", "beta")["id"]
    (other,) = fresh.json("why", "mill gateway port", elsewhere, "--project", "alpha")["items"]
    assert other["reasons"] == ["the question was asked in the project alpha, it belongs to another one"]
    (beyond,) = fresh.json("why", "gateway port", elsewhere, "--limit", "1")["items"]
    assert (beyond["verdict"], beyond["rank"]) == ("beyond_limit", 2)
    unknown = "01890a5d-ac96-774b-bcce-b302099a8057"
    assert fresh.error("why", "gateway", unknown, status=3)["code"] == "not_found"
    assert fresh.error("why", " ", status=2)["code"] == "usage"
    assert fresh.error("why", "gateway", "--include", "deleted", status=2)["code"] == "usage"
    assert fresh.json("get", port)["usage_count"] == 0, "asking why is no use"


def test_stats_shows_numbers_and_small_bars_and_no_text(fresh: Home) -> None:
    for number in range(4):
        fresh.add(f"The zanzibar lamp {number} is lit.", "--project", "alpha" if number else "beta")
    gone = fresh.add("The quokka lamp is lit.")
    fresh.json("delete", gone["id"], "--yes")
    fresh.add("The quokka lamp is lit.", status=6)
    fresh.json("recall", "zanzibar lamp")
    found = fresh.json("stats")
    assert (found["memories"], found["projects"]) == (4, {"alpha": 3, "beta": 1})
    assert found["refusals"]["resurrection"] == 1
    assert (found["growth"][-1]["added"], found["growth"][-1]["removed"]) == (5, 1)
    shown = fresh.run("stats").out
    for line in (
        "4 memories",
        "by project",
        "stale citations",
        "recalls",
        "sources",
        "index",
        "resurrection",
    ):
        assert line in shown, line
    bars = {line.split()[0]: line.count("█") for line in shown.splitlines() if "█" in line}
    assert bars["alpha"] == 3 * bars["beta"] > 0
    assert "zanzibar" not in shown + str(found)
    assert "quokka" not in shown + str(found)
