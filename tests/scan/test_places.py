"""Paths, hosts and addresses that tell about a machine need a tick; public ones are no findings."""

from __future__ import annotations

import pytest

from memvault_sync.scan import Kind, Scanner


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("see /home/" + "chen/papers/notes.md", "home-folder"),
        ("open /Users/" + "mona/Library", "home-folder"),
        (r"in C:\Users" + r"\mona\Desktop", "home-folder-windows"),
        ("listens on 10.1" + ".2.3:8080", "private-address"),
        ("gateway 192.168" + ".0.1", "private-address"),
        ("ping db01.prod" + ".internal now", "internal-host"),
        ("ssh build" + ".corp", "internal-host"),
        ("node ip-10-0" + "-3-7 failed", "cloud-host"),
        ("route fe80::" + "1ff:fe23:4567:890a", "private-address-6"),
        ("file:///" + "srv/data/x", "file-url"),
        (r"on \\fileserver" + r"\share\plans", "network-share"),
    ],
)
def test_local_names_need_a_tick(scanner: Scanner, text: str, rule: str) -> None:
    (finding,) = [finding for finding in scanner.scan(text) if finding.rule == rule]
    assert (finding.kind, finding.tier) == (Kind.LOCAL, 2)


@pytest.mark.parametrize(
    "text",
    [
        "/home/user/project",
        "/usr/share/doc",
        "~/notes",
        "8.8.8.8",
        "172.15.0.1",
        "version 1.10.0.0.1",
        "100.63.1.1",
        "example.com",
        "self.local_rank",
        "threading.local()",
        "https://example.org/home/page",
    ],
)
def test_public_names_and_placeholders_are_no_findings(scanner: Scanner, text: str) -> None:
    assert not scanner.scan(text)


def test_names_of_this_machine_are_found_as_words() -> None:
    scanner = Scanner(names=("tanuki-7", "li"))
    (finding,) = scanner.scan("built on tanuki-7, li says")
    assert (finding.rule, finding.kind, finding.tier) == ("machine-name", Kind.LOCAL, 2)
    assert not scanner.scan("tanuki-77 and xtanuki-7")
    assert "tanuki" not in repr(finding)
