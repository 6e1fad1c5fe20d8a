# SPDX-License-Identifier: Apache-2.0
"""The brokers' time index: ListOffsets by timestamp to all leaders at once; errors are kept by row.

Look-ups of tiered topics may read remote storage. They are sent separately and last, and their time
is counted separately.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.errors import UnansweredError
from kafka_lag.brokers.offset_codec import (
    AnsweredPartitions,
    ListOffsetsRequest,
    RequestedPartitions,
)
from kafka_lag.lag.columns import Mask, Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.time_index import NEWEST, LookupResults

# Look-ups in one request: more of them were not faster, and a lost request loses fewer.
FULL_REQUEST = 100
# Look-ups in a first request, and in requests to a slow broker.
SMALL_REQUEST = 10
# Requests in flight at a quick broker: requests for many positions in one partition are small.
_IN_FLIGHT = 4
# Seconds before the deadline at which sending stops: a request that is cut off costs its
# connection.
_RESERVED_SECONDS = 0.2

# Seconds that a look-up may take: a hundred times one in memory, and more than one that reads a
# disk. One that reads remote (tiered) storage takes hundreds of milliseconds.
_SECONDS_PER_LOOK_UP = 0.02
# Seconds above that until sending stops: a garbage collection does not make a broker slow.
_MAX_EXCESS_SECONDS = 2.0

# The keys are the leader, and whether the topics are tiered.
_Queues: TypeAlias = dict[tuple[int, bool], deque[Rows]]

_NO_RECORD = -1
_NUMBER = 0xFFFFFFFF


class LookUpBudget:
    """The number of look-ups that each broker may get between one reading and the next.

    Time above the allowed time adds up, and quick answers reduce it. A broker therefore costs a run
    a few seconds at most, however many look-ups were fast before. Time for `tiered` topics is
    counted separately, and excludes the broker for these topics only.
    """

    def __init__(self) -> None:
        self._excluded: set[tuple[int, bool]] = set()
        self._excess: dict[tuple[int, bool], float] = defaultdict(float)
        self._answered: dict[int, float] = {}

    def next_request(self, node: int, *, tiered: bool = False) -> int:
        """Returns how many look-ups the next request may hold; 0 for an excluded broker."""
        if (node, tiered) in self._excluded:
            return 0
        return SMALL_REQUEST if self._excess[node, tiered] else FULL_REQUEST

    def spend(
        self, node: int, look_ups: int, sent: float, answered: float, *, tiered: bool = False
    ) -> None:
        """Counts an answer to this many look-ups; the times are seconds of one clock."""
        # A broker handles the requests of one connection one after the other.
        seconds = answered - max(sent, self._answered.get(node, sent))
        self._answered[node] = answered
        excess = self._excess[node, tiered] + seconds - look_ups * _SECONDS_PER_LOOK_UP
        self._excess[node, tiered] = max(0.0, excess)
        if self._excess[node, tiered] > _MAX_EXCESS_SECONDS:
            self._excluded.add((node, tiered))

    def exclude(self, *nodes: int) -> None:
        """Stops look-ups to these brokers."""
        self._excluded.update((node, tiered) for node in nodes for tiered in (False, True))


async def look_up(
    connections: Connections,
    partitions: Frame,
    times: Rows,
    budget: LookUpBudget,
    deadline: float,
    clock: Callable[[], float] = time.monotonic,
    tiered: Collection[str] = (),
) -> LookupResults:
    """Returns the leaders' answers, read uncommitted, until `deadline` (of the clock, seconds).

    Look-ups of the topics in `tiered` wait for all others.

    A look-up stays unanswered if the row has no leader, the broker returns an error, hangs or is
    slow, or the time is before 1970. NEWEST also does for tiered topics, because brokers then name
    the newest record on their own disks.
    """
    batch = _build_batch(partitions, times, tiered)
    sender = _BatchSender(connections, batch, budget, deadline - _RESERVED_SECONDS, clock)
    queues = batch.queues()
    await connections.gather(sender.send_all(node, queues) for node in {node for node, _ in queues})
    return batch.answers_by_row(sender.answers, len(times))


class _BatchSender:
    """Sends the requests of one batch; `answers` has a row for each row of the batch."""

    def __init__(
        self,
        connections: Connections,
        batch: _Batch,
        budget: LookUpBudget,
        deadline: float,
        clock: Callable[[], float],
    ) -> None:
        self._connections, self._batch, self._budget = connections, batch, budget
        self._deadline, self._clock = deadline, clock
        self.answers = LookupResults.unanswered(len(batch))

    async def send_all(self, node: int, queues: _Queues) -> None:
        """Sends a broker its look-ups, those of tiered topics last.

        Requests on one connection wait for one another.
        """
        for tiered in (False, True):
            if (node, tiered) in queues:
                await self._send(node, queues[node, tiered], tiered)

    async def _send(self, node: int, queue: deque[Rows], tiered: bool) -> None:
        """Sends a small request to measure the time it takes, and then the rest."""
        await self._send_next(node, queue, SMALL_REQUEST, tiered)
        quick = self._budget.next_request(node, tiered=tiered) == FULL_REQUEST
        await self._connections.gather(
            self._send_rest(node, queue, tiered) for _ in range(_IN_FLIGHT if quick else 1)
        )

    async def _send_rest(self, node: int, queue: deque[Rows], tiered: bool) -> None:
        while queue:
            await self._send_next(node, queue, FULL_REQUEST, tiered)

    async def _send_next(self, node: int, queue: deque[Rows], limit: int, tiered: bool) -> None:
        """Sends one request; empties the queue if this broker must not get more."""
        limit = min(limit, self._budget.next_request(node, tiered=tiered))
        sent = self._clock()
        if limit == 0 or sent >= self._deadline:
            queue.clear()
            return
        rows = self._batch.sort_by_partition(_take(queue, limit))
        request = self._batch.request(rows, remote_ms=int(_MAX_EXCESS_SECONDS * 1000))
        try:
            response = await self._connections.send(node, request)
        except UnansweredError:
            queue.clear()
            return
        self._budget.spend(node, len(rows), sent, self._clock(), tiered=tiered)
        self._batch.read_answer(rows, response.partitions, self.answers)


def _take(queue: deque[Rows], limit: int) -> Rows:
    """Takes the first rows from the queue, all of one rank."""
    rows = queue.popleft()
    if len(rows) > limit:
        queue.appendleft(rows[limit:])
    return rows[:limit]


@dataclass(frozen=True, slots=True)
class _Batch:
    """A row for each different look-up of one call.

    `partition` has the topic's code in the high bits and the partition's number below. The look-ups
    of a partition have the ranks 0, 1, 2... `sent` are the rows of the call that are looked up;
    `answer` is the row of this batch that answers each of them. Topics in `tiered` may lie in
    remote storage.
    """

    names: tuple[str, ...]
    tiered: Mask
    leader: Rows
    partition: Rows
    time: Rows
    rank: Rows
    sent: Rows
    answer: Rows

    def __len__(self) -> int:
        return len(self.partition)

    def queues(self) -> _Queues:
        """Returns the rows, separated by rank, because a request may hold a partition once.

        Topics are mixed, so that the first requests cover many.
        """
        topic, number = self.partition >> 32, self.partition & _NUMBER
        tiered = self.tiered[topic]
        order = np.lexsort((topic, number, self.rank, tiered, self.leader))
        cuts = np.flatnonzero(_begins(self.leader[order], tiered[order], self.rank[order]))
        queues: _Queues = {}
        for rows in np.split(order, cuts[1:]) if len(order) else []:
            key = int(self.leader[rows[0]]), bool(tiered[rows[0]])
            queues.setdefault(key, deque()).append(rows)
        return queues

    def sort_by_partition(self, rows: Rows) -> Rows:
        """Returns the rows sorted so that those of a topic stand side by side."""
        return rows[np.argsort(self.partition[rows])]

    def request(self, rows: Rows, remote_ms: int) -> ListOffsetsRequest:
        """Returns the request for rows sorted by partition, read uncommitted.

        Brokers since Kafka 4.0 stop reading remote storage after `remote_ms`.
        """
        partitions, times = self.partition[rows], self.time[rows]
        return ListOffsetsRequest(
            RequestedPartitions(self.names, partitions >> 32, partitions & _NUMBER),
            times,
            remote_ms=remote_ms,
        )

    def read_answer(self, rows: Rows, answered: AnsweredPartitions, answers: LookupResults) -> None:
        """Copies the answers for these rows, sorted by partition, into `answers`."""
        partitions = self.partition[rows]
        codes = {self.names[code]: code for code in (partitions >> 32).tolist()}
        code = answered.by_partition(codes.get(topic, -1) for topic in answered.topics)
        error, offset, timestamp = answered.error, answered.offset, answered.timestamp
        partition = code << 32 | answered.partition_id
        nearest = np.minimum(np.searchsorted(partitions, partition), len(rows) - 1)
        requested = partitions[nearest] == partition
        once = np.bincount(nearest[requested], minlength=len(rows)) == 1
        good = requested & once[nearest] & (error == 0)
        found = good & (offset >= 0)
        row = rows[nearest[found]]
        answers.found[row] = True
        answers.offsets[row] = offset[found]
        answers.times[row] = timestamp[found]
        answers.none[rows[nearest[good & (offset == _NO_RECORD)]]] = True

    def answers_by_row(self, answers: LookupResults, length: int) -> LookupResults:
        """Returns the answers by row of the call, which has `length` look-ups."""
        by_row = LookupResults.unanswered(length)
        by_row.found[self.sent] = answers.found[self.answer]
        by_row.none[self.sent] = answers.none[self.answer]
        by_row.offsets[self.sent] = answers.offsets[self.answer]
        by_row.times[self.sent] = answers.times[self.answer]
        return by_row


def _build_batch(partitions: Frame, times: Rows, tiered: Collection[str]) -> _Batch:
    """Returns the look-ups that can be sent.

    They have a known leader, and a time after 1970 or an allowed NEWEST.
    """
    topic, number = partitions.strings("topic"), partitions.numbers("partition_id")
    leader = partitions.numbers("leader")
    # Other negative times have a meaning of their own: the end, the start, ...
    remote = np.array([name in tiered for name in topic.categories] or [False], bool)
    valid = (times >= 0) | ((times == NEWEST) & ~remote[topic.codes.values])
    sent = np.flatnonzero(valid & topic.known & number.known & leader.known)
    partition = (topic.codes.values.astype(np.int64) << 32) | number.values
    sent = sent[np.lexsort((times[sent], partition[sent], leader.values[sent]))]
    new_partition = _begins(leader.values[sent], partition[sent])
    new = new_partition | _begins(times[sent])
    rows, first = sent[new], np.flatnonzero(new_partition[new])
    rank = np.arange(len(rows)) - np.repeat(first, np.diff(np.append(first, len(rows))))
    return _Batch(
        names=topic.categories,
        tiered=remote,
        leader=leader.values[rows],
        partition=partition[rows],
        time=times[rows],
        rank=rank,
        sent=sent,
        answer=np.cumsum(new) - 1,
    )


def _begins(*columns: Rows) -> Mask:
    """Returns a mask of the rows that differ from the row before."""
    begins = np.ones(len(columns[0]), bool)
    begins[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return begins
