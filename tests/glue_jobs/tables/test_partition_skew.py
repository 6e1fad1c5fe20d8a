# SPDX-License-Identifier: Apache-2.0
"""Skew: the measures against their definitions, and what counts as skewed."""

from typing import Any

import pytest
from pyspark.sql import Row as Found
from pyspark.sql import SparkSession

from kafka_lag_report.aggregates import (
    group_runs,
    group_segments,
    topic_runs,
    topic_segments,
)
from kafka_lag_report.partials import DayRows
from kafka_lag_report.run_weights import run_weights
from kafka_lag_report.skew import spread
from kafka_lag_report.tables.partition_skew import partition_skew
from tests.glue_jobs.days import Row, frame, group_row, minute, topic_row

# values by partition -> max_to_mean, top partition, top share, even share, gini, skewed
SPREADS: dict[str, tuple[list[float | None], tuple[Any, ...]]] = {
    "the demo": ([667, 166, 167], (2.001, 0, 0.667, 1 / 3, 0.334, True)),
    "even": ([500, 500, 500, 500], (1.0, 0, 0.25, 0.25, 0.0, False)),
    "all in one": ([0, 900, 0], (3.0, 1, 1.0, 1 / 3, 2 / 3, True)),
    "two partitions, 3 to 1": ([100, 300], (1.5, 1, 0.75, 0.5, 0.25, True)),
    "just under the factor": ([1010, 2990], (1.495, 1, 0.7475, 0.5, 0.2475, False)),
    "too few to be a finding": ([3, 1, 0], (2.25, 0, 0.75, 1 / 3, 0.5, False)),
    "one partition": ([5000], (1.0, 0, 1.0, 1.0, 0.0, False)),
    "nothing to share": ([0, 0], (1.0, None, 0.5, 0.5, 0.0, False)),
    "an unknown one is left out": ([None, 600, 200], (1.5, 1, 0.75, 0.5, 0.25, True)),
    "nothing known": ([None, None], (None, None, None, None, None, None)),
}


def _by_definition(values: list[float]) -> float:
    """Gini as half the relative mean difference over all pairs."""
    pairs = sum(abs(a - b) for a in values for b in values)
    return pairs / (2 * len(values) * sum(values)) if sum(values) else 0.0


def test_measures_of_spread(spark: SparkSession) -> None:
    rows = [
        (case, partition, value if value is None else float(value))
        for case, (values, _) in SPREADS.items()
        for partition, value in enumerate(values)
    ]
    days = spark.createDataFrame(rows, "topic string, partition_id int, v double")

    found = {row["topic"]: row for row in spread(days, ("topic",), "v", "x").collect()}

    names = ("max_to_mean", "top_partition", "top_share", "even_share", "gini", "skewed")
    for case, (_, expected) in SPREADS.items():
        actual = tuple(found[case][f"x_{name}"] for name in names)
        assert actual == pytest.approx(expected, abs=1e-12), case


@pytest.mark.parametrize("case", [c for c, (v, _) in SPREADS.items() if None not in v])
def test_the_expected_gini_is_the_mean_difference(case: str) -> None:
    values, expected = SPREADS[case]

    assert _by_definition([value or 0.0 for value in values]) == pytest.approx(expected[4])


def report(spark: SparkSession, groups: list[Row], topics: list[Row]) -> list[Found]:
    """The report of these rows; there is a run at each time."""
    levels = frame(spark, "group_partitions", groups)
    made = frame(spark, "topic_partitions", topics)
    times = {row.get("taken_at", minute(0)) for row in (*groups, *topics)}
    weights = run_weights(frame(spark, "groups", [{"taken_at": time} for time in times]))
    return partition_skew(
        group_segments(DayRows(levels)),
        weights.weigh(group_runs(DayRows(levels))),
        topic_segments(DayRows(made)),
        weights.weigh(topic_runs(DayRows(made))),
    ).collect()


def lagging(lags: list[int | None], **more: Any) -> list[Row]:
    """A run of a topic whose partitions lag so much, each with a leader and member as given."""
    rows = []
    for partition, lag in enumerate(lags):
        committed = None if lag is None else 10_000 - lag
        own = {name: value[partition] for name, value in more.items() if isinstance(value, list)}
        alike = {name: value for name, value in more.items() if not isinstance(value, list)}
        rows.append(group_row(partition, committed, 0, 10_000, **alike, **own))
    return rows


def producing(amounts: list[int], **more: Any) -> list[Row]:
    """Two runs between which a topic's partitions got so many records."""
    return [
        topic_row(partition, end, taken_at=minute(run), **more)
        for partition, amount in enumerate(amounts)
        for run, end in enumerate((0, amount))
    ]


BESIDE: tuple[list[Row], list[Row]] = (
    [
        *lagging([0, 0], consumer_group="a", topic="t"),
        *lagging([None, None], consumer_group="b", topic="t"),
        *lagging([1, 1], consumer_group="c", topic="never read"),
    ],
    [
        *producing([400, 0], topic="t"),
        *producing([9], topic="unread by any"),
    ],
)
LAGS: list[list[int | None]] = [[900, 0, 0], [300, 300, 300], [900, 0, 0], [None, None, None]]
OF_RUNS = [row for run, of in enumerate(LAGS) for row in lagging(of, taken_at=minute(run))]


def test_production_is_the_topics_own_beside_each_groups_lag(spark: SparkSession) -> None:
    rows = {row["consumer_group"]: row for row in report(spark, *BESIDE)}

    seen = {group: (row["production_skewed"], row["lag_skewed"]) for group, row in rows.items()}
    assert seen == {"a": (True, False), "b": (True, None), "c": (None, False)}
    assert {group: row["lag_partitions"] for group, row in rows.items()} == {"a": 2, "b": 0, "c": 2}


