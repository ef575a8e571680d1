"""Tokens are seen through what editors, mail, markup, languages and people do to them."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable

import pytest

from memvault_sync.scan import Kind, Scanner, View

LETTERS = string.ascii_letters + string.digits


def body(count: int, alphabet: str = LETTERS, seed: int = 11) -> str:
    chance = random.Random(seed)
    return "".join(chance.choice(alphabet) for _ in range(count))


TOKENS = {
    "github": "gh" + "p_" + body(36),
    "aws": "AK" + "IA" + body(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "anthropic": "sk-" + "ant-api03-" + body(93) + "AA",
    "huggingface": "h" + "f_" + body(34, string.ascii_letters),
    "databricks": "da" + "pi" + body(32, "0123456789abcdef"),
    "slack": "xox" + "b-" + body(12, string.digits) + "-" + body(13, string.digits) + "-" + body(24),
}


def half(token: str, joint: str) -> str:
    middle = len(token) // 2
    return token[:middle] + joint + token[middle:]


def wide(text: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) for char in text)


DISGUISES: dict[str, Callable[[str], str]] = {
    "full width": lambda token: "令牌 " + wide(token),
    "full-width prefix": lambda token: "令牌 " + wide(token[:3]) + token[3:],
    "bold mathematical letters": lambda token: "".join(
        chr(0x1D400 + ord(char) - 65) if "A" <= char <= "Z" else char for char in token
    ),
    "zero-width space": lambda token: half(token, "\u200b"),
    "zero-width joiner in the prefix": lambda token: token[:2] + "\u200d" + token[2:],
    "soft hyphen": lambda token: half(token, "\u00ad"),
    "word joiner": lambda token: half(token, "\u2060"),
    "bidi override": lambda token: "\u202d" + half(token, "\u202c"),
    "tag characters": lambda token: "".join(chr(0xE0000 + ord(char)) for char in token),
    "combining marks": lambda token: "".join(char + "\u0336" for char in token),
    "numeric entity": lambda token: f"<p>{token[:2]}&#{ord(token[2])};{token[3:]}</p>",
    "hexadecimal entity": lambda token: f"{token[:2]}&#x{ord(token[2]):x};{token[3:]}",
    "percent codes": lambda token: "".join(f"%{ord(char):02X}" for char in token),
    "percent codes twice": lambda token: "".join(f"%25{ord(char):02X}" for char in token[:4]) + token[4:],
    "JSON escapes": lambda token: "".join(f"\\u{ord(char):04x}" for char in token),
    "byte escapes": lambda token: "".join(f"\\x{ord(char):02x}" for char in token),
    "JSON of Chinese text": lambda token: json.dumps({"note": f"密钥{token}请保管"}),
    "JSON in JSON": lambda token: json.dumps(json.dumps({"token": token})),
    "terminal colours": lambda token: f"\x1b[32m{half(token, chr(27) + '[1m')}\x1b[0m",
    "line break": lambda token: f"token:\n{half(token, chr(10))}\n",
    "indented line break": lambda token: f"token: |\n  {half(token, chr(10) + '  ')}\n",
    "carriage return": lambda token: half(token, "\r\n"),
    "quoted reply": lambda token: f"> Hi,\n> {half(token, chr(10) + '> ')}\n> thanks",
    "diff": lambda token: f"@@ -1 +1,2 @@\n+{half(token, chr(10) + '+')}\n",
    "comment": lambda token: f"# {half(token, chr(10) + '# ')}\n",
    "backslash at the end of a line": lambda token: f"TOKEN={half(token, chr(92) + chr(10))}",
    "written-out line break": lambda token: json.dumps({"log": half(token, "\n")}),
    "concatenation": lambda token: f'key = "{half(token, chr(34) + " + " + chr(34))}"',
    "concatenation over lines": lambda token: (
        f"key = ('{half(token, chr(39) + chr(10) + '       ' + chr(39))}')"
    ),
    "concatenation inside the prefix": lambda token: f'key = "{token[:2]}" + "{token[2:]}"',
    "line break inside the prefix": lambda token: f"{token[:2]}\n{token[2:]}",
    "list of parts": lambda token: f'"".join(["{half(token, chr(34) + ", " + chr(34))}"])',
    "space": lambda token: f"token {half(token, ' ')}",
    "letters spelled out": " ".join,
    "groups of four": lambda token: " ".join(token[at : at + 4] for at in range(0, len(token), 4)),
    "markup inside": lambda token: half(token, "<wbr>"),
    "base64": lambda token: "blob: " + base64.b64encode(token.encode()).decode(),
    "base64 after other text": lambda token: base64.b64encode(f"ci:{token}".encode()).decode(),
    "base64 for addresses": lambda token: base64.urlsafe_b64encode(f"a?>{token}".encode()).decode(),
    "base64 in lines": lambda token: base64.encodebytes(f"{'word ' * 14}{token}".encode()).decode(),
    "base64 twice": lambda token: base64.b64encode(base64.b64encode(f"k={token}".encode())).decode(),
    "base64 of percent codes": lambda token: base64.b64encode(
        "".join(f"%{ord(char):02x}" for char in token).encode()
    ).decode(),
    "hex": lambda token: "0x" + token.encode().hex(),
    "upper-case hex": lambda token: token.encode().hex().upper(),
}


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES)
def test_a_disguised_token_is_found(scanner: Scanner, disguise: Callable[[str], str], token: str) -> None:
    findings = [finding for finding in scanner.scan(disguise(token)) if finding.kind is Kind.CREDENTIAL]
    assert findings
    assert all(0 <= finding.start < finding.end <= len(disguise(token)) for finding in findings)


def test_look_alike_letters_are_read_as_latin_ones(scanner: Scanner) -> None:
    token = TOKENS["anthropic"]
    for latin, other in (("a", "а"), ("p", "р"), ("s", "ѕ"), ("o", "ο")):
        assert scanner.scan(token.replace(latin, other, 1)), latin


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_files_are_decoded_first(scanner: Scanner, encoding: str) -> None:
    token = TOKENS["github"]
    data = f"钥匙 {token} ende".encode(encoding)
    (finding,) = scanner.scan(data)
    assert (
        data[finding.start : finding.end].decode("utf-16-le" if encoding == "utf-16" else encoding) == token
    )


def test_prose_after_a_prefix_is_not_joined_into_a_token(scanner: Scanner) -> None:
    for text in (
        "the h" + "f_ prefix marks a token of the hub and has thirty four letters after it",
        "we use sk" + "- for keys and then thirty two letters or more follow without any break",
        "gl" + "pat- is the prefix\nof personal tokens of the self managed instance here",
        "np" + "m_ config\nlist everything\nthat the registry\nknows about packages",
        "AK" + "IA IS FOLLOWED BY SIXTEEN CAPITAL LETTERS",
    ):
        assert not scanner.scan(text), text


def test_each_finding_names_its_view(scanner: Scanner) -> None:
    token = TOKENS["github"]
    for text, view in (
        (token, View.RAW),
        (wide(token), View.NORMALISED),
        (half(token, "\n"), View.UNWRAPPED),
        (base64.b64encode(token.encode()).decode(), View.DECODED),
    ):
        assert [finding.view for finding in scanner.scan(text)] == [view]
