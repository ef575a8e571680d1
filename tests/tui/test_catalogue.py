"""The Chinese catalogue is complete, compiled, and keeps every placeholder."""

from __future__ import annotations

import ast
import gettext
import re
from collections.abc import Iterator
from pathlib import Path

import memvault_tui
from memvault_tui.i18n import LOCALE_DIR, _, n_, p_, use_language, wanted_language

PACKAGE = Path(memvault_tui.__file__).parent
PO = LOCALE_DIR / "zh_CN" / "LC_MESSAGES" / "memvault_tui.po"

Key = tuple[str | None, str, str | None]
"""(context, message, plural) of one entry."""


def source_strings() -> dict[Key, str]:
    """Every string marked for translation, with the place where it stands."""
    found: dict[Key, str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            texts = [
                arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
            ]
            where = f"{path.relative_to(PACKAGE)}:{node.lineno}"
            if node.func.id in ("_", "N_") and texts:
                found.setdefault((None, texts[0], None), where)
            elif node.func.id == "n_" and len(texts) == 2:
                found.setdefault((None, texts[0], texts[1]), where)
            elif node.func.id == "p_" and len(texts) == 2:
                found.setdefault((texts[0], texts[1], None), where)
    return found


def _entries(text: str) -> Iterator[dict[str, str]]:
    entry: dict[str, str] = {}
    field = ""
    for line in [*text.splitlines(), ""]:
        if not line.strip():
            if "msgid" in entry:
                yield entry
            entry, field = {}, ""
        elif line.startswith("#"):
            continue
        elif line.startswith('"'):
            entry[field] += ast.literal_eval(line)
        else:
            field, _space, rest = line.partition(" ")
            entry[field] = ast.literal_eval(rest)


def po_entries() -> dict[Key, str]:
    """Translations by key; an entry without one has an empty string."""
    return {
        (entry.get("msgctxt"), entry["msgid"], entry.get("msgid_plural")): entry.get(
            "msgstr", entry.get("msgstr[0]", "")
        )
        for entry in _entries(PO.read_text(encoding="utf-8"))
        if entry["msgid"]
    }


def test_every_string_of_the_interface_has_a_chinese_translation() -> None:
    translated = po_entries()
    missing = {where: key for key, where in source_strings().items() if not translated.get(key)}
    assert missing == {}


def test_the_catalogue_holds_nothing_the_interface_does_not_say() -> None:
    assert set(po_entries()) - set(source_strings()) == set()


def test_translations_keep_the_placeholders() -> None:
    def names(text: str) -> set[str]:
        return set(re.findall(r"\{\w+\}", text))

    wrong = [(key[1], text) for key, text in po_entries().items() if names(text) != names(key[2] or key[1])]
    assert wrong == []


def test_the_compiled_catalogue_says_what_the_source_catalogue_says() -> None:
    with PO.with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for (context, message, plural), text in po_entries().items():
        if plural is not None:
            assert compiled.ngettext(message, plural, 3) == text
        elif context is not None:
            assert compiled.pgettext(context, message) == text
        else:
            assert compiled.gettext(message) == text


def test_no_text_for_people_bypasses_the_catalogue() -> None:
    """Words given to widgets, bars and messages as plain literals would never be translated."""
    shown = {"say", "Button", "Label", "Bar", "Field", "Radio", "title_cells", "placeholder"}
    found: list[str] = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                said = node.args[0] if node.args else None
                if (
                    name in shown
                    and isinstance(said, ast.Constant)
                    and re.search("[a-z]{2}", str(said.value))
                ):
                    found.append(f"{path.name}:{node.lineno}")
    assert found == []


def test_the_language_comes_from_the_environment_in_order() -> None:
    assert wanted_language({"LANG": "zh_CN.UTF-8"}) == "zh_CN"
    assert wanted_language({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}) == "en"
    assert wanted_language({"LANGUAGE": "zh_TW:en", "LANG": "en_US.UTF-8"}) == "zh_CN"
    assert wanted_language({"LANG": "de_DE.UTF-8"}) == "en"
    assert wanted_language({"MEMVAULT_LANG": "zh", "LC_ALL": "C"}) == "zh_CN"
    assert wanted_language({}) == "en"


def test_counts_are_grouped_and_take_the_right_form() -> None:
    assert n_("{n} memory", "{n} memories", 1) == "1 memory"
    assert n_("{n} memory", "{n} memories", 12_345) == "12,345 memories"
    use_language("zh_CN")
    assert n_("{n} memory", "{n} memories", 2) == "2 条记忆"
    assert _("Browse") == "浏览"
    assert p_("letter of fact", "F") == "事"
