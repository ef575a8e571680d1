"""Computes the shipped means of a model again. Owns a command; run after the background texts changed.

python -m memvault_models.regenerate CACHE_DIR [MODEL_ID]
"""

from __future__ import annotations

import sys
from pathlib import Path

from memvault_models.manifest import DEFAULT_MODEL_ID
from memvault_models.means import compute_means
from memvault_models.registry import open_embedder


def main(arguments: list[str]) -> None:
    """Write `data/means-MODEL_ID.json` beside this file; the background takes half a minute of one core."""
    if len(arguments) not in (1, 2):
        raise SystemExit("usage: python -m memvault_models.regenerate CACHE_DIR [MODEL_ID]")
    model_id = arguments[1] if len(arguments) == 2 else DEFAULT_MODEL_ID
    embedder = open_embedder(model_id, Path(arguments[0]))
    try:
        target = Path(__file__).parent / "data" / f"means-{model_id}.json"
        target.write_bytes(compute_means(embedder).encode())
    finally:
        embedder.close()
    sys.stdout.write(f"{target.name}: {target.stat().st_size} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
