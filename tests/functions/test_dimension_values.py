# SPDX-License-Identifier: Apache-2.0
"""Any name becomes a legal dimension value, and the name can be had back from it."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_lag.contract.dimensions import dimension_value, original_name

# Any text that Kafka can produce, control characters too.
NAMES = st.text(max_size=60) | st.text(st.sampled_from(" %:~aü%20\t"), max_size=12)


def legal(value: str) -> bool:
    """CloudWatch's rules for a dimension value, from its API reference."""
    printable = all(" " <= char <= "~" for char in value)
    return (
        printable and 1 <= len(value) <= 1024 and not value.startswith(":") and value.strip() != ""
    )


@given(NAMES)
@example("")
@example("%")
@example(" ")
@example(":orders")
@example("ü" * 2000)
@example("a" * 2000)
def test_every_name_becomes_legal(name: str) -> None:
    assert legal(dimension_value(name))


@given(NAMES)
@example("")
@example("%")
@example("%25")
@example(" a ")
@example("\U00010000")
def test_a_name_can_be_had_back(name: str) -> None:
    assert original_name(dimension_value(name)) == name


@given(NAMES, NAMES)
@example("", "%")
@example("a b", "a%20b")
@example(":", "%3A")
def test_no_two_names_are_alike(one: str, other: str) -> None:
    assert (dimension_value(one) == dimension_value(other)) == (one == other)


@pytest.mark.parametrize(
    "name",
    ["orders-v1", "a:b", "con sumer", "a" * 1024, "console-consumer-123", "#!{}\"'\\~"],
    ids=["plain", "colon-within", "blank-within", "longest", "digits", "signs"],
)
def test_a_legal_name_stays_as_it_is(name: str) -> None:
    assert dimension_value(name) == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("", "%", id="empty"),
        pytest.param(":a:b", "%3Aa:b", id="leading-colon"),
        pytest.param("100%", "100%25", id="percent"),
        pytest.param(" a b ", "%20a b%20", id="outer-blanks"),
        pytest.param("a ", "a%20", id="last-blank"),
        pytest.param("   ", "%20%20%20", id="blanks-only"),
        pytest.param("größe", "gr%C3%B6%C3%9Fe", id="umlauts"),
        pytest.param("a\nb", "a%0Ab", id="line-break"),
    ],
)
def test_an_illegal_name_is_escaped(name: str, value: str) -> None:
    assert dimension_value(name) == value


def test_long_names_that_differ_at_the_end_stay_different() -> None:
    values = {dimension_value("a" * 2000 + end) for end in ("x", "y", "")}
    assert len(values) == 3
    assert {len(value) for value in values} == {1024}


def test_a_shortened_name_cannot_be_had_back() -> None:
    with pytest.raises(ValueError, match="too long to be kept"):
        original_name(dimension_value("ü" * 2000))


def test_the_longest_names_kafka_takes_do_not_hold_up_a_run() -> None:
    # Work that grows with the square of the length took 0.3 s a name, and anyone may invent names.
    longest = " " * 16_000 + "ü" * 16_000
    began = time.thread_time()
    assert len({dimension_value(longest + str(number)) for number in range(100)}) == 100
    assert time.thread_time() - began < 15
