"""Every constant of recall that was chosen or learned, with its source. Owns numbers only.

"Fitted" means: by `bench/fit.py` on halves of the sets in docs/benchmarks.md, checked on the other halves.
"""

from __future__ import annotations

# Terms -------------------------------------------------------------------------------------------------
FUNCTION_WEIGHT = 0.15
"""Weight of a function word in a question: it breaks ties and finds nothing by itself."""
CJK_FUNCTION_WEIGHT = 0.15
PART_WEIGHT = 0.5
"""Weight of a part of an identifier beside the whole."""

# BM25 --------------------------------------------------------------------------------------------------
SATURATION = 1.0
"""BM25's k1."""
LENGTH_SHARE = 0.5
"""BM25's b."""
PRIOR_ROWS = 20.0
"""Rows without the term that every document frequency pretends to have seen, so that the inverse document
frequency means something in a vault of one memory."""

# Fusion ------------------------------------------------------------------------------------------------
SEMANTIC_SHARE = 1.0
LEXICAL_SHARE = 0.6
MIDDLE = 0.36
STEEPNESS = 12.0
LEXICAL_ONLY_MIDDLE = 0.35

THRESHOLD = 0.5

# Weights (SPEC 8) --------------------------------------------------------------------------------------
FLOOR = 0.3
