# SPDX-License-Identifier: Apache-2.0
"""/metrics: the newest snapshots in Prometheus' text format; unknown is absent.

Topics and partitions have the names and labels of kafka_exporter.
"""

from __future__ import annotations

import logging
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.utils import floatToGoString

from kafka_lag import contract
from kafka_lag.contract import exposition
from kafka_lag.errors import UnusableError
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.rollup import counts_of, roll_up_group_topics
from kafka_lag.lag.sets import distinct
from kafka_lag.views.http import Answer, Request, WrongQueryError
from kafka_lag.views.latest_run import Snapshots

# Packed, metrics are a sixth and mostly much less.
COMPRESSION_RATIO = 6
_TOO_LARGE = "The answer would be larger than {:.1f} MB. Ask for {}."
_PACKED = "it packed (Accept-Encoding: gzip)"

GROUP, TOPIC, PARTITION = LEVELS = ("group", "topic", "partition")
PARAMETERS = ("level", "cluster", "group", "shard")
_SHARD = re.compile(r"(\d{1,4})of(\d{1,4})", re.ASCII)
_MIN_SHARDS_PROPOSED, _MAX_SHARDS = 4, 9999
_MAX_QUOTED = 60

# Labels and their columns.
_GROUP_LABELS = {exposition.LABEL_GROUP: "consumer_group"}
_INFO_LABELS = {
    **_GROUP_LABELS,
    exposition.LABEL_OWNER: "owner",
    exposition.LABEL_STATE: "group_state",
    exposition.LABEL_TYPE: "group_type",
    exposition.LABEL_PROTOCOL: "protocol",
}
_WORST_STATUS_LABELS = {**_GROUP_LABELS, exposition.LABEL_WORST_STATUS: "worst_status"}
_CAUSE_LABELS = {**_GROUP_LABELS, exposition.LABEL_CAUSE: "cause"}
_TOPIC_LABELS = {exposition.LABEL_TOPIC: "topic"}
_GROUP_TOPIC_LABELS = {**_GROUP_LABELS, **_TOPIC_LABELS}
_PARTITION_LABELS = {exposition.LABEL_PARTITION: "partition_id"}
_LEADER_LABELS = {exposition.LABEL_LEADER: "leader"}
_MEMBER_LABELS = {
    exposition.LABEL_CLIENT_ID: "client_id",
    exposition.LABEL_CLIENT_HOST: "client_host",
    exposition.LABEL_MEMBER_ID: "member_id",
}
_TOPIC_GAUGES = {
    exposition.TOPIC_LAG: ("lag", "Records behind, all partitions of the topic."),
    exposition.TOPIC_OFFSET: ("committed_offset", "Sum of the offsets committed."),
    exposition.TOPIC_TIME_LAG: ("time_lag_seconds", "Age of the oldest next unread record."),
}

# What must not stand in a label's text as it is.
_ESCAPED = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


def answer(
    request: Request, snapshots: Snapshots, now_ms: int, max_bytes: int | None = None
) -> Answer:
    """The newest snapshots as metrics; 400 or 404 with a sentence. Raises StoreError.

    They have at most `max_bytes`, or six times as many if the client takes them packed; null: there
    is no limit.
    """
    try:
        options = ScrapeOptions.of(request.query)
    except WrongQueryError as error:
        return error_answer(400, str(error))
    clusters = load_clusters(options, snapshots)
    if options.cluster is not None and not clusters:
        return error_answer(404, "There is no snapshot of that cluster.")
    limit = math.inf if max_bytes is None else max_bytes
    limit *= COMPRESSION_RATIO if request.accepts_gzip else 1
    body = bytearray()
    for family in _families(options, clusters, now_ms):
        body += family.encode()
        if len(body) > limit:
            ways = [*([] if request.accepts_gzip else [_PACKED]), *options.ways_to_less()]
            return error_answer(400, _TOO_LARGE.format(limit / 1e6, ", or ".join(ways)))
    return Answer(200, CONTENT_TYPE_PLAIN_0_0_4, bytes(body))


def error_answer(status: int, sentence: str) -> Answer:
    """One sentence, which Prometheus shows as the target's error."""
    return Answer(status, "text/plain; charset=utf-8", f"{sentence}\n".encode())


