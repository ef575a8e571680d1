"""Files of labels, as a person names them: read whole and by lines. Knows nothing of what a line says."""

from __future__ import annotations

from pathlib import Path

from memvault.errors import Usage

MOST_LABEL_BYTES = 16_777_216
"""Some ten thousand labels."""


def label_lines(name: str) -> list[str]:
    """Raises Usage for a file that cannot be read, is too large or is no text."""
    path = Path(name)
    if not path.is_absolute() or not path.is_file():
        raise Usage("there is no such file of labels", "Name a file of JSON lines.")
    try:
        with path.open("rb") as opened:
            raw = opened.read(MOST_LABEL_BYTES + 1)
    except OSError as error:
        raise Usage(f"the labels cannot be read: {error.strerror}") from error
    if len(raw) > MOST_LABEL_BYTES:
        raise Usage(f"the labels are larger than {MOST_LABEL_BYTES:,} bytes", "Calibrate on a part of them.")
    try:
        return raw.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise Usage(f"the labels are not UTF-8 text from byte {error.start} on") from error
