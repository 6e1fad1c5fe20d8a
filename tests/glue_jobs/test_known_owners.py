# SPDX-License-Identifier: Apache-2.0
"""A whole day of which it is known who produced, consumed, stood still and held the lag."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.daily_report import main
from tests.glue_jobs.days import Row, report_rows, write_run

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)
EVERY = timedelta(minutes=10)
# Of the day's 144 runs.
NOON = 72
# By the dataset and the time of a run.
Objects = defaultdict[tuple[str, datetime], list[Row]]
BATCH = {"member_id": "batch-1", "client_id": "batch", "client_host": "/10.0.0.1"}
REPLAYER = {"member_id": "replay-1", "client_id": "replay", "client_host": "/10.0.0.2"}
NOBODY: Row = {"member_id": None, "client_id": None, "client_host": None}


def own(objects: Objects) -> None:
    """A day of one record a second, read every ten minutes, on which owners leave and come back.

    Broker 2 leads from 10:00 to 12:00, broker 1 before and after. A batch consumer owns the
    partition in the six runs from 02:00 on and in the six from 20:00 on, and commits 1,700 and
    10,000 records a run in them. Another group's only owner commits each record, but for noon,
    where it is 5,400 records back in one run and ahead again in the next.
    """
    committed = 0
    for run in range(144):
        at, second = MIDNIGHT + run * EVERY, 600 * run
        leader = 2 if 10 <= at.hour < 12 else 1
        owned = at.hour in (2, 20)
        committed += {2: 1_700, 20: 10_000}.get(at.hour, 0)
        log = {"topic": "clicks", "topic_id": "id", "partition_id": 0, "leader": leader}
        row = log | {"start_offset": 0, "end_offset": 100_000 + second}
        objects["topic_partitions", at].append(row)
        read = {"consumer_group": "nightly", "committed_offset": committed, "records_lost": 0}
        lag = {"lag": 100_000 + second - committed, "status": "OK"}
        owner = BATCH if owned else NOBODY
        back = run == NOON
        replayed = {
            "consumer_group": "replays",
            "committed_offset": second - (6_000 if back else 0),
            "rewound_from": second - 600 if back else None,
            "records_lost": 0,
            "lag": 100_000,
            "status": "REWIND" if back else "OK",
        }
        objects["group_partitions", at] += [row | read | lag | owner, row | replayed | REPLAYER]
        objects["groups", at] += [{"consumer_group": name} for name in ("nightly", "replays")]


# Of a group's topic: each partition's leader, owner, lag and status.
Topics = dict[tuple[str, str], list[tuple[int, str | None, int, str]]]
TOPICS: Topics = {
    # Two brokers lead a partition each, two members own one each: 99 % of the lag is on one.
    ("pair", "pairs"): [(71, "a", 990_000, "WARN"), (72, "b", 10_000, "WARN")],
    # The consumer of partition 3 stands still; broker 13 leads it, and nothing else.
    ("stalls", "s"): [
        (11, "m", 10, "OK"),
        (11, "m", 10, "OK"),
        (12, "n", 10, "OK"),
        (13, "n", 40_000, "STALL"),
    ],
    ("stops", "v"): [
        (51, "m", 10, "OK"),
        (51, "m", 10, "OK"),
        (52, "n", 10, "OK"),
        (53, None, 40_000, "STOP"),
    ],
    # The same lag, of a consumer that moves: nothing else lags under broker 23.
    ("alone", "t"): [
        (21, "m", 10, "OK"),
        (21, "m", 10, "OK"),
        (22, "n", 10, "OK"),
        (23, "n", 40_000, "WARN"),
    ],
    # Broker 61 and consumer a fit alike, but nothing else lags under that broker.
    ("owned", "x"): [
        (61, "a", 40_000, "WARN"),
        (61, "a", 40_000, "WARN"),
        (62, "b", 10, "OK"),
        (62, "b", 10, "OK"),
        (63, "c", 10, "OK"),
        (63, "c", 10, "OK"),
    ],
    # Two groups lag under broker 33.
    ("both-a", "u"): [
        (31, "m", 10, "OK"),
        (31, "m", 10, "OK"),
        (32, "n", 10, "OK"),
        (33, "n", 40_000, "WARN"),
    ],
    ("both-b", "w"): [
        (31, "m", 10, "OK"),
        (31, "m", 10, "OK"),
        (32, "n", 10, "OK"),
        (33, "n", 50_000, "WARN"),
    ],
}


def hold(objects: Objects) -> None:
    """A day on which each partition is the same from the first run to the last."""
    for run in range(144):
        at = MIDNIGHT + run * EVERY
        for (group, topic), partitions in TOPICS.items():
            objects["groups", at].append({"consumer_group": group})
            for number, (leader, member, lag, status) in enumerate(partitions):
                end = 2_000_000 + 600 * run
                log = {"topic": topic, "topic_id": topic, "partition_id": number, "leader": leader}
                log |= {"start_offset": 0, "end_offset": end}
                objects["topic_partitions", at].append(log)
                who = {"member_id": member, "client_id": member, "client_host": member and "/h"}
                read = {"committed_offset": end - lag, "lag": lag, "status": status}
                row = log | who | read | {"consumer_group": group, "records_lost": 0}
                objects["group_partitions", at].append(row)


@pytest.fixture(name="reported", scope="module")
def _reported(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert spark
    root = tmp_path_factory.mktemp("known")
    objects = Objects(list)
    own(objects)
    hold(objects)
    for (dataset, at), rows in objects.items():
        write_run(root, dataset, rows, at=at)
    place = ["--input", str(root), "--output", str(root), "--no-history"]
    assert main([*place, "--date", "2026-01-31"], now=lambda: MIDNIGHT + timedelta(days=1)) == 0
    return root


def found(reported: Path, report: str, **keys: Any) -> Row:
    """The only row of a report with these keys."""
    rows = report_rows(reported, report)
    (row,) = [row for row in rows if keys.items() <= row.items()]
    return row


def test_a_broker_is_credited_with_what_was_produced_while_it_led(reported: Path) -> None:
    made = {n: found(reported, "broker_hotspots", leader=n)["produced"] for n in (1, 2)}
    # 12 runs of 600 s, and the other 131 differences between 144 runs
    assert made == {1: 78_600, 2: 7_200}


def test_what_brokers_produced_adds_up_to_what_was_produced(reported: Path) -> None:
    rows = report_rows(reported, "broker_hotspots")
    # a record a second to the one partition, and to each of the other topics'
    partitions = 1 + sum(map(len, TOPICS.values()))
    assert sum(row["produced"] for row in rows) == 85_800 * partitions
    assert sum(row["produce_share"] for row in rows) == pytest.approx(1)


def test_a_consumer_that_comes_back_consumed_it_all_and_nobody_nothing(reported: Path) -> None:
    rows = report_rows(reported, "consumer_hotspots")
    nightly = [row for row in rows if row["consumer_group"] == "nightly"]
    assert {row["member_id"]: row["consumed"] for row in nightly} == {"batch-1": 70_200, None: 0}


def test_what_a_consumer_read_once_more_counts_again(reported: Path) -> None:
    row = found(reported, "consumer_hotspots", member_id="replay-1")
    # 143 differences of 600 s, and the 5,400 records behind the last commit before noon
    assert row["consumed"] == 143 * 600 + 5_400


@pytest.mark.parametrize(("member", "hot"), [("a", True), ("b", False)])
def test_one_of_two_members_can_be_hot(reported: Path, member: str, hot: bool) -> None:
    keys = {"consumer_group": "pair", "member_id": member}
    assert found(reported, "consumer_hotspots", **keys)["hot"] is hot


def test_the_lag_of_a_hot_member_is_that_many_times_the_others(reported: Path) -> None:
    keys = {"consumer_group": "pair", "member_id": "a"}
    assert found(reported, "consumer_hotspots", **keys)["lag_to_others"] == pytest.approx(99)


@pytest.mark.parametrize(("leader", "hot"), [(71, True), (72, False)])
def test_a_broker_with_most_of_the_lag_is_hot(reported: Path, leader: int, hot: bool) -> None:
    assert found(reported, "broker_hotspots", leader=leader)["hot"] is hot


def cause(reported: Path, group: str) -> tuple[Any, ...]:
    row = found(reported, "partition_skew", consumer_group=group)
    return row["cause"], row["cause_leader"], row["cause_member"], row["cause_partitions"]


def test_a_consumer_that_stands_still_comes_before_the_broker_of_its_partition(
    reported: Path,
) -> None:
    assert cause(reported, "stalls") == ("stalled", None, "n", [3])


def test_a_partition_that_nobody_reads_comes_before_its_broker(reported: Path) -> None:
    assert cause(reported, "stops") == ("stopped", None, None, [3])


def test_a_broker_is_no_cause_where_no_other_group_lags_under_it(reported: Path) -> None:
    assert cause(reported, "alone") == ("unexplained", None, None, [3])


def test_a_consumer_is_the_cause_where_the_broker_that_fits_as_well_is_none(
    reported: Path,
) -> None:
    assert cause(reported, "owned") == ("consumer", None, "a", [0, 1])


@pytest.mark.parametrize("group", ["both-a", "both-b"])
def test_a_broker_under_which_two_groups_lag_is_the_cause(reported: Path, group: str) -> None:
    assert cause(reported, group) == ("broker", 33, None, [3])
