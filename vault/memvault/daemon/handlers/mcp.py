"""Handler of `mcp.attach`: from its answer on, the connection speaks MCP."""

from __future__ import annotations

from typing import Any

from memvault.daemon import mcp_door
from memvault.daemon.methods import Call, Methods, Who
from memvault.errors import Usage
from memvault.rpc import wire


def register(methods: Methods) -> None:
    methods.add("mcp.attach", wire.Nothing, Who.ANYONE, attach)


async def attach(call: Call, _: wire.Nothing) -> dict[str, Any]:
    """An agent only: a person's rights are not for a model."""
    if call.session.claimed is None:
        raise Usage("say hello as an agent first", "`memvault mcp --agent NAME` does.")
    await mcp_door.load()
    call.session.speaks_mcp = True
    return {}
