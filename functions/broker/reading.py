# SPDX-License-Identifier: Apache-2.0
"""One look at a cluster: start offsets with the groups, then commits, then end offsets.

In this order neither a commit made in between nor a purge can look like loss or negative lag.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from functions.broker.groups.census import Census, Group, list_groups, seek
from functions.broker.groups.commits import read_commits
from functions.broker.groups.members import Description, describe, prove
from functions.broker.problems import problems_of
from functions.broker.rows import group_partition_rows, group_rows
from functions.broker.topics.configs import ConfigCache, with_configs
from functions.broker.topics.offsets import END, START, Offsets, list_offsets
from functions.broker.topics.table import Listing, TopicTable, by_name, list_topics
from functions.broker.wire.connection import Wire
from functions.broker.wire.refusals import UnansweredError
from functions.errors import SourceError
from functions.lag.frame import Frame, locate
from functions.lag.model import ClusterReading
from functions.lag.rules import NameFilter


@dataclass(frozen=True, slots=True)
class Question:
    """What to read: name filters, and what an earlier run knew and this one must account for."""

    groups: NameFilter = field(default_factory=NameFilter)
    topics: NameFilter = field(default_factory=NameFilter)
    known_groups: frozenset[str] = frozenset()
    known_topics: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Roll:
    """The groups to report, and the known ones proven deleted."""

    groups: list[Group] = field(default_factory=list)
    gone: frozenset[str] = frozenset()


async def read_cluster(
    wire: Wire,
    question: Question,
    configs: ConfigCache,
    clock: Callable[[], float] = time.time,
) -> ClusterReading:
    """All that one run can learn. Raises SourceError only when no broker answers at all."""
    try:
        listing = await list_topics(wire, question.topics, question.known_topics)
    except UnansweredError as error:
        raise SourceError(f"No broker answers: {error.detail}.") from error
    table = listing.table
    start, (census, roll), settings = await wire.together_any(
        list_offsets(wire, table, START, clock),
        _roll(wire, question),
        configs.of(wire, table.names),
    )
    live = [g for g in roll.groups if g.supported and g.coordinator is not None and not g.reason]
    commits, descriptions = await wire.together_any(
        read_commits(wire, live, table, clock), describe(wire, live)
    )
    end = await list_offsets(wire, table, END, clock)
    start, end = await _asked_again(wire, table, question, start, end, clock)
    hidden, gone = await _deleted(wire, listing, start.deleted | end.deleted)
    lost = gone | hidden.keys()
    topics = _without(lost, _topic_rows(with_configs(table, settings), start, end))
    return ClusterReading(
        topic_partitions=topics,
        group_partitions=_without(lost, group_partition_rows(table, commits, descriptions)),
        groups=group_rows(roll.groups, commits, descriptions),
        problems=problems_of(wire, census, roll.groups, commits, descriptions, topics, hidden),
        hidden_topics=hidden,
        unlisted_groups=frozenset(group.name for group in roll.groups if group.reason),
        gone_topics=gone,
        gone_groups=roll.gone,
    )


async def _roll(wire: Wire, question: Question) -> tuple[Census, Roll]:
    """The groups listed, and the known ones that were not: found after all, silent or gone."""
    census = await list_groups(wire, question.groups)
    missing = {
        n for n in question.known_groups - census.groups.keys() if question.groups.accepts(n)
    }
    sought = await seek(wire, missing)
    proofs = await prove(wire, [g for g in sought.values() if g.coordinator is not None])
    groups = list(census.groups.values())
    gone = frozenset(name for name, proof in proofs.items() if proof.absent)
    for name in sorted(sought.keys() - gone):
        proof = proofs.get(name, Description(reason=sought[name].reason))
        known = replace(sought[name], reason=proof.reason, state=proof.state, kind=proof.kind)
        groups.append(known)
    return census, Roll(groups, gone)


async def _asked_again(
    wire: Wire,
    table: TopicTable,
    question: Question,
    start: Offsets,
    end: Offsets,
    clock: Callable[[], float],
) -> tuple[Offsets, Offsets]:
    """Offsets of partitions whose leader is another by now, asked of that one."""
    silent = start.reason.known | end.reason.known
    if not silent.any():
        return start, end
    try:
        fresh = (await list_topics(wire, question.topics, frozenset())).table.frame
    except UnansweredError:
        return start, end
    leader = fresh.numbers("leader").take(locate(table.frame, fresh, ("topic", "partition_id")))
    was = table.frame.numbers("leader")
    moved = silent & leader.known & ~(was.known & (was.values == leader.values))
    if not moved.any():
        return start, end
    retable = replace(table, frame=table.frame.with_columns(leader=leader.only(moved)))
    again = await list_offsets(wire, retable, START, clock)
    return start.or_else(again), end.or_else(await list_offsets(wire, retable, END, clock))


async def _deleted(
    wire: Wire, listing: Listing, vanished: frozenset[str]
) -> tuple[dict[str, str], frozenset[str]]:
    _, hidden, gone = await by_name(wire, sorted(vanished))
    return {**listing.hidden, **hidden}, listing.gone | gone


def _without(topics: frozenset[str], rows: Frame) -> Frame:
    return rows.where(~rows.words("topic").is_in(topics))


def _topic_rows(frame: Frame, start: Offsets, end: Offsets) -> Frame:
    return frame.with_columns(
        start_offset=start.offset,
        end_offset=end.offset,
        asked_at=end.asked_at,
        read_at=end.read_at,
        unread_reason=end.reason.or_else(start.reason),
    )
