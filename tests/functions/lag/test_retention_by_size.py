# SPDX-License-Identifier: Apache-2.0
"""Retention by size through whole runs: the log start that producers push to a group's commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from kafka_lag.contract import AT_RISK, NO_LOSS_SECONDS, SAFE, TIMEOUT
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.snapshots.previous import Memory
from tests.builders import MINUTE, NOON, Topics, a_reading, table

RULES = Rules(lookup_budget=0)
HOUR = 60  # in minutes, as all times here
WEEK_MS = 7 * 24 * HOUR * MINUTE
# Written before the first run: more than any log holds.
BEFORE = 400 * HOUR


@dataclass(frozen=True, slots=True)
class Case:
    """A group alone on a log of one partition; times in minutes.

    The log keeps the last `hours`, and up to one of its `segments` more. The group reads all there
    is `every` so many minutes, or stays `ahead` of the log start, and from `stops` on nothing.
    """

    hours: float
    every: int = 1
    ahead: float | None = None
    stops: int = 10**9
    segments: int = 100_000
    speed: float = 600.0
    kept_ms: int = -1
    noise: bool = False

    def end(self, minute: float) -> int:
        """The log's end; with noise each minute has from none to twice as many records."""
        whole = (minute + BEFORE) * self.speed
        swing = np.sin(minute * 12.9898) * 43_758.5453
        return int(whole + (swing % 1 - 0.5) * self.speed * self.noise)

    def start(self, minute: float) -> int:
        """The log's start: whole segments are deleted."""
        segment = max(1, int(self.hours * HOUR * self.speed / self.segments))
        return max(0, self.end(minute) - int(self.hours * HOUR * self.speed)) // segment * segment

    def committed(self, minute: int) -> int:
        """What the group has committed by then."""
        minute = min(minute, self.stops)
        if self.ahead is not None:
            return self.start(minute) + int(self.ahead * self.speed)
        return self.end(minute - minute % self.every)

    def seconds_left(self, minute: int) -> float:
        """Until a group that stands still has lost a record, by the producers' speed."""
        return 60 * (self.committed(minute) - self.start(minute)) / self.speed


def risks(
    cases: Mapping[str, Case], runs: int, read: int = 10**9
) -> dict[str, list[tuple[Any, ...]]]:
    """By case and run the partition's risk, its seconds until a loss, and those of the group.

    Only the first `read` runs get an answer from the log's broker.
    """
    memory = Memory.empty()
    found: dict[str, list[tuple[Any, ...]]] = {name: [] for name in cases}
    kept = Column.of(np.array([case.kept_ms for case in cases.values()]))
    size, policy = Column.of(np.full(len(cases), 10**9)), Strings.constant("delete", len(cases))
    for minute in range(runs):
        at = NOON + minute * MINUTE
        groups = {name: {name: [case.committed(minute)]} for name, case in cases.items()}
        logs: Topics = {
            name: [(case.start(minute), case.end(minute)) if minute < read else TIMEOUT]
            for name, case in cases.items()
        }
        reading = a_reading(groups, logs, at=at)
        topics = reading.topic_partitions.with_columns(
            retention_ms=kept, retention_bytes=size, cleanup_policy=policy
        )
        reading = replace(reading, topic_partitions=topics)
        snapshot = evaluate(reading, memory.previous_runs(), RULES, at).snapshot
        memory = memory.add_run(snapshot, MINUTE, stored=True)
        of_group = dict(table(snapshot.groups, "consumer_group", "seconds_until_loss"))
        names = ("consumer_group", "retention_risk", "seconds_until_loss")
        for name, risk, seconds in table(snapshot.group_partitions, *names):
            found[name].append((risk, seconds, of_group[name]))
    return found


def with_and_without_a_time(cases: Mapping[str, Case]) -> dict[str, Case]:
    """Each case by size alone, and with a week by time beside it."""
    return {
        f"{name}, {kind}": replace(case, kept_ms=kept)
        for name, case in cases.items()
        for kind, kept in (("size", -1), ("size and time", WEEK_MS))
    }


HEALTHY = with_and_without_a_time(
    {
        f"{every} min on {hours} h, {segments} segments, {noise=}": Case(
            hours, every, segments=segments, noise=noise
        )
        for every in (2, 10, 19, 39, 59)
        for hours in (1, 2, 3, 48)
        for segments, noise in ((100_000, False), (5, True))
        if every < hours * HOUR / 3
    }
)


def test_a_group_that_reads_everything_in_time_is_never_at_risk_by_size() -> None:
    """Three hours; the alarm on data loss fires below 30 days."""
    found = risks(HEALTHY, 3 * HOUR)
    alarming = {
        name: sum(risk == AT_RISK or group != NO_LOSS_SECONDS for risk, _, group in runs[3:])
        for name, runs in found.items()
    }
    assert {name: runs for name, runs in alarming.items() if runs} == {}


