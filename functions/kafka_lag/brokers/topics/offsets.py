# SPDX-License-Identifier: Apache-2.0
"""Start and end of logs: one ListOffsets a leader, all leaders at once, errors kept by row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from kafka.protocol.consumer import ListOffsetsRequest, OffsetSpec

from kafka_lag.brokers.failures import (
    NO_LEADER,
    Failure,
    failure_of,
    failure_of_code,
    left_out,
    malformed,
)
from kafka_lag.brokers.retries import Retries
from kafka_lag.brokers.topics.table import TopicTable, with_leaders_now
from kafka_lag.brokers.wire.connection import Wire
from kafka_lag.brokers.wire.refusals import UNKNOWN_TOPIC, UnansweredError
from kafka_lag.lag.columns import Column, Mask, Rows

START, END = int(OffsetSpec.EARLIEST), int(OffsetSpec.LATEST)

_NO_REPLICA = -1


@dataclass(frozen=True, slots=True)
class Offsets:
    """One answer a row of the table; times are the clock's, ms, around the leader's answer.

    `failures` has the rows without an offset; `missing` topics seem to have vanished since the
    table was made. `table` has the leaders that were asked last.
    """

    table: TopicTable
    offset: Column
    asked_at: Column
    read_at: Column
    failures: dict[int, Failure]
    missing: frozenset[str]

    def without(self, failures: dict[int, Failure]) -> Offsets:
        """The same, but for rows that turned out to be wrong."""
        good = np.ones(len(self.table), bool)
        good[list(failures)] = False
        return replace(
            self,
            offset=self.offset.only(good),
            asked_at=self.asked_at.only(good),
            read_at=self.read_at.only(good),
            failures={**self.failures, **failures},
        )


class OffsetReader:
    """Reads offsets of the partitions in the table, which gets the leaders met on the way."""

    def __init__(
        self, wire: Wire, retries: Retries, table: TopicTable, clock: Callable[[], float]
    ) -> None:
        self._wire, self._retries, self._clock = wire, retries, clock
        self._table = table

    async def read(self, spec: int, once: Mask) -> Offsets:
        """The offset that `spec` (START, END) names; rows in `once` are not retried."""
        answers = _Answers(self._table)
        missing: set[str] = set()

        async def ask(rows: Rows, retry: int) -> Rows:
            if retry:
                self._table, found = await with_leaders_now(self._wire, self._table, rows)
                missing.update(self._topics(rows[~found[rows]]))
                rows = rows[found[rows]]
            await self._ask(rows, spec, answers)
            failing = [row for row, failure in answers.failures.items() if failure.retries > retry]
            mine = np.zeros(len(self._table), bool)
            mine[rows] = True
            left = np.array(failing, np.int64)
            return left[mine[left] & ~once[left]]

        await self._retries.of(np.arange(len(self._table)), ask)
        codes = ((row, failure.code) for row, failure in answers.failures.items())
        unknown = [row for row, code in codes if code == UNKNOWN_TOPIC]
        missing.update(self._topics(np.array(unknown, np.int64)))
        return answers.done(self._table, frozenset(missing))

    def _topics(self, rows: Rows) -> set[str]:
        codes = self._table.frame.strings("topic").codes.values[rows]
        return {self._table.names[code] for code in set(codes.tolist())}

    async def _ask(self, rows: Rows, spec: int, answers: _Answers) -> None:
        leader = self._table.frame.numbers("leader").take(rows)
        answers.fail(rows[~leader.known], NO_LEADER)
        await self._wire.together(
            self._ask_leader(int(node), rows[leader.known & (leader.values == node)], spec, answers)
            for node in np.unique(leader.values[leader.known])
        )

    async def _ask_leader(self, node: int, rows: Rows, spec: int, answers: _Answers) -> None:
        asked = int(self._clock() * 1000)
        try:
            response = await self._wire.ask(node, _request(self._table, rows, spec))
        except UnansweredError as error:
            answers.fail(rows, failure_of(error))
            return
        unasked = answers.take(rows, response, asked, int(self._clock() * 1000))
        if unasked:
            self._wire.note_odd(node, f"answered ListOffsets for {unasked}, unasked")


class _Answers:
    def __init__(self, table: TopicTable) -> None:
        self._table = table
        self._offset = np.full(len(table), -1, np.int64)
        self._asked = np.zeros(len(table), np.int64)
        self._read = np.zeros(len(table), np.int64)
        self.failures: dict[int, Failure] = {}

    def fail(self, rows: Rows, failure: Failure) -> None:
        self.failures.update(dict.fromkeys(rows.tolist(), failure))

    def take(self, rows: Rows, response: Any, asked: int, read: int) -> str | None:
        """Notes what was answered for these rows; names a partition that was not asked for."""
        told = [
            (self._table.index.get(topic.name, -1), p.partition_index, p.error_code, p.offset)
            for topic in response.topics or ()
            for p in topic.partitions or ()
        ]
        code, number, error, offset = np.array(told, np.int64).reshape(-1, 4).T
        row, mine = self._rows(code, number, rows)
        times = np.bincount(row[mine], minlength=len(self._table))
        self.fail(rows[times[rows] == 0], left_out("ListOffsets"))
        good = mine & (error == 0) & (offset >= 0)
        self._offset[row[good]] = offset[good]
        self._asked[row[good]], self._read[row[good]] = asked, read
        for at in row[good].tolist() if self.failures else ():
            self.failures.pop(at, None)
        for at in np.flatnonzero(mine & ~good).tolist():
            failure = failure_of_code(int(error[at])) or malformed(f"answered offset {offset[at]}")
            self.failures[int(row[at])] = failure
        self.fail(rows[times[rows] > 1], malformed("answered twice by ListOffsets"))
        return _first_unasked(response, np.flatnonzero(~mine))

    def _rows(self, code: Rows, number: Rows, asked: Rows) -> tuple[Rows, Mask]:
        """The row of each topic's code and number, and which of them were asked for."""
        there = (code >= 0) & (number >= 0) & (number < self._table.count[code])
        row = np.where(there, self._table.first[code] + number, 0)
        wanted = np.zeros(len(self._table), bool)
        wanted[asked] = True
        return row, there & wanted[row]

    def done(self, table: TopicTable, missing: frozenset[str]) -> Offsets:
        known = np.ones(len(table), bool)
        known[list(self.failures)] = False
        return Offsets(
            table,
            Column(self._offset, known),
            Column(self._asked, known),
            Column(self._read, known),
            self.failures,
            missing,
        )


def _first_unasked(response: Any, places: Rows) -> str | None:
    if not len(places):
        return None
    names = [(t.name, p.partition_index) for t in response.topics for p in t.partitions or ()]
    topic, number = names[int(places[0])]
    return f"{topic!r}-{number}"


def _request(table: TopicTable, rows: Rows, spec: int) -> ListOffsetsRequest:
    topic_of = ListOffsetsRequest.ListOffsetsTopic
    codes = table.frame.strings("topic").codes.values[rows].tolist()
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
