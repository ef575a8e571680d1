"""models: the embedding models on this machine. Only `use` asks the daemon: files are no vault data."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from memvault.cli.calibrating import calibrate
from memvault.cli.invocation import Invocation, invoked
from memvault.cli.layout import pad, width
from memvault.cli.options import Command, Group, choice
from memvault.cli.output import bold, coloured, dim
from memvault.cli.progress import Meter
from memvault.errors import MemvaultError, ModelUnavailable, NotFound, Usage

if TYPE_CHECKING:
    from memvault_models.port import Pooling
    from memvault_models.registry import ModelInfo

_WORDS = {
    "ready": "ready",
    "can_be_made": "can be made from an installed package",
    "can_be_fetched": "can be fetched",
    "missing": "not to be had here",
}
_BENCH_TEXTS = (
    "The staging database runs PostgreSQL 16 and is restored from last night's backup every morning.",
    "Deploy billing with the script, never by hand; the migration step is easily forgotten otherwise.",
    "技术方案对比一律用表格，不要写成长段落，结论放在第一行。",
    "When a request fails with 502 after a deploy, a stale worker is the first thing to look for.",
)
_BENCH_ROUNDS = 8


@contextlib.contextmanager
def _model_errors() -> Iterator[None]:
    """Turn errors of the model layer into those of the command line."""
    from memvault_models import errors as model_errors

    kinds: tuple[tuple[type[model_errors.ModelError], type[MemvaultError]], ...] = (
        (model_errors.ModelNotFound, NotFound),
        (model_errors.ModelIdTaken, Usage),
        (model_errors.ManifestInvalid, Usage),
    )
    try:
        yield
    except model_errors.ModelError as error:
        chosen = next((ours for theirs, ours in kinds if isinstance(error, theirs)), ModelUnavailable)
        raise chosen(str(error), error.hint) from error


def _cache() -> Path:
    from memvault.paths import cache_dir

    return cache_dir()


@click.group("models", cls=Group)
def models() -> None:
    """List, fetch, choose and measure models."""


models.add_command(calibrate)


@models.command("list", cls=Command)
@invoked
def list_(at: Invocation) -> None:
    """List the models this installation knows."""
    from memvault_models.registry import list_models

    with _model_errors():
        found = list_models(_cache())
    if at.out.as_json:
        at.out.document({"items": [_info(model) for model in found], "total": len(found)})
        return
    widest = max((width(model.id) for model in found), default=0)
    for model in found:
        style = "green" if model.availability == "ready" else "dim"
        at.out.line(
            bold(pad(model.id, widest)), "  ", coloured(_WORDS[model.availability], style),
            dim(f"  {_what(model)}, {model.size_bytes / 1e6:,.0f} MB, {model.licence}"),
            dim("  default" if model.is_default else ""),
        )  # fmt: skip
    at.out.tip("Next: `memvault models pull ID` makes one ready, `memvault models use ID` chooses it.")


def _what(model: ModelInfo) -> str:
    return "reranker" if model.role == "reranker" else f"{model.dimensions} dimensions"


def _info(model: ModelInfo) -> dict[str, Any]:
    return {
        "id": model.id,
        "role": model.role,
        "origin": model.origin,
        "availability": model.availability,
        "dimensions": model.dimensions,
        "context_tokens": model.context_tokens,
        "size_bytes": model.size_bytes,
        "licence": model.licence,
        "path": str(model.path),
        "default": model.is_default,
    }


def default_id() -> str:
    from memvault_models.manifest import DEFAULT_MODEL_ID

    return DEFAULT_MODEL_ID


def make_ready(at: Invocation, model_id: str) -> Path:
    """Make sure of a model's file, showing progress; returns its path. Raises NotFound, ModelUnavailable."""
    from memvault_models.registry import pull as pull_model

    with _model_errors(), Meter(f"model {model_id}", "bytes", at.out.quiet, at.settings.no_color) as meter:
        return pull_model(model_id, _cache(), meter.update)


