# SPDX-License-Identifier: Apache-2.0
"""What a group says of the time until it loses records, where some of it is not known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest

from kafka_lag.contract import NO_LOSS_SECONDS, TIMEOUT
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading, LagReport, PreviousRuns
from kafka_lag.lag.time_index import LookUp, no_look_up
from kafka_lag.snapshots.previous import select_log_ends
from tests.builders import HOUR, MINUTE, NOON, Groups, Topics, a_reading, cell
from tests.functions.lag.time_index.brokers import Broker, Log

DAY = 24 * HOUR
RULES = Rules()
# retention.ms of topics whose configuration may be read.
Kept: TypeAlias = Mapping[str, int]


def configured(reading: ClusterReading, kept: Kept) -> ClusterReading:
    """The reading with the configuration of these topics; that of others is unknown."""
    topics = reading.topic_partitions
    names = topics.strings("topic").to_list()
    known = np.array([name in kept for name in names], bool)
    return replace(
        reading,
        topic_partitions=topics.with_columns(
            cleanup_policy=Strings.constant("delete", len(names)).only(known),
            retention_ms=Column.optional([kept.get(name) for name in names]),
            retention_bytes=Column(np.full(len(names), -1), known),
        ),
    )


class Shop:
    """Runs one after another, each of which knows what those before it left."""

    def __init__(self, kept: Kept, look_up: LookUp = no_look_up) -> None:
        self.kept, self.look_up = kept, look_up
        self.past = PreviousRuns.empty()

    def run(self, groups: Groups, topics: Topics, at: int = NOON) -> LagReport:
        reading = configured(a_reading(groups, topics, at=at), self.kept)
        report = evaluate(reading, self.past, RULES, at, self.look_up)
        ends = select_log_ends(report.snapshot.topic_partitions)
        self.past = PreviousRuns(report.snapshot, (*self.past.ends, ends))
        return report


def seconds(report: LagReport, group: str = "g") -> Any:
    return cell(report.snapshot.groups, "seconds_until_loss", consumer_group=group)


# Partition 0 of `near` has lost half of its day when it is read at noon; `far` is caught up.
NEAR = Log([NOON - 23 * HOUR + i * HOUR for i in range(20)])
FAR = Log([NOON - HOUR + i * MINUTE for i in range(50)])
MANY = Log([NOON - HOUR + i for i in range(50_000)])
BROKER = Broker(
    {("near", 0): NEAR, ("far", 0): FAR, ("far", 1): FAR, ("denied", 0): MANY}, silent={"odd"}
)
NEAR_LOSS = pytest.approx(3_600, abs=1)


@pytest.mark.parametrize(
    ("case", "alone", "beside_a_risk"),
    [
        pytest.param(
            ({"denied": [0]}, {"denied": [(0, 50_000)]}), None, NEAR_LOSS, id="settings-denied"
        ),
        pytest.param(
            ({"denied": [100]}, {"denied": [(500, 900)]}), 0, 0, id="lost-and-settings-denied"
        ),
        pytest.param(
            ({"odd": [3]}, {"odd": [(0, 10)]}), None, NEAR_LOSS, id="look-ups-get-no-answer"
        ),
        pytest.param(
            ({"far": [50, "denied"]}, {"far": [(0, 50), (0, 50)]}),
            None,
            NEAR_LOSS,
            id="a-commit-never-told",
        ),
        pytest.param(
            ({"far": [50, None]}, {"far": [(0, 50), (0, 50)]}),
            NO_LOSS_SECONDS,
            NEAR_LOSS,
            id="uncommitted-is-apart",
        ),
        pytest.param(
            ({"denied": [9]}, {"denied": [(0, 9)]}),
            NO_LOSS_SECONDS,
            NEAR_LOSS,
            id="settings-denied-and-nothing-unread",
        ),
    ],
)
def test_a_partition_that_is_unknown_hides_no_loss_and_is_not_called_safe(
    case: tuple[dict[str, Any], dict[str, Any]], alone: float | None, beside_a_risk: float
) -> None:
    commits, logs = case
    shop = Shop({"near": DAY, "far": DAY, "odd": DAY}, BROKER)
    calm = shop.run({"g": {"calm": [7], **commits}}, {"calm": [(0, 7)], **logs})
    assert seconds(calm) == alone

    risky = Shop({"near": DAY, "far": DAY, "odd": DAY}, BROKER).run(
        {"g": {"near": [0], **commits}}, {"near": [(0, 20)], **logs}
    )
    assert seconds(risky) == beside_a_risk


def test_an_age_that_nothing_bounds_stays_unknown_in_the_runs_after_a_cold_start() -> None:
    """It is a minute old at least, and may be six days."""
    shop = Shop({"odd": 7 * DAY, "far": DAY})
    groups: Groups = {"g": {"odd": [3], "far": [50]}}
    for run in range(5):
        report = shop.run(groups, {"odd": [(0, 10)], "far": [(0, 50)]}, NOON + run * MINUTE)
        assert seconds(report) is None


def test_a_group_whose_partitions_are_all_known_to_be_safe_says_thirty_days() -> None:
    shop = Shop({"far": 7 * DAY}, BROKER)
    report = shop.run({"g": {"far": [50, 40]}}, {"far": [(0, 50), (0, 50)]})
    assert seconds(report) == NO_LOSS_SECONDS
    assert cell(report.snapshot.groups, "lag", consumer_group="g") == 10


@pytest.mark.parametrize(
    ("last_read", "told"),
    [
        pytest.param(5 * MINUTE, 3_300, id="counted-down-within-the-window"),
        pytest.param(11 * MINUTE, None, id="unknown-after-it"),
    ],
)
@pytest.mark.parametrize("whole", [True, False], ids=["group", "partition"])
def test_a_risk_that_was_last_seen_counts_down_for_one_window(
    last_read: int, told: float | None, whole: bool
) -> None:
    shop = Shop({"near": DAY, "far": DAY}, BROKER)
    groups: Groups = {"g": {"near": [0], "far": [50]}}
    shop.run(groups, {"near": [(0, 20)], "far": [(0, 50)]})
    unread = {"g": TIMEOUT} if whole else groups
    topics: Topics = {"near": [(0, 20) if whole else TIMEOUT], "far": [(0, 50)]}
    report = shop.run(unread, topics, NOON + last_read)
    assert seconds(report) == (told and pytest.approx(told, abs=1))


def test_a_partition_that_is_not_read_may_come_to_be_at_risk_meanwhile() -> None:
    kept = 46 * HOUR + 10 * MINUTE  # A risk from half of it on, five minutes from noon.
    shop = Shop({"near": kept}, BROKER)
    groups: Groups = {"g": {"near": [0]}}
    assert seconds(shop.run(groups, {"near": [(0, 20)]})) == NO_LOSS_SECONDS
    report = shop.run(groups, {"near": [TIMEOUT]}, NOON + 9 * MINUTE)
    assert seconds(report) == pytest.approx((kept - 23 * HOUR) / 1_000 - 9 * 60, abs=1)


def keeping_its_distance(behind: int, kept: int, runs: int = 40) -> LagReport:
    """A record a minute, read when it is so many minutes old, in the last of so many runs."""
    count = behind + runs + 1
    log = Log([NOON - (behind - i) * MINUTE for i in range(count)])
    shop = Shop({"t": kept}, Broker({("t", 0): log}))
    for run in range(runs):
        at = NOON + run * MINUTE
        report = shop.run({"g": {"t": [run]}}, {"t": [(0, run + behind)]}, at)
    return report


@pytest.mark.parametrize(
    ("behind", "kept", "left"),
    [
        pytest.param(23 * 60 + 59, DAY, 60, id="a-minute-before"),
        pytest.param(22 * 60, DAY, 2 * 3_600, id="two-hours-before"),
        pytest.param(21 * 60, DAY, NO_LOSS_SECONDS, id="three-hours-before"),
        pytest.param(25 * 60, DAY, 0, id="overdue"),
        pytest.param(57, HOUR, 180, id="of-an-hour"),
        pytest.param(53, HOUR, NO_LOSS_SECONDS, id="of-an-hour-with-room"),
        pytest.param(3 * 24 * 60 - 120, 3 * DAY, 2 * 3_600, id="of-days"),
        pytest.param(3 * 24 * 60 - 180, 3 * DAY, NO_LOSS_SECONDS, id="of-days-with-room"),
    ],
)
def test_a_group_that_keeps_its_distance_is_at_risk_in_the_last_tenth(
    behind: int, kept: int, left: float
) -> None:
    report = keeping_its_distance(behind, kept)
    row = report.snapshot.group_partitions
    assert seconds(report) == pytest.approx(left, abs=2)
    assert row.numbers("seconds_until_loss").to_list() == [pytest.approx(left, abs=2)]
    risk = "SAFE" if left == NO_LOSS_SECONDS else "AT_RISK"
    assert row.strings("retention_risk").to_list() == [risk]
