# SPDX-License-Identifier: Apache-2.0
"""The order of groups, worst first: one row more urgent than the other, by each key alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.views.urgency import ERR, OK, UNKNOWN, WARN, rank_severities, rank_urgency

_SAFE = contract.NO_LOSS_SECONDS


def a_group(**values: Any) -> dict[str, Any]:
    usual = {"status": "ERR", "last_status": None, "records_lost": None}
    return {**usual, "seconds_until_loss": _SAFE, "time_lag_seconds": 5, "lag": 5, **values}


def frame_of(*groups: dict[str, Any]) -> Frame:
    return Frame.of(
        {
            name: (
                Strings.of(group[name] for group in groups)
                if "status" in name
                else Column.optional([group[name] for group in groups], np.float64)
            )
            for name in groups[0]
        }
    )


def first_of(*groups: dict[str, Any]) -> int:
    rows = frame_of(*groups)
    keys = [key.fill(np.inf) for key in reversed(rank_urgency(rows))]
    return int(np.lexsort(keys)[0])


@pytest.mark.parametrize(
    ("urgent", "other"),
    [
        pytest.param({"status": "ERR"}, {"status": "WARN", "records_lost": 9}, id="severity"),
        pytest.param(
            {"records_lost": 9}, {"seconds_until_loss": 0.0}, id="lost before about to lose"
        ),
        pytest.param(
            {"seconds_until_loss": 60.0},
            {"seconds_until_loss": 90.0, "time_lag_seconds": 99},
            id="time to a loss",
        ),
        pytest.param(
            {"seconds_until_loss": None, "time_lag_seconds": 9},
            {"time_lag_seconds": 8},
            id="not known is not safer",
        ),
        pytest.param(
            {"seconds_until_loss": 60.0},
            {"seconds_until_loss": None, "time_lag_seconds": 99},
            id="about to lose before not known",
        ),
        pytest.param({"time_lag_seconds": 9}, {"lag": 99}, id="time lag"),
        pytest.param({"lag": 9}, {"lag": 8}, id="lag"),
    ],
)
def test_the_more_urgent_group_comes_first(urgent: dict[str, Any], other: dict[str, Any]) -> None:
    assert first_of(a_group(**urgent), a_group(**other)) == 0
    assert first_of(a_group(**other), a_group(**urgent)) == 1


@pytest.mark.parametrize(
    ("status", "last", "severity"),
    [
        ("ERR", "OK", ERR),
        ("STOP", None, ERR),
        ("STALL", None, ERR),
        ("REWIND", None, ERR),
        ("WARN", "ERR", WARN),
        ("OK", "ERR", OK),
        (None, "ERR", ERR),
        (None, "STOP", ERR),
        (None, "WARN", WARN),
        (None, "OK", UNKNOWN),
        (None, None, UNKNOWN),
    ],
)
def test_what_was_not_read_is_as_bad_as_it_last_was_and_never_well(
    status: str | None, last: str | None, severity: int
) -> None:
    rows = frame_of(a_group(status=status, last_status=last))
    assert rank_severities(rows).to_list() == [severity]
