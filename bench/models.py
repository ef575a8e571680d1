"""Measures embedding models, one JSON line per figure. Owns its output; `memvault_models.bench` measures.

python bench/models.py [--model ID] [--cache DIR] [--seconds N]
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from memvault_models import DEFAULT_MODEL_ID, bench

UNITS = {"load_s": "s", "query_ms_p50": "ms", "workers": "contexts"}


def main() -> None:
    """Print figures with unit, model, cores and load, so that runs on busy machines can be told apart."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=DEFAULT_MODEL_ID)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "memvault")
    parser.add_argument("--seconds", type=float, default=12.0, help="shared out over the figures")
    chosen = parser.parse_args()
    load = os.getloadavg()[0]
    for name, value in bench(chosen.model, chosen.cache, chosen.seconds).items():
        line = {"bench": "models", "figure": name, "value": round(value, 3), "unit": UNITS.get(name, "1/s")}
        print(
            json.dumps(line | {"model": chosen.model, "cores": os.cpu_count(), "load_before": round(load, 2)})
        )


if __name__ == "__main__":
    main()
