# SPDX-License-Identifier: Apache-2.0
"""Each wrong line of metrics is found, with a snapshot beside it and without one."""

from dataclasses import replace
from typing import Any

import pytest

from dev.faults.judge import count_problems
from kafka_lag import contract
from tests.dev.faults.builders import (
    LOG,
    NOW,
    TRUTH,
    P,
    frames,
    judged,
    metrics,
    rules,
    run,
)


@pytest.mark.parametrize(
    ("line", "name", "value", "rule"),
    [
        (0, contract.OFFSET_LAG, 9, "metric OffsetLag"),
        (0, contract.ESTIMATED_TIME_LAG, 0.0, "metric EstimatedTimeLag"),
        (0, contract.GROUP_STATUS, 0, "metric GroupStatus"),
        (0, contract.TIME_TO_DATA_LOSS, 5.0, "metric TimeToDataLoss"),
        (0, contract.ESTIMATED_DRAIN_TIME, 9.0, "metric EstimatedDrainTime"),
        (0, contract.PRODUCE_RATE, 2.5, "metric ProduceRate"),
        (0, contract.CONSUME_RATE, 3.0, "metric ConsumeRate"),
        (0, contract.MEMBERS, 1, "metric Members"),
        (0, contract.REBALANCING, 0, "metric Rebalancing"),
        (1, contract.OFFSET_LAG, 9, "metric OffsetLag"),
        (1, contract.MAX_OFFSET_LAG, 9, "metric MaxOffsetLag"),
        (1, contract.ESTIMATED_TIME_LAG, 9.0, "metric EstimatedTimeLag"),
        (2, contract.OFFSET_LAG, 9, "metric OffsetLag"),
        (3, contract.ESTIMATED_TIME_LAG, 9.0, "metric EstimatedTimeLag"),
        (4, contract.GROUPS_READ, 2, "metric GroupsRead"),
        (4, contract.READ_ERRORS, 1, "ReadErrors"),
        (4, contract.LAGS_CLAMPED, 1, "metric LagsClamped"),
    ],
)
def test_a_wrong_metric_is_found(line: int, name: str, value: Any, rule: str) -> None:
    planted = metrics()
    planted[line][name] = value
    assert rule in rules(run(metrics=planted))


@pytest.mark.parametrize("line", range(4))
def test_a_metric_that_is_left_out_is_found(line: int) -> None:
    planted = metrics()
    del planted[line][contract.OFFSET_LAG]
    assert rules(run(metrics=planted)) == {"metric OffsetLag"}


def test_success_is_told_by_a_run_that_succeeded_and_by_no_other() -> None:
    assert rules(run(error="the store does not answer")) == {"CollectorSuccess"}
    assert rules(run(metrics=metrics()[:-1])) == {"CollectorSuccess"}
    failed = run(error="the store does not answer", metrics=metrics()[:-1], calm=True)
    assert rules(failed) == {"recovery"}


def test_a_run_that_read_no_group_is_no_success() -> None:
    lines = metrics()
    lines[4][contract.GROUPS_READ] = 0
    assert rules(run(frames={}, metrics=lines)) == set()
    known = run(frames={}, metrics=lines, known_groups=frozenset({"billing"}))
    assert rules(known) == {"CollectorSuccess"}


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        (0, contract.OFFSET_LAG, 1_000_000_000),
        (0, contract.OFFSET_LAG, 7),
        (0, contract.ESTIMATED_TIME_LAG, 9_999.0),
        (0, contract.ESTIMATED_TIME_LAG, 0.0),
        (0, contract.GROUP_STATUS, 7),
        (0, contract.TIME_TO_DATA_LOSS, 5.0),
        (0, contract.TIME_TO_DATA_LOSS, 0.0),
        (1, contract.OFFSET_LAG, 9),
        (1, contract.MAX_OFFSET_LAG, 9),
        (2, contract.OFFSET_LAG, 9),
        (2, contract.ESTIMATED_TIME_LAG, 99.0),
    ],
)
def test_metrics_of_a_run_without_a_snapshot_are_held_to_the_truth(
    line: int, name: str, value: Any
) -> None:
    lines = metrics()[:-1]
    failed = {"frames": {}, "error": "the store does not answer"}
    assert rules(run(metrics=lines, **failed)) == set()
    lines[line][name] = value
    assert f"metric {name}" in rules(run(metrics=lines, **failed))


def test_an_age_beside_partitions_without_one_is_at_least_so_much() -> None:
    lines = metrics()[:-1]
    failed = {"frames": {}, "error": "the store does not answer"}
    del lines[2][contract.ESTIMATED_TIME_LAG]
    lines[0][contract.ESTIMATED_TIME_LAG] = lines[1][contract.ESTIMATED_TIME_LAG] = 3.0
    assert rules(run(metrics=lines, **failed)) == set()
    lines[0][contract.ESTIMATED_TIME_LAG] = 99.0
    assert "metric EstimatedTimeLag" in rules(run(metrics=lines, **failed))


