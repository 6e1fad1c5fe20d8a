# SPDX-License-Identifier: Apache-2.0
"""The main path on one real broker: logins, groups of both protocols, offsets, ages, the function.

Tests that need several brokers or more time are in the other files, and in `make test-rest`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AclOperation, NewPartitions, ResourceType

from dev.aws import AwsStandIn
from dev.kafka import CONSUMER_PROTOCOL, KafkaCluster
from dev.sim.cases.logs import by_chance
from kafka_lag import contract
from kafka_lag.brokers.access import Credentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.errors import LoginError
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.model import PreviousRuns
from kafka_lag.lag.time_index import NEWEST
from tests.contract.deployed import (
    BUCKET,
    KEY,
    Deployed,
    deployed_for,
    emf_lines,
    write_traffic,
)
from tests.dev.cluster_fixture import STEADY
from tests.kafka.interrupted import asked_of, read_while
from tests.kafka.logins.ways import (
    Way,
    by_certificate,
    by_password,
    by_token,
    certificate,
    read,
    refusal,
    token,
)
from tests.kafka.looking import (
    ANSWERED_WITHIN,
    Looker,
    Row,
    access,
    commit,
    create,
    delete,
    delete_group,
    denied,
    group,
    looker,
    only,
    partitions,
    produce,
    rows,
)
from tests.kafka.time_lag.watched import (
    DAY,
    HOUR,
    NOW,
    ago,
    dated,
    every,
    said,
    watched,
)
from tests.kafka.times.asking import NONE, index, write
from tests.kafka_versions import needs

pytestmark = pytest.mark.kafka


@pytest.fixture(name="one_broker", scope="module")
def _one_broker() -> Iterator[KafkaCluster]:
    quick = {
        "group.consumer.heartbeat.interval.ms": "500",
        "group.consumer.min.heartbeat.interval.ms": "500",
    }
    with KafkaCluster(brokers=1, settings={**STEADY, **quick}) as cluster:
        yield cluster


Reported = list[list[dict[str, Any]]]


@pytest.fixture(name="expected", scope="module")
def _expected(one_broker: KafkaCluster) -> Reported:
    create(one_broker, "wayfarer", 3)
    produce(one_broker, "wayfarer", {0: 3, 1: 4, 2: 5})
    commit(one_broker, "wayfarers", "wayfarer", [1, 2, 3])
    groups, partitions, topics = reported(by_password(one_broker, "SCRAM-SHA-512"))
    assert [row["consumer_group"] for row in groups] == ["wayfarers"]
    assert sorted(row["committed_offset"] for row in partitions) == [1, 2, 3]
    assert sorted(row["end_offset"] for row in topics) == [3, 4, 5]
    return [groups, partitions, topics]


def reported(way: Way) -> Reported:
    """All that one reading tells, but for when."""
    source = KafkaSource(*way)
    reading = read(source)
    source.close()
    return [
        [{name: value for name, value in row.items() if not name.endswith("_at")} for row in found]
        for found in map(rows, (reading.groups, reading.group_partitions, reading.topic_partitions))
    ]


def _by_certificate(cluster: KafkaCluster) -> Way:
    return by_certificate(cluster, certificate(cluster.client_pair("monitor"), cluster.cafile))


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(lambda cluster: by_password(cluster, "SCRAM-SHA-256"), id="scram-256"),
        pytest.param(lambda cluster: by_token(cluster, token), id="token"),
        pytest.param(_by_certificate, id="certificate"),
    ],
)
def test_what_is_read_does_not_depend_on_the_way_in(
    one_broker: KafkaCluster, expected: Reported, way: Callable[[KafkaCluster], Way]
) -> None:
    assert reported(way(one_broker)) == expected


def test_a_wrong_password_is_a_refused_login_that_does_not_name_it(
    one_broker: KafkaCluster,
) -> None:
    wrong = FixedCredentials(Credentials("monitor", "not-the-password-of-anybody"))
    error = refusal((access(one_broker), wrong))
    assert isinstance(error, LoginError)
    assert "rejected the login" in str(error)
    assert "not-the-password" not in str(error) + repr(error) + repr(error.__cause__)


def test_a_commit_beyond_the_end_of_a_recreated_topic_is_lag_zero_and_counted(
    one_broker: KafkaCluster,
) -> None:
    create(one_broker, "recreated", 1)
    produce(one_broker, "recreated", {0: 50})
    commit(one_broker, "on-recreated", "recreated", [40])
    with looker(one_broker, only("recreated")) as eyes:
        first = partitions(eyes.look(), "on-recreated")["recreated", 0]
        delete(one_broker, "recreated")
        create(one_broker, "recreated", 1)
        produce(one_broker, "recreated", {0: 5})
        commit(one_broker, "on-recreated", "recreated", [40])
        report = eyes.look()
    row = partitions(report, "on-recreated")["recreated", 0]
    assert (first["lag"], row["lag"], row["end_offset"]) == (10, 0, 5)
    assert row["topic_id"] != first["topic_id"]
    assert report.lags_clamped == 1


def test_a_commit_before_the_log_start_lags_from_there_and_names_what_was_lost(
    one_broker: KafkaCluster,
) -> None:
    create(one_broker, "shortened", 1)
    produce(one_broker, "shortened", {0: 30})
    commit(one_broker, "on-shortened", "shortened", [10])
    request = [TopicPartition("shortened", 0, 25)]
    for future in one_broker.admin().delete_records(request).values():
        future.result(ANSWERED_WITHIN)
    with looker(one_broker, only("shortened")) as eyes:
        row = partitions(eyes.look(), "on-shortened")["shortened", 0]
    assert (row["lag"], row["records_lost"], row["retention_margin"]) == (5, 15, 0)


def test_a_deleted_topic_ends_without_a_trace_of_trouble(one_broker: KafkaCluster) -> None:
    create(one_broker, "fleeting", 2)
    produce(one_broker, "fleeting", {0: 4})
    commit(one_broker, "on-fleeting", "fleeting", [1, 0])
    with looker(one_broker, only("fleeting")) as eyes:
        assert len(partitions(eyes.look(), "on-fleeting")) == 2
        delete(one_broker, "fleeting")
        report = eyes.look()
    assert partitions(report, "on-fleeting") == {}
    assert report.problems == ()


def test_a_topic_deleted_between_the_two_reads_costs_nothing_else(
    one_broker: KafkaCluster,
) -> None:
    create(one_broker, "midway-a", 1)
    create(one_broker, "midway-b", 1)
    produce(one_broker, "midway-a", {0: 4})
    commit(one_broker, "on-midway", "midway-a", [1])
    commit(one_broker, "on-midway", "midway-b", [0])
    reading = read_while(one_broker, "midway", lambda: delete(one_broker, "midway-b"))
    assert reading.gone_topics == {"midway-b"}
    assert [row["topic"] for row in rows(reading.group_partitions)] == ["midway-a"]
    assert [row["end_offset"] for row in rows(reading.topic_partitions)] == [4]


def test_a_deleted_group_is_proven_gone_by_the_brokers(one_broker: KafkaCluster) -> None:
    create(one_broker, "left", 1)
    commit(one_broker, "leaving", "left", [0])
    with looker(one_broker, only("^lea?[fv]")) as eyes:
        eyes.look()
        delete_group(one_broker, "leaving")
        last = group(eyes.look(), "leaving")
    assert (last["status_reason"], last["lag"], last["unread_reason"]) == ("gone", None, None)


def test_a_topic_that_grew_has_its_new_partitions_at_once(one_broker: KafkaCluster) -> None:
    create(one_broker, "growing", 1)
    commit(one_broker, "on-growing", "growing", [0])
    with looker(one_broker, only("growing")) as eyes:
        eyes.look()
        grown = one_broker.admin().create_partitions([NewPartitions("growing", 3)])
        for future in grown.values():
            future.result(ANSWERED_WITHIN)
        eyes.look_until(lambda report: len(partitions(report, "on-growing")) == 3)


def test_starts_and_groups_are_asked_for_before_commits_and_ends_after_them(
    one_broker: KafkaCluster,
) -> None:
    """Any other order makes a moving consumer lag negatively, or a purge look like loss."""
    create(one_broker, "ordered", 3)
    commit(one_broker, "on-ordered", "ordered", [0, 0, 0])
    asked = asked_of(one_broker, "ordered")
    first, last = {kind: asked.index(kind) for kind in asked}, {k: i for i, k in enumerate(asked)}
    assert max(last["ListOffsets"], last["ListGroups"]) < first["OffsetFetch"]
    assert last["OffsetFetch"] < first["Ends"]


def test_a_commit_that_moves_while_it_is_read_makes_no_negative_lag(
    one_broker: KafkaCluster,
) -> None:
    create(one_broker, "moving", 1)
    produce(one_broker, "moving", {0: 5})
    commit(one_broker, "on-moving", "moving", [5])

    def move() -> None:
        produce(one_broker, "moving", {0: 7})
        commit(one_broker, "on-moving", "moving", [12])

    reading = read_while(one_broker, "moving", move)
    report = evaluate(reading, PreviousRuns.empty(), only("moving"), int(time.time() * 1000))
    assert partitions(report, "on-moving")["moving", 0]["lag"] == 7
    assert report.lags_clamped == 0


Join = Callable[[], Consumer]


@contextmanager
def joining(cluster: KafkaCluster, name: str, protocol: str) -> Iterator[Join]:
    """Makes members of a group on the topic of its name, which leave at the end."""
    members: list[Consumer] = []
    config = {
        **cluster.client_config("admin"),
        "log_level": 0,
        "group.id": name,
        "group.protocol": protocol,
        "auto.offset.reset": "earliest",
        "auto.commit.interval.ms": 200,
    }

    def join() -> Consumer:
        members.append(Consumer(config))
        members[-1].subscribe([name])
        return members[-1]

    try:
        yield join
    finally:
        for member in members:
            member.close()


def settled(eyes: Looker, name: str, members: list[Consumer]) -> list[Row]:
    """The group's row in each look, the last that of the first in which all members own some."""
    seen: list[Row] = []
    deadline = time.monotonic() + ANSWERED_WITHIN
    while True:
        for member in members:
            member.poll(0.1)
        report = eyes.look()
        owners = {row["member_id"] for row in partitions(report, name).values()} - {None}
        seen += rows(report.snapshot.groups)
        if len(owners) == len(members) and seen[-1]["group_state"] == "Stable":
            return seen
        assert time.monotonic() < deadline, seen[-3:]


