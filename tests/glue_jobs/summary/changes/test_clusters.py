# SPDX-License-Identifier: Apache-2.0
"""Brokers, and what of the day nobody saw."""

import pytest

from kafka_lag_report.summary.changes import Kind, changes
from kafka_lag_report.summary.findings import Broker, Coverage, Findings, Heat
from tests.glue_jobs.summary.changes.days import BROKER, HOT, SEEN, day, lone, told_of


@pytest.mark.parametrize(
    ("today", "before", "told"),
    [
        (HOT, Heat(False), (Kind.HOT, "62% of the lag on 25% of the partitions")),
        (HOT, None, (Kind.HOT, "62% of the lag on 25% of the partitions")),
        (HOT, HOT, None),
        (Heat(False), HOT, (Kind.COOL, "its share of the lag is usual again")),
        (Heat(None), HOT, None),
        (None, HOT, None),
    ],
)
def test_a_broker_is_told_when_it_gets_hot_and_when_it_cools(
    today: Heat | None, before: Heat | None, told: tuple[Kind, str] | None
) -> None:
    expected = [] if told is None else [(told[0], f"broker 3 in az-a: {told[1]}")]

    assert lone("brokers", BROKER, today, before) == expected


def test_partitions_without_a_leader_are_no_broker() -> None:
    told = told_of(day(brokers={Broker("demo", None, None): HOT}), None)

    assert told == [(Kind.HOT, "no leader: 62% of the lag on 25% of the partitions")]


@pytest.mark.parametrize(
    ("datasets", "told"),
    [
        ({"groups": Coverage(1440, 0, 60.0, 180.0)}, None),
        ({"groups": Coverage(1440, 0, 60.0, 181.0)}, "coverage: no run for 3 min"),
        ({"groups": Coverage(1, 0, None, 43_200.0)}, None),
        (
            {"groups": Coverage(1440, 1, 60.0, 60.0), "group_partitions": Coverage(9, 2)},
            "coverage: 3 objects left out as unreadable",
        ),
        (
            {"groups": Coverage(0), "group_partitions": Coverage(700, 1, 60.0, 43_200.0)},
            "coverage: no runs of groups; 1 object left out as unreadable; no run for 12 h",
        ),
    ],
)
def test_what_nobody_saw_of_the_day_is_told_in_one_line(
    datasets: dict[str, Coverage], told: str | None
) -> None:
    found = told_of(Findings(coverage={"demo": datasets}), day())

    assert found == ([] if told is None else [(Kind.COVERAGE, told)])


def test_a_cluster_that_is_missing_today_is_told() -> None:
    before = Findings(coverage={**SEEN, "other": SEEN["demo"]})

    (change,) = changes(day(), before)

    assert (change.cluster, change.kind) == ("other", Kind.UNSEEN)
