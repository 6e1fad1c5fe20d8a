# SPDX-License-Identifier: Apache-2.0
"""Topics that a group left long ago: seen by all partitions of the pair together."""

from __future__ import annotations

import pytest

from kafka_lag.contract import ERR, INACTIVE, OK, STOP
from kafka_lag.lag.carry_over import match_previous
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.status import add_status, find_inactive
from tests.builders import HOUR
from tests.functions.lag.partitions.rows import NOW, Row, column, first, rows, snapshot, stable

LEFT: Row = {"owned_at": NOW - 24 * HOUR, "commit_changed_at": NOW - 24 * HOUR}
BESIDE: Row = {**LEFT, "partition_id": 1}


@pytest.mark.parametrize(
    ("row", "other", "idle"),
    [
        pytest.param({}, {}, True, id="12-left-a-day-ago"),
        pytest.param({"owned_at": None}, {}, True, id="12-owner-never-seen"),
        pytest.param({"owned_at": NOW - 24 * HOUR + 1}, {}, False, id="owned-since"),
        pytest.param({"commit_changed_at": NOW - 24 * HOUR + 1}, {}, False, id="moved-since"),
        pytest.param({}, {"owned_at": NOW}, False, id="another-partition-owned"),
        pytest.param({}, {"commit_changed_at": NOW}, False, id="another-partition-moved"),
        pytest.param({}, {"owned_at": NOW, "topic": "u"}, True, id="another-topic"),
        pytest.param({}, {"owned_at": NOW, "consumer_group": "h"}, True, id="another-group"),
        pytest.param({"commit_changed_at": None}, {}, True, id="uncommitted-beside-a-commit"),
        pytest.param({"commit_changed_at": None}, {"topic": "u"}, False, id="nothing-committed"),
    ],
)
def test_a_topic_is_inactive_once_nobody_touched_it_for_a_day(
    row: Row, other: Row, idle: bool
) -> None:
    frame = rows({**LEFT, **row}, {**BESIDE, **other})
    assert find_inactive(frame, NOW).tolist()[0] == idle


@pytest.mark.parametrize(
    ("row", "status"),
    [
        pytest.param({"lag": 5}, STOP, id="stopped"),
        pytest.param({"lag": 0}, OK, id="caught-up"),
        pytest.param({"lag": 5, "records_lost": 1}, ERR, id="lost"),
    ],
)
def test_inactive_is_a_reason_beside_any_status(row: Row, status: str) -> None:
    frame = rows({**LEFT, "observations": 10, **row})
    ages, allowed = column([86_400.0]), column([0], "long")
    memory = match_previous(frame, snapshot(rows()))
    told = add_status(frame, stable(), memory, ages, allowed, NOW, Rules())
    assert first(told, "status", "status_reason") == (status, INACTIVE)
