# SPDX-License-Identifier: Apache-2.0
"""Start and end of logs: one ListOffsets a leader, all leaders at once, errors kept by row."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from kafka.protocol.consumer import ListOffsetsRequest, OffsetSpec

from functions import contract
from functions.broker.topics.table import TopicTable
from functions.broker.wire.connection import Wire
from functions.broker.wire.refusals import UNKNOWN_TOPIC, UnansweredError, reason_of_code
from functions.lag.columns import Column, Rows, Words

START, END = int(OffsetSpec.EARLIEST), int(OffsetSpec.LATEST)

_NO_REPLICA = -1


@dataclass(frozen=True, slots=True)
class Offsets:
    """One answer a row of the table; times are the clock's, ms, around the leader's answer.

    `reason` is set where there is no offset; `deleted` topics vanished since the table was made.
    """

    offset: Column
    asked_at: Column
    read_at: Column
    reason: Words
    deleted: frozenset[str]

    def or_else(self, other: Offsets) -> Offsets:
        """The other's answers where these are missing."""
        return Offsets(
            self.offset.or_else(other.offset),
            self.asked_at.or_else(other.asked_at),
            self.read_at.or_else(other.read_at),
            other.reason.or_else(self.reason).only(~self.offset.known & ~other.offset.known),
            self.deleted | other.deleted,
        )


class _Answers:
    def __init__(self, table: TopicTable) -> None:
        self.table = table
        self.offset = np.full(len(table), -1, np.int64)
        self.asked = np.zeros(len(table), np.int64)
        self.read = np.zeros(len(table), np.int64)
        self.reasons: dict[int, str] = {}
        self.deleted: set[str] = set()

    def silence(self, rows: Rows, reason: str) -> None:
        self.reasons.update(dict.fromkeys(rows.tolist(), reason))

    def take(self, response: Any, asked: int, read: int) -> None:
        for topic in response.topics:
            first = int(self.table.first[self.table.index[topic.name]])
            rows = [first + part.partition_index for part in topic.partitions]
            self.offset[rows] = [part.offset for part in topic.partitions]
            self.asked[rows], self.read[rows] = asked, read
            for row, part in zip(rows, topic.partitions, strict=True):
                if part.error_code:
                    self._refused(row, topic.name, part.error_code)

    def _refused(self, row: int, topic: str, code: int) -> None:
        self.reasons[row] = reason_of_code(code) or contract.ERROR
        if code == UNKNOWN_TOPIC:
            self.deleted.add(topic)

    def done(self) -> Offsets:
        known = self.offset >= 0
        silent = [None if k else contract.ERROR for k in known.tolist()]
        for row, reason in self.reasons.items():
            silent[row] = reason
        return Offsets(
            Column(self.offset, known),
            Column(self.asked, known),
            Column(self.read, known),
            Words.of(silent),
            frozenset(self.deleted),
        )


async def list_offsets(
    wire: Wire, table: TopicTable, spec: int, clock: Callable[[], float] = time.time
) -> Offsets:
    """The offset that `spec` (START, END) names, for every partition of the table."""
    answers = _Answers(table)
    leader = table.frame.numbers("leader")
    answers.silence(np.flatnonzero(~leader.known), contract.NO_LEADER)
    by_leader = {
        int(node): np.flatnonzero(leader.known & (leader.values == node))
        for node in np.unique(leader.values[leader.known])
    }
    await wire.together(
        _ask_leader(wire, node, rows, spec, answers, clock) for node, rows in by_leader.items()
    )
    return answers.done()


async def _ask_leader(
    wire: Wire,
    node: int,
    rows: Rows,
    spec: int,
    answers: _Answers,
    clock: Callable[[], float],
) -> None:
    asked = int(clock() * 1000)
    try:
        response = await wire.ask(node, _request(answers.table, rows, spec))
    except UnansweredError as error:
        answers.silence(rows, error.reason)
        return
    answers.take(response, asked, int(clock() * 1000))


def _request(table: TopicTable, rows: Rows, spec: int) -> ListOffsetsRequest:
    topic_of = ListOffsetsRequest.ListOffsetsTopic
    codes = table.frame.words("topic").codes.values[rows].tolist()
    ids = table.frame.numbers("partition_id").values[rows].tolist()
    # The table has a topic's rows side by side, so each topic comes once.
    topics = [
        topic_of(
            name=table.names[code],
            partitions=[
                topic_of.ListOffsetsPartition(partition_index=number, timestamp=spec)
                for _, number in members
            ],
        )
        for code, members in groupby(zip(codes, ids, strict=True), key=lambda pair: pair[0])
    ]
    return ListOffsetsRequest(replica_id=_NO_REPLICA, isolation_level=0, topics=topics)
