# SPDX-License-Identifier: Apache-2.0
"""Log start, end, last stable offset and local log start: ListOffsets to all leaders at once.

Errors are kept by row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from kafka.protocol.consumer import OffsetSpec

from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.coordinators import chunks
from kafka_lag.brokers.errors import (
    NO_LEADER,
    UNKNOWN_TOPIC,
    Failure,
    UnansweredError,
    failure_of,
    failure_of_code,
    malformed_failure,
    missing_failure,
)
from kafka_lag.brokers.offset_codec import (
    AnsweredPartitions,
    ListOffsetsRequest,
    RequestedPartitions,
)
from kafka_lag.brokers.retries import RetryBudget
from kafka_lag.brokers.topics import TopicTable, refresh_leaders
from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.sets import unique

START, END = int(OffsetSpec.EARLIEST), int(OffsetSpec.LATEST)
_LOCAL_START = int(OffsetSpec.EARLIEST_LOCAL)
# The version of ListOffsets that knows this spec; older ones would take it for a time.
_LOCAL_START_SINCE = 8

# Kafka 4.4 refuses arrays of more than a million elements, and a topic may have as many partitions.
PARTITIONS_PER_REQUEST = 100_000

# Isolation levels: all replicated records, or those up to the first open transaction.
_READ_UNCOMMITTED, _READ_COMMITTED = 0, 1


@dataclass(frozen=True, slots=True)
class LogOffsets:
    """One answer for each row of the table; times are the clock's in ms, around the leader's
    answer.

    `failures` are those of the rows without an offset. `missing` topics seem to have vanished since
    the table was made. `table` has the leaders that the last requests went to.
    """

    table: TopicTable
    offset: Column
    asked_at: Column
    read_at: Column
    failures: dict[int, Failure]
    missing: frozenset[str]

    def without(self, failures: dict[int, Failure]) -> LogOffsets:
        """Returns the same rows, without the offsets of rows that turned out to be wrong."""
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
    """Reads offsets of the partitions in the table, and updates the leaders in it."""

    def __init__(
        self,
        connections: Connections,
        retries: RetryBudget,
        table: TopicTable,
        clock: Callable[[], float],
    ) -> None:
        self._connections, self._retries, self._clock = connections, retries, clock
        self._table = table
        # The rows and partitions of the last requests by their first row: ends are read from the
        # same leaders as starts.
        self._requested: dict[int, tuple[Rows, RequestedPartitions]] = {}

    async def read(self, spec: int, once: Mask) -> LogOffsets:
        """Returns the offsets that `spec` (START, END) names; rows in `once` are not retried."""
        answers = _OffsetAnswers(self._table)
        missing: set[str] = set()

        async def attempt(rows: Rows, retry: int) -> Rows:
            if retry:
                self._table, found = await refresh_leaders(self._connections, self._table, rows)
                missing.update(self._topics(rows[~found[rows]]))
                rows = rows[found[rows]]
            await self._send(rows, spec, answers)
            failing = [row for row, failure in answers.failures.items() if failure.retries > retry]
            sent = np.zeros(len(self._table), bool)
            sent[rows] = True
            left = np.array(failing, np.int64)
            return left[sent[left] & ~once[left]]

        await self._retries.retry(np.arange(len(self._table)), attempt)
        codes = ((row, failure.code) for row, failure in answers.failures.items())
        unknown = [row for row, code in codes if code == UNKNOWN_TOPIC]
        missing.update(self._topics(np.array(unknown, np.int64)))
        return answers.finish(self._table, frozenset(missing))

    async def read_stable(self, wanted: Mask) -> Column:
        """Returns the last stable offsets of the `wanted` rows: the ends of committed records.

        They are not part of the lag, so a failure means unknown and is not retried. They must be
        read after the ends: then an offset below the end means an open transaction.
        """
        answers = _OffsetAnswers(self._table)
        await self._send(np.flatnonzero(wanted), END, answers, _READ_COMMITTED)
        return answers.finish(self._table, frozenset()).offset.only(wanted)

    async def read_local_start(self, wanted: Mask) -> Column:
        """Returns the first offset on the leaders' own disks for the `wanted` rows.

        It is unknown after a failure, which is not retried, and if the brokers do not support it.
        """
        if not wanted.any() or self._connections.version(ListOffsetsRequest) < _LOCAL_START_SINCE:
            return Column.unknown(len(self._table))
        answers = _OffsetAnswers(self._table)
        await self._send(np.flatnonzero(wanted), _LOCAL_START, answers)
        return answers.finish(self._table, frozenset()).offset.only(wanted)

    def _topics(self, rows: Rows) -> set[str]:
        codes = self._table.frame.strings("topic").codes.values[rows]
        return {self._table.names[code] for code in set(codes.tolist())}

    async def _send(
        self, rows: Rows, spec: int, answers: _OffsetAnswers, isolation: int = _READ_UNCOMMITTED
    ) -> None:
        leader = self._table.frame.numbers("leader").take(rows)
        answers.fail(rows[~leader.known], NO_LEADER)
        await self._connections.gather(
            self._send_to_leader(int(node), part, spec, isolation, answers)
            for node in unique(leader.values[leader.known])
            for part in chunks(rows[leader.known & (leader.values == node)], PARTITIONS_PER_REQUEST)
        )

    async def _send_to_leader(
        self, node: int, rows: Rows, spec: int, isolation: int, answers: _OffsetAnswers
    ) -> None:
        sent_at = int(self._clock() * 1000)
        request = ListOffsetsRequest(self._partitions(rows), spec, isolation)
        try:
            response = await self._connections.send(node, request)
        except UnansweredError as error:
            answers.fail(rows, failure_of(error))
            return
        answered = response.partitions
        unexpected = answers.add(rows, answered, sent_at, int(self._clock() * 1000))
        if unexpected is not None:
            topic, number = answered.name(unexpected)
            detail = f"answered ListOffsets for {topic!r}-{number}, not requested"
            self._connections.note_unexpected(node, detail)

    def _partitions(self, rows: Rows) -> RequestedPartitions:
        """Returns the request's partitions for these rows; a topic's rows are side by side."""
        before = self._requested.get(int(rows[0]))
        if before is None or not np.array_equal(before[0], rows):
            frame = self._table.frame
            before = (
                rows,
                RequestedPartitions(
                    self._table.names,
                    frame.strings("topic").codes.values[rows],
                    frame.numbers("partition_id").values[rows],
                ),
            )
            self._requested[int(rows[0])] = before
        return before[1]


class _OffsetAnswers:
    def __init__(self, table: TopicTable) -> None:
        self._table = table
        self._offset = np.full(len(table), -1, np.int64)
        self._sent_at = np.zeros(len(table), np.int64)
        self._read_at = np.zeros(len(table), np.int64)
        self.failures: dict[int, Failure] = {}

    def fail(self, rows: Rows, failure: Failure) -> None:
        self.failures.update(dict.fromkeys(rows.tolist(), failure))

    def add(
        self, rows: Rows, answered: AnsweredPartitions, sent_at: int, read_at: int
    ) -> int | None:
        """Adds the answers for these rows.

        Returns the position of a partition that was not requested, else None.
        """
        index = self._table.index
        code = answered.by_partition(index.get(topic, -1) for topic in answered.topics)
        error, offset = answered.error, answered.offset
        row, requested = self._rows(code, answered.partition_id, rows)
        times = np.bincount(row[requested], minlength=len(self._table))
        self.fail(rows[times[rows] == 0], missing_failure("ListOffsets"))
        good = requested & (error == 0) & (offset >= 0)
        self._offset[row[good]] = offset[good]
        self._sent_at[row[good]], self._read_at[row[good]] = sent_at, read_at
        for at in row[good].tolist() if self.failures else ():
            self.failures.pop(at, None)
        for at in np.flatnonzero(requested & ~good).tolist():
            failure = failure_of_code(int(error[at])) or malformed_failure(
                f"answered offset {offset[at]}"
            )
            self.failures[int(row[at])] = failure
        self.fail(rows[times[rows] > 1], malformed_failure("answered twice by ListOffsets"))
        return next(iter(np.flatnonzero(~requested).tolist()), None)

    def _rows(self, code: Rows, number: Rows, requested: Rows) -> tuple[Rows, Mask]:
        """Returns the row of each topic code and number, and a mask of those requested."""
        exists = (code >= 0) & (number >= 0) & (number < self._table.count[code])
        row = np.where(exists, self._table.first[code] + number, 0)
        wanted = np.zeros(len(self._table), bool)
        wanted[requested] = True
        return row, exists & wanted[row]

    def finish(self, table: TopicTable, missing: frozenset[str]) -> LogOffsets:
        known = np.ones(len(table), bool)
        known[list(self.failures)] = False
        return LogOffsets(
            table,
            Column(self._offset, known),
            Column(self._sent_at, known),
            Column(self._read_at, known),
            self.failures,
            missing,
        )
