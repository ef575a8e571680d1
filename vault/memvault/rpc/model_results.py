"""What is answered about the calibration of the model in use. Knows nothing of how it is found."""

from __future__ import annotations

from typing import Literal

from memvault.rpc.results import Result


class Shifts(Result, frozen=True):
    """Added to what an answer needs, by the language of the question."""

    en: float
    zh: float
    other: float


class ShiftRates(Result, frozen=True):
    """Shares at one shift: answerable questions whose answer is among the first five, and unanswerable ones
    that get anything; null without such questions."""

    shift: float
    found: float | None
    answered: float | None


class ShiftInUse(Result, frozen=True):
    shifts: Shifts
    found: float | None
    answered: float | None


class ShiftSuggested(Result, frozen=True):
    """`cost`: share of the answerable questions that are kept back; `dear`: more than two in a hundred."""

    shifts: Shifts
    found: float | None
    answered: float | None
    cost: float
    dear: bool


class ShiftLanguage(Result, frozen=True):
    """The questions of one language at the suggestion, or in use when there is none."""

    language: Literal["en", "zh", "other"]
    answerable: int
    unanswerable: int
    shift: float
    found: float | None
    answered: float | None


class AnswersCalibrated(Result, frozen=True):
    """`labelled`: on a person's labels, else on what stands for them."""

    model: str
    labelled: bool
    answerable: int
    unanswerable: int
    rows: list[ShiftRates]
    current: ShiftInUse
    suggested: ShiftSuggested | None
    languages: list[ShiftLanguage]
    rule: str


class ShiftSet(Result, frozen=True):
    shifts: Shifts
    before: Shifts
    model: str
