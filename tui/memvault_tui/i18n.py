"""Interface language: every string a person reads goes through `_`, `n_` or `p_`.

Owns the choice of language (MEMVAULT_LANG, then LANGUAGE, LC_ALL, LC_MESSAGES, LANG) and the loaded
catalogue. Knows nothing of screens. `N_` marks strings in tables that are translated when shown.
"""

from __future__ import annotations

import gettext
import os
from collections.abc import Mapping
from pathlib import Path

DOMAIN = "memvault_tui"
LOCALE_DIR = Path(__file__).parent / "locale"

_VARIABLES = ("MEMVAULT_LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")


class _Loaded:
    catalogue: gettext.NullTranslations = gettext.NullTranslations()


def wanted_language(environment: Mapping[str, str]) -> str:
    """The catalogue to use: `zh_CN` for any Chinese, else `en`. The first variable that is set decides."""
    for name in _VARIABLES:
        for choice in environment.get(name, "").split(":"):
            if choice:
                return "zh_CN" if choice.lower().replace("-", "_").split("_")[0].startswith("zh") else "en"
    return "en"


def use_language(language: str | None = None) -> None:
    """Load the catalogue of `language`, or of the environment; English needs none."""
    chosen = language or wanted_language(os.environ)
    _Loaded.catalogue = gettext.translation(DOMAIN, LOCALE_DIR, languages=[chosen], fallback=True)


def _(message: str) -> str:
    return _Loaded.catalogue.gettext(message)


def n_(one: str, many: str, count: int) -> str:
    """The form for `count`, with `{n}` replaced by it (thousands separated)."""
    return _Loaded.catalogue.ngettext(one, many, count).replace("{n}", f"{count:,}")


def p_(context: str, message: str) -> str:
    """Translate a message that means different things in different places."""
    return _Loaded.catalogue.pgettext(context, message)


def N_(message: str) -> str:  # noqa: N802 (the name gettext tools look for)
    """Mark for the catalogue without translating now."""
    return message
