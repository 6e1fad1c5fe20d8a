# SPDX-License-Identifier: Apache-2.0
"""Builds readings and snapshots in a line or two, in the form of the broker adapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading, LagReport, PreviousRuns, Problem, Snapshot

MINUTE = 60_000
HOUR = 60 * MINUTE
NOON = 1_769_860_800_000  # 2026-01-31T12:00:00Z

# An offset, None for a partition without a commit, or the reason why it could not be read.
Commit: TypeAlias = int | str | None
# Start and end of the log, or the reason why they were not read.
Log: TypeAlias = tuple[int, int] | str
# Commits by topic, or the reason why the group was not read.
Commits: TypeAlias = Mapping[str, Sequence[Commit]] | str
Groups: TypeAlias = Mapping[str, Commits]
Topics: TypeAlias = Mapping[str, Sequence[Log]]

_RULES = Rules()


def a_reading(
    groups: Groups | None = None,
    topics: Topics | None = None,
    *,
    at: int = NOON,
    owners: Mapping[tuple[str, str, int], str | None] | None = None,
    topic_ids: Mapping[str, str | None] | None = None,
    state: str = "Stable",
    members: int = 1,
    epochs: Mapping[str, int | None] | None = None,
    problems: Sequence[Problem] = (),
    hidden_topics: Mapping[str, str] | None = None,
    unlisted_groups: Sequence[str] = (),
    gone_topics: Sequence[str] = (),
    gone_groups: Sequence[str] = (),
    cleanup_policy: str | None = None,
    stable: Mapping[str, Sequence[int | None]] | None = None,
    lists_groups: bool = True,
) -> ClusterReading:
    """One look, begun at `at` ms: commits were read 150 ms later, ends 200 ms later.

    Groups in `epochs` speak the consumer protocol, others the classic one. `cleanup_policy` is that
    of each topic. `stable`: last stable offsets by topic, unknown in topics that it lacks.
    """
    logs, commits = topics or {}, groups or {}
    ids = {topic: f"id-of-{topic}" for topic in logs} | dict(topic_ids or {})
    topics_read = _topic_rows(logs, ids, stable or {}, at)
    policies = Strings.of([cleanup_policy] * len(topics_read))
    return ClusterReading(
        topic_partitions=topics_read.with_columns(cleanup_policy=policies),
        group_partitions=_group_rows(commits, ids, owners or {}, at),
        groups=_groups(commits, state, members, epochs or {}, at),
        problems=tuple(problems),
        hidden_topics=hidden_topics or {},
        unlisted_groups=frozenset(unlisted_groups),
        gone_topics=frozenset(gone_topics),
        gone_groups=frozenset(gone_groups),
        lists_groups=lists_groups,
    )


def a_report(
    reading: ClusterReading,
    before: Snapshot | None = None,
    rules: Rules = _RULES,
    at: int = NOON,
) -> LagReport:
    """What the run scheduled at `at` says of a reading."""
    return evaluate(reading, PreviousRuns(before or Snapshot.empty()), rules, at)


def a_snapshot(
    groups: Groups | None = None,
    topics: Topics | None = None,
    *,
    at: int = NOON,
    **more: Any,
) -> Snapshot:
    """What a first run leaves behind; arguments as of `a_reading`."""
    return a_report(a_reading(groups, topics, at=at, **more), at=at).snapshot


def table(frame: Frame, *names: str) -> list[tuple[Any, ...]]:
    """Rows as tuples of Python values, None for unknown."""
    return list(zip(*(frame.columns[name].to_list() for name in names), strict=True))


def cell(frame: Frame, name: str, **key: Any) -> Any:
    """The value in the only row that has this key."""
    rows = table(frame, name, *key)
    (found,) = [value for value, *rest in rows if tuple(rest) == tuple(key.values())]
    return found


def _topic_rows(
    topics: Topics,
    ids: Mapping[str, str | None],
    stable: Mapping[str, Sequence[int | None]],
    at: int,
) -> Frame:
    rows = [
        (topic, number, log) for topic, logs in topics.items() for number, log in enumerate(logs)
    ]
    read = [log if isinstance(log, tuple) else None for _, _, log in rows]
    known = np.array([log is not None for log in read], bool)
    return Frame.of(
        {
            "topic": Strings.of(topic for topic, _, _ in rows),
            "topic_id": Strings.of(ids[topic] for topic, _, _ in rows),
            "partition_id": Column.of(np.array([number for _, number, _ in rows], np.int32)),
            "leader": Column.of(np.array([number % 3 for _, number, _ in rows], np.int32)),
            "leader_rack": Strings.of(f"az{number % 3}" for _, number, _ in rows),
            "replicas": Strings.of((number % 3,) for _, number, _ in rows),
            "in_sync_replicas": Strings.of((number % 3,) for _, number, _ in rows),
            "start_offset": Column.optional([None if log is None else log[0] for log in read]),
            "end_offset": Column.optional([None if log is None else log[1] for log in read]),
            "stable_offset": Column.optional(
                [stable[topic][number] if topic in stable else None for topic, number, _ in rows]
            ),
            "asked_at": Column(np.full(len(rows), at + 160), known),
            "read_at": Column(np.full(len(rows), at + 200), known),
            "unread_reason": Strings.of(log if isinstance(log, str) else None for *_, log in rows),
        }
    )


def _group_rows(
    groups: Groups,
    ids: Mapping[str, str | None],
    owners: Mapping[tuple[str, str, int], str | None],
    at: int,
) -> Frame:
    rows = [
        (group, topic, number, commit)
        for group, commits in groups.items()
        if not isinstance(commits, str)
        for topic, offsets in commits.items()
        for number, commit in enumerate(offsets)
    ]
    members = [owners.get(row[:3]) for row in rows]
    return Frame.of(
        {
            "read_at": Column.of(np.full(len(rows), at + 150)),
            "unread_reason": Strings.of(c if isinstance(c, str) else None for *_, c in rows),
            "consumer_group": Strings.of(row[0] for row in rows),
            "topic": Strings.of(row[1] for row in rows),
            "topic_id": Strings.of(ids[row[1]] for row in rows),
            "partition_id": Column.of(np.array([row[2] for row in rows], np.int32)),
            "client_id": Strings.of(member and f"client-{member}" for member in members),
            "client_host": Strings.of(member and f"/{member}" for member in members),
            "member_id": Strings.of(members),
            "committed_offset": Column.optional(
                [c if isinstance(c, int) else None for *_, c in rows]
            ),
        }
    )


def _groups(
    groups: Groups, state: str, members: int, epochs: Mapping[str, int | None], at: int
) -> Frame:
    silent = [commits if isinstance(commits, str) else None for commits in groups.values()]
    read = np.array([reason is None for reason in silent], bool)
    return Frame.of(
        {
            "consumer_group": Strings.of(groups),
            "read_at": Column(np.full(len(groups), at + 150), read),
            "unread_reason": Strings.of(silent),
            "group_state": Strings.of(state if known else None for known in read),
            "group_type": Strings.of("consumer" if g in epochs else "classic" for g in groups),
            "protocol": Strings.of("consumer" for _ in groups),
            "members": Column(np.full(len(groups), members, np.int32), read),
            "group_epoch": Column.optional([epochs.get(group) for group in groups]),
        }
    )


def same(one: Frame, other: Frame) -> bool:
    """Whether two frames say the same, however their dictionaries are ordered."""
    return list(one.columns) == list(other.columns) and all(
        one.columns[name].to_list() == other.columns[name].to_list() for name in one.columns
    )


def datasets(snapshot: Snapshot) -> dict[str, Frame]:
    """The three frames by their names."""
    return {name: snapshot.dataset(name) for name in contract.DATASETS}
