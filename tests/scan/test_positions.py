"""Findings point at the right place of what was given, in every view and across the edges of chunks."""

from __future__ import annotations

import base64
import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault_sync.scan import Finding, Kind, Scanner, scan
from memvault_sync.scan.scanner import CHUNK_BYTES, OVERLAP_BYTES

LETTERS = string.ascii_letters + string.digits
BODY = "".join(random.Random(5).choices(LETTERS, k=36))
TOKEN = "gh" + "p_" + BODY


def only(findings: list[Finding]) -> Finding:
    (finding,) = [finding for finding in findings if finding.kind is Kind.CREDENTIAL]
    return finding


def test_positions_are_characters_of_text_and_bytes_of_bytes(scanner: Scanner) -> None:
    text = f"第一行🔑\n第二行 {TOKEN}。\n"
    finding = only(scanner.scan(text))
    assert text[finding.start : finding.end] == TOKEN
    assert finding.line == 2
    data = text.encode()
    finding = only(scanner.scan(data))
    assert data[finding.start : finding.end] == TOKEN.encode()


def test_a_normalised_finding_covers_the_disguised_characters(scanner: Scanner) -> None:
    wide = "".join(chr(ord(char) + 0xFEE0) for char in TOKEN)
    finding = only(scanner.scan(f"密钥 {wide} 结束"))
    assert (finding.start, finding.end) == (3, 3 + len(wide))
    hidden = TOKEN[:10] + "\u200b" + TOKEN[10:]
    finding = only(scanner.scan(f"密钥 {hidden} 结束"))
    assert (finding.start, finding.end) == (3, 3 + len(hidden))


def test_an_unwrapped_finding_covers_all_pieces(scanner: Scanner) -> None:
    text = f"note\n{TOKEN[:20]}\n{TOKEN[20:]} and more"
    finding = only(scanner.scan(text))
    assert text[finding.start : finding.end] == f"{TOKEN[:20]}\n{TOKEN[20:]}"


def test_a_decoded_finding_covers_the_encoded_characters_of_the_token(scanner: Scanner) -> None:
    before = "nothing to see here, "
    coded = base64.b64encode((before + TOKEN + " and after it more").encode()).decode()
    finding = only(scanner.scan(f"blob {coded}"))
    start, end = finding.start - 5, finding.end - 5
    assert start <= len(before) * 4 / 3 <= start + 2
    assert end - 2 <= (len(before) + len(TOKEN)) * 4 / 3 + 1 <= end + 2


@pytest.mark.parametrize("offset", [-60, -41, -40, -20, -1, 0, 1, 39, 40, 41])
@pytest.mark.parametrize("edge", [CHUNK_BYTES, CHUNK_BYTES + OVERLAP_BYTES, 2 * CHUNK_BYTES])
def test_tokens_at_the_edges_of_chunks_are_found_once(scanner: Scanner, edge: int, offset: int) -> None:
    start = edge + offset
    data = ("word " * (start // 5 + 1))[: start - 1] + " " + TOKEN + " tail" * (CHUNK_BYTES // 2)
    findings = scanner.scan(data)
    assert [(finding.start, finding.end) for finding in findings] == [(start, start + len(TOKEN))]


@settings(max_examples=150)
@given(st.text(max_size=300))
def test_any_text_is_scanned_and_findings_stay_within_it(text: str) -> None:
    for finding in scan(text):
        assert 0 <= finding.start < finding.end <= len(text)
        assert finding.line == text.count("\n", 0, finding.start) + 1


@settings(max_examples=150)
@given(st.binary(max_size=400))
def test_any_bytes_are_scanned_and_findings_stay_within_them(data: bytes) -> None:
    for finding in scan(data):
        assert 0 <= finding.start < finding.end <= len(data)


_WRITTEN = r"\u00 %4 &#1 ａ \n eyJ sk- :// AKIA = === 0123456789 а ' 67687"
_OTHERS = ("\x1b[", "\u200b", "\n", "A" * 30, "12 34", "\U000e0041", '" + "', "Zm9v" * 9)
PIECES = st.sampled_from([*_WRITTEN.split(" "), *_OTHERS, "-----BEGIN PRIVATE KEY-----"])


@settings(max_examples=200)
@given(st.lists(PIECES | st.text(max_size=8), max_size=40).map("".join))
def test_text_made_of_what_the_views_look_for_stays_within_bounds(text: str) -> None:
    for finding in scan(text):
        assert 0 <= finding.start < finding.end <= len(text)


@settings(max_examples=150)
@given(
    before=st.text(max_size=200),
    after=st.text(max_size=200),
    body=st.text(alphabet=LETTERS, min_size=36, max_size=36).filter(lambda body: len(set(body)) > 15),
)
def test_a_token_anywhere_in_any_text_is_found(before: str, after: str, body: str) -> None:
    token = "gh" + "p_" + body.replace("xxx", "q").replace("XXX", "q").ljust(36, "Z")
    if "EXAMPLE" in token.upper():
        return
    text = f"{before} {token} {after}"
    place = len(before) + 1
    assert any(
        finding.start <= place and finding.end >= place + 40 and finding.kind is Kind.CREDENTIAL
        for finding in scan(text)
    )


@settings(max_examples=60)
@given(st.text(max_size=100), st.text(max_size=100))
def test_a_finding_never_contains_what_was_found(before: str, after: str) -> None:
    for finding in scan(f"{before} {TOKEN} {after}"):
        written = repr(finding) + str(finding)
        assert BODY[:8] not in written
        assert BODY[-8:] not in written