# The true age is 22.98 s. Only the time that a run took says whether look-ups were cut off.
@pytest.mark.parametrize(
    ("seconds", "age", "found"),
    [(1.99, 12.0, True), (2.0, 12.0, False), (3.7, 12.0, False), (3.7, 99.0, True)],
)
def test_an_age_may_be_inexact_only_where_look_ups_may_have_ended_early(
    seconds: float, age: float, found: bool
) -> None:
    lines = metrics()[:-1]
    for line in lines[:4]:
        line[contract.ESTIMATED_TIME_LAG] = age
    failed = {"frames": {}, "error": "the store does not answer", "seconds": seconds}
    broken = rules(run(metrics=lines, **failed))
    assert broken == ({"metric EstimatedTimeLag"} if found else set())


@pytest.mark.parametrize(("marker", "found"), [(8, False), (None, True)])
def test_an_age_may_be_that_behind_a_rest_which_only_rows_would_show(
    marker: int | None, found: bool
) -> None:
    lines = metrics()[:-1]
    for line in lines[:4]:
        # of the record at 9
        line[contract.ESTIMATED_TIME_LAG] = 19.98
    at = LOG.offset != marker
    log = replace(LOG, offset=LOG.offset[at], low=LOG.low[at], high=LOG.high[at])
    topic = replace(TRUTH.topics["id-1"], logs=(log, log))
    failed = {"frames": {}, "error": "the store does not answer"}
    broken = rules(run(metrics=lines, **failed), replace(TRUTH, topics={"id-1": topic}))
    assert broken == ({"metric EstimatedTimeLag"} if found else set())


def test_a_lag_that_such_a_run_leaves_out_is_found() -> None:
    lines = metrics()[:-1]
    del lines[0][contract.OFFSET_LAG]
    failed = {"frames": {}, "error": "the store does not answer"}
    assert rules(run(metrics=lines, **failed)) == {"metric OffsetLag"}


@pytest.mark.parametrize(
    ("hidden", "lag", "found"),
    [(True, 4, False), (True, 9, True), (False, 4, True)],
    ids=["a topic is not named", "more than there is", "all topics are named"],
)
def test_a_run_that_could_not_load_may_know_nothing_of_a_topic_that_is_hidden(
    hidden: bool, lag: int, found: bool
) -> None:
    lines = metrics()[:-1]
    lines[0] |= {contract.OFFSET_LAG: lag, contract.ESTIMATED_TIME_LAG: 0.0 if hidden else 22.98}
    if hidden:
        del lines[1:4]
    failed = {"frames": {}, "error": "the store does not answer"}
    assert ("metric OffsetLag" in rules(run(metrics=lines, **failed))) is found


OTHER = {contract.DIMENSION_CLUSTER: "c", contract.DIMENSION_GROUP: "nobody"}


@pytest.mark.parametrize(
    "line",
    [
        {**OTHER, contract.OFFSET_LAG: 1},
        {**OTHER, contract.DIMENSION_TOPIC: "orders", contract.OFFSET_LAG: 1},
        metrics()[0],
        metrics()[2],
        metrics()[-1],
        {contract.DIMENSION_CLUSTER: "c", "Lag": 1},
        {contract.DIMENSION_CLUSTER: "c", contract.TIME_LAG_LOOKUPS: -1},
        {contract.DIMENSION_CLUSTER: "c", contract.TIME_LAG_LOOKUPS: float("nan")},
        {contract.DIMENSION_CLUSTER: "other", contract.TIME_LAG_LOOKUPS: 1},
        {contract.DIMENSION_CLUSTER: "c", contract.DIMENSION_TOPIC: "orders"},
        {
            contract.DIMENSION_CLUSTER: "c",
            contract.TIME_LAG_LOOKUPS: 1,
            "_aws": {"Timestamp": NOW - 60_000},
        },
    ],
)
def test_a_line_that_should_not_be_there_is_found(line: dict[str, Any]) -> None:
    assert "line of metrics" in rules(run(metrics=[*metrics(), line]))


def test_a_group_without_a_partition_has_no_metrics_to_miss() -> None:
    planted = frames()
    planted[P].clear()
    broken = rules(run(frames=planted, metrics=[]))
    assert not broken & {"metric Members", "metric Rebalancing", "metric EstimatedDrainTime"}


def test_two_values_that_are_absent_are_no_number() -> None:
    before = judged().consistent["metric EstimatedTimeLag"]
    planted, lines = frames(), metrics()
    planted[P][1]["time_lag_seconds"] = None
    del lines[3][contract.ESTIMATED_TIME_LAG]
    after = judged(run(frames=planted, metrics=lines)).consistent["metric EstimatedTimeLag"]
    assert after == before - 1


def test_what_a_line_on_a_broker_counts_beside_it_are_problems_too() -> None:
    line = "broker '2' not read (timeout): at b-2:9096: x; with it 1,010 partitions and 1 group"
    assert count_problems([line, "and 5 more not read"]) == 1_017
