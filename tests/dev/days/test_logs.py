# SPDX-License-Identifier: Apache-2.0
"""Logs grow, are deleted from the front, and are busy when they should be."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dev.days.cluster import Logs
from dev.days.describe import Event, Partition, Topic
from dev.days.scenarios import a_day, a_topic

NOON, DAY = 43_200.0, 86_400.0
moments = st.floats(-10 * DAY, 2 * DAY)


def logs(topic: Topic, *events: Event) -> Logs:
    return Logs(a_day([topic], [], *events))


@given(one=moments, more=st.floats(0, DAY), bursts=st.floats(0, 0.9), swing=st.floats(0, 0.9))
def test_a_log_never_shrinks(one: float, more: float, bursts: float, swing: float) -> None:
    topic = logs(a_topic("t", [3.0, 0.01], bursts=bursts, swing=swing))

    assert (topic.ends(one) <= topic.ends(one + more)).all()
    assert (topic.starts(one) <= topic.starts(one + more)).all()


@given(at=moments, kept=st.floats(60, 20 * DAY), rate=st.floats(0, 1_000))
def test_what_is_within_retention_is_there(at: float, kept: float, rate: float) -> None:
    topic = logs(a_topic("t", [rate], retention_seconds=kept, bursts=0.5))

    assert 0 <= topic.starts(at)[0] <= topic.ends(at - kept)[0] <= topic.ends(at)[0]


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        ({"retention_seconds": None}, True),
        ({"cleanup_policy": "compact", "retention_seconds": 60.0}, True),
        ({"cleanup_policy": "compact,delete", "retention_seconds": 60.0}, False),
    ],
)
def test_only_what_time_deletes_has_a_later_start_than_0(more: dict[str, Any], kept: bool) -> None:
    assert (logs(a_topic("t", [5.0], **more)).starts(DAY)[0] == 0) == kept


def test_a_partition_begins_at_0_when_it_is_made() -> None:
    partition = Partition(rate=2.0, leader=1, since=12)
    made = logs(Topic(name="t", topic_id="id", partitions=(partition,)))

    assert not made.exist(NOON - 1)[0]
    assert made.exist(NOON)[0]
    assert made.ends(NOON)[0] == 0
    assert made.ends(NOON + 100)[0] == 200
