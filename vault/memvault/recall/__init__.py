"""Recall: from a question to the few memories that answer it. Knows neither storage nor wire.

Stages, one module each: `terms` (text to keyed term hashes), `rows` (which memories may be seen), `lexical`
(BM25 over permitted rows), `semantic` (centred cosines over permitted rows), `fuse` (one relevance),
`weigh` (age, confidence, trust), `explain` (why, in words). `index` runs them; `calibration` holds every
constant that was learned from data.
"""

from memvault.recall.index import Index
from memvault.recall.query import Entry, Explanation, Hit, Query, QueryTerm, Shelf
from memvault.recall.terms import Analyser

__all__ = ["Analyser", "Entry", "Explanation", "Hit", "Index", "Query", "QueryTerm", "Shelf"]