@needs(CONSUMER_PROTOCOL)
def test_a_second_member_of_a_kip_848_group_is_a_rebalance_and_peace_is_none(
    one_broker: KafkaCluster,
) -> None:
    name = "rebalanced-new"
    create(one_broker, name, 4)
    produce(one_broker, name, dict.fromkeys(range(4), 5))
    with (
        joining(one_broker, name, "consumer") as join,
        looker(one_broker, only(f"^{name}$")) as eyes,
    ):
        first = join()
        before = settled(eyes, name, [first])[-1]
        quiet = settled(eyes, name, [first])[-1]
        seen = settled(eyes, name, [first, join()])

    assert (quiet["group_epoch"], quiet["rebalances"]) == (before["group_epoch"], 0)
    rebalances = sum(row["rebalances"] or 0 for row in seen)
    assert rebalances >= 1
    assert rebalances == seen[-1]["group_epoch"] - quiet["group_epoch"]


def test_a_group_denied_since_the_last_run_keeps_its_row_and_is_named(
    one_broker: KafkaCluster,
) -> None:
    create(one_broker, "hush-open", 1)
    produce(one_broker, "hush-open", {0: 9})
    commit(one_broker, "hush-one", "hush-open", [4])
    with looker(one_broker, only("^hush")) as eyes:
        eyes.look()
        with denied(one_broker, ResourceType.GROUP, "hush-one", AclOperation.DESCRIBE):
            report = eyes.look_until(lambda seen: bool(seen.problems))
    assert group(report, "hush-one")["unread_reason"] == "denied"
    assert group(report, "hush-one")["lag"] == 5
    row = partitions(report, "hush-one")["hush-open", 0]
    assert (row["lag"], row["committed_offset"], row["unread_reason"]) == (None, 4, "denied")
    assert [(p.scope, p.name, p.reason) for p in report.problems] == [
        ("group", "hush-one", "denied")
    ]


