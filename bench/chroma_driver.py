"""Fills a chromadb collection with given vectors and asks it; run by `peers.py` in chromadb's environment.

    python chroma_driver.py FOLDER MOST

FOLDER holds vectors.npy, asked.npy (float32) and texts.json. Prints one JSON object: the rows found for each
question, milliseconds of a question (p50, p95), seconds to load, peak memory and bytes on disk, and whether
a text and a vector can be read in the files.
"""

import json
import resource
import sys
import time
from pathlib import Path

import chromadb
import numpy as np
from chromadb.config import Settings

BATCH = 1_000


def main() -> None:
    """Load, ask, report."""
    folder, most = Path(sys.argv[1]), int(sys.argv[2])
    vectors, asked = np.load(folder / "vectors.npy"), np.load(folder / "asked.npy")
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    home = folder / "store"
    client = chromadb.PersistentClient(str(home), Settings(anonymized_telemetry=False))
    store = client.create_collection("memories", metadata={"hnsw:space": "cosine"}, embedding_function=None)
    began = time.perf_counter()
    for start in range(0, len(texts), BATCH):
        part = slice(start, start + BATCH)
        ids = [str(at) for at in range(start, min(start + BATCH, len(texts)))]
        store.add(ids=ids, embeddings=vectors[part], documents=texts[part])
    loaded = time.perf_counter() - began
    found, times = [], []
    for vector in asked:
        began = time.perf_counter()
        answer = store.query(query_embeddings=[vector], n_results=min(most, len(texts)))
        times.append(1e3 * (time.perf_counter() - began))
        found.append([int(one) for one in answer["ids"][0]])
    files = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    print(
        json.dumps(
            {
                "found": found,
                "p50_ms": float(np.percentile(times, 50)),
                "p95_ms": float(np.percentile(times, 95)),
                "load_s": loaded,
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "disk_mb": sum(map(len, files)) / 1e6,
                "text_readable": str(any(texts[0].encode() in data for data in files)),
                "vector_readable": str(any(vectors[0, :8].tobytes() in data for data in files)),
            }
        )
    )


if __name__ == "__main__":
    main()
