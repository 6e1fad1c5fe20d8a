# SPDX-License-Identifier: Apache-2.0
"""Any address is answered: what makes no sense falls back, what is too long is cut."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.views.page_tables import PageOptions

SORTS, STATUSES = ("severity", "lag"), ("ERR", "OK")


def of(**query: str) -> PageOptions:
    return PageOptions.of(query, SORTS, STATUSES)


@pytest.mark.parametrize(
    ("page", "number"),
    [
        *(("", 1), ("-5", 1), ("0", 1), ("3", 3), ("1e3", 1), ("²", 1), ("٣", 1)),
        ("9" * 5_000, 1_000_000),
    ],
)
def test_a_page_is_a_number_from_one_on(page: str, number: int) -> None:
    assert of(page=page).page == number


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("", "severity"),
        ("xyz", "severity"),
        ("lag", "lag"),
        ("-lag", "-lag"),
        ("--lag", "severity"),
    ],
)
def test_an_order_that_there_is_not_is_the_usual_one(sort: str, expected: str) -> None:
    assert of(sort=sort).sort == expected


@pytest.mark.parametrize(("status", "expected"), [("err", "ERR"), ("OK", "OK"), ("WORSE", "")])
def test_a_status_that_there_is_not_is_any(status: str, expected: str) -> None:
    assert of(status=status).status == expected


def test_a_long_search_is_cut() -> None:
    assert of(q="x" * 10_240).q == "x" * 200


def test_nothing_is_said_of_what_is_usual() -> None:
    assert of(sort="severity", page="1").address() == "?"


@given(st.text(), st.text(), st.sampled_from(["lag", "-lag", "severity"]))
def test_an_address_asks_for_the_same_again(q: str, owner: str, sort: str) -> None:
    wanted = of(q=q, owner=owner, sort=sort, status="ERR", refresh="off")

    result = parse_qs(wanted.address().removeprefix("?"))

    assert of(**{name: values[-1] for name, values in result.items()}) == wanted


def test_a_change_starts_on_the_first_page() -> None:
    assert of(q="a", page="4").address(sort="lag") == "?q=a&sort=lag"
