"""Normalisation of text before tokenising. Owns one pure function; must not know any model."""

from __future__ import annotations

import re
import unicodedata

from memvault_models.errors import ModelInputInvalid

# Controls, zero-width and bidi marks, byte-order mark, lone surrogates, unassigned noncharacters: no meaning
# to embed, and lone surrogates cannot be encoded.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffc"
    "\ud800-\udfff\ufffe\uffff]+"
)
_SPACES = re.compile(r"\s+")


def normalise(text: str) -> str:
    """Compatibility-compose (NFKC), drop invisible characters, join white space to single blanks.

    NFKC is close to the code-point map that the default model was trained with.
    Raises ModelInputInvalid when nothing is left.
    """
    if text.isascii() and text.isprintable():
        shown = text
    else:
        shown = _UNSEEN.sub("", unicodedata.normalize("NFKC", text))
    joined = _SPACES.sub(" ", shown).strip()
    if not joined:
        raise ModelInputInvalid("the text to embed is empty")
    return joined


def normalise_all(texts: list[str]) -> list[str]:
    """Normalise many texts; the error names the position of the empty one."""
    done: list[str] = []
    for position, text in enumerate(texts):
        try:
            done.append(normalise(text))
        except ModelInputInvalid as error:
            raise ModelInputInvalid(f"text {position} of {len(texts)} is empty") from error
    return done
