# SPDX-License-Identifier: Apache-2.0
"""Drawings as numbers: an unknown value is a gap, never zero."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag_report.findings import Listed
from kafka_lag_report.page import plots
from kafka_lag_report.page.drawn import Axis, Curve, Stretch
from kafka_lag_report.page.render import render
from kafka_lag_report.schemas import Row
from kafka_lag_report.sentences import DASH
from tests.glue_jobs.page.pages import bar, page, skew_of


def test_an_unknown_slot_breaks_the_line() -> None:
    drawn = plots.draw_line(Curve(seconds=(10.0, 10.0, None, 10.0, 10.0)), Axis(), None)

    assert drawn.path == "M2.5 10.7L7.5 10.7M17.5 10.7L22.5 10.7"


def test_the_sla_is_in_the_picture_even_far_above() -> None:
    drawn = plots.draw_line(Curve(seconds=(1.0,)), Axis(), 900.0)

    assert drawn.sla is not None
    assert 0 < drawn.sla.y < 20


@given(st.floats(0, 1e8), st.floats(1, 1e7))
def test_every_point_and_tick_stays_in_the_box(value: float, sla: float) -> None:
    drawn = plots.draw_line(Curve(seconds=(value,)), Axis(), sla)

    heights = [tick.y for tick in drawn.ticks] + [float(drawn.path.split()[-1])]
    assert all(0 <= height <= 100 for height in heights)
    assert len(drawn.ticks) <= 3


def test_of_a_restless_day_the_worst_of_each_quarter_is_drawn() -> None:
    restless = tuple(
        Stretch(minute, 1, "ERR" if minute == 700 else ("WARN", "OK")[minute % 2])
        for minute in range(1440)
    )

    assert plots.shorten_timeline(restless) == (
        Stretch(0, 690, "WARN"),
        Stretch(690, 15, "ERR"),
        Stretch(705, 735, "WARN"),
    )


def bars_of(*bars: Row, **more: Any) -> list[dict[str, str]]:
    """The bars of the only skewed topic, as they are drawn; the texts of each are its `title`."""
    skew = skew_of("g", "t", True, False, cause="broker", cause_partitions=(0,), **more)
    drawn = page(skews=Listed((skew,), 1), bars={("g", "t"): Listed(bars, len(bars))})
    (text,) = re.findall(
        r'<svg class="columns".*?<ul class="key">.*?</ul>', render(drawn), re.DOTALL
    )
    rects = re.findall(r"<rect (.*?)><title>(.*?)</title>", text)
    found = [dict(re.findall(r'(\w+)="(.*?)"', rect)) | {"title": said} for rect, said in rects]
    even = re.findall(r'class="even".*?y1="(.*?)"', text)
    return [
        *found,
        {"even": " ".join(even), "leaders": " ".join(re.findall("</i>(.*?)</li>", text))},
    ]


def test_bars_are_as_high_as_their_lag_against_an_even_share() -> None:
    more = {"lag_mean": 200.0, "lag_partitions": 3}
    first, second, whole = bars_of(bar(0, 1, 300.0), bar(1, 2, 100.0), **more)

    # of all partitions' lag: others are not drawn
    assert "(50% of the lag)" in first["title"]
    assert "(16.7% of the lag)" in second["title"]
    assert ["named as the cause" in one["title"] for one in (first, second)] == [True, False]
    tops = [float(y.rstrip("%")) for y in (first["y"], whole["even"], second["y"])]
    assert tops == sorted(tops)
    assert len(set(tops)) == len(tops)


def test_the_leaders_with_most_lag_have_the_colours_in_the_order_of_their_numbers() -> None:
    bars = [bar(number, number, float(number)) for number in range(10)] + [bar(10, None, 99.0)]

    colours = plots.choose_colours(bars)

    assert [colours.pop(leader) for leader in (None, 0, 1, 2)] == [None] * 4
    assert colours == {leader: leader - 3 for leader in range(3, 10)}


def test_a_legend_is_sorted_by_broker_and_ends_with_none() -> None:
    *_, whole = bars_of(bar(0, 12, 9.0), bar(1, None, 1.0), bar(2, 3, 2.0))

    assert whole["leaders"] == "broker 3 broker 12 other or none"


@pytest.mark.parametrize("lag", [None, 0.0])
def test_partitions_without_lag_have_no_height(lag: float | None) -> None:
    drawn, _ = bars_of(bar(0, 1, lag))

    assert drawn["height"] == "0.0%"
    assert f"({DASH} of the lag)" in drawn["title"]
