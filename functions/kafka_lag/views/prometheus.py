# SPDX-License-Identifier: Apache-2.0
"""/metrics: the newest snapshots in Prometheus' text format; unknown is absent.

Topics and partitions have the names and labels of kafka_exporter.
"""

from __future__ import annotations

import logging
import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafka_lag import contract
from kafka_lag.contract.exposition import COLUMNS_OF_LABELS as COLUMNS
from kafka_lag.contract.exposition import FAMILIES, GROUP, LABEL_CLUSTER, LEVELS, Family, Rows
from kafka_lag.errors import UnusableError
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.previous_rows import is_read
from kafka_lag.lag.rollup import counts_of, roll_up_group_topics
from kafka_lag.lag.sets import distinct
from kafka_lag.views.http import Answer, Request, WrongQueryError
from kafka_lag.views.latest_run import Snapshots

# The text format that every Prometheus reads [Prometheus documentation, "Exposition formats"].
_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Packed metrics have at most a sixth of the size.
COMPRESSION_RATIO = 6
_TOO_LARGE = "The answer would be larger than {:.1f} MB. Ask for {}."
_PACKED = "it packed (Accept-Encoding: gzip)"

PARAMETERS = ("level", "cluster", "group", "shard")
_SHARD = re.compile(r"(\d{1,4})of(\d{1,4})", re.ASCII)
_MIN_SHARDS_PROPOSED, _MAX_SHARDS = 4, 9999
_MAX_QUOTED = 60

# Characters that must be escaped in a label's text.
_ESCAPED = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


def answer(
    request: Request, snapshots: Snapshots, now_ms: int, max_bytes: int | None = None
) -> Answer:
    """Returns the newest snapshots as metrics; 400 or 404 with a sentence. Raises StoreError.

    They have at most `max_bytes`, or six times as many if the client accepts them packed; None: no
    limit.
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
    for family in write_families(options, clusters, now_ms):
        body += family.encode()
        if len(body) > limit:
            ways = [*([] if request.accepts_gzip else [_PACKED]), *options.ways_to_less()]
            return error_answer(400, _TOO_LARGE.format(limit / 1e6, ", or ".join(ways)))
    return Answer(200, _CONTENT_TYPE, bytes(body))


def error_answer(status: int, sentence: str) -> Answer:
    """Returns one sentence, which Prometheus shows as the target's error."""
    return Answer(status, "text/plain; charset=utf-8", f"{sentence}\n".encode())


@dataclass(frozen=True, slots=True)
class ScrapeOptions:
    """The options of a scrape.

    `cluster` and `group` None select all; shard `part` of `parts` selects a share of the groups.
    """

    level: str = GROUP
    cluster: str | None = None
    group: str | None = None
    part: int = 0
    parts: int = 1

    @classmethod
    def of(cls, query: Mapping[str, str]) -> ScrapeOptions:
        """Returns the options in a query. Raises WrongQueryError."""
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
        """Returns a mask of rows of the selected groups."""
        wanted = [name for name in names.categories if self.group in (None, name)]
        return names.is_in(name for name in wanted if self._is_in_shard(name))

    def match_topics(self, names: Strings) -> Mask:
        """Returns a mask of rows of the selected topics.

        Shards hold topics as they hold groups. An answer about one group has no topics.
        """
        wanted = names.categories if self.group is None else ()
        return names.is_in(name for name in wanted if self._is_in_shard(name))

    def ways_to_less(self) -> Iterator[str]:
        """Yields smaller requests to propose if an answer is too large."""
        if self.group is None:
            yield "one group (?group=NAME)"
        if self.cluster is None:
            yield "one cluster (?cluster=NAME)"
        if self.level != GROUP:
            coarser = LEVELS[LEVELS.index(self.level) - 1]
            yield f"a coarser level (?level={coarser})"
        parts = max(2 * self.parts, _MIN_SHARDS_PROPOSED)
        # A group is never in two shards.
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
    """One cluster at `taken_at` (ms UTC), without rows if its snapshot is not `readable`.

    `group_partitions` and `topic_partitions` have rows only at the levels that need them. Groups
    that are gone have no rows.
    """

    cluster: str
    taken_at: int
    readable: bool
    groups: Frame
    group_partitions: Frame
    topic_partitions: Frame


def load_clusters(options: ScrapeOptions, snapshots: Snapshots) -> list[ClusterRun]:
    """Returns all clusters that are selected and have a snapshot. Raises StoreError."""
    wanted = snapshots.clusters() if options.cluster is None else [options.cluster]
    times = ((cluster, snapshots.newest(cluster)) for cluster in wanted)
    return [load_run(options, snapshots.frame, c, at) for c, at in times if at is not None]