def test_minutes_skewed_are_those_of_the_runs(spark: SparkSession) -> None:
    (row,) = report(spark, OF_RUNS, [])

    assert (row["lag_skewed_minutes"], row["production_skewed_minutes"]) == (2.0, None)


LATE = 900
# lags, leaders, members, production by partition -> the cause, whom it names, and the partitions
CAUSES: dict[str, tuple[list[int], list[Any], list[Any], list[int], tuple[Any, ...]]] = {
    "hot keys": (
        [LATE, 0, 0],
        [1, 2, 3],
        ["a", "b", "c"],
        [667, 166, 167],
        ("production", None, None, [0]),
    ),
    "a slow broker": (
        [LATE, 0, 0, LATE, 0, 0],
        [1, 2, 3, 1, 2, 3],
        ["a", "a", "b", "b", "c", "c"],
        [100] * 6,
        ("broker", 1, None, [0, 3]),
    ),
    "a slow member": (
        [LATE, LATE, 0, 0, 0, 0],
        [1, 2, 3, 1, 2, 3],
        ["a", "a", "b", "b", "c", "c"],
        [100] * 6,
        ("consumer", None, "a", [0, 1]),
    ),
    "a slow member of one partition": (
        [LATE, 0, 0, 0],
        [1, 2, 1, 2],
        ["a", "b", "c", "d"],
        [100] * 4,
        ("consumer", None, "a", [0]),
    ),
    "two thirds of a member's partitions are most of them": (
        [LATE, LATE, 0, 0, 0, 0],
        [1, 2, 3, 4, 5, 6],
        ["a", "a", "a", "b", "c", "d"],
        [100] * 6,
        ("consumer", None, "a", [0, 1]),
    ),
    "three fifths of a member's partitions are not": (
        [LATE, LATE, LATE, *[0] * 7],
        list(range(10)),
        ["a"] * 5 + ["b", "c", "d", "e", "f"],
        [100] * 10,
        ("unexplained", None, None, [0, 1, 2]),
    ),
    "two thirds of the excess are most of it": (
        # 7,200 and 3,600 records above the mean
        [9_900, 6_300, 0, 0, 0, 0],
        [1, 2, 1, 2, 1, 2],
        ["a", "b", "c", "d", "e", "f"],
        [100] * 6,
        ("consumer", None, "a", [0]),
    ),
    "less of the excess is not": (
        [9_900, 6_600, 0, 0, 0, 0],
        [1, 2, 1, 2, 1, 2],
        ["a", "b", "c", "d", "e", "f"],
        [100] * 6,
        ("unexplained", None, None, [0, 1]),
    ),
    "a slow broker of one partition": (
        [LATE, 0, 0, 0],
        [1, 2, 3, 4],
        ["a", "a", "b", "b"],
        [100] * 4,
        ("broker", 1, None, [0]),
    ),
    "each partition has its own leader and member": (
        [LATE, 0, 0],
        [1, 2, 3],
        ["a", "b", "c"],
        [100] * 3,
        ("unexplained", None, None, [0]),
    ),
    "a broker and a member with the same partitions": (
        [LATE, LATE, 0, 0, 0, 0],
        [1, 1, 2, 2, 3, 3],
        ["a", "a", "b", "b", "c", "c"],
        [100] * 6,
        ("broker", 1, None, [0, 1]),
    ),
    "late partitions of anybody": (
        [LATE, 0, 0, 0, LATE, 0],
        [1, 1, 2, 2, 3, 3],
        ["a", "b", "c", "a", "b", "c"],
        [100] * 6,
        ("unexplained", None, None, [0, 4]),
    ),
    "nobody leads and nobody owns": (
        [LATE, LATE, 0, 0, 0, 0],
        [None, None, 1, 1, 2, 2],
        [None, None, "b", "b", "c", "c"],
        [100] * 6,
        ("unexplained", None, None, [0, 1]),
    ),
    "an idle topic accuses no key": (
        [LATE, 0, 0, LATE, 0, 0],
        [1, 2, 3, 1, 2, 3],
        ["a", "a", "b", "b", "c", "c"],
        [0] * 6,
        ("broker", 1, None, [0, 3]),
    ),
    "a broker under which no other group lags is no cause, and is named": (
        # partition 4 lags too, and another broker leads it
        [0, LATE, 0, LATE, 500, 0],
        [1, 2, 3, 2, 1, 3],
        ["a", "a", "b", "b", "c", "c"],
        [100] * 6,
        ("unexplained", 2, None, [1, 3]),
    ),
    "no skew, no cause": (
        [200, 200, 200],
        [1, 2, 3],
        ["a", "b", "c"],
        [667, 166, 167],
        (None, None, None, None),
    ),
}


@pytest.mark.parametrize("case", CAUSES)
def test_the_cause_is_where_the_excess_sits(spark: SparkSession, case: str) -> None:
    lags, leaders, members, amounts, expected = CAUSES[case]
    groups = lagging(list(lags), topic=case, leader=leaders, member_id=members)
    # what lags under broker 1 lags there for somebody else too
    beside: list[int | None] = [LATE if leader == 1 else 0 for leader in leaders]
    groups += lagging(beside, leader=leaders, topic=f"{case}, too", consumer_group="audit")

    found = report(spark, groups, producing(amounts, topic=case))

    (row,) = [row for row in found if row["consumer_group"] == "billing"]
    names = ("cause", "cause_leader", "cause_member", "cause_partitions")
    assert tuple(row[name] for name in names) == expected
