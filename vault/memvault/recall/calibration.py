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

ASKED_TERMS = 8
"""A question asks for the information of its so many most informative terms; a long prompt for no more."""

# Fusion ------------------------------------------------------------------------------------------------
LEXICAL_SHARE = 0.5
"""Weight of the words found, beside a weight of 1 for the centred cosine."""
FOREIGN_WORDS = 1.2
"""Words that a memory in another language is taken to share, per unit of its cosine: related passages in the
question's language share about that much (LongMemEval 1.35, LoCoMo 0.9)."""
MIDDLE = 0.38
"""Joined score at which a memory is as likely to answer as not."""
LEXICAL_ONLY_MIDDLE = 0.35
STEEPNESS = 12.0
"""Log-odds per unit of joined score."""
THRESHOLD = 0.5
"""Least relevance that is returned."""

# What questions have in common (see `asked`) -------------------------------------------------------------
ASKED_HALF_AT = 20.0
"""Questions after which their own mean counts as much as the model's background."""
ASKED_MEMORY = 500.0
"""Questions that the running mean remembers."""

# Weights (SPEC 8) --------------------------------------------------------------------------------------
FLOOR = 0.3
