# SPDX-License-Identifier: Apache-2.0
"""Groups and topics that an ACL hides for weeks, in whole runs and messages.

In the end they are visible again, deleted or given up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from kafka_lag import contract
from kafka_lag.brokers.access import Access
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.collector import Collector
from kafka_lag.errors import SourceError
from kafka_lag.lag.columns import Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading, Problem, Snapshot, Throttled
from kafka_lag.lag.time_index import LookupResults
from kafka_lag.notify.notifier import StoredRuns
from kafka_lag.settings import Settings
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import ConfiguredSink
from kafka_lag.snapshots.previous import load_newest
from tests.builders import MINUTE, NOON, Groups, Topics, a_reading, cell, table
from tests.fakes import MemoryStore, RecordingLogger, RecordingSink
from tests.functions.notify.fakes import Bench
from tests.functions.runs import CLUSTER, GROUP

DAY = 24 * 60
# The group has stood still on `secret` for so many minutes when that is hidden.
HIDDEN_AT = 15
GIVEN_UP = HIDDEN_AT + 30 * DAY + 1
DENIED = contract.DENIED


class Watched:
    """A collector and a notifier, over a cluster that answers for what it is asked by name."""

    def __init__(self, beside: Mapping[str, Sequence[int]]) -> None:
        self.beside = beside
        self.store, self.sink, self.logger = MemoryStore(), RecordingSink(), RecordingLogger()
        self.bench = Bench(runs=StoredRuns(self.store))
        self.minute = 0
        self.hidden: dict[str, Any] = {}
        self.groups: Groups = {}
        self.collector = Collector(
            Settings(cluster="shop", access=Access(("b:9096",)), rules=Rules()),
            self,
            self.store,
            [ConfiguredSink(self.sink, Levels())],
            self.logger,
            lambda: 0.0,
        )

    def at(self, minutes: Iterable[int], **hidden: Any) -> None:
        """Runs at these minutes; what is hidden, if anything is, as `a_reading` takes it."""
        self.hidden = hidden
        for self.minute in minutes:
            self.sink.published.clear()
            self.logger.warnings.clear()
            with suppress(SourceError):
                self.collector.run(NOON + self.minute * MINUTE)
            self.bench.event(self.minute)

    def read(self, request: ReadRequest, deadline: float) -> ClusterReading:
        groups: Groups = self.groups or {"g": {**self.beside}}
        topics: Topics = {"orders": [(0, 100)]}
        if not self.hidden:
            groups = {"g": {**self.beside, "secret": [5]}}
            topics = {**topics, "secret": [(0, 50 + self.minute % 1_000)]}
        elif self.hidden.get("unlisted_groups"):
            groups = {"g": DENIED} if "g" in request.known_groups else {}
        reading = a_reading(groups, topics, at=NOON + self.minute * MINUTE, **self.hidden)
        asked = {n: r for n, r in reading.hidden_topics.items() if n in request.known_topics}
        return replace(reading, hidden_topics=asked)

    def look_up(self, partitions: Frame, times: Rows, deadline: float) -> LookupResults:
        return LookupResults.unanswered(len(times))

    def not_responding(self) -> tuple[Problem, ...]:
        return ()

    def throttled(self) -> Throttled | None:
        return None

    @property
    def newest(self) -> Snapshot:
        return load_newest(self.store, "shop", NOON + (self.minute + 1) * MINUTE).value

    def topics(self) -> set[str]:
        return {row[0] for row in table(self.newest.group_partitions, "topic")}

    def kinds(self) -> list[object]:
        return [kind for _, kind in self.bench.channel.kinds]


def stuck(beside: Mapping[str, Sequence[int]] | None = None) -> Watched:
    """Stuck on one topic, and well on another one."""
    watched = Watched({"orders": [100]} if beside is None else beside)
    watched.at(range(HIDDEN_AT + 1))
    assert watched.kinds() == ["opened"]
    return watched


def days(first: int, last: int) -> list[int]:
    """Runs of some days, so many after it was hidden."""
    return [HIDDEN_AT + day * DAY for day in range(first, last, 5)] + [HIDDEN_AT + last * DAY]


SECRET: dict[str, Any] = {"hidden_topics": {"secret": DENIED}}
GROUP_HIDDEN: dict[str, Any] = {"unlisted_groups": ["g"]}


def test_a_denied_topic_stays_unread_for_30_days_and_then_ends_without_a_recovery() -> None:
    watched = stuck()
    watched.at(days(1, 30), **SECRET)
    assert watched.topics() == {"orders", "secret"}
    assert cell(watched.newest.groups, "partitions_unknown", consumer_group="g") == 1
    values = watched.sink.values()
    assert (GROUP, contract.OFFSET_LAG) not in values
    assert values[GROUP, contract.GROUP_STATUS] > 0
    assert watched.kinds() == ["opened"]
    watched.at([GIVEN_UP], **SECRET)
    assert [line for line in watched.logger.warnings if "no longer watched" in line] == [
        "topic 'secret' is no longer watched: unread since 2026-01-31T12:15Z, and no broker "
        "says that it was deleted"
    ]
    watched.at(range(GIVEN_UP + 1, GIVEN_UP + 8), **SECRET)
    assert watched.topics() == {"orders"}
    assert watched.kinds() == ["opened", "gone"]
    text = watched.bench.channel.sent[-1].notice.text
    assert "topic secret since 2026-01-31 12:18 UTC (30 days" in text
    assert "behind" not in text


def test_a_group_of_which_nothing_else_is_watched_has_no_lag_of_0_then() -> None:
    watched = stuck({})
    watched.at(days(1, 30), **SECRET)
    watched.at(range(GIVEN_UP, GIVEN_UP + 8), **SECRET)
    assert watched.kinds() == ["opened", "gone"]
    values = watched.sink.values()
    assert [name for dimensions, name in values if dimensions == GROUP] == []


def test_a_hidden_group_is_given_up_after_30_days() -> None:
    watched = stuck()
    watched.at(days(1, 29), **GROUP_HIDDEN)
    assert (watched.topics(), watched.kinds()) == ({"orders", "secret"}, ["opened"])
    watched.at([GIVEN_UP], **GROUP_HIDDEN)
    assert table(watched.newest.groups, "consumer_group", "status_reason") == [("g", "unwatched")]
    assert watched.topics() == set()
    watched.at(range(GIVEN_UP + 1, GIVEN_UP + 5), **GROUP_HIDDEN)
    assert watched.kinds() == ["opened", "gone"]
    text = watched.bench.channel.sent[-1].notice.text
    assert "the group since 2026-01-31 12:16 UTC (30 days" in text


def test_a_topic_that_is_shown_again_goes_on_where_it_was() -> None:
    watched = stuck()
    watched.at(days(1, 9), **SECRET)
    watched.at(days(10, 10), hidden_topics={"secret": contract.TIMEOUT})
    watched.at(days(11, 20), **SECRET)
    assert watched.topics() == {"orders", "secret"}
    back = HIDDEN_AT + 20 * DAY
    watched.at(range(back + 1, back + 5))
    assert watched.kinds() == ["opened"]
    values = watched.sink.values()
    assert values[GROUP, contract.OFFSET_LAG] == 45 + (back + 4) % 1_000
    assert values[GROUP, contract.GROUP_STATUS] > 0


def test_a_topic_that_was_deleted_while_hidden_ends_as_soon_as_a_broker_says_so() -> None:
    watched = stuck()
    watched.at(days(1, 3), **SECRET)
    watched.at([HIDDEN_AT + 3 * DAY + 1], gone_topics=["secret"])
    assert watched.topics() == {"orders"}
    assert (CLUSTER, contract.COLLECTOR_SUCCESS) in watched.sink.values()


def test_a_group_in_trouble_for_another_topic_ends_as_no_longer_watched_too() -> None:
    watched = stuck()
    watched.at(days(1, 30), **SECRET)
    watched.beside = {"orders": [60]}
    late = range(GIVEN_UP - 15, GIVEN_UP + 3)
    watched.at(late, **SECRET)
    assert watched.topics() == {"orders"}
    assert table(watched.newest.groups, "status", "worst_topic", "unwatched_topic") == [
        (contract.ERR, "orders", "secret")
    ]
    watched.beside = {"orders": [100]}
    watched.at(range(GIVEN_UP + 3, GIVEN_UP + 20), **SECRET)
    assert watched.kinds() == ["opened", "gone"]
    assert "topic secret since" in watched.bench.channel.sent[-1].notice.text
    assert cell(watched.newest.groups, "unwatched_topic", consumer_group="g") is None
