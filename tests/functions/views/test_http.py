# SPDX-License-Identifier: Apache-2.0
"""A request is what was sent, decoded once, and bounded."""

from __future__ import annotations

import pytest

from kafka_lag.views.http import MAX_QUERY_BYTES, Request


def request(path: str = "/", query: str = "", **headers: str) -> Request:
    result = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request.of("get", path, query, result)


@pytest.mark.parametrize(
    ("sent", "path"),
    [
        ("/group/a%2Fb", "/group/a/b"),
        ("/group/%252F", "/group/%2F"),
        ("/group/l%C3%A4g", "/group/läg"),
        ("/group/%ff", "/group/\ufffd"),
        ("/group/%zz", "/group/%zz"),
        ("", ""),
    ],
)
def test_a_path_is_decoded_once(sent: str, path: str) -> None:
    assert request(sent).path == path


def test_path_and_query_are_preserved_as_sent_too_and_so_are_host_and_method() -> None:
    found = request("/group/a%2F", "q=%2f", host="lag.example:8000")

    assert (found.sent_path, found.sent_query) == ("/group/a%2F", "q=%2f")
    assert (found.host, found.method) == ("lag.example:8000", "GET")


def test_halves_of_characters_become_text_as_they_enter() -> None:
    found = request("/group/\ud800%ED%A0%80", "q=\udfff%ED%A0%80")

    assert (found.path, found.query) == ("/group/?\ufffd\ufffd\ufffd", {"q": "?\ufffd\ufffd\ufffd"})
    assert (found.sent_path, found.sent_query) == ("/group/?%ED%A0%80", "q=?%ED%A0%80")


def test_the_last_value_of_a_parameter_counts_also_if_it_is_empty() -> None:
    assert request(query="a=1&a=2&b=&c=x+y%26").query == {"a": "2", "b": "", "c": "x y&"}


@pytest.mark.parametrize(("more", "read"), [(0, True), (1, False)])
def test_a_query_over_the_limit_is_not_parsed(more: int, read: bool) -> None:
    sent = "a=" + "x" * (MAX_QUERY_BYTES - 2 + more)

    found = request(query=sent)

    assert (found.query_bytes, bool(found.query)) == (len(sent), read)


@pytest.mark.parametrize(
    ("accepted", "gzip"),
    [
        ("", False),
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("*", True),
        ("identity, deflate", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("gzip;q=0.", False),
        ("gzip;\tq=0", False),
        ("gzip;q=0.001", True),
        ("xgzip", False),
        # what is named goes before what is not, in any order
        ("*;q=0, gzip", True),
        ("gzip, *;q=0", True),
        ("gzip;q=0, *", False),
        ("*, gzip;q=0", False),
        ("br, *;q=0", False),
    ],
)
def test_packing_is_for_those_who_ask(accepted: str, gzip: bool) -> None:
    assert request(accept_encoding=accepted).accepts_gzip is gzip
