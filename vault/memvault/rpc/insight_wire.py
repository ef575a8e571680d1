"""The wire types of what a person asks about the memories as a whole. Knows nothing of the answers."""

from __future__ import annotations

from memvault.rpc.wire import Count, Params


class About(Params, frozen=True):
    subject: str
    limit: Count = 50
    offset: Count = 0