def test_the_second_look_asks_for_nothing_and_says_the_same_record(
    one_broker: KafkaCluster,
) -> None:
    log = by_chance(np.random.default_rng(1), NOW)
    topic = watched(one_broker, "cold-twice", log.tolist())
    topic.commit(1_500)
    with topic.looker() as eyes:
        first, second = eyes.look(), eyes.look()
    row, later = topic.row(first), topic.row(second)
    assert (first.look_ups > 0, second.look_ups) == (True, 0)
    assert later["read_at"] > row["read_at"]
    assert dated(later) == pytest.approx(dated(row), abs=1)
    assert later["time_lag_error_seconds"] == pytest.approx(row["time_lag_error_seconds"])
    assert later["time_lag_method"] == contract.METHOD_CARRIED


def test_one_unread_record_of_an_idle_topic_is_dated_exactly(one_broker: KafkaCluster) -> None:
    times = ago(9 * DAY, 8 * DAY, 5 * DAY + 7 * HOUR + 1_234)
    topic = watched(one_broker, "cold-idle", times)
    topic.commit(2)
    row = topic.row(topic.first_look())
    assert dated(row) == pytest.approx(times[2], abs=1)
    assert said(row)[1:] == (0.0, contract.METHOD_RECORD_TIME)
    assert row["next_record_time"] == times[2]


