"""Tokens with the real model: the estimate lies above for ordinary text, and a pack fits as counted whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memvault.compile.fit import assemble
from memvault.compile.plan import Material, plan
from memvault.compile.task import Mode, Task
from memvault.compile.tokens import estimate
from memvault.model import Kind
from memvault.paths import cache_dir
from memvault_models.manifest import DEFAULT_MODEL_ID
from memvault_models.port import Embedder
from memvault_models.registry import open_embedder

REPOSITORY = Path(__file__).parents[2]

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    found = open_embedder(DEFAULT_MODEL_ID, cache_dir())
    yield found
    found.close()


def ordinary_lines() -> list[str]:
    files = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
    lines = [line for path in files for line in path.read_text("utf-8").splitlines() if line.strip()]
    chinese = [
        "计费服务每三天由值班的人重启一次，不要在周五部署。",
        "报错 4021 表示签名校验失败；先检查配置，再重试。",
        "生产环境用脚本 deploy.sh，测试环境用命令 npm run deploy。",
    ]
    return [*lines, *chinese]


def test_the_estimate_lies_above_the_tokenizer_for_ordinary_text(embedder: Embedder) -> None:
    lines = ordinary_lines()
    assert len(lines) > 200
    low = [line for line in lines if estimate(line) < embedder.tokens(line)]
    assert not low, low[:3]
    assert sum(map(estimate, lines)) < 2.2 * sum(map(embedder.tokens, lines)), "and not too far above"


def test_a_pack_counted_line_by_line_fits_when_it_is_counted_whole(embedder: Embedder, entry: Any) -> None:
    lines = ordinary_lines()
    kinds = list(Kind)
    every = [
        entry(n, line, kinds[n % len(kinds)], score=0.5, subject=f"s{n}", attribute="a")
        for n, line in enumerate(lines[:120])
    ]
    standing = tuple(one for one in every if one.record.claim.kind in (Kind.POLICY, Kind.PREFERENCE))
    found = Material(
        now="2026-03-10T00:00:00.000Z", standing=standing, recalled=tuple(every), index=tuple(every)
    )
    for budget in (0, 60, 150, 400, 1_000, 3_000):
        made = plan(Task("x", Mode.CONTINUITY, budget=budget), found)
        pack = assemble(made.stable, made.units, budget, embedder.tokens, made.reasons)
        assert embedder.tokens(pack.text) <= pack.tokens <= budget
        if budget >= 400:
            assert pack.tokens > budget * 0.6, "the budget is used"
