# SPDX-License-Identifier: Apache-2.0
"""The options of a scrape, and the sentence for a wrong one."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from kafka_lag.contract import exposition
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.views.app import answer as answer_all
from kafka_lag.views.function_url import MAX_BYTES, MAX_METRICS_BYTES, make_resolver
from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import Snapshots
from tests.builders import NOON, a_snapshot
from tests.functions.views.prometheus.scrapes import ask, scrape, stored, with_groups
from tests.functions.views.test_app import an_event

GROUPS = [f"g{number}" for number in range(20)]
TOPICS = [f"t{number}" for number in range(20)]
STORE = stored(
    a_snapshot(
        {group: {topic: [0]} for group, topic in zip(GROUPS, TOPICS, strict=True)},
        {topic: [(0, 5)] for topic in TOPICS},
    )
)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"level": "member"}, "No level 'member'; there are group, topic and partition."),
        ({"level": ""}, "No level ''; there are group, topic and partition."),
        ({"levle": "topic"}, "No parameter 'levle'; there are level, cluster, group and shard."),
        ({"shard": "4of4"}, "No shard '4of4'; of three they are 0of3, 1of3 and 2of3."),
        ({"shard": "0of0"}, "No shard '0of0'; of three they are 0of3, 1of3 and 2of3."),
        ({"shard": "-1of4"}, "No shard '-1of4'; of three they are 0of3, 1of3 and 2of3."),
        (
            {"shard": "\u0660of\u0664"},
            "No shard '\u0660of\u0664'; of three they are 0of3, 1of3 and 2of3.",
        ),
    ],
)
def test_options_without_sense_are_an_error(query: Mapping[str, str], sentence: str) -> None:
    answer = ask(STORE, query)
    assert (answer.status, answer.body.decode()) == (400, f"{sentence}\n")
    assert answer.content_type.startswith("text/plain")


def test_a_word_that_makes_no_sense_is_sent_back_short_and_on_one_line() -> None:
    answer = ask(STORE, {"level": "a\r\nb" + "x" * 1_000_000}).body

    assert (answer.count(b"\n"), len(answer) < 200) == (1, True)


@pytest.mark.parametrize("cluster", ["bank", "../shop", "", "a/b"])
def test_a_cluster_without_snapshots_is_not_found(cluster: str) -> None:
    answer = ask(STORE, {"cluster": cluster})
    assert (answer.status, answer.body) == (404, b"There is no snapshot of that cluster.\n")


def test_one_group_can_be_requested() -> None:
    series = scrape(STORE, group="g7", level="partition")
    groups = {dict(labels).get("consumergroup") for _, labels in series}
    assert groups == {"g7", None}
    assert not [name for name, _ in series if name.startswith("kafka_topic_")]
    assert all("consumergroup" not in dict(labels) for _, labels in scrape(STORE, group="no"))


@pytest.mark.parametrize("level", ["group", "topic", "partition"])
def test_all_shards_have_every_series_once(level: str) -> None:
    whole = {key for key in scrape(STORE, level=level) if "snapshot" not in key[0]}
    shards = [
        {key for key in scrape(STORE, level=level, shard=f"{n}of3") if "snapshot" not in key[0]}
        for n in range(3)
    ]
    assert all(shards)
    assert set().union(*shards) == whole
    assert sum(map(len, shards)) == len(whole)


GROUP, CLUSTER = "one group (?group=NAME)", "one cluster (?cluster=NAME)"
COARSER = "a coarser level (?level={})"
SHARES = "shares of the groups as targets of their own (?shard=0of{} to ?shard={}of{})"


def test_an_answer_may_have_its_limit_and_packed_six_times_as_much_and_no_byte_more() -> None:
    size = len(ask(STORE).body)
    most = -(-size // 6)

    limits = ((size, False), (size - 1, False), (most, True), (most - 1, True), (most, False))
    answers = [ask(STORE, gzip=gzip, max_bytes=limit).status for limit, gzip in limits]

    assert answers == [200, 400, 200, 400, 400]


@pytest.mark.parametrize(
    ("query", "ways"),
    [
        ({}, [GROUP, CLUSTER, SHARES.format(4, 3, 4)]),
        ({"shard": "0of3"}, [GROUP, CLUSTER, SHARES.format(6, 5, 6)]),
        ({"shard": "0of9999"}, [GROUP, CLUSTER]),
        ({"level": "topic"}, [GROUP, CLUSTER, COARSER.format("group"), SHARES.format(4, 3, 4)]),
        ({"level": "partition", "group": "g7"}, [CLUSTER, COARSER.format("topic")]),
        ({"level": "partition", "group": "g7", "cluster": "shop"}, [COARSER.format("topic")]),
        ({"cluster": "shop"}, [GROUP, SHARES.format(4, 3, 4)]),
    ],
)
def test_an_answer_that_is_too_large_names_the_ways_to_less_and_no_other(
    query: Mapping[str, str], ways: list[str]
) -> None:
    for gzip, packed in ((True, []), (False, ["it packed (Accept-Encoding: gzip)"])):
        result = ask(STORE, query, gzip=gzip, max_bytes=1)

        assert result.status == 400
        assert result.body.decode().endswith(f" Ask for {', or '.join([*packed, *ways])}.\n")


def test_every_shard_that_is_named_can_be_requested() -> None:
    for parts in (1, 8, 5000, 9998):
        result = ask(STORE, {"shard": f"0of{parts}"}, max_bytes=1).body.decode()
        for shard in re.findall(r"shard=(\w+)", result):
            assert ask(STORE, {"shard": shard}).status == 200


def test_many_groups_pass_to_whoever_takes_them_packed_or_asks_no_function() -> None:
    one = a_snapshot({"billing": {"orders": [5]}}, {"orders": [(0, 10)]})
    names = Strings.of([f"group-{number:05}" for number in range(5_000)])
    columns = (column for column, _ in exposition.GROUP_GAUGES.values())
    known = {column: Column.of(np.ones(len(names))) for column in columns}
    rows = one.groups.take(np.zeros(len(names), np.int64))
    groups = rows.with_columns(consumer_group=names, **known)
    snapshots = Snapshots(stored(with_groups(one, groups)), lambda: NOON / 1000)

    views = make_resolver(snapshots, lambda _: True, lambda: NOON)
    packed = an_event("/metrics")
    plain = {**packed, "headers": {}}
    context = LambdaContext()
    assert [views.resolve(each, context)["statusCode"] for each in (plain, packed)] == [400, 200]
    by_server = answer_all(Request.of("GET", "/metrics", "", {}), snapshots, NOON)
    assert by_server.status == 200
    assert MAX_BYTES > MAX_METRICS_BYTES
    assert len(by_server.body) > MAX_METRICS_BYTES
