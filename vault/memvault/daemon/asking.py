"""The vector of a question, from the worker that owns the model. Owns what of a long prompt is embedded."""

from __future__ import annotations

import asyncio

import numpy as np
import numpy.typing as npt

from memvault.recall.gist import gist, last_said, together
from memvault.services.embedding import EmbeddingWorker


async def vector_of(worker: EmbeddingWorker, text: str) -> npt.NDArray[np.float32]:
    """Shape (dims,), of length 1. Raises ModelUnavailable."""
    last = last_said(text)
    asked = [worker.ask(gist(text))] + ([] if last is None else [worker.ask(last)])
    whole, *more = [await asyncio.wrap_future(one) for one in asked]
    return together(whole, more[0] if more else None)
