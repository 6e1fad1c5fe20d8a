# SPDX-License-Identifier: Apache-2.0
"""Topics, groups, owners and leaders that come, go and change within the day."""

from __future__ import annotations

from dataclasses import replace

from dev.days.describe import Day, Partition, Topic
from dev.days.events import Lead, Rebalance, Rows, Slow, Span
from dev.days.scenarios.build import a_day, a_group, a_topic

NOON = 12.0
VISIT = Span(9, 10)
GONE_AT = 15.0


def partition_added() -> Day:
    """`grown` has two partitions until noon, then three."""
    topic = a_topic("grown", [1.0, 1.0])
    more = Partition(rate=4.0, leader=3, since=NOON)
    return a_day(
        [replace(topic, partitions=(*topic.partitions, more))], [a_group("of-grown", "grown")]
    )


def topic_recreated() -> Day:
    """`again` is deleted and made anew at noon: another id, offsets from 0."""
    old = a_topic("again", [2.0, 3.0], exists=Span(end=NOON))
    new: Topic = a_topic("again", [1.0, 5.0], exists=Span(NOON), topic_id="id-again-2")
    return a_day([old, new], [a_group("of-again", "again")])


def visitors() -> Day:
    """`visits` is there for an hour; `goes` lags and is deleted at 15:00."""
    return a_day(
        [a_topic("open", [1.0, 2.0])],
        [
            a_group("visits", "open", exists=VISIT),
            a_group("goes", "open", exists=Span(end=GONE_AT)),
        ],
        Slow(when=Span(14), rows=Rows(group="goes"), share=0.2),
    )


def rebalances() -> Day:
    """`restless` is rebalanced twice; each time partitions get other owners."""
    return a_day(
        [a_topic("dealt", [1.0] * 4)],
        [a_group("restless", "dealt", members=4)],
        Rebalance(when=Span(7, 7.5), group="restless"),
        Rebalance(when=Span(16, 16.5), group="restless", state="CompletingRebalance"),
    )


def leaders_moved() -> Day:
    """From 10 to 13 broker 3 leads what broker 1 leads of `moved`."""
    return a_day(
        [a_topic("moved", [1.0, 2.0, 3.0])],
        [a_group("of-moved", "moved")],
        Lead(when=Span(10, 13), broker=1, by=3, topic="moved"),
    )
