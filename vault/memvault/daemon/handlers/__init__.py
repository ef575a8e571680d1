"""Handlers: parse, call a service, serialise. One module a family; `table` gathers them."""

from __future__ import annotations

from memvault.daemon.handlers import (
    backups,
    conflicts,
    imports,
    memories,
    reading,
    tombstones,
    upkeep,
    vaults,
)
from memvault.daemon.methods import Methods


def table() -> Methods:
    """Every method the daemon answers."""
    methods = Methods()
    for family in (vaults, memories, reading, imports, upkeep, backups, conflicts, tombstones):
        family.register(methods)
    return methods
