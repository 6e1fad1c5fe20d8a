# SPDX-License-Identifier: Apache-2.0
"""Live and replayed states beside each other: what counts as a difference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dev.live_alarms.timelines import LiveAlarms, Timelines, find_differences, find_spans
from kafka_lag_cdk.simulation.evaluation import ALARM, INSUFFICIENT_DATA, OK
from tests.builders import MINUTE, NOON
from tests.infra.alarms.conftest import ByName
from tests.infra.alarms.simulated import CLUSTER, STEADY, STOPS


def status(group: str, value: int, minute: int) -> str:
    return (
        f'{{"_aws":{{"Timestamp":{NOON + minute * MINUTE},"CloudWatchMetrics":[{{"Namespace":'
        '"KafkaLag","Dimensions":[["Cluster Name","Consumer Group"]],"Metrics":'
        '[{"Name":"GroupStatus"}]}]},'
        f'"Cluster Name":"{CLUSTER}","Consumer Group":"{group}","GroupStatus":{value}}}'
    )


@pytest.mark.parametrize(
    ("live", "replayed", "differences"),
    [
        ([OK, ALARM], [OK, ALARM], 0),
        ([OK, ALARM], [OK, OK], 1),
        ([OK, ALARM], [OK], 1),
        ([OK, INSUFFICIENT_DATA], [OK, OK], 1),
        (None, [OK, OK], 0),
        (None, [OK, ALARM], 1),
        ([ALARM, OK], None, 1),
    ],
    ids=[
        "same",
        "another",
        "short",
        "unknown",
        "nothing live",
        "live only off",
        "nothing replayed",
    ],
)
def test_each_minute_of_another_state_is_a_difference(
    live: list[str] | None, replayed: list[str] | None, differences: int
) -> None:
    sides: list[Timelines] = [
        {("status", "billing"): timeline} if timeline is not None else {}
        for timeline in (live, replayed)
    ]
    assert len(list(find_differences(*sides))) == differences


def test_an_alarm_is_on_from_a_minute_to_the_one_after_the_last() -> None:
    timelines: Timelines = {
        ("status", "billing"): [OK, ALARM, ALARM, OK, ALARM],
        ("status", "mailer"): [OK, INSUFFICIENT_DATA],
    }
    assert find_spans(timelines) == {("status", "billing"): [(1, 3), (4, None)]}


def test_a_live_alarm_keeps_what_was_seen_of_it(alarms: ByName) -> None:
    live = LiveAlarms({("status", STOPS): alarms[f"status/{STOPS}"]}, NOON)
    for minute in range(5):
        live.look(minute, [status(STOPS, 2, minute)])
    before = list(live.timelines["status", STOPS])
    # What comes late counts from then on.
    live.look(5, [status(STOPS, 0, minute) for minute in range(5)])
    assert live.timelines["status", STOPS][:5] == before
    assert before[0] == INSUFFICIENT_DATA
    assert before[-1] == ALARM


def test_a_contributor_was_ok_before_it_was_seen(any_group: Mapping[str, Any]) -> None:
    live = LiveAlarms({("any-group", None): any_group}, NOON)
    live.look(0, [])
    live.look(
        3,
        [status(STEADY, 2, minute) for minute in range(3)],
    )
    assert live.timelines == {("any-group", STEADY): [OK, OK, OK, ALARM]}