@dataclass(frozen=True, slots=True)
class ScrapeOptions:
    """`cluster` and `group` None select all, shard `part` of `parts` a share of the groups."""

    level: str = GROUP
    cluster: str | None = None
    group: str | None = None
    part: int = 0
    parts: int = 1

    @classmethod
    def of(cls, query: Mapping[str, str]) -> ScrapeOptions:
        """From the query's parameters. Raises WrongQueryError."""
        unknown = sorted(set(query) - set(PARAMETERS))
        if unknown:
            raise WrongQueryError(
                f"No parameter {_quote(unknown[0])}; there are {_enumerate(PARAMETERS)}."
            )
        level = query.get("level", GROUP)
        if level not in LEVELS:
            raise WrongQueryError(f"No level {_quote(level)}; there are {_enumerate(LEVELS)}.")
        part, parts = _parse_shard(query.get("shard", "0of1"))
        return cls(level, query.get("cluster"), query.get("group"), part, parts)

    def match_groups(self, names: Strings) -> Mask:
        """Rows of the groups selected."""
        wanted = [name for name in names.categories if self.group in (None, name)]
        return names.is_in(name for name in wanted if self._is_in_shard(name))

    def match_topics(self, names: Strings) -> Mask:
        """Rows of the topics selected: in shards like groups, none beside one group."""
        wanted = names.categories if self.group is None else ()
        return names.is_in(name for name in wanted if self._is_in_shard(name))

    def ways_to_less(self) -> Iterator[str]:
        """Yield smaller requests to propose if an answer is too large."""
        if self.group is None:
            yield "one group (?group=NAME)"
        if self.cluster is None:
            yield "one cluster (?cluster=NAME)"
        if self.level != GROUP:
            coarser = LEVELS[LEVELS.index(self.level) - 1]
            yield f"a coarser level (?level={coarser})"
        parts = max(2 * self.parts, _MIN_SHARDS_PROPOSED)
        # a group is never in two shards
        if self.group is None and parts <= _MAX_SHARDS:
            shards = f"?shard=0of{parts} to ?shard={parts - 1}of{parts}"
            yield f"shares of the groups as targets of their own ({shards})"

    def _is_in_shard(self, name: str) -> bool:
        return zlib.crc32(name.encode()) % self.parts == self.part


def _parse_shard(text: str) -> tuple[int, int]:
    found = _SHARD.fullmatch(text)
    part, parts = (int(found[1]), int(found[2])) if found else (0, 0)
    if part >= parts:
        raise WrongQueryError(f"No shard {_quote(text)}; of three they are 0of3, 1of3 and 2of3.")
    return part, parts


