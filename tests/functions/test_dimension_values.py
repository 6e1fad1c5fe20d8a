# SPDX-License-Identifier: Apache-2.0
"""Any name becomes a legal dimension value, from which the name can be read back."""

from __future__ import annotations

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
@example("%25")
@example(" ")
@example(":orders")
@example("\U00010000")
@example("a" * 2000)
def test_every_name_becomes_legal_and_can_be_had_back(name: str) -> None:
    value = dimension_value(name)
    assert legal(value)
    assert len(name) > 60 or original_name(value) == name


@given(NAMES, NAMES)
@example("", "%")
@example("a b", "a%20b")
@example(":", "%3A")
def test_no_two_names_are_alike(one: str, other: str) -> None:
    assert (dimension_value(one) == dimension_value(other)) == (one == other)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((n, n) for n in ("orders-v1", "a:b", "con sumer", "a" * 1024, "#!{}\"'\\~")),
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
def test_a_legal_name_stays_as_it_is_and_another_is_escaped(name: str, value: str) -> None:
    assert dimension_value(name) == value


def test_long_names_stay_different_and_cannot_be_had_back() -> None:
    values = {dimension_value("a" * 2000 + end) for end in ("x", "y", "")}
    assert len(values) == 3
    assert {len(value) for value in values} == {1024}
    with pytest.raises(ValueError, match="too long to be kept"):
        original_name(dimension_value("ü" * 2000))
