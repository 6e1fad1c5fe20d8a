# SPDX-License-Identifier: Apache-2.0
"""What was not read, never told, or not there; and names that strangers chose."""

from __future__ import annotations

from dev.days.describe import Day, Partition, Topic
from dev.days.events import Event, Forgotten, Hidden, Lead, Missing, Rows, Slow, Span, Unread
from dev.days.scenarios.build import a_day, a_group, a_topic
from kafka_lag import contract

MISSING = Span(4, 5)
SCRIPT = "<script>alert(1)</script>"
NAMES = (SCRIPT, 'it\'s "quoted", \\ and 100%', "grüße-日本語-🦄", "a,b;c\td=e&f?g#h")
ODD_CLUSTER = "blå & 1/2"
# Every row has these; the others may be null.
_KEYS = {"taken_at", "topic", "partition_id", "consumer_group"}


def unread() -> Day:
    """One group and topic for each `unread_reason`, each silent at another hour."""
    events: list[Event] = [
        Unread(when=Span(2, 3), reason=contract.DENIED, group="mute-group"),
        Unread(when=Span(13, 13.5), reason=contract.NO_COORDINATOR, group="mute-group"),
        Unread(when=Span(3, 4), reason=contract.TIMEOUT, group="mute-commits", topic="told-a"),
        Unread(when=Span(6, 7), reason=contract.ERROR, topic="told-a", partitions=(1,)),
        Lead(when=Span(8, 9), broker=2, by=None, topic="told-a"),
        Hidden(when=Span(10, 11), topic="told-b"),
        # Behind while it is silent, so that what is carried is not 0.
        Slow(when=Span(1, 12), rows=Rows(group="mute-commits"), share=0.6),
    ]
    return a_day(
        [a_topic("told-a", [1.0, 2.0]), a_topic("told-b", [1.0])],
        [a_group("mute-group", "told-a"), a_group("mute-commits", "told-a", "told-b")],
        *events,
    )


def uncommitted() -> Day:
    """`shy` owns partitions that it never commits to; one of them is empty."""
    return a_day(
        [a_topic("half-read", [2.0, 2.0, 0.0])],
        [a_group("shy", "half-read", uncommitted=(("half-read", 1), ("half-read", 2)))],
    )


def untold() -> Day:
    """Configuration, topic id and leader unknown; unlimited and compacted; groups without lag."""
    compacted = a_topic(
        "compacted", [1.0], cleanup_policy="compact", timestamp_type="LogAppendTime"
    )
    nobody = Topic(name="leaderless", topic_id=None, partitions=(Partition(rate=1.0, leader=None),))
    names = ("secret", "forever", "compacted", "leaderless")
    return a_day(
        [
            a_topic("secret", [1.0], told=False, topic_id=None),
            a_topic("forever", [1.0], retention_seconds=None),
            compacted,
            nobody,
        ],
        [
            a_group("of-untold", *names, group_type="consumer"),
            a_group("empty-handed", members=0, protocol=None),
            a_group("sharing", members=1, group_type=contract.UNSUPPORTED_GROUP_TYPES[0]),
        ],
        Slow(when=Span(3, 6), rows=Rows(group="of-untold")),
    )


def nulls() -> Day:
    """For an hour every column that may be null is null in the rows of `blank` and its group."""
    events = [
        Forgotten(when=Span(5, 6), dataset=dataset, columns=tuple(set(kinds) - _KEYS), name=name)
        for dataset, kinds in contract.COLUMNS.items()
        for name in ("blank", "of-blank")
    ]
    return a_day([a_topic("blank", [1.0, 2.0])], [a_group("of-blank", "blank")], *events)


def missing() -> Day:
    """An hour without runs, for all that is in the cluster."""
    return a_day([], [], Missing(when=MISSING))


def names() -> Day:
    """Each of NAMES is a topic and its group."""
    return a_day(
        [a_topic(name, [1.0, 3.0]) for name in NAMES],
        [a_group(name, name) for name in NAMES],
        *(Slow(when=Span(9, 10), rows=Rows(group=name, partitions=(1,))) for name in NAMES),
    )
