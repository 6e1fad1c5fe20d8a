# SPDX-License-Identifier: Apache-2.0
"""Regular expressions that were written for other programs, which Go, RE2 or Java read."""

from __future__ import annotations

import re
import string
import warnings

import pytest

from tests.infra.config.refused import document_faults


@pytest.mark.parametrize(
    ("written", "repair"),
    [
        ("/^(a|b)$/", "between slashes, which would be part of the name: write ^(a|b)$"),
        ("/^a$/i", "write (?i)^a$"),
        ("[[:punct:]]", "holds [:punct:], "),
        ("[^_[:alpha:]]", "holds [:alpha:], which Python reads otherwise or not at all: write A-Z"),
        ("[[:^digit:]]", "holds [:^digit:], "),
        ("[a-z&&[^b]]", r"write \[ for the bracket itself"),
        ("[a-z&&aeiou]", "holds && in a set"),
        ("[a--z]", "holds -- in a set"),
        (r"^\Qa.b\E$", "write a backslash before each sign that means itself"),
        (r"^a\z", r"write \Z for the end"),
        (r"[\p{L}]", "write the characters themselves"),
        (r"\PL", "write the characters themselves"),
        ("a{,5}", "write {0,5}"),
        ("^(?i)a", "write (?i:...) around what the flag is for"),
        ("(?<name>a)", "write (?P<name>...), or (...)"),
        ("", "must not be empty: every name matches that; leave it out"),
    ],
)
def test_an_expression_that_go_or_java_reads_otherwise_is_one_sentence(
    written: str, repair: str
) -> None:
    (message,) = document_faults(groups={"deny": written})
    assert message.startswith("groups.deny: ")
    assert repair in message


@pytest.mark.parametrize(
    "written",
    [
        "(?i)^a",
        r"[\[:\]]",
        "[]a]",
        r"\\z",
        r"\[[a]",
        r"a\{,5}",
        "[{,5}]",
        "/prod/b",
        r"a\Z",
        "x--y",
    ],
)
def test_an_expression_that_all_read_alike_is_taken(written: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert document_faults(groups={"deny": written}) == []


def test_the_set_in_place_of_a_posix_class_holds_the_same_signs() -> None:
    classes = {
        "punct": string.punctuation,
        "alnum": string.ascii_letters + string.digits,
        "xdigit": string.hexdigits,
        "graph": string.ascii_letters + string.digits + string.punctuation,
    }
    for name, expected in classes.items():
        (message,) = document_faults(groups={"deny": f"[[:{name}:]]"})
        meant = re.compile(f"[{message.rpartition('write ')[2]}]")
        assert set(filter(meant.match, map(chr, range(256)))) == set(expected)
