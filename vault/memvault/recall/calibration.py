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

OTHER_NAME = 0.82
"""Occurrences that one of another name counts as: at the mean length it gains 0.9 of the name asked for.
Chosen, not fitted: with less, a memory that holds all of a question by other names would not answer by its
words (`ANSWERED_WORDS`)."""

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
FOLLOWING = 0.2
FOLLOWING_NEAR = 0.03
"""Least relevance of a memory in an answer, once the question is taken to have one; of rows in threads."""

# Whether there is an answer at all -----------------------------------------------------------------------
THRESHOLD = 0.5
"""Least likelihood that anything answers; below it nothing is returned."""
ANSWERED_JOINED = 0.5
"""Weight of the best joined score beside the best cosine, which alone tells most. On all sets a question of
another set passes in at most one case of ten (docs/benchmarks.md)."""
ANSWERED_FROM = 0.24
ANSWERED_PER_DECADE = 0.105
"""Nine of ten foreign questions stay below 0.18 in a vault of one memory, 0.31 of ten, 0.43 of a hundred and
0.50 of five hundred (parts of all sets drawn at random)."""
ANSWERED_MANY_ROWS = 3_000
"""From here on it rises no more: nothing was measured beyond a thousand."""
ANSWERED_ONCE_LEARNED = -0.14
"""Added in full once questions are centred by their own mean, as with `MIDDLE_ONCE_LEARNED`."""
ANSWERED_WORDS = 0.85
"""Words of one memory that answer by themselves: nearly all that the question asks for. Of questions of
another set one in a hundred finds so many."""
ANSWERED_NAMED = 0.1
"""Added to the cosine of a turn by somebody whom the question names."""
ANSWERED_FOREIGN = 0.1
"""More that is asked of a memory in another language than the question: words are imputed to it."""

# Threads (see `threads`) -----------------------------------------------------------------------------------
# Fitted as a ranking on one half of LoCoMo's questions, judged on the other (bench/fit_threads.py); means of
# both fits. R@10 of the half left out: .842 fused, .811 by words alone, .733 by vectors alone.
THREAD_TERMS = 12
"""Terms of a question that are looked for around a row: the most informative ones."""
BEFORE, AFTER, TWO_BEFORE = 0.2, 0.4, 0.3
"""Weight of the cosine of the row before, behind, and before the one before, beside 1 for the row's own."""
OWN_WORDS, NEAR_WORDS, THREAD_WORDS = 0.4, 0.62, 0.5
"""Weight of the words of a row, of the window of five around it, and of its whole thread."""
ANSWER_WORDS = 0.4
"""Weight of the words of the question it answers: the row before, when that ends in a question mark."""
NAMED = 0.14
ASKING = 0.16
LENGTH = 0.2
"""Times the logarithm of one more than the row's words."""
THREAD_SCALE, THREAD_SHIFT = 0.5, 0.46
"""Puts rows in threads on the scale of those alone: answers, and the best of foreign ones, score the same."""
THREAD_WORDS_SCALE, THREAD_WORDS_SHIFT = 0.5, 0.3
"""The same where there are words only."""

# Structured match (see `naming`) ---------------------------------------------------------------------------
NAMED_PAIR = 4.0
"""Log-odds added to a memory whose subject and attribute are all that the question asks for: a third of the
joined score that parts answers from strangers. Less of it when the question asks for more, none from half."""
NAMED_AMONG_OTHERS = 2.0
"""The same when several pairs are named equally well."""
NAMED_AGEING = 0.1
"""So much of what age, confidence and trust would take is taken from a memory that is all the question asks
for: what somebody asks for by name is wanted although it is old."""

# Diversity -------------------------------------------------------------------------------------------------
COPY_FROM = 0.95
"""Centred cosine from which one memory says what another one says."""
COMPARED = 32
"""So many of the best are compared with each other."""

# What questions have in common (see `asked`) -------------------------------------------------------------
ASKED_HALF_AT = 20.0
"""Questions after which their own mean counts as much as the model's background."""
ASKED_KEPT_FROM = 32
"""Questions of a language before their sum is stored and counts: the sum of one question is that question."""
ASKED_APART = 8
"""Questions of a day before they are stored beside those of the days before."""
ASKED_MEMORY = 500.0
"""Questions that the running mean remembers."""

# Weights (SPEC 8) --------------------------------------------------------------------------------------
FLOOR = 0.3
