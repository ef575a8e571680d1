"""Compiled contexts over a real vault, for the tests of SPEC 9."""

from __future__ import annotations

from typing import Any

from memvault.compile.task import Mode, Task
from memvault.compile.tokens import estimate
from memvault.model import Kind, Sensitivity
from memvault.services import compiling
from memvault.services.caller import PERSON, Caller
from memvault.services.compiling import Context

OBJECTIVE = "deploy the billing service to staging"


def compiled(desk: Any, objective: str = OBJECTIVE, caller: Caller = PERSON, **how: Any) -> Context:
    """Gather, hold and fit, as the daemon does."""
    task = compiling.checked(Task(objective, how.pop("mode", Mode.SCOPED), how.pop("project", "app"), **how))
    desk.embed()
    vector = desk.embedder.embed_query(task.objective)
    gathered = compiling.gather(desk.vault, caller, task, vector, "hybrid")
    if gathered.hold is not None:
        compiling.hold(desk.vault, gathered.hold)
    return compiling.finish(gathered, estimate, "estimate")


def zone(context: Context, name: str) -> str:
    return "\n".join(next(lines for zone_name, lines, _ in context.pack.zones if zone_name == name))


def reasons(context: Context) -> dict[str, str]:
    return context.pack.left_out


def fill(desk: Any) -> dict[str, str]:
    """One memory of every kind about the same matter."""
    ids: dict[str, str] = {}
    for kind, content in {
        Kind.POLICY: "Never deploy to production without a second pair of eyes.",
        Kind.PREFERENCE: "Answer in short sentences.",
        Kind.FACT: "The billing service is deployed to staging by a script.",
        Kind.RELATIONSHIP: "Ada owns the deployment of the billing service to staging.",
        Kind.EPISODE: "The last deployment of the billing service to staging took two tries.",
        Kind.PROCEDURE: "To deploy the billing service to staging: build, migrate, restart.",
        Kind.REFLECTION: "A deployment of billing to staging failed because the cache was stale.",
    }.items():
        level = Sensitivity.PERSONAL if kind is Kind.RELATIONSHIP else Sensitivity.INTERNAL
        ids[kind] = desk.add(content, kind=kind, project="app", sensitivity=level).id
    style = {"subject": "user", "attribute": "style", "kind": Kind.PREFERENCE}
    ids["style"] = desk.add("Use a dry tone in prose.", **style).id
    constraint = {"subject": "project:app", "attribute": "constraint", "project": "app"}
    ids["constraint"] = desk.add("The build must work offline.", **constraint).id
    return ids