def _enumerate(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _quote(text: str) -> str:
    return repr(text[:_MAX_QUOTED])


@dataclass(frozen=True, slots=True)
class ClusterRun:
    """One cluster at `taken_at` (ms UTC); without rows where its snapshot is not `readable`.

    `group_partitions` and `topic_partitions` have rows only at the levels that need them. Groups
    that are gone have none.
    """

    cluster: str
    taken_at: int
    readable: bool
    groups: Frame
    group_partitions: Frame
    topic_partitions: Frame


def load_clusters(options: ScrapeOptions, snapshots: Snapshots) -> list[ClusterRun]:
    """All clusters that are selected and have a snapshot. Raises StoreError."""
    wanted = snapshots.clusters() if options.cluster is None else [options.cluster]
    times = ((cluster, snapshots.newest(cluster)) for cluster in wanted)
    return [_load_cluster(options, snapshots, c, at) for c, at in times if at is not None]


def _load_cluster(
    options: ScrapeOptions, snapshots: Snapshots, cluster: str, at: int
) -> ClusterRun:
    groups = Frame.empty(contract.GROUPS)
    partitions = Frame.empty(contract.GROUP_PARTITIONS)
    logs = Frame.empty(contract.TOPIC_PARTITIONS)
    # An object that is broken is one cluster's trouble; the others are reported.
    try:
        rows = snapshots.frame(cluster, contract.GROUPS, at)
        if options.level != GROUP:
            group_partitions = snapshots.frame(cluster, contract.GROUP_PARTITIONS, at)
            topic_partitions = snapshots.frame(cluster, contract.TOPIC_PARTITIONS, at)
            partitions = group_partitions.where(
                options.match_groups(group_partitions.strings("consumer_group"))
            )
            logs = topic_partitions.where(options.match_topics(topic_partitions.strings("topic")))
        gone = rows.strings("status_reason").is_in(contract.LAST_ROW_REASONS)
        groups = rows.where(options.match_groups(rows.strings("consumer_group")) & ~gone)
    except UnusableError as error:
        logging.getLogger(__name__).warning("%s", error)
        return ClusterRun(cluster, at, False, groups, partitions, logs)
    return ClusterRun(cluster, at, True, groups, partitions, logs)


def _families(options: ScrapeOptions, clusters: Sequence[ClusterRun], now_ms: int) -> Iterator[str]:
    yield from _snapshot_families(clusters, now_ms)
    yield from _group_families(clusters, members=options.level != GROUP)
    if options.level != GROUP:
        yield from _topic_families(clusters)
    if options.level == PARTITION:
        yield from _partition_families(clusters)


def _snapshot_families(clusters: Sequence[ClusterRun], now_ms: int) -> Iterator[str]:
    labels = [[f"{{{_label(exposition.LABEL_CLUSTER, each.cluster)}}}"] for each in clusters]
    ages = [Column.of([max(now_ms - each.taken_at, 0) / 1000]) for each in clusters]
    readable = [Column.of([float(each.readable)]) for each in clusters]
    help_text = "Age of the snapshot that all else is read from."
    yield _gauge(exposition.SNAPSHOT_AGE, help_text, zip(labels, ages, strict=True))
    help_text = "Whether that snapshot could be read: 1, or 0."
    yield _gauge(exposition.SNAPSHOT_READABLE, help_text, zip(labels, readable, strict=True))


def _group_families(clusters: Sequence[ClusterRun], *, members: bool) -> Iterator[str]:
    """`members` adds what kafka_exporter reports of a group."""
    infos = [LabelledRows.of(each.cluster, each.groups, _INFO_LABELS) for each in clusters]
    ones = [(each.labels, Column.of(np.ones(len(each.frame)))) for each in infos]
    yield _gauge(exposition.GROUP_INFO, "Always 1; what the user and Kafka say of the group.", ones)
    groups = [LabelledRows.of(each.cluster, each.groups, _GROUP_LABELS) for each in clusters]
    yield from _status_gauges(groups, exposition.GROUP_STATUSES, contract.GROUP_STATUS_VALUES)
    words = ", ".join(contract.CONSUMER_STATUS_SEVERITIES)
    help_text = f"Always 1; what the consumer does: {words}. Absent: nothing wrong."
    yield _words(clusters, "worst_status", exposition.GROUP_WORST_STATUS, help_text)
    help_text = f"Always 1; why it is behind: {', '.join(contract.CAUSES)}. Absent: it is not."
    yield _words(clusters, "cause", exposition.GROUP_CAUSE, help_text)
    yield from _gauges(groups, exposition.GROUP_GAUGES)
    if members:
        live = ("members", "Live members of the group.")
        yield from _gauges(groups, {exposition.GROUP_MEMBERS_AS_ELSEWHERE: live})


def _words(clusters: Sequence[ClusterRun], column: str, family: str, help_text: str) -> str:
    """A sample for each group of which the column has a word, which is its label."""
    labels = {"worst_status": _WORST_STATUS_LABELS, "cause": _CAUSE_LABELS}[column]
    named = [
        LabelledRows.of(
            each.cluster, each.groups.lazy_where(each.groups.strings(column).known), labels
        )
        for each in clusters
    ]
    ones = [(each.labels, Column.of(np.ones(len(each.frame)))) for each in named]
    return _gauge(family, help_text, ones)


def _topic_families(clusters: Sequence[ClusterRun]) -> Iterator[str]:
    pairs = [
        LabelledRows.of(
            each.cluster,
            roll_up_group_topics(each.group_partitions, counts_of(each.group_partitions)),
            _GROUP_TOPIC_LABELS,
        )
        for each in clusters
    ]
    yield from _gauges(pairs, _TOPIC_GAUGES)
    topics = [
        LabelledRows.of(each.cluster, _count_partitions(each.topic_partitions), _TOPIC_LABELS)
        for each in clusters
    ]
    sizes = {exposition.TOPIC_PARTITIONS_GAUGE: ("partitions", "Partitions of the topic.")}
    yield from _gauges(topics, sizes)


def _count_partitions(partitions: Frame) -> Frame:
    topics = partitions.strings("topic")
    sets, first = distinct(topics.codes.values)
    return Frame.of({"topic": topics.take(first), "partitions": sets.rows()})


def _partition_families(clusters: Sequence[ClusterRun]) -> Iterator[str]:
    names = {**_GROUP_TOPIC_LABELS, **_PARTITION_LABELS}
    rows = [LabelledRows.of(each.cluster, each.group_partitions, names) for each in clusters]
    yield from _gauges(rows, exposition.PARTITION_GAUGES)
    names = {**names, **_LEADER_LABELS}
    led = [LabelledRows.of(each.cluster, each.group_partitions, names) for each in clusters]
    values = contract.PARTITION_STATUS_VALUES
    yield from _status_gauges(led, exposition.PARTITION_STATUS_GAUGES, values)
    yield _members(clusters)
    ages = [(each.labels, _commit_ages(each.frame)) for each in rows]
    help_text = "Time from the run that first saw this commit to this reading."
    yield _gauge(exposition.PARTITION_COMMIT_AGE, help_text, ages)
    names = {**_TOPIC_LABELS, **_PARTITION_LABELS}
    logs = [LabelledRows.of(each.cluster, each.topic_partitions, names) for each in clusters]
    yield from _gauges(logs, exposition.LOG_GAUGES)
    replicas = [_lengths(each.frame.strings("replicas")) for each in logs]
    in_sync = [_lengths(each.frame.strings("in_sync_replicas")) for each in logs]
    missing = [_is_less(some, whole) for some, whole in zip(in_sync, replicas, strict=True)]
    for family, help_text, columns in (
        (exposition.LOG_REPLICAS, "Replicas of the partition.", replicas),
        (exposition.LOG_IN_SYNC, "Replicas in sync.", in_sync),
        (exposition.LOG_UNDER_REPLICATED, "1 where a replica is not in sync.", missing),
    ):
        labels = (each.labels for each in logs)
        yield _gauge(family, help_text, zip(labels, columns, strict=True))


def _members(clusters: Sequence[ClusterRun]) -> str:
    """A sample a partition that a live member owns, to join by; all that it says are labels."""
    names = {**_GROUP_TOPIC_LABELS, **_PARTITION_LABELS, **_MEMBER_LABELS}
    owned = [
        LabelledRows.of(each.cluster, rows.where(rows.strings("member_id").known), names)
        for each in clusters
        for rows in (_read(each.group_partitions),)
    ]
    ones = [(each.labels, Column.of(np.ones(len(each.frame)))) for each in owned]
    return _gauge(
        exposition.PARTITION_MEMBER_INFO, "Always 1; the member that owns the partition.", ones
    )


def _commit_ages(rows: Frame) -> Column:
    """Seconds; unknown where there is no commit, or the row was not read for this snapshot."""
    ages = (rows.numbers("read_at") - rows.numbers("commit_changed_at")) / 1000
    return Column(ages.values, ages.known & ~rows.strings("unread_reason").known)


def _read(rows: Frame) -> Frame:
    """Return the rows that were read in this run."""
    return rows.where(~rows.strings("unread_reason").known)


def _lengths(lists: Strings) -> Column:
    lengths = np.array([len(each) for each in lists.categories] or [0], np.int64)
    return Column(lengths[np.where(lists.known, lists.codes.values, 0)], lists.known)


def _is_less(some: Column, whole: Column) -> Column:
    return Column((some.values < whole.values).astype(np.int64), some.known & whole.known)


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """Rows of one cluster and their labels as text, made once for all families."""

    frame: Frame
    labels: Sequence[str]

    @classmethod
    def of(cls, cluster: str, frame: Frame, names: Mapping[str, str]) -> LabelledRows:
        """Labels by the columns they are from; what is unknown is empty, which is no label."""
        same = _label(exposition.LABEL_CLUSTER, cluster)
        parts = {
            name: [_label(name, value) for value in frame.columns[column].to_list()]
            for name, column in names.items()
        }
        parts[exposition.LABEL_CLUSTER] = [same] * len(frame)
        texts = (parts[name] for name in sorted(parts))
        return cls(frame, [f"{{{','.join(row)}}}" for row in zip(*texts, strict=True)])


def _label(name: str, value: object) -> str:
    text = "" if value is None else str(value)
    return f'{name}="{text.translate(_ESCAPED)}"'


def _gauges(
    parts: Sequence[LabelledRows], families: Mapping[str, tuple[str, str]]
) -> Iterator[str]:
    """A family each, from its column and its help."""
    for family, (column, help_text) in families.items():
        columns = [(part.labels, part.frame.numbers(column)) for part in parts]
        yield _gauge(family, help_text, columns)


def _status_gauges(
    parts: Sequence[LabelledRows],
    families: Mapping[str, tuple[str, str]],
    values: Mapping[str, int],
) -> Iterator[str]:
    """The same of columns of statuses, each status as its number."""
    numbers = np.array(tuple(values.values()))
    for family, (column, help_text) in families.items():
        codes = [part.frame.strings(column).codes_in(tuple(values)) for part in parts]
        columns = [Column(numbers[each.values], each.known) for each in codes]
        labels = (part.labels for part in parts)
        yield _gauge(family, help_text, zip(labels, columns, strict=True))


def _gauge(family: str, help_text: str, parts: Iterable[tuple[Sequence[str], Column]]) -> str:
    """One family; a value that is none, or is negative, is as good as unknown, and absent.

    Its text is made here: the library's takes a sample's labels apart again for each family, which
    was half of a scrape's CPU.
    """
    lines = [f"# HELP {family} {help_text}\n# TYPE {family} gauge\n"]
    for labels, column in parts:
        good = column.known & np.isfinite(column.values) & (column.values >= 0)
        rows = np.flatnonzero(good).tolist()
        lines += [
            f"{family}{labels[row]} {_number(value)}\n"
            for row, value in zip(rows, column.values[good].tolist(), strict=True)
        ]
    return "".join(lines)


def _number(value: float) -> str:
    text: str = floatToGoString(value)  # type: ignore[no-untyped-call]
    return text
