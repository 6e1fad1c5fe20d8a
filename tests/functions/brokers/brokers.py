# SPDX-License-Identifier: Apache-2.0
"""A described cluster that answers every request of a reading, and whole runs over it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from kafka_lag.brokers.access import Access
from kafka_lag.brokers.reading import ReadRequest, read_cluster
from kafka_lag.brokers.topic_settings import TopicSettingsCache
from kafka_lag.collector import Collector
from kafka_lag.errors import SourceError
from kafka_lag.lag.columns import Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading, Problem, Throttled
from kafka_lag.lag.time_index import LookupResults
from kafka_lag.settings import Settings
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import ConfiguredSink
from tests.builders import NOON
from tests.fakes import MemoryStore, RecordingLogger, RecordingSink
from tests.functions.brokers.fakes import FakeConnections, in_columns, in_objects

SETTINGS = {
    "retention.ms": "604800000",
    "retention.bytes": "-1",
    "cleanup.policy": "delete",
    "message.timestamp.type": "CreateTime",
}
TIERED = SETTINGS | {"remote.storage.enable": "true"}
START, END, LOCAL_START = -2, -1, -4


def _of(**fields: Any) -> Any:
    return SimpleNamespace(**fields)


def _with_offsets(answer: Any, planted: Mapping[str, Mapping[int, int]]) -> Any:
    """The answer with the offsets that are planted, by topic and partition."""
    for topic in answer.topics:
        for part in topic.partitions:
            if not part.error_code:
                part.offset = planted[topic.name].get(part.partition_index, part.offset)
    return answer


@dataclass
class Topic:
    """Logs as (start, end); `leaders` by partition, broker 1 by default; `stable` offsets by
    partition, the end by default, and starts of the `local` log, the log's start by default.
    """

    logs: list[tuple[int, int]]
    stable: dict[int, int] = field(default_factory=dict)
    local: dict[int, int] = field(default_factory=dict)
    topic_id: int = 1
    settings: Mapping[str, str | None] = field(default_factory=lambda: dict(SETTINGS))
    leaders: dict[int, int] = field(default_factory=dict)


class Brokers(FakeConnections):
    """Answers as brokers would.

    `codes` has the error codes that the next answers hold, by kind of request and its item: a
    (topic, partition) of "Starts", "Ends", "Stable" and "Local", a group of "OffsetFetch",
    "DescribeGroups", "ConsumerGroupDescribe" and "FindCoordinator", a broker of "ListGroups", a
    topic of "Metadata" and "DescribeConfigs".
    Groups in `shared` are share groups of so many `members`, with the lag of each partition.
    Groups in `epochs` speak the consumer protocol and have that epoch, others the classic one.
    A code is used up by an answer; the last stays where `lasting` has its key. `change` may give
    back another answer, or an error to raise.
    """

    def __init__(
        self, topics: Mapping[str, Topic], groups: Mapping[str, Mapping[str, list[int]]]
    ) -> None:
        super().__init__(lambda _: None)
        self.topics, self.groups = dict(topics), dict(groups)
        self.codes: dict[tuple[str, Any], list[int]] = {}
        self.lasting: dict[tuple[str, Any], int] = {}
        self.change: Callable[[Any, Any], Any] = lambda _, answer: answer
        self.coordinators: dict[str, int] = {}
        self.epochs: dict[str, int] = {}
        self.streams: set[str] = set()
        self.shared: dict[str, Mapping[str, list[int]]] = {}
        self.members = 0
        self.kinds: list[str] = []
        self.offers, self.offers_share = 8, -1
        self.registered = [1]

    def version(self, request: type[Any]) -> int:
        return self.offers_share if "Share" in request.__name__ else self.offers

    async def send(self, node: Any, request: Any) -> Any:
        kind = type(request).__name__.removesuffix("Request")
        if kind == "ListOffsets":
            kind = {START: "Starts", END: "Ends", LOCAL_START: "Local"}[request.time]
            kind = "Stable" if request.isolation_level else kind
        self.kinds.append(kind)
        shown = in_objects(request)
        self.requests.append(shown)
        self.sent_to.append(node)
        return in_columns(request, self.change(shown, self.answer(kind, node, shown)))

    def answer(self, kind: str, node: int, request: Any) -> Any:
        """What this broker answers to a request of this kind."""
        return getattr(self, f"_{kind.lower()}")(node, request)

    def _code(self, kind: str, item: Any) -> int:
        queue = self.codes.get((kind, item), [])
        return queue.pop(0) if queue else self.lasting.get((kind, item), 0)

    def _metadata(self, node: int, request: Any) -> Any:
        names = self.topics if request.topics is None else [t.name for t in request.topics]
        return _of(
            brokers=[_of(node_id=n, rack=f"az{n}") for n in self.nodes],
            cluster_id="c",
            topics=[self._described(name) for name in names],
        )

    def _described(self, name: str) -> Any:
        topic = self.topics.get(name)
        if topic is None:
            return _of(name=name, topic_id=None, error_code=3, partitions=[])
        leaders = [topic.leaders.get(n, 1) for n in range(len(topic.logs))]
        return _of(
            name=name,
            topic_id=UUID(int=topic.topic_id),
            error_code=self._code("Metadata", name),
            partitions=[
                _of(partition_index=n, leader_id=leader, replica_nodes=[1], isr_nodes=[1])
                for n, leader in enumerate(leaders)
            ],
        )

    def _describecluster(self, node: int, request: Any) -> Any:
        return _of(brokers=[_of(broker_id=n, host=f"b-{n}", port=9096) for n in self.registered])

    def _starts(self, node: int, request: Any) -> Any:
        return self._offsets("Starts", 0, request)

    def _ends(self, node: int, request: Any) -> Any:
        return self._offsets("Ends", 1, request)

    def _nothing(self, node: int, request: Any) -> Any:
        planted = {name: dict.fromkeys(range(99), -1) for name in self.topics}
        return _with_offsets(self._offsets("Ends", 1, request), planted)

    def _stable(self, node: int, request: Any) -> Any:
        planted = {name: topic.stable for name, topic in self.topics.items()}
        return _with_offsets(self._offsets("Stable", 1, request), planted)

    def _local(self, node: int, request: Any) -> Any:
        planted = {name: topic.local for name, topic in self.topics.items()}
        return _with_offsets(self._offsets("Local", 0, request), planted)

    def _offsets(self, kind: str, which: int, request: Any) -> Any:
        topics = []
        for requested in request.topics:
            parts = []
            for part in requested.partitions:
                number = part.partition_index
                code = self._code(kind, (requested.name, number))
                known = requested.name in self.topics and number < len(
                    self.topics[requested.name].logs
                )
                code = code if known else 3
                offset = -1 if code else self.topics[requested.name].logs[number][which]
                parts.append(
                    _of(partition_index=number, error_code=code, offset=offset, timestamp=-1)
                )
            topics.append(_of(name=requested.name, partitions=parts))
        return _of(topics=topics)

    def _describeconfigs(self, node: int, request: Any) -> Any:
        results = []
        for resource in request.resources:
            name = resource.resource_name
            code = self._code("DescribeConfigs", name)
            pairs = self.topics[name].settings if name in self.topics and not code else {}
            configs = [_of(name=key, value=value) for key, value in pairs.items()]
            results.append(_of(resource_name=name, error_code=code, configs=configs))
        return _of(results=results)

    def _listgroups(self, node: int, request: Any) -> Any:
        code = self._code("ListGroups", node)
        mine = [name for name in self.groups if self.coordinators.get(name, 1) == node]
        groups = [
            _of(
                group_id=g,
                group_state="Stable",
                # As Kafka's ListGroups writes them.
                group_type=self._type(g),
                protocol_type="consumer",
            )
            for g in mine
        ]
        return _of(error_code=code, groups=[] if code else groups)

    def _type(self, name: str) -> str:
        if name in self.streams or name in self.shared:
            return "Streams" if name in self.streams else "Share"
        return "Consumer" if name in self.epochs else "Classic"

    def _findcoordinator(self, node: int, request: Any) -> Any:
        found = []
        for key in request.coordinator_keys:
            code = self._code("FindCoordinator", key)
            broker = -1 if code else self.coordinators.get(key, 1)
            found.append(_of(key=key, error_code=code, node_id=broker))
        return _of(coordinators=found)

    def _offsetfetch(self, node: int, request: Any) -> Any:
        groups = []
        for requested in request.groups:
            code = self._code("OffsetFetch", requested.group_id)
            commits = {} if code else self.groups.get(requested.group_id, {})
            topics = [
                _of(
                    name=topic,
                    partitions=[
                        _of(
                            partition_index=n,
                            committed_offset=offset,
                            committed_leader_epoch=-1,
                            metadata="",
                            error_code=0,
                        )
                        for n, offset in enumerate(offsets)
                    ],
                )
                for topic, offsets in commits.items()
            ]
            groups.append(_of(group_id=requested.group_id, error_code=code, topics=topics))
        return _of(groups=groups)

    def _describegroups(self, node: int, request: Any) -> Any:
        return _of(groups=[self._members(name) for name in request.groups])

    def _members(self, name: str) -> Any:
        return _of(
            group_id=name,
            error_code=self._code("DescribeGroups", name),
            group_state="Stable" if name in self.groups else "Dead",
            protocol_type="consumer",
            members=[],
        )

    def _consumergroupdescribe(self, node: int, request: Any) -> Any:
        return _of(
            groups=[
                _of(
                    group_id=name,
                    error_code=self._code("ConsumerGroupDescribe", name)
                    or (0 if name in self.epochs else 69),
                    group_state="Stable" if name in self.epochs else "Dead",
                    group_epoch=self.epochs.get(name, 0),
                    members=[],
                )
                for name in request.group_ids
            ]
        )

    def _streamsgroupdescribe(self, node: int, request: Any) -> Any:
        return _of(groups=[self._streams(name) for name in request.group_ids])

    def _sharegroupdescribe(self, node: int, request: Any) -> Any:
        return _of(groups=[self._share(name) for name in request.group_ids])

    def _share(self, name: str) -> Any:
        known = name in self.shared
        owned = [
            _of(topic_name=topic, partitions=list(range(len(starts))))
            for topic, starts in self.groups.get(name, {}).items()
        ]
        assigned = _of(topic_partitions=owned)
        member = _of(member_id="m", client_id="c", client_host="/h", assignment=assigned)
        return _of(
            group_id=name,
            error_code=0 if known else 69,
            group_state="Stable" if self.members else "Empty",
            group_epoch=self.members,
            members=[member] * self.members,
        )

    def _describesharegroupoffsets(self, node: int, request: Any) -> Any:
        groups = []
        for requested in request.groups:
            code = self._code("DescribeShareGroupOffsets", requested.group_id)
            starts = {} if code else self.groups.get(requested.group_id, {})
            topics = []
            for topic, offsets in starts.items():
                lags = self.shared[requested.group_id][topic]
                parts = [
                    _of(partition_index=n, start_offset=start, lag=lag, error_code=0)
                    for n, (start, lag) in enumerate(zip(offsets, lags, strict=True))
                ]
                topics.append(_of(topic_name=topic, partitions=parts))
            groups.append(_of(group_id=requested.group_id, error_code=code, topics=topics))
        return _of(groups=groups)

    def _streams(self, name: str) -> Any:
        known = name in self.streams
        return _of(
            group_id=name,
            error_code=self._code("StreamsGroupDescribe", name) or (0 if known else 69),
            group_state="Stable" if known else "Dead",
            group_epoch=3,
            topology=None,
            members=[],
        )

    def read(
        self, request: ReadRequest | None = None, clock: Callable[[], float] = lambda: NOON / 1000
    ) -> ClusterReading:
        """One reading of a new process; `clock` in seconds."""
        return asyncio.run(
            read_cluster(self, request or ReadRequest(), TopicSettingsCache(), clock)  # type: ignore[arg-type]
        )


class Runs:
    """Whole runs of a warm collector over such a cluster, each a minute after the one before."""

    def __init__(self, brokers: Brokers, **rules: Any) -> None:
        self.brokers = brokers
        self.seconds = 0.0
        self.configs = TopicSettingsCache()
        self.sink, self.logger = RecordingSink(), RecordingLogger()
        access = Access(("b:9096",))
        self.collector = Collector(
            Settings(cluster="shop", access=access, rules=Rules(**rules)),
            self,
            MemoryStore(),
            [ConfiguredSink(self.sink, Levels())],
            self.logger,
            lambda: 0.0,
        )

    def __call__(self, after: float = 60.0) -> dict[tuple[tuple[str, ...], str], float]:
        """What one run, so many seconds after the last, publishes, be it a success or not."""
        self.seconds += after
        self.sink.published.clear()
        self.logger.warnings.clear()
        self.brokers.kinds.clear()
        self.brokers.pauses.clear()
        with suppress(SourceError):
            self.collector.run(NOON + int(self.seconds * 1000))
        return self.sink.values()

    def read(self, request: ReadRequest, deadline: float) -> ClusterReading:
        now = NOON / 1000 + self.seconds
        return asyncio.run(
            read_cluster(self.brokers, request, self.configs, lambda: now)  # type: ignore[arg-type]
        )

    def look_up(self, partitions: Frame, times: Rows, deadline: float) -> LookupResults:
        return LookupResults.unanswered(len(times))

    def not_responding(self) -> tuple[Problem, ...]:
        return ()

    def throttled(self) -> Throttled | None:
        return None
