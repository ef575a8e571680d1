"""A real SQLCipher file with the schema in it, and ways to look at it from outside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memvault.keys.envelope import VaultKey
from memvault.store import schema
from memvault.store.connection import Database


@pytest.fixture
def key() -> VaultKey:
    return VaultKey.random()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vault.db"


@pytest.fixture
def db(path: Path, key: VaultKey) -> Iterator[Database]:
    """An open, writable database with the current schema."""
    opened = Database(path, key, writable=True, create=True)
    schema.migrate(opened)
    yield opened
    opened.close()