def test_a_recreated_topic_is_dated_by_its_own_records(one_broker: KafkaCluster) -> None:
    old, new = every(DAY, 10), every(HOUR, 12)
    topic = watched(one_broker, "anew", old)
    topic.commit(5)
    with topic.looker() as eyes:
        first = topic.row(eyes.look())
        delete(one_broker, "anew")
        # The same commit and a later end: nothing but the topic id tells the two apart.
        topic = watched(one_broker, "anew", new)
        topic.commit(5)
        report = eyes.look()
    row = topic.row(report)
    assert [dated(first), dated(row)] == pytest.approx([old[5], new[5]], abs=1)
    assert (row["time_lag_method"], row["observations"]) == (contract.METHOD_RECORD_TIME, 1)
    assert report.warnings == ("topic 'anew' was recreated or truncated: its history starts again",)


def test_many_positions_of_many_partitions_are_answered_in_one_call(
    one_broker: KafkaCluster,
) -> None:
    create(one_broker, "many-positions", 6)
    for partition in range(6):
        write(one_broker, "many-positions", list(range(partition, 100)), partition=partition)
    asked = [("many-positions", p, m) for m in (5, 5, NEWEST, 90, 7, 5, 120) for p in range(6)]
    with index(one_broker, "^many-positions$") as brokers:
        brokers.read_all(6)
        answers = brokers.ask(*asked)
    reported = {NEWEST: 99.0, 5: 5.0, 90: 90.0, 7: 7.0}
    assert answers == [
        (reported[m] - p, reported[m]) if m in reported else NONE for _, p, m in asked
    ]


@pytest.fixture(name="aws", scope="module")
def _aws() -> Iterator[AwsStandIn]:
    with AwsStandIn() as stand_in:
        yield stand_in


@pytest.fixture(name="handled", scope="module")
def _handled(one_broker: KafkaCluster) -> KafkaCluster:
    write_traffic(one_broker)
    return one_broker


@pytest.fixture(name="deployed")
def _deployed(
    handled: KafkaCluster, aws: AwsStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Deployed]:
    with deployed_for(handled, aws, tmp_path, monkeypatch) as function:
        yield function


_DIMENSIONS = ("Cluster Name", "Consumer Group", "Topic")


def test_a_function_prints_metrics_and_stores_rows_of_the_scheduled_minute(
    deployed: Deployed, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    deployed.secret(deployed.login())
    assert deployed.invoke() == {"groups": 1, "objects_written": 3}
    lines = emf_lines(capsys.readouterr().out)
    said = {tuple(v for k, v in line.items() if k in _DIMENSIONS): line for line in lines}
    assert said["orders", "handlers"]["OffsetLag"] == 6
    assert said["orders", "handlers", "handled"]["OffsetLag"] == 6
    assert {line["_aws"]["Timestamp"] for line in lines} == {1769860800000}
    assert "CollectorSuccess" in lines[-1]

    client = deployed.aws.client("s3")
    keys = {item["Key"] for item in client.list_objects_v2(Bucket=BUCKET)["Contents"]}
    assert keys == {f"snapshots/{dataset}/{KEY}" for dataset in contract.DATASETS}
    path = tmp_path / "rows.parquet"
    client.download_file(BUCKET, f"snapshots/group_partitions/{KEY}", str(path))
    table = pq.read_table(path).select(["partition_id", "lag", "committed_offset"])
    assert table.to_pylist() == [
        {"partition_id": 0, "lag": 6, "committed_offset": 4},
        {"partition_id": 1, "lag": 0, "committed_offset": 20},
    ]
