# SPDX-License-Identifier: Apache-2.0
"""What can be asked for, and the sentence for what cannot."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from kafka_lag.errors import StoreError
from tests.builders import a_snapshot
from tests.fakes import MemoryStore
from tests.functions.views.prometheus.scrapes import ask, scrape, stored

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


def test_a_long_word_is_not_sent_back_whole() -> None:
    assert len(ask(STORE, {"level": "x" * 1_000_000}).body) < 200


def test_a_word_with_line_breaks_stays_on_its_line() -> None:
    assert ask(STORE, {"level": "a\r\nb"}).body.count(b"\n") == 1


@pytest.mark.parametrize("cluster", ["bank", "../shop", "", "a/b"])
def test_a_cluster_without_snapshots_is_not_found(cluster: str) -> None:
    answer = ask(STORE, {"cluster": cluster})
    assert (answer.status, answer.body) == (404, b"There is no snapshot of that cluster.\n")


def test_one_group_can_be_requested() -> None:
    series = scrape(STORE, group="g7", level="partition")
    groups = {dict(labels).get("consumergroup") for _, labels in series}
    assert groups == {"g7", None}
    assert not [name for name, _ in series if name.startswith("kafka_topic_")]


def test_a_group_that_does_not_exist_is_absent() -> None:
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


def test_an_answer_may_have_its_limit_and_no_byte_more() -> None:
    size = len(ask(STORE).body)

    assert ask(STORE, max_bytes=size).status == 200
    assert ask(STORE, max_bytes=size - 1).status == 400


def test_an_answer_that_will_be_packed_may_be_six_times_as_large() -> None:
    size = len(ask(STORE).body)
    most = -(-size // 6)

    assert ask(STORE, gzip=True, max_bytes=most).status == 200
    assert ask(STORE, gzip=True, max_bytes=most - 1).status == 400
    assert ask(STORE, max_bytes=most).status == 400


@pytest.mark.parametrize(
    ("query", "ways"),
    [
        ({}, [GROUP, CLUSTER, SHARES.format(4, 3, 4)]),
        ({"shard": "0of3"}, [GROUP, CLUSTER, SHARES.format(6, 5, 6)]),
        ({"shard": "0of8"}, [GROUP, CLUSTER, SHARES.format(16, 15, 16)]),
        ({"shard": "0of9999"}, [GROUP, CLUSTER]),
        ({"level": "topic"}, [GROUP, CLUSTER, COARSER.format("group"), SHARES.format(4, 3, 4)]),
        ({"level": "partition", "group": "g7"}, [CLUSTER, COARSER.format("topic")]),
        ({"level": "partition", "group": "g7", "cluster": "shop"}, [COARSER.format("topic")]),
        ({"cluster": "shop"}, [GROUP, SHARES.format(4, 3, 4)]),
    ],
)
@pytest.mark.parametrize("gzip", [True, False])
def test_an_answer_that_is_too_large_names_the_ways_to_less_and_no_other(
    query: Mapping[str, str], ways: list[str], gzip: bool
) -> None:
    result = ask(STORE, query, gzip=gzip, max_bytes=1)

    packed = [] if gzip else ["it packed (Accept-Encoding: gzip)"]
    assert result.status == 400
    assert result.body.decode().endswith(f" Ask for {', or '.join([*packed, *ways])}.\n")


def test_every_shard_that_is_named_can_be_requested() -> None:
    for parts in (1, 8, 5000, 9998):
        result = ask(STORE, {"shard": f"0of{parts}"}, max_bytes=1).body.decode()
        for shard in re.findall(r"shard=(\w+)", result):
            assert ask(STORE, {"shard": shard}).status == 200


def test_a_store_that_does_not_answer_is_reported_to_the_caller() -> None:
    with pytest.raises(StoreError):
        ask(MemoryStore(down={"folders"}))