@models.command("pull", cls=Command)
@click.argument("model_id", metavar="[ID]", required=False)
@invoked
def pull(at: Invocation, model_id: str | None) -> None:
    """Make a model's file ready: converted from a package, or fetched. Default: the shipped model."""
    chosen = model_id or default_id()
    path = make_ready(at, chosen)
    size_bytes = path.stat().st_size
    if at.out.as_json:
        at.out.document({"id": chosen, "path": str(path), "size_bytes": size_bytes})
    else:
        at.out.line(f"{chosen} is ready: {path} ({size_bytes / 1e6:,.0f} MB)")


@models.command("use", cls=Command)
@click.argument("model_id", metavar="ID")
@invoked
def use(at: Invocation, model_id: str) -> None:
    """Choose the model of this vault; memories are embedded again in the background."""
    make_ready(at, model_id)
    answer = at.call("models.use", {"id": model_id})
    if at.out.as_json:
        at.out.document(answer)
    else:
        pending = answer.get("pending") or 0
        at.out.line(
            f"{answer.get('id')} is used from now on" + (f"; {pending:,} to embed" if pending else "")
        )


@models.command("add", cls=Command)
@click.argument("path", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--id", "model_id", metavar="ID", required=True, help="The name it gets: small letters, digits, . _ -"
)
@click.option("--query-prefix", metavar="T", default="", help="What the model wants in front of questions.")
@click.option("--passage-prefix", metavar="T", default="", help="What the model wants in front of texts.")
@click.option("--pooling", type=choice(("mean", "cls", "last")), help="Default: what the file says.")
@click.option("--licence", metavar="T", help="Default: what the file says.")
@invoked
def add(at: Invocation, path: str, model_id: str, pooling: str | None, **how: Any) -> None:
    """Make a GGUF embedding model or reranker of your own known; the file is used where it lies."""
    from memvault_models.registry import add_file

    with _model_errors():
        entry = add_file(Path(path), model_id, _cache(), pooling=cast("Pooling | None", pooling), **how)
    document = {
        "id": entry.id,
        "dimensions": entry.dimensions,
        "pooling": entry.pooling,
        "sha256": entry.sha256,
    }
    if at.out.as_json:
        at.out.document(document)
    elif entry.pooling == "rank":
        at.out.line(f"{entry.id} is known: a reranker")
        at.out.tip(f'Next: `reranker = "{entry.id}"` below `[recall]` in config.toml of the vault\'s home.')
    else:
        at.out.line(f"{entry.id} is known: {entry.dimensions} dimensions, pooling {entry.pooling}")
        at.out.tip(f"Next: `memvault models use {entry.id}`.")


@models.command("bench", cls=Command)
@click.argument("model_id", metavar="[ID]", required=False)
@invoked
def bench(at: Invocation, model_id: str | None) -> None:
    """Measure loading, one question, and texts a second on this machine. Default: the shipped model."""
    from memvault_models.registry import open_embedder

    chosen = model_id or default_id()
    make_ready(at, chosen)
    with _model_errors():
        started_s = time.perf_counter()
        embedder = open_embedder(chosen, _cache())
        load_s = time.perf_counter() - started_s
        try:
            embedder.embed_query(_BENCH_TEXTS[0])
            query_ms = min(_timed(embedder.embed_query, text) for text in _BENCH_TEXTS) * 1000
            passages_s = _timed(embedder.embed_passages, list(_BENCH_TEXTS) * _BENCH_ROUNDS)
        finally:
            embedder.close()
    document = {
        "id": chosen,
        "load_ms": round(load_s * 1000, 1),
        "query_ms": round(query_ms, 2),
        "texts_per_s": round(len(_BENCH_TEXTS) * _BENCH_ROUNDS / passages_s, 1),
    }
    if at.out.as_json:
        at.out.document(document)
    else:
        at.out.line(bold(chosen))
        at.out.line(f"loads in {document['load_ms']} ms, a question takes {document['query_ms']} ms,")
        at.out.line(f"{document['texts_per_s']} texts are embedded a second")


def _timed(work: Any, given: Any) -> float:
    started_s = time.perf_counter()
    work(given)
    return time.perf_counter() - started_s
