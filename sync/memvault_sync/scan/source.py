"""What was given to the scan, as UTF-8 bytes in chunks, and the way back to the caller's positions.

Knows nothing of rules and views.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

_BOMS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_PROBE_BYTES = 4096


class Source:
    """Positions are characters for `str`, bytes for `bytes`; UTF-16 bytes are recognised and read as text."""

    def __init__(self, text: str | bytes) -> None:
        self._unit = 1
        self._shift = 0
        self._characters = isinstance(text, str)
        if isinstance(text, bytes):
            encoding = _utf16(text)
            if encoding is not None:
                self._unit = 2
                self._characters = True
                text = text[: len(text) // 2 * 2].decode(encoding, "replace")
        self._data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        self._ascii = self._data.isascii()
        self._known = (0, 0)  # a byte position and how many caller's units stand before it
        self._lines = (0, 1)

    def chunks(self, size: int, overlap: int, context: int) -> Iterator[tuple[int, int, bytes]]:
        """Where each chunk starts, how much of it only shows what stands before, and the chunk."""
        length = len(self._data)
        for start in range(0, max(length, 1), size):
            base = max(0, start - context)
            yield base, start - base, self._data[base : start + size + overlap]
            if start + size + overlap >= length:
                return

    def place(self, byte: int) -> int:
        """The caller's position of a byte."""
        if self._ascii or not self._characters:
            return byte * self._unit
        at, units = self._known if self._known[0] <= byte else (0, 0)
        units += self._units(self._data[at:byte])
        self._known = (byte, units)
        return units

    def line(self, byte: int) -> int:
        """The line of a byte, from 1."""
        at, line = self._lines if self._lines[0] <= byte else (0, 1)
        line += self._data.count(b"\n", at, byte)
        self._lines = (byte, line)
        return line

    def _units(self, data: bytes) -> int:
        characters = len(data.translate(None, _CONTINUATION))
        if self._unit == 1:
            return characters
        return 2 * (characters + len(data) - len(data.translate(None, _FOUR_BYTES)))


_CONTINUATION = bytes(range(0x80, 0xC0))
_FOUR_BYTES = bytes(range(0xF0, 0xF5))


def _utf16(data: bytes) -> str | None:
    """The encoding of UTF-16 text, told by its mark or by the zero bytes of ASCII letters."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return encoding
    probe = data[:_PROBE_BYTES]
    if len(probe) < 8 or b"\0" not in probe:
        return None
    half = len(probe) // 2
    if probe[1::2].count(0) > half * 0.7 and probe[::2].count(0) < half * 0.1:
        return "utf-16-le"
    if probe[::2].count(0) > half * 0.7 and probe[1::2].count(0) < half * 0.1:
        return "utf-16-be"
    return None
