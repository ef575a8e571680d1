"""Handlers: parse, call a service, serialise. One module a family; `table` gathers them."""

from __future__ import annotations

from memvault.daemon.handlers import (
    agents,
    aliases,
    backups,
    calibrations,
    conflicts,
    contexts,
    feedback,
    gates,
    hooks,
    imports,
    insight,
    keys,
    mcp,
    memories,
    reading,
    repair,
    tasks,
    tombstones,
    upkeep,
    vaults,
)
from memvault.daemon.methods import Methods


def table() -> Methods:
    """Every method the daemon answers."""
    methods = Methods()
    families = (
        agents,
        vaults,
        memories,
        reading,
        insight,
        contexts,
        feedback,
        hooks,
        mcp,
        tasks,
        imports,
        upkeep,
        backups,
        conflicts,
        tombstones,
        aliases,
        gates,
        calibrations,
        keys,
        repair,
    )
    for family in families:
        family.register(methods)
    return methods
