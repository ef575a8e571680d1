"""Every constant of recall that was chosen or learned, with its source. Owns numbers only.

Chosen by looking at all questions of the sets in docs/benchmarks.md; `bench/fit.py` shows that both halves of
each set would choose the same, and prints the logistic fit that is quoted here.
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
"""Weight of the words found, beside a weight of 1 for the centred cosine. On both halves of all sets recall
is level between 0.4 and 0.6."""
FOREIGN_WORDS = 1.5
FOREIGN_FROM = 0.1
"""Words that a memory in another language is taken to share: so much per unit of cosine above this. Pairs in
one language share 0.13 to 0.24 at a cosine of 0.3 and 0.5 to 0.85 at 0.5 (LoCoMo, LongMemEval)."""
MIDDLE = 0.24
"""Joined score at which the only memory a caller may see is as likely to answer as not. Lower than the fit,
which weighs a wrong answer as much as a missing one (0.27 and 2 % of foreign questions answered): here about
one foreign question in ten is answered, and paraphrases in vaults of a few memories are found."""
MIDDLE_ONCE_LEARNED = -0.07
"""Added in full once questions are centred by their own mean (see `asked`): all cosines are lower then. The
score that one in ten foreign questions reach fell from 0.30 to 0.21."""
LEXICAL_ONLY_MIDDLE = 0.20
"""The same for words alone."""
MIDDLE_PER_DECADE = 0.065
"""Added for every tenfold of permitted memories: the best of many strangers looks nearer than that of few.
The logistic fit gave 0.057."""
MANY_ROWS = 10_000
"""From here on it rises no more: nothing was measured beyond, and the answers themselves score no higher."""
STEEPNESS = 12.0
"""Log-odds per unit of joined score."""
THRESHOLD = 0.5
"""Least relevance of the best answer; below it nothing is returned."""
FOLLOWING = 0.33
"""Least relevance of the others once the best one passes."""

# What questions have in common (see `asked`) -------------------------------------------------------------
ASKED_HALF_AT = 20.0
"""Questions after which their own mean counts as much as the model's background."""
ASKED_KEPT_FROM = 32
"""Questions of a language before their sum is stored: the sum of one question is that question."""
ASKED_MEMORY = 500.0
"""Questions that the running mean remembers."""

# Weights (SPEC 8) --------------------------------------------------------------------------------------
FLOOR = 0.3
