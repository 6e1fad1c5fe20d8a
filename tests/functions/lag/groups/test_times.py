# SPDX-License-Identifier: Apache-2.0
"""A group is as old as its oldest partition, and says how wrong that may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from tests.functions.lag.groups.parts import (
    UNCOMMITTED,
    Part,
    behind,
    forgotten,
    of_group,
    rolled,
    unread,
)

NEAR = Part(loss=600.0, risk=contract.AT_RISK)
TIMES = ("time_lag_seconds", "time_lag_error_seconds", "time_lag_method")
CARRIED, AT_LEAST = contract.METHOD_CARRIED, contract.METHOD_AT_LEAST


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param([Part(), Part()], (0, 0, "none"), id="caught-up"),
        pytest.param(
            [Part(), behind(30.0), behind(50.0, method=CARRIED)], (50, 0, CARRIED), id="oldest"
        ),
        pytest.param(
            [behind(30.0, bounds=(20.0, 35.0))], (30, 10, "interpolated"), id="lower-bound-decides"
        ),
        pytest.param(
            [behind(50.0, bounds=(49.0, 51.0)), behind(10.0, bounds=(0.0, 90.0))],
            (50, 40, "interpolated"),
            id="another-may-be-older",
        ),
        pytest.param(
            [behind(50.0, bounds=(40.0, 51.0)), behind(48.0, bounds=(47.0, 49.0))],
            (50, 3, "interpolated"),
            id="another-proves-more",
        ),
        pytest.param(
            [behind(50.0), behind(30.0, bounds=(30.0, None))], (50, None, AT_LEAST), id="unbounded"
        ),
        pytest.param([behind(50.0), forgotten()], (50, None, AT_LEAST), id="never-heard-of"),
        pytest.param([behind(50.0), unread(age=90.0)], (90, None, AT_LEAST), id="silent-and-grown"),
        pytest.param([Part(), forgotten()], (None, None, None), id="forgotten-beside-0"),
        pytest.param(
            [Part(), unread(0)],
            (0, None, AT_LEAST),
            id="caught-up-when-silenced",
        ),
        pytest.param(
            [behind(50.0), Part(**UNCOMMITTED)], (50, 0, "interpolated"), id="uncommitted"
        ),
        pytest.param([Part(**UNCOMMITTED)], (None, None, None), id="only-uncommitted"),
        pytest.param([forgotten()], (None, None, None), id="nothing-known"),
        pytest.param([], (None, None, None), id="no-partitions"),
    ],
)
def test_the_time_lag_of_a_group(parts: list[Part], expected: tuple[Any, ...]) -> None:
    assert of_group(rolled(*parts), *TIMES) == expected


SECONDS = st.floats(0, 1e9)


@st.composite
def dated(draw: st.DrawFn) -> tuple[Part, float]:
    """A partition whose bounds hold, and its true age."""
    least, estimate, most = sorted(draw(st.tuples(SECONDS, SECONDS, SECONDS)))
    bounds = (draw(st.sampled_from([least, None])), draw(st.sampled_from([most, most, None])))
    ceiling = most * 2 if bounds[1] is None else most
    truth = draw(st.floats(0 if bounds[0] is None else least, ceiling))
    return behind(estimate, bounds=bounds), truth


@given(st.lists(dated(), min_size=1, max_size=5))
def test_a_stated_error_covers_the_true_age_of_the_group(parts: list[tuple[Part, float]]) -> None:
    told, error, _ = of_group(rolled(*(part for part, _ in parts)), *TIMES)
    if error is not None:
        assert abs(max(truth for _, truth in parts) - told) <= error * (1 + 1e-12) + 1e-6


@given(st.lists(dated(), min_size=1, max_size=5))
def test_a_group_is_never_younger_than_a_part_known_to_be_older(
    parts: list[tuple[Part, float]],
) -> None:
    told, error, _ = of_group(rolled(*(part for part, _ in parts)), *TIMES)
    assert told == max(part.age or 0 for part, _ in parts)
    assert error is None or (np.isfinite(error) and error >= 0)


@given(st.lists(dated(), min_size=1, max_size=5))
def test_an_error_is_told_only_where_every_part_is_bounded(parts: list[tuple[Part, float]]) -> None:
    told, error, method = of_group(rolled(*(part for part, _ in parts)), *TIMES)
    bounded = all(part.bounds and part.bounds[1] is not None for part, _ in parts)
    assert (error is not None) == (bounded and told is not None)
    assert (method == AT_LEAST) == (not bounded and told is not None)


MOVING = Part(produced=2.0, consumed=4.0)


@pytest.mark.parametrize(
    ("part", "rates"),
    [
        pytest.param(Part(produced=1.5, consumed=1.0), (3.5, 5.0), id="known"),
        pytest.param(Part(produced=1.5), (3.5, None), id="seen-once"),
        pytest.param(Part(consumed=1.0), (None, 5.0), id="a-new-log"),
        pytest.param(Part(**UNCOMMITTED, produced=1.5), (3.5, 4.0), id="uncommitted"),
        pytest.param(Part(produced=1.5, committed=None), (3.5, 4.0), id="empty-uncommitted"),
        pytest.param(unread(produced=1.5, consumed=1.0), (3.5, 5.0), id="unread"),
        pytest.param(forgotten(produced=1.5, consumed=1.0), (None, None), id="forgotten"),
    ],
)
def test_rates_are_summed_where_every_part_is_known(
    part: Part, rates: tuple[float | None, float | None]
) -> None:
    assert of_group(rolled(MOVING, part), "produce_rate", "consume_rate") == rates


def test_rates_that_no_partition_knows_are_unknown() -> None:
    assert of_group(rolled(Part()), "produce_rate", "consume_rate") == (None, None)


@pytest.mark.parametrize(
    ("parts", "seconds"),
    [
        pytest.param([Part(), Part(drain=7.0)], 0, id="nothing-lags"),
        pytest.param([behind(9.0, drain=3.0), behind(9.0, drain=8.0)], 8, id="slowest"),
        pytest.param([behind(9.0, drain=3.0), behind(9.0)], None, id="one-never"),
        pytest.param([behind(9.0, drain=3.0), Part()], 3, id="one-caught-up"),
        pytest.param([Part(lag=1, allowed=1), behind(9.0, drain=3.0)], 3, id="allowed"),
        pytest.param([Part(), forgotten(drain=5.0)], None, id="one-missing"),
        pytest.param([Part(**UNCOMMITTED), Part()], 0, id="uncommitted"),
        pytest.param([Part(**UNCOMMITTED)], None, id="only-uncommitted"),
    ],
)
def test_a_group_drains_when_its_slowest_partition_does(
    parts: list[Part], seconds: float | None
) -> None:
    assert of_group(rolled(*parts), "drain_seconds") == (seconds,)


@pytest.mark.parametrize(
    ("parts", "seconds"),
    [
        pytest.param([NEAR, Part(loss=60.0, risk=contract.AT_RISK)], 60, id="least"),
        pytest.param([Part(loss=60.0), NEAR], 600, id="at-risk-only"),
        pytest.param([Part(loss=60.0), Part()], contract.NO_LOSS_SECONDS, id="none-at-risk"),
        pytest.param([Part(loss=60.0, risk=contract.LOST)], 0, id="lost"),
        pytest.param([Part(risk=contract.LOST), NEAR], 0, id="lost-of-settings-unknown"),
        pytest.param([Part(), behind(9.0, risk=None)], None, id="one-is-unknown"),
        pytest.param([NEAR, behind(9.0, risk=None)], 600, id="unknown-beside-a-risk"),
        pytest.param([Part(), forgotten()], None, id="one-is-forgotten"),
        pytest.param([NEAR, forgotten(risk=contract.LOST)], 600, id="forgotten-beside-a-risk"),
        pytest.param([forgotten(loss=60.0, risk=contract.AT_RISK)], None, id="forgotten"),
        pytest.param([Part(), Part(**UNCOMMITTED)], contract.NO_LOSS_SECONDS, id="uncommitted"),
        pytest.param([Part(**UNCOMMITTED)], None, id="only-uncommitted"),
    ],
)
def test_the_nearest_loss_is_that_of_a_partition_at_risk(
    parts: list[Part], seconds: float | None
) -> None:
    assert of_group(rolled(*parts), "seconds_until_loss") == (seconds,)
