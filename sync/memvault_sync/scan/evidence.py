"""Judges a token that has the form of a credential: sample or real, checksum, key body, signed header.

Sees the token, and only here; nothing it returns contains it.
"""

from __future__ import annotations

import binascii
import json
import math
import re
import zlib
from collections import Counter

_SAMPLE_WORD = re.compile(
    rb"example|redacted|placeholder|change_?me|dummy|your[_-]?(?:token|key|api|secret)"
    rb"|insert[_-]?(?:token|key)",
    re.IGNORECASE,
)
_FILLER = re.compile(rb"[xX]{6}|\*{3}|\.{3}|\xe2\x80\xa6")
_DIGITS_ONLY = re.compile(rb"(?:[0-9A-Za-z]{1,12}[_.-]){0,4}[0-9]{20,}")
_RUNS = (
    b"abcdefghijklmnopqrstuvwxyz",
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
)
_JWT_SAMPLE = b"SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"  # the signature shown on jwt.io
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

_SEGMENT = re.compile(rb"[0-9]+|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[A-Z]")
_PEM_WRAP = rb"(?:\\[nr]|[\s>|\"'+,\\])"
_PEM_HEADER = re.compile(rb"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Headers?):[^\n\\]{0,200}")
_PEM_NOISE = re.compile(_PEM_WRAP + rb"{1,400}")
_PEM_BODY = re.compile(rb"[0-9A-Za-z+/=]{0,4000}")
_PEM_LEAST = 60  # base64 characters; shorter bodies are prose or cut samples
_PEM_NEAR = 1200  # bytes in which they must stand, headers included
_PEM_REACH = 16_000
_PEM_FOOT = re.compile(rb"-{3,5}END [A-Z0-9 ]{1,60}-{3,5}")


def is_sample(token: bytes, least_bits: float, checks: frozenset[str]) -> bool:
    """Whether the token is a placeholder, as documentation shows them. A valid checksum says it is not."""
    if any(_checksum_holds(check, token) for check in checks):
        return False
    body = token[4:]
    if token.endswith(b"EXAMPLE") or _FILLER.search(token) or any(run in token for run in _RUNS):
        return True
    bits = entropy(body)
    if _SAMPLE_WORD.search(token) and bits < 4.0:
        return True
    if "slack" in checks and re.search(rb"X{6}|x{6}|0{6}", token):
        return True
    return _DIGITS_ONLY.fullmatch(token) is not None or bits < least_bits


def looks_random(text: bytes) -> bool:
    """Whether letters, cases and digits alternate as in keys and not as in words, names and camelCase."""
    parts = _SEGMENT.findall(text)
    size = sum(min(len(part), 3) if part.isdigit() else len(part) for part in parts)
    return len(parts) * 4 >= size


def entropy(data: bytes) -> float:
    """Shannon entropy in bits a byte; 0 for nothing."""
    size = len(data)
    return -sum(n / size * math.log2(n / size) for n in Counter(data).values()) if size else 0.0


def passes(check: str, data: bytes, start: int, end: int) -> bool:
    """Whether a named check that must hold does; checksums never decide."""
    if check == "jwt":
        return _is_jwt(data[start:end])
    if check == "random":
        return looks_random(data[start:end])
    if check == "pem":
        return pem_end(data, end) > end
    return True


def pem_end(data: bytes, header_end: int) -> int:
    """Where the key block ends that starts with this header, or `header_end` if too little follows."""
    near = data[header_end : header_end + _PEM_NEAR]
    cut = near.find(b"-----")
    body = _PEM_HEADER.sub(b"", near[:cut] if cut >= 0 else near)
    letters = _PEM_BODY.match(_PEM_NOISE.sub(b"", body))
    kept = letters.group() if letters else b""
    if len(kept) < _PEM_LEAST or entropy(kept) < 3.0:
        return header_end
    foot = _PEM_FOOT.search(data, header_end, header_end + _PEM_REACH)
    return foot.end() if foot else header_end + len(near)


def _checksum_holds(check: str, token: bytes) -> bool:
    """GitHub and npm: the last six characters are CRC-32 of the thirty before, in base 62."""
    if check not in {"checksum.github", "checksum.npm"} or len(token) != 40:
        return False
    value = zlib.crc32(token[4:34])
    digits = ""
    while value:
        value, rest = divmod(value, 62)
        digits = _BASE62[rest] + digits
    return digits.rjust(6, "0").encode() == token[34:]


def _is_jwt(token: bytes) -> bool:
    """The first segment decodes to JSON with "alg"; the well-known sample does not count."""
    head, _, rest = token.partition(b".")
    if rest.endswith(_JWT_SAMPLE):
        return False
    try:
        header = json.loads(binascii.a2b_base64(head.translate(_URL_SAFE) + b"==="))
    except (binascii.Error, ValueError, RecursionError):
        return False
    return isinstance(header, dict) and "alg" in header


_URL_SAFE = bytes.maketrans(b"-_", b"+/")
