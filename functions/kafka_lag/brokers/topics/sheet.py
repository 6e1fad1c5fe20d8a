# SPDX-License-Identifier: Apache-2.0
"""The look-ups of one call, each once, sorted into what one request may hold."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from kafka.protocol.consumer import ListOffsetsRequest

from kafka_lag.lag.columns import Mask, Rows
from kafka_lag.lag.time_index import NEWEST, TimeAnswers, TimeQuestions

# The version of ListOffsets that knows NEWEST; before it that would be just another time.
NEWEST_SINCE = 7

_NO_REPLICA = -1
_NO_RECORD = -1
_NUMBER = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Sheet:
    """A row for each different question that can be asked.

    `place` is a partition, its topic's code above its number; the questions of a partition have
    the ranks 0, 1, 2... `asked` are the rows of the call that ask something, `answer` the row of
    this sheet that answers each of them.
    """

    names: tuple[str, ...]
    leader: Rows
    place: Rows
    time: Rows
    rank: Rows
    asked: Rows
    answer: Rows

    def __len__(self) -> int:
        return len(self.place)

    def queues(self) -> dict[int, deque[Rows]]:
        """By leader the rows, apart by rank, as a request may hold a partition once.

        Topics are mixed, so that the first few are of many.
        """
        order = np.lexsort((self.place >> 32, self.place & _NUMBER, self.rank, self.leader))
        cuts = np.flatnonzero(_begins(self.leader[order], self.rank[order]))
        queues: dict[int, deque[Rows]] = {}
        for rows in np.split(order, cuts[1:]) if len(order) else []:
            queues.setdefault(int(self.leader[rows[0]]), deque()).append(rows)
        return queues

    def in_place(self, rows: Rows) -> Rows:
        """The same rows with each topic's side by side."""
        return rows[np.argsort(self.place[rows])]

    def request(self, rows: Rows, remote_ms: int) -> ListOffsetsRequest:
        """What asks these rows, which are `in_place`, read uncommitted.

        Brokers that can (Kafka 4.0) break off reading remote storage after `remote_ms`.
        """
        topic_of = ListOffsetsRequest.ListOffsetsTopic
        places, times = self.place[rows], self.time[rows]
        codes, numbers = (places >> 32).tolist(), (places & _NUMBER).tolist()
        cells = zip(codes, numbers, times.tolist(), strict=True)
        topics = [
            topic_of(
                name=self.names[code],
                partitions=[
                    topic_of.ListOffsetsPartition(partition_index=number, timestamp=time)
                    for _, number, time in members
                ],
            )
            for code, members in groupby(cells, key=itemgetter(0))
        ]
        return ListOffsetsRequest(
            replica_id=_NO_REPLICA,
            isolation_level=0,
            topics=topics,
            timeout_ms=remote_ms,
            min_version=NEWEST_SINCE if NEWEST in times else 0,
        )

    def take(self, rows: Rows, response: Any, answers: TimeAnswers) -> None:
        """Notes in the answers, one a row of this sheet, what was said of rows `in_place`."""
        places = self.place[rows]
        codes = {self.names[code]: code for code in (places >> 32).tolist()}
        told = [
            (codes.get(topic.name, -1), p.partition_index, p.error_code, p.offset, p.timestamp)
            for topic in response.topics or ()
            for p in topic.partitions or ()
        ]
        code, number, error, offset, time = np.array(told, np.int64).reshape(-1, 5).T
        place = (code << 32) | number
        nearest = np.minimum(np.searchsorted(places, place), len(rows) - 1)
        asked = places[nearest] == place
        once = np.bincount(nearest[asked], minlength=len(rows)) == 1
        answered = asked & once[nearest] & (error == 0)
        found = answered & (offset >= 0)
        row = rows[nearest[found]]
        answers.found[row], answers.offsets[row], answers.times[row] = (
            True,
            offset[found],
            time[found],
        )
        answers.none[rows[nearest[answered & (offset == _NO_RECORD)]]] = True

    def handed_back(self, answers: TimeAnswers, length: int) -> TimeAnswers:
        """The answers to a call of so many questions, from those to the rows of this sheet."""
        every = TimeAnswers.nothing(length)
        every.found[self.asked] = answers.found[self.answer]
        every.none[self.asked] = answers.none[self.answer]
        every.offsets[self.asked] = answers.offsets[self.answer]
        every.times[self.asked] = answers.times[self.answer]
        return every


def sheet_of(questions: TimeQuestions, newest: bool) -> Sheet:
    """All that can be asked: of a known leader, a time since 1970 or, if it may be, NEWEST."""
    frame, times = questions.partitions, questions.times
    topic, number = frame.strings("topic"), frame.numbers("partition_id")
    leader = frame.numbers("leader")
    # Other negative times would ask for something else: the end, the start, ...
    askable = (times >= 0) | ((times == NEWEST) & newest)
    asked = np.flatnonzero(askable & topic.known & number.known & leader.known)
    place = (topic.codes.values.astype(np.int64) << 32) | number.values
    asked = asked[np.lexsort((times[asked], place[asked], leader.values[asked]))]
    new_place = _begins(leader.values[asked], place[asked])
    new = new_place | _begins(times[asked])
    rows, first = asked[new], np.flatnonzero(new_place[new])
    rank = np.arange(len(rows)) - np.repeat(first, np.diff(np.append(first, len(rows))))
    return Sheet(
        names=topic.categories,
        leader=leader.values[rows],
        place=place[rows],
        time=times[rows],
        rank=rank,
        asked=asked,
        answer=np.cumsum(new) - 1,
    )


def _begins(*columns: Rows) -> Mask:
    """Where a row is not like the one before it."""
    begins = np.ones(len(columns[0]), bool)
    begins[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return begins
