# SPDX-License-Identifier: Apache-2.0
"""Groups and topics that are no longer watched: hidden for 30 days, and not known to be deleted.

Without a word about them they would look recovered, although their records are still unread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.carry_over import HIDDEN_FOR_MS, accept_rows
from kafka_lag.lag.columns import Mask, Strings
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.run import Run

_NAMED = 20


@dataclass(frozen=True, slots=True)
class Unwatched:
    """Previous rows that end with this run.

    They are of group-partitions on hidden topics, and of groups that are not listed.
    """

    partitions: Frame
    groups: Frame

    def sentences(self) -> Iterator[str]:
        """Yields a sentence for each topic and group that says since when it is unread."""
        topics = self.partitions.strings("topic").to_list()
        yield from _sentences("topic", topics, self.partitions)
        yield from _sentences("group", self.groups.strings("consumer_group").to_list(), self.groups)


def find_unwatched(e: Evaluation) -> Unwatched:
    """Finds rows that were carried over for as long as allowed."""
    reading, rows, groups = e.reading, e.newest.group_partitions, e.newest.groups
    is_hidden = rows.strings("topic").is_in(reading.hidden_topics)
    is_hidden &= ~rows.strings("consumer_group").is_in(reading.gone_groups)
    is_unlisted = groups.strings("consumer_group").is_in(reading.unlisted_groups)
    return Unwatched(_end_rows(rows, is_hidden, e.run), _end_rows(groups, is_unlisted, e.run))


def _end_rows(rows: Frame, hidden: Mask, run: Run) -> Frame:
    # Such rows are rare, and taking columns and accepting names is expensive.
    ended = rows.lazy_take(np.flatnonzero(hidden & _is_over(rows, run)))
    return ended.where(accept_rows(ended, run.rules)) if len(ended) else ended


def mark_unwatched(e: Evaluation) -> Frame:
    """Returns the groups with `unwatched_topic` and `unwatched_partition`, one no longer watched.

    Groups that are not in WARN or ERR get the reason topic_unwatched. Both columns stay while the
    incident is open, and while the status is unknown: then nothing of the group is watched any
    more.
    """
    e.unwatched = find_unwatched(e)
    groups, old, rows = e.groups, e.old_groups, e.unwatched.partitions
    status = groups.strings("status")
    at = locate(groups, rows, contract.GROUP_KEY)
    stays = old.numbers("incident_since").known | ~status.known
    topic = rows.strings("topic").take(at).or_else(old.strings("unwatched_topic").only(stays))
    partition = (
        rows.numbers("partition_id")
        .take(at)
        .or_else(old.numbers("unwatched_partition").only(stays))
    )
    groups = groups.with_columns(unwatched_topic=topic, unwatched_partition=partition)
    marked = topic.known & ~status.is_in([contract.WARN, contract.ERR])
    if not marked.any():
        return groups
    reason = Strings.constant(contract.TOPIC_UNWATCHED, len(groups)).only(marked)
    other = ~marked
    return groups.with_columns(
        status_reason=reason.or_else(groups.strings("status_reason")),
        worst_topic=topic.only(marked).or_else(groups.strings("worst_topic").only(other)),
        worst_partition=partition.only(marked).or_else(
            groups.numbers("worst_partition").only(other)
        ),
        worst_member=groups.strings("worst_member").only(other),
        worst_leader=groups.numbers("worst_leader").only(other),
    )


def _is_over(rows: Frame, run: Run) -> Mask:
    return rows.numbers("read_at") < run.taken_at - HIDDEN_FOR_MS


def _sentences(kind: str, names: list[str | None], rows: Frame) -> Iterator[str]:
    read_at = rows.numbers("read_at").fill(0)
    last: dict[str, int] = {}
    for name, at in zip(names, read_at.tolist(), strict=True):
        last[str(name)] = max(at, last.get(str(name), at))
    for name, at in sorted(last.items())[:_NAMED]:
        since = np.datetime_as_string(np.datetime64(at, "ms"), unit="m")
        yield (
            f"{kind} {name!r} is no longer watched: unread since {since}Z, and no broker says that "
            "it was deleted"
        )
    if len(last) > _NAMED:
        yield f"and {len(last) - _NAMED} more {kind}s are no longer watched"
