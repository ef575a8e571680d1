"""Every credential rule: finds a token of its format, wherever it stands, and leaves near misses alone."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest

from memvault_sync.scan import Kind, Scanner, View
from memvault_sync.scan.rules import Rule, load

RULES = [rule for rule in load().rules if rule.kind is Kind.CREDENTIAL]
# A signed token needs a header that decodes: it has its own test.
KNOWN = [(f"{rule.id}-{number}", rule) for number, rule in enumerate(RULES) if "jwt" not in rule.checks]
LETTERS = string.ascii_letters + string.digits


def body(count: int, alphabet: str = LETTERS, seed: int = 7) -> str:
    chance = random.Random(seed)
    return "".join(chance.choice(alphabet) for _ in range(count))


def found(scanner: Scanner, text: str, rule: str) -> bool:
    return any(finding.rule == rule for finding in scanner.scan(text))


def good(scanner: Scanner, build: Callable[..., str], rule: Rule) -> str:
    """A token that is no sample by chance (too few different letters, a run of x)."""
    for seed in range(40):
        text = build(rule, seed)
        if credentials(scanner, text):
            return text
    return build(rule, 0)


def credentials(scanner: Scanner, text: str) -> list[str]:
    return [finding.rule for finding in scanner.scan(text) if finding.kind is Kind.CREDENTIAL]


@pytest.mark.parametrize("rule", [rule for _, rule in KNOWN], ids=[name for name, _ in KNOWN])
def test_each_rule_finds_a_token_of_its_format(
    scanner: Scanner, build: Callable[..., str], rule: Rule
) -> None:
    text = good(scanner, build, rule)
    for around in ("{}", "the key is {}, rotate it", "密钥是{}。请保管", 'x = "{}"', "({})", "`{}`"):
        assert credentials(scanner, around.format(text)), around


@pytest.mark.parametrize("rule", [rule for _, rule in KNOWN], ids=[name for name, _ in KNOWN])
def test_each_rule_leaves_a_token_alone_that_is_one_character_short(
    scanner: Scanner, build: Callable[..., str], rule: Rule
) -> None:
    short = good(scanner, build, rule)[:-1]
    if rule.lead or "pem" in rule.checks:
        short = short.replace(next(iter(rule.at)).decode(), "q" * 3)
    if rule.pattern.match(short.encode()):
        short = "q" + short[1:]
    assert not found(scanner, f"see 「{short}」 there", rule.id)


def test_every_literal_of_a_rule_occurs_in_its_form() -> None:
    for rule in RULES:
        assert rule.at or rule.run, rule.id
        for literal in rule.at:
            assert len(literal) >= 2, (rule.id, literal)


def test_rules_with_right_boundary_reject_longer_words(scanner: Scanner) -> None:
    exact = "AK" + "IA" + body(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
    assert found(scanner, exact, "aws-key-id")
    assert not found(scanner, exact + "Q", "aws-key-id")
    assert not found(scanner, "q" + exact, "aws-key-id")


@pytest.mark.parametrize(
    ("rule", "parts"),
    [
        ("github-token", ("gh", "p_", body(36))),
        ("gitlab-token", ("gl", "pat-", body(20))),
        ("npm-token", ("np", "m_", body(36))),
        ("anthropic", ("sk-", "ant-", "api03-", body(93) + "AA")),
        ("openai", ("sk-", "proj-", body(60), "T3Blbk", "FJ", body(60))),
        ("sk-key", ("sk", "-", body(48))),
        ("aliyun-key-id", ("LT", "AI5t", body(18))),
        ("google-api-key", ("AI", "za", body(35))),
        ("stripe", ("sk", "_live_", body(24))),
        ("slack-bot", ("xox", "b-", body(12, string.digits), "-", body(13, string.digits), "-", body(24))),
        ("telegram-bot", (body(9, string.digits), ":", "A", body(34))),
        ("huggingface", ("h", "f_", body(34, string.ascii_letters))),
        ("age-secret-key", ("AGE-SECRET", "-KEY-1", body(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"))),
        ("vault", ("hv", "s.", body(24))),
    ],
)
def test_formats_written_down_by_hand_are_found(scanner: Scanner, rule: str, parts: tuple[str, ...]) -> None:
    assert found(scanner, f"token={''.join(parts)}\n", rule)
    assert not found(scanner, f"token={''.join(parts[:-1])}", rule)


@pytest.mark.parametrize("glue", ["backup_", "SIE-", "密", "🔑", "\\n", "\\u724c", "%0A", "é", "="])
def test_what_may_stand_before_a_token(scanner: Scanner, glue: str) -> None:
    assert found(scanner, glue + "gh" + "p_" + body(36), "github-token")


def test_a_letter_before_the_prefix_makes_it_another_word(scanner: Scanner) -> None:
    assert not credentials(scanner, "xgh" + "p_" + body(36))


@pytest.mark.parametrize(
    "text",
    [
        "AK" + "IAIOSFODNN7EXAMPLE",
        "gh" + "p_" + "x" * 36,
        "gh" + "p_" + "a" * 36,
        "gh" + "p_" + string.ascii_lowercase + "0123456789",
        "gl" + "pat-" + "your_token_here_your_to",
        "sk" + "_live_ keys are secret",
        "pk" + "_live_" + body(24),
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "-----BEGIN PUBLIC KEY-----\n" + body(64) + "\n" + body(64),
        "sha512-" + body(86) + "==",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    ],
)
def test_samples_and_public_values_are_no_findings(scanner: Scanner, text: str) -> None:
    assert not credentials(scanner, text)


def test_a_valid_checksum_outweighs_a_sample_word(scanner: Scanner) -> None:
    import zlib

    digits = string.digits + string.ascii_uppercase + string.ascii_lowercase
    middle = "dummy" + "a" * 25
    value, tail = zlib.crc32(middle.encode()), ""
    while value:
        value, rest = divmod(value, 62)
        tail = digits[rest] + tail
    assert not credentials(scanner, "gh" + "p_" + middle + "000000")
    assert credentials(scanner, "gh" + "p_" + middle + tail.rjust(6, "0"))


def test_no_mark_in_the_text_switches_the_scan_off(scanner: Scanner) -> None:
    secret = "gh" + "p_" + body(36)
    for mark in ("gitleaks:allow", "pragma: allowlist secret", "secretlint-disable", "noqa", "nosec"):
        assert found(scanner, f"key = '{secret}'  # {mark}", "github-token")


def test_a_signed_token_counts_only_with_a_header_that_names_an_algorithm(scanner: Scanner) -> None:
    import base64
    import json

    def segment(value: dict[str, str]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    payload = segment({"sub": body(12), "name": "nobody"})
    signed = ".".join((segment({"alg": "HS256", "typ": "JWT"}), payload, body(43)))
    other = ".".join((segment({"typ": "something else"}), payload, body(43)))
    assert [finding.tier for finding in scanner.scan(signed)] == [2]
    assert not credentials(scanner, other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgres://app:" + body(12) + "@db.example.com/x", True),
        ("postgres://app:${PASSWORD}@db.example.com/x", False),
        ("postgres://app:password@db.example.com/x", False),
        ("https://example.com:8080/path@2", False),
    ],
)
def test_passwords_in_addresses_need_a_tick(scanner: Scanner, text: str, expected: bool) -> None:
    findings = [finding for finding in scanner.scan(text) if finding.rule == "url-password"]
    assert bool(findings) is expected
    assert all(finding.tier == 2 for finding in findings)


def test_words_near_a_value_never_block(scanner: Scanner) -> None:
    for text in (f"password = {body(20)}", f"api_key: {body(32, '0123456789abcdef')}", f"secret={body(40)}"):
        assert not scanner.scan(text)


def test_views_can_be_chosen(scanner: Scanner) -> None:
    wide = "".join(chr(ord(char) + 0xFEE0) for char in "gh" + "p_" + body(36))
    assert credentials(scanner, wide)
    assert not scanner.scan(wide, views=frozenset({View.RAW}))


def test_each_rule_has_a_name_for_people(scanner: Scanner) -> None:
    assert scanner.what("github-token") == "GitHub token"
    with pytest.raises(KeyError):
        scanner.what("no such rule")


def test_rules_and_tests_trip_no_scanner(scanner: Scanner) -> None:
    tests = Path(__file__).parent
    package = Path(str(resources.files("memvault_sync.scan")))
    for path in (*tests.glob("*.py"), *package.glob("*.py"), *package.glob("*.toml")):
        serious = [finding for finding in scanner.scan(path.read_bytes()) if finding.kind is not Kind.LOCAL]
        assert not serious, path.name
