# SPDX-License-Identifier: Apache-2.0
"""Drawings as numbers: unknown is a gap, never the ground line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag_report.page import plots
from kafka_lag_report.page.drawn import Axis, Bar, Curve, Stretch


def test_an_unknown_slot_breaks_the_line() -> None:
    drawn = plots.line(Curve(seconds=(10.0, 10.0, None, 10.0, 10.0)), Axis(), None)

    assert drawn.path == "M2.5 10.7L7.5 10.7M17.5 10.7L22.5 10.7"


def test_the_sla_is_in_the_picture_even_far_above() -> None:
    drawn = plots.line(Curve(seconds=(1.0,)), Axis(), 900.0)

    assert drawn.sla is not None
    assert 0 < drawn.sla.y < 20


@given(st.floats(0, 1e8), st.floats(1, 1e7))
def test_every_point_and_tick_stays_in_the_box(value: float, sla: float) -> None:
    drawn = plots.line(Curve(seconds=(value,)), Axis(), sla)

    heights = [tick.y for tick in drawn.ticks] + [float(drawn.path.split()[-1])]
    assert all(0 <= height <= 100 for height in heights)
    assert len(drawn.ticks) <= 3


def test_of_a_restless_day_the_worst_of_each_quarter_is_drawn() -> None:
    restless = tuple(
        Stretch(minute, 1, "ERR" if minute == 700 else ("WARN", "OK")[minute % 2])
        for minute in range(1440)
    )

    assert plots.timeline(restless) == (
        Stretch(0, 690, "WARN"),
        Stretch(690, 15, "ERR"),
        Stretch(705, 735, "WARN"),
    )


def test_bars_are_as_high_as_their_lag_against_an_even_share() -> None:
    drawn = plots.columns([Bar(0, 1, 300.0), Bar(1, 2, 100.0)], 200.0, 600.0, [0], {1: 0, 2: 1})

    # of all partitions' lag: others are not drawn
    assert [one.share for one in drawn.columns] == pytest.approx([1 / 2, 1 / 6])
    assert [one.blamed for one in drawn.columns] == [True, False]
    assert drawn.even is not None
    assert drawn.columns[0].top < drawn.even.y < drawn.columns[1].top


def test_the_leaders_with_most_lag_have_the_colours_in_the_order_of_their_numbers() -> None:
    bars = [Bar(number, number, float(number)) for number in range(10)] + [Bar(10, None, 99.0)]

    colours = plots.broker_colours(bars)

    assert colours.pop(None) is None
    assert colours == {leader: leader - 3 for leader in range(3, 10)}


def test_a_legend_is_sorted_by_broker_and_ends_with_none() -> None:
    bars = [Bar(0, 12, 9.0), Bar(1, None, 1.0), Bar(2, 3, 2.0)]

    drawn = plots.columns(bars, None, None, [], {3: 0, 12: 1, None: None})

    assert drawn.leaders == ((3, 0), (12, 1), (None, None))


@pytest.mark.parametrize("lag", [None, 0.0])
def test_partitions_without_lag_have_no_height(lag: float | None) -> None:
    drawn = plots.columns([Bar(0, 1, lag)], None, lag, [], {})

    assert drawn.columns[0].top == 100
    assert drawn.columns[0].share is None
