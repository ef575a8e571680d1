"""JSON schemas of tools, made from the types that check their arguments: one source for both.

Flat on purpose: several hosts know neither references nor alternatives. Pure.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from memvault.mcp.envelope import NOTICE

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}


def of_arguments(takes: type[msgspec.Struct]) -> Schema:
    """The input schema of a tool, without references and without null."""
    made = msgspec.json.schema(takes)
    found = cast(Schema, _flat(made, made.get("$defs", {})))
    found.pop("title", None)
    found.pop("$defs", None)
    return {**found, "additionalProperties": False}


def _flat(part: Any, defined: Schema) -> Any:
    if isinstance(part, list):
        return [_flat(one, defined) for one in cast(list[Any], part)]
    if not isinstance(part, dict):
        return part
    given = dict(cast(Schema, part))
    if "$ref" in given:
        target = defined[str(given.pop("$ref")).rpartition("/")[2]]
        given = {**target, **given}
        given.pop("title", None)
    if "anyOf" in given:
        (only,) = [one for one in given.pop("anyOf") if one.get("type") != "null"]
        given = {**_flat(only, defined), **given}
    if "enum" in given:
        given = {"type": "string", **given}
    if "default" in given and given["default"] in (None, []):
        del given["default"]
    return {name: _flat(value, defined) for name, value in given.items() if name != "$defs"}


def of_answer(**properties: Schema) -> Schema:
    """The output schema of a tool; every answer says whose it is and what it is worth."""
    all_of_them = {"project": TEXT_OR_NULL, "agent": TEXT, "notice": {"type": "string", "const": NOTICE}}
    return object_of(**all_of_them, **properties)


def object_of(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def one_of(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


FACTS = {
    "id": TEXT, "date": TEXT, "source": TEXT, "trust": TEXT, "verify_first": FLAG, "kind": TEXT,
    "scope": TEXT, "project": TEXT_OR_NULL, "status": TEXT, "content": TEXT, "conditions": TEXT_OR_NULL,
}  # fmt: skip
"""As `envelope.facts` gives them."""