def load_run(
    options: ScrapeOptions, read: Callable[[str, str, int], Frame], cluster: str, at: int
) -> ClusterRun:
    """Returns the run of a cluster at a time, ms UTC; `read` returns a dataset of it.

    Raises StoreError.
    """
    groups = Frame.empty(contract.GROUPS)
    partitions = Frame.empty(contract.GROUP_PARTITIONS)
    logs = Frame.empty(contract.TOPIC_PARTITIONS)
    # A broken object concerns one cluster only; the others are reported.
    try:
        rows = read(cluster, contract.GROUPS, at)
        if options.level != GROUP:
            group_partitions = read(cluster, contract.GROUP_PARTITIONS, at)
            topic_partitions = read(cluster, contract.TOPIC_PARTITIONS, at)
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


def write_families(
    options: ScrapeOptions,
    clusters: Sequence[ClusterRun],
    now_ms: int,
    families: Sequence[Family] = FAMILIES,
) -> Iterator[str]:
    """Yields the text of each of these families that the level has.

    Rows and labels are made once for all.
    """
    frames: dict[Rows, Sequence[Frame]] = {}
    labels: dict[Any, Sequence[Sequence[str]]] = {}
    for family in families:
        if LEVELS.index(family.shown_from) > LEVELS.index(options.level):
            continue
        key = family.rows, family.shown_labels, family.only
        if family.rows not in frames:
            frames[family.rows] = [_list_rows(family.rows, each, now_ms) for each in clusters]
        shown = [_select(each, family.only) for each in frames[family.rows]]
        if key not in labels:
            pairs = zip(clusters, shown, strict=True)
            labels[key] = [_write_labels(run.cluster, frame, key[1]) for run, frame in pairs]
        values = (_find_values(each, family.value) for each in shown)
        yield _gauge(family.name, family.help, zip(labels[key], values, strict=True))


def _list_rows(rows: Rows, run: ClusterRun, now_ms: int) -> Frame:
    """Returns the rows of one cluster, with the values that no snapshot column holds."""
    match rows:
        case Rows.CLUSTER:
            age = max(now_ms - run.taken_at, 0) / 1000
            readable = float(run.readable)
            return Frame.of({"age": Column.of([age]), "readable": Column.of([readable])})
        case Rows.GROUP:
            return run.groups
        case Rows.GROUP_TOPIC:
            return roll_up_group_topics(run.group_partitions, counts_of(run.group_partitions))
        case Rows.TOPIC:
            topics = run.topic_partitions.strings("topic")
            sets, first = distinct(topics.codes.values)
            return Frame.of({"topic": topics.take(first), "partitions": sets.rows()})
        case Rows.GROUP_PARTITION:
            partitions = run.group_partitions
            read = is_read(partitions)
            since = partitions.numbers("read_at") - partitions.numbers("commit_changed_at")
            owner = partitions.strings("member_id").only(read)
            return partitions.with_columns(commit_age=(since / 1000).only(read), owner=owner)
        case Rows.PARTITION:
            logs = run.topic_partitions
            replicas = logs.strings("replicas").lengths()
            in_sync = logs.strings("in_sync_replicas").lengths()
            fewer = Column((in_sync < replicas).astype(np.int64), in_sync.known & replicas.known)
            return logs.with_columns(
                replica_count=replicas, in_sync_count=in_sync, under_replicated=fewer
            )


def _select(frame: Frame, only: str | None) -> Frame:
    return frame if only is None else frame.lazy_where(frame.strings(only).known)


def _find_values(frame: Frame, name: str | None) -> Column:
    if name is None:
        return Column.of(np.ones(len(frame)))
    column = frame.columns[name]
    if isinstance(column, Column):
        return column
    codes = column.codes_in(tuple(contract.PARTITION_STATUS_VALUES))
    return codes.decoded(tuple(contract.PARTITION_STATUS_VALUES.values()))


def _write_labels(cluster: str, frame: Frame, names: Sequence[str]) -> Sequence[str]:
    """Returns the labels of each row as text; an unknown value is empty, which means no label."""
    parts = {
        name: [
            write_label(name, value) for value in frame.columns[COLUMNS.get(name, name)].to_list()
        ]
        for name in names
    }
    parts[LABEL_CLUSTER] = [write_label(LABEL_CLUSTER, cluster)] * len(frame)
    texts = (parts[name] for name in sorted(parts))
    return [f"{{{','.join(row)}}}" for row in zip(*texts, strict=True)]


def write_label(name: str, value: object) -> str:
    """Returns a label as the text format has it; an unknown value is empty."""
    text = "" if value is None else str(value)
    return f'{name}="{text.translate(_ESCAPED)}"'


def _gauge(family: str, help_text: str, parts: Iterable[tuple[Sequence[str], Column]]) -> str:
    """Returns the text of one family, without unknown, infinite and negative values.

    It is made here, because the library takes a sample's labels apart again for each family, which
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
    return repr(float(value))
