"""Write docs/protocol.md from the table of methods, the wire types, the contracts and the limits.

`python -P -m memvault.daemon.document FILE`, run by `make docs`. Owns the page's shape; every fact on it
comes from the code that it describes.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import msgspec

from memvault.daemon.document_text import CONNECTING, NOTIFICATIONS, TYPES, limits
from memvault.daemon.handlers import table
from memvault.daemon.methods import Method, Who
from memvault.errors import BY_CODE, MemvaultError, NotFound, PresenceRequired
from memvault.rpc.contract import CLOSED, CONTRACTS, EVERY, STORE, Contract

WHO = {
    Who.ANYONE: "anyone",
    Who.READER: "a person or script; an agent whose grant has `{verb}`, within its reach",
    Who.PERSON: "a person or script, no agent",
    Who.PRESENT: "a person who has shown to be there",
}
_PLAIN = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    Any: "any value",
    type(None): "null",
}


def shown(kind: Any) -> str:
    """A type in words."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return shown(arguments[0]) + "".join(_bounds(one) for one in arguments[1:])
    if origin is Literal:
        return " \\| ".join(f"`{value}`" for value in arguments)
    if origin in (list, tuple):
        return f"list of {shown(arguments[0])}"
    if origin is dict:
        return f"object of {shown(arguments[1])}"
    if origin in (typing.Union, types.UnionType):
        return " or ".join(shown(one) for one in arguments)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return " \\| ".join(f"`{member.value}`" for member in kind)
    return f"[{kind.__name__}](#{kind.__name__.lower()})"


def _bounds(meta: Any) -> str:
    if not isinstance(meta, msgspec.Meta):
        return ""
    low = meta.ge if meta.ge is not None else meta.gt
    words = [] if low is None else [f"{'from' if meta.gt is None else 'above'} {low:g}"]
    words += [] if meta.le is None else [f"to {_power(meta.le)}"]
    words += [] if meta.max_length is None else [f"at most {meta.max_length}"]
    return f" ({' '.join(words)})" if words else ""


def _power(number: float) -> str:
    exponent = int(number).bit_length() - 1
    return f"2^{exponent}" if exponent >= 16 and number == 2**exponent else f"{number:g}"


def structs(kind: Any) -> Iterator[type[msgspec.Struct]]:
    """The structured types that `kind` is made of, itself first."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
        for field in msgspec.structs.fields(kind):
            yield from structs(field.type)
        return
    for one in typing.get_args(kind):
        yield from structs(one)


def _said(kind: type) -> str:
    """What a type's own docstring says, on one line."""
    text = kind.__dict__.get("__doc__") or ""
    return " ".join(inspect.cleandoc(text).split())


def _fields(kind: type[msgspec.Struct], *, defaults: bool) -> Iterator[str]:
    fields = msgspec.structs.fields(kind)
    if not fields:
        return
    yield "| field | type | default |" if defaults else "| field | type |"
    yield "|---|---|---|" if defaults else "|---|---|"
    for field in fields:
        row = f"| `{field.encode_name}` | {shown(field.type)} |"
        yield f"{row} {_default(field)} |" if defaults else row


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    value = field.default
    if value is msgspec.NODEFAULT:
        value = field.default_factory()
    if isinstance(value, tuple):
        value = list(typing.cast(tuple[Any, ...], value))
    return f"`{msgspec.json.encode(value).decode()}`"


def errors_of(method: Method, contract: Contract) -> list[type[MemvaultError]]:
    """Every error of a method beside those that any call can meet."""
    found = list(contract.errors)
    if method.who is not Who.ANYONE:
        found += [*CLOSED, *STORE]
    if method.who in (Who.PERSON, Who.PRESENT):
        found.append(PresenceRequired)
    if method.who is Who.READER:
        found.append(NotFound)
    return list(dict.fromkeys(found))


def _codes(kinds: Iterable[type[MemvaultError]]) -> str:
    return ", ".join(f"`{code}`" for code in sorted({kind.code for kind in kinds}))


def _method(name: str, method: Method, contract: Contract) -> Iterator[str]:
    yield f"### `{name}`"
    yield ""
    yield f"{contract.says} Who: {WHO[method.who].format(verb=method.verb)}."
    yield ""
    said = _said(method.params)
    if msgspec.structs.fields(method.params):
        yield from [said, ""] if said else []
        yield from _fields(method.params, defaults=True)
    else:
        yield "No parameters."
    yield ""
    own = _codes(errors_of(method, contract)) or "none of its own"
    yield f"Result: {shown(contract.result)}. Errors: {own}."
    yield ""


def _errors() -> Iterator[str]:
    yield "| `data.code` | exit status | again later | hint |"
    yield "|---|---|---|---|"
    for code, kind in sorted(BY_CODE.items()):
        again = "yes" if kind.retryable else ""
        yield f"| `{code}` | {kind.exit_status} | {again} | {kind.default_hint} |"
    yield ""
    yield f"Any call can meet {_codes(EVERY)}."


def _types(methods: dict[str, Method]) -> Iterator[str]:
    params = {kind for method in methods.values() for kind in list(structs(method.params))[1:]}
    results = {kind for name in methods for kind in structs(CONTRACTS[name].result)}
    for kind in sorted(params | results, key=lambda one: one.__name__):
        yield f"### {kind.__name__}"
        yield ""
        said = _said(kind)
        yield from [said, ""] if said else []
        yield from _fields(kind, defaults=kind in params)
        yield ""


def page() -> str:
    """The whole of docs/protocol.md."""
    methods = {name: method for name, method in sorted(table().table.items()) if name in CONTRACTS}
    lines = [CONNECTING, *limits(), "", "## Errors", "", *_errors(), "", NOTIFICATIONS, "## Methods", ""]
    for name, method in methods.items():
        lines += _method(name, method, CONTRACTS[name])
    lines += [TYPES, *_types(methods)]
    return "\n".join(lines).rstrip("\n") + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
