"""Readers of other tools' memories: files in, drafts out. Must not know the store, the daemon or a screen."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memvault.importers.base import Importer
from memvault.importers.claude_code import ClaudeCode
from memvault.importers.markdown import Markdown
from memvault.importers.mcp_memory import McpMemory

IMPORTERS: Mapping[str, Importer] = MappingProxyType(
    {importer.kind: importer for importer in (ClaudeCode(), McpMemory(), Markdown())}
)
"""Every importer by its KIND."""