NEAR = with_and_without_a_time(
    {
        f"{ahead:.1f} min ahead on {hours} h": Case(hours, ahead=ahead)
        for ahead in (0.1, 1, 5)
        for hours in (1, 2, 10, 48, 100)
    }
)


def test_a_group_that_stays_just_ahead_of_the_log_start_is_at_risk() -> None:
    for name, runs in risks(NEAR, 40).items():
        expected = pytest.approx(NEAR[name].seconds_left(0), rel=0.1)
        # Without a rate, of which the first run has none, nothing can be said.
        assert runs[1:] == [(AT_RISK, expected, expected)] * 39, name


@pytest.mark.parametrize("kept_ms", [-1, WEEK_MS])
def test_a_group_that_stops_has_its_time_to_loss_at_once(kept_ms: int) -> None:
    """Not once half of the log is gone: it stands still after one window."""
    case = Case(100, stops=30, kept_ms=kept_ms)
    runs = risks({"stopped": case}, 60)["stopped"]
    assert [seconds for _, seconds, _ in runs[41:]] == [
        pytest.approx(case.seconds_left(minute), rel=0.01) for minute in range(41, 60)
    ]


@pytest.mark.parametrize("kept_ms", [-1, WEEK_MS])
def test_a_group_that_was_found_standing_within_the_horizon_is_at_risk_at_once(
    kept_ms: int,
) -> None:
    case = Case(100, ahead=23 * HOUR, stops=0, kept_ms=kept_ms)
    expected = pytest.approx(23 * 3_600, rel=0.1)
    assert risks({"stands": case}, 4)["stands"][1:] == [(AT_RISK, expected, expected)] * 3


@pytest.mark.parametrize(
    ("hours", "ahead", "risk"),
    [
        pytest.param(10, 5 * HOUR + 15, SAFE, id="more-than-half-of-the-log"),
        pytest.param(10, 5 * HOUR - 15, AT_RISK, id="less-than-half-of-the-log"),
        pytest.param(100, 25 * HOUR, SAFE, id="outside-the-horizon"),
        pytest.param(100, 23 * HOUR, AT_RISK, id="within-the-horizon"),
    ],
)
def test_a_standing_group_is_at_risk_within_the_horizon_or_half_of_what_the_log_holds(
    hours: float, ahead: float, risk: str
) -> None:
    (_, *runs) = risks({"g": Case(hours, ahead=ahead, stops=0)}, 10)["g"]
    assert {each for each, _, _ in runs} == {risk}


@pytest.mark.parametrize(
    ("hours", "ahead", "risk"),
    [
        pytest.param(10, 61, SAFE, id="more-than-a-tenth-of-the-log"),
        pytest.param(10, 59, AT_RISK, id="less-than-a-tenth-of-the-log"),
        pytest.param(100, 2.5 * HOUR, SAFE, id="more-than-a-tenth-of-the-horizon"),
        pytest.param(100, 2.3 * HOUR, AT_RISK, id="less-than-a-tenth-of-the-horizon"),
    ],
)
def test_a_group_that_keeps_its_distance_by_size_is_at_risk_in_the_last_tenth(
    hours: float, ahead: float, risk: str
) -> None:
    (_, *runs) = risks({"g": Case(hours, ahead=ahead)}, 20)["g"]
    assert {each for each, _, _ in runs[10:]} == {risk}


def test_a_log_that_is_not_read_may_come_to_be_at_risk_by_size_meanwhile() -> None:
    """It is a risk from half of the log on, an hour; by time it would be one from a day on."""
    standing = {"far": Case(2, ahead=80, stops=0), "near": Case(2, ahead=68, stops=0)}
    runs = risks(standing, 12, read=5)
    assert [group for _, _, group in runs["far"]] == [NO_LOSS_SECONDS] * 12
    assert [group < NO_LOSS_SECONDS for _, _, group in runs["near"]] == [False] * 9 + [True] * 3


def test_examples_of_the_documentation_are_what_is_published() -> None:
    """As docs/metrics.md has them under "TimeToDataLoss": 100,000 s of 100 records a second."""
    log = Case(hours=100_000 / 3_600, speed=6_000)
    left = {2_000_000: 20_000, 1_000_000: 10_000, 800_000: 8_000}
    keeps = {n: replace(log, ahead=seconds / 60) for n, seconds in left.items()}
    cases = {
        "stands": replace(log, ahead=left[1_000_000] / 60, stops=20),
        "keeps pace": keeps[2_000_000],
        "keeps pace near the start": keeps[800_000],
        "no lag": log,
    }
    last = {name: each[-1][1] for name, each in risks(cases, 40).items()}
    assert last["keeps pace"] == last["no lag"] == NO_LOSS_SECONDS
    assert last["keeps pace near the start"] == pytest.approx(8_000, rel=0.02)
    # It has stood for 19 minutes, each of which took 60 s.
    assert last["stands"] == pytest.approx(10_000 - 19 * 60, rel=0.02)
