# SPDX-License-Identifier: Apache-2.0
"""OffsetFetch and ListOffsets as columns, because kafka-python makes an object of each partition.

The partitions of a topic are records of one size, except if the metadata of commits differ in
length or there are fields that no version knows yet. The library decodes such a topic, and a
damaged answer (it raises its usual errors). Brokers before Kafka 3.0 know none of these versions.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from kafka.protocol import consumer
from kafka.protocol.api_header import RequestHeader

from kafka_lag.brokers.parallel_consumer import FIRST_LETTERS, count_finished
from kafka_lag.lag.columns import Rows

_INT, _SHORT = struct.Struct(">i"), struct.Struct(">h")
_NO_REPLICA, _NO_EPOCH, _NO_TAGS = -1, -1, b"\0"
_OfPartition: TypeAlias = Callable[[Any], tuple[int, ...]]

# A partition in an answer (without metadata of commits), and in a request.
_LISTED = np.dtype(
    [
        ("partition_id", ">i4"),
        ("error", ">i2"),
        ("timestamp", ">i8"),
        ("offset", ">i8"),
        ("epoch", ">i4"),
        ("tags", "u1"),
    ]
)
_FETCHED = np.dtype(
    [
        ("partition_id", ">i4"),
        ("offset", ">i8"),
        ("commit_epoch", ">i4"),
        ("metadata", "u1"),
        ("error", ">i2"),
        ("tags", "u1"),
    ]
)
_REQUESTED = np.dtype([("partition_id", ">i4"), ("epoch", ">i4"), ("time", ">i8"), ("tags", "u1")])

# Since this version brokers name the newest record; requests have a time limit since the second.
_LIST_VERSION, _TIMEOUT_VERSION = 7, 10

# This bit says that another byte of a varint follows; in a text it marks non-ASCII characters.
_HIGH_BIT = 0x80

_OF_MAPS = frozenset(map(ord, FIRST_LETTERS))


@dataclass(frozen=True, slots=True)
class AnsweredPartitions:
    """The partitions of an answer in the broker's order, those of a topic side by side.

    `count` is the number of partitions by topic. `timestamp` (ms) is 0 if an answer has none.
    `commit_epoch` is the leader epoch that a client wrote with its commit, -1 if none. `lag` is
    what the broker says of a share group, -1 if it says nothing. `finished` are the records after
    the commit that a parallel consumer has finished.
    """

    topics: list[str]
    count: Rows
    partition_id: Rows
    error: Rows
    offset: Rows
    timestamp: Rows
    commit_epoch: Rows
    lag: Rows
    finished: Rows

    def name(self, position: int) -> tuple[str, int]:
        """Returns topic and number of the partition at a position."""
        topic = int(np.searchsorted(np.cumsum(self.count), position, side="right"))
        return self.topics[topic], int(self.partition_id[position])

    def by_partition(self, of_topics: Iterable[int]) -> Rows:
        """Returns the topics' numbers, in their order, repeated for each partition."""
        return np.repeat(np.fromiter(of_topics, np.int64, len(self.topics)), self.count)


@dataclass(frozen=True, slots=True)
class ListedOffsets:
    """An answer to ListOffsets."""

    partitions: AnsweredPartitions
    throttle_time_ms: int = 0

    @classmethod
    def of(cls, response: Any) -> ListedOffsets:
        """Returns the library's answer as columns."""
        topics = response.topics or ()
        return cls(
            _partitions_of(topics, _listed_partition), getattr(response, "throttle_time_ms", 0)
        )


@dataclass(frozen=True, slots=True)
class FetchedOffsets:
    """An answer to OffsetFetch: `topics` counts those of each group, `errors` are the groups'."""

    groups: list[str]
    errors: list[int]
    topics: list[int]
    partitions: AnsweredPartitions
    throttle_time_ms: int = 0

    @classmethod
    def of(cls, response: Any) -> FetchedOffsets:
        """Returns the library's answer as columns."""
        return cls._of_groups(response, _fetched_partition)

    @classmethod
    def of_share_groups(cls, response: Any) -> FetchedOffsets:
        """Returns an answer to DescribeShareGroupOffsets; an offset is where the group begins."""
        return cls._of_groups(response, _shared_partition)

    @classmethod
    def _of_groups(cls, response: Any, of_partition: _OfPartition) -> FetchedOffsets:
        groups = list(response.groups or ())
        topics = [list(group.topics or ()) for group in groups]
        return cls(
            [group.group_id or "" for group in groups],
            [group.error_code for group in groups],
            [len(each) for each in topics],
            _partitions_of([topic for each in topics for topic in each], of_partition),
            getattr(response, "throttle_time_ms", 0),
        )


@dataclass(frozen=True, slots=True)
class RequestedPartitions:
    """The partitions of a ListOffsets request: topic `names`, and code and number by partition.

    A partition's code is its topic's position in `names`. Each topic's partitions lie side by side.
    They are encoded once; only the times in the bytes change.
    """

    names: tuple[str, ...]
    code: Rows
    number: Rows
    _encoded: list[tuple[bytes, Rows]] = field(default_factory=list, compare=False)

    def encode(self, time: npt.ArrayLike) -> bytes:
        """Returns the encoded topics of a request.

        `time` is one for all partitions, or one for each.
        """
        if not self._encoded:
            self._encoded.append(self._encode())
        encoded, places = self._encoded[0]
        data = np.frombuffer(bytearray(encoded), np.uint8)
        times = np.ascontiguousarray(np.broadcast_to(time, len(places)), ">i8")
        data[places[:, None] + np.arange(8)] = times.view(np.uint8).reshape(-1, 8)
        return data.tobytes()

    def _encode(self) -> tuple[bytes, Rows]:
        """Returns the bytes, and the place of each partition's time in them."""
        records = np.zeros(len(self.code), _REQUESTED)
        records["partition_id"], records["epoch"] = self.number, _NO_EPOCH
        begins = np.flatnonzero(np.diff(self.code, prepend=-1))
        count = np.diff(np.append(begins, len(self.code)))
        parts = [_compact(len(begins))]
        heads = [
            _text(self.names[code]) + _compact(number)
            for code, number in zip(self.code[begins].tolist(), count.tolist(), strict=True)
        ]
        raw, size = records.tobytes(), _REQUESTED.itemsize
        for head, first, number in zip(heads, begins.tolist(), count.tolist(), strict=True):
            parts += (head, raw[first * size : (first + number) * size], _NO_TAGS)
        offset = len(parts[0]) + _offset(_REQUESTED, "time")
        before = np.cumsum([len(head) for head in heads]) + np.arange(len(heads))
        places = np.repeat(before, count) + np.arange(len(self.code)) * size + offset
        return b"".join(parts), places.astype(np.int64)


class _Decoder:
    """Replaces the library's response class of one version."""

    def __init__(self, library: Any, version: int, decode: Callable[[bytes, int], Any]) -> None:
        self._library, self._version, self._decode = library[version], version, decode

    def parse_header(self, data: Any) -> Any:
        """Returns the header, decoded by the library."""
        return self._library.parse_header(data)

    def decode(self, data: Any) -> Any:
        """Returns the decoded answer behind its header."""
        return self._decode(data.read(), self._version)


class _FetchHeader(RequestHeader, init=False):  # type: ignore[call-arg,misc]
    def get_response_class(self) -> _Decoder:
        version = self.request_api_version
        return _Decoder(consumer.OffsetFetchResponse, version, decode_offset_fetch)


class _ListHeader(RequestHeader, init=False):  # type: ignore[call-arg,misc]
    def get_response_class(self) -> _Decoder:
        version = self.request_api_version
        return _Decoder(consumer.ListOffsetsResponse, version, decode_list_offsets)


class OffsetFetchRequest(consumer.OffsetFetchRequest, init=False):  # type: ignore[call-arg,misc]
    """The library's request, answered by FetchedOffsets."""

    header_class: Final = _FetchHeader


class ListOffsetsRequest(consumer.ListOffsetsRequest, init=False):  # type: ignore[call-arg,misc]
    """Requests offsets of partitions by time (ms, or a spec as START), answered by ListedOffsets.

    The time is one for all partitions, or one for each. `remote_ms` limits the time in which a
    broker reads remote storage (Kafka 4.0).
    """

    header_class: Final = _ListHeader

    def __init__(
        self,
        partitions: RequestedPartitions,
        time: npt.ArrayLike,
        isolation: int = 0,
        remote_ms: int = 0,
    ) -> None:
        super().__init__(
            replica_id=_NO_REPLICA,
            isolation_level=isolation,
            timeout_ms=remote_ms,
            min_version=_LIST_VERSION,
        )
        self.partitions, self.time = partitions, time

    def encode(
        self, version: int | None = None, header: bool = False, framed: bool = False
    ) -> bytes:
        """Returns the bytes to send, in the library's format."""
        if version is not None:
            self.API_VERSION = version
        version = self.API_VERSION
        parts = [_INT.pack(self.replica_id), bytes([self.isolation_level])]
        parts.append(self.partitions.encode(self.time))
        if version >= _TIMEOUT_VERSION:
            parts.append(_INT.pack(self.timeout_ms))
        parts.append(_NO_TAGS)
        if header:
            parts.insert(0, bytes(self.encode_header(flexible=True)))
        if framed:
            parts.insert(0, _INT.pack(sum(map(len, parts))))
        return b"".join(parts)


def decode_list_offsets(data: bytes, version: int) -> ListedOffsets:
    """Returns the decoded answer to ListOffsets. Raises the library's errors for damaged bytes."""
    with suppress(*_UNUSUAL):
        return _read_list_offsets(data, version)
    return ListedOffsets.of(consumer.ListOffsetsResponse.decode(data, version=version))


def decode_offset_fetch(data: bytes, version: int) -> FetchedOffsets:
    """Returns the decoded answer to OffsetFetch. Raises the library's errors for damaged bytes."""
    with suppress(*_UNUSUAL):
        return _read_groups(data, version)
    return FetchedOffsets.of(consumer.OffsetFetchResponse.decode(data, version=version))


class _UnusualError(Exception):
    """An answer has an unusual layout, so the library decodes it."""


_UNUSUAL = (_UnusualError, IndexError, ValueError, struct.error)


def _read_list_offsets(data: bytes, version: int) -> ListedOffsets:
    throttle, at = _read_int(data, 0)
    topics = _TopicReader(data, _listed_layout(version))
    _check_untagged(data, topics.read(at))
    return ListedOffsets(topics.partitions(), throttle)


def _read_groups(data: bytes, version: int) -> FetchedOffsets:
    throttle, at = _read_int(data, 0)
    topics = _TopicReader(data, _fetched_layout(version))
    number, at = _read_varint(data, at)
    groups: list[str] = []
    errors: list[int] = []
    counts: list[int] = []
    for _ in range(number - 1):
        length, at = _read_varint(data, at)
        if length == 0 or at + length > len(data):
            raise _UnusualError
        groups.append(data[at : at + length - 1].decode())
        before = len(topics.names)
        at = topics.read(at + length - 1)
        counts.append(len(topics.names) - before)
        (error,) = _SHORT.unpack_from(data, at)
        errors.append(error)
        at += _SHORT.size
        _check_untagged(data, at)
        at += 1
    _check_untagged(data, at)
    return FetchedOffsets(groups, errors, counts, topics.partitions(), throttle)


def _check_untagged(data: bytes, at: int) -> None:
    if data[at] != 0:
        raise _UnusualError


@dataclass(frozen=True, slots=True)
class _Layout:
    """The layout of a partition in one version of the request.

    `metadata` is the range of bytes with the length of a commit's metadata, which is empty in
    `record`. `decode` is the library's decoder of a topic.
    """

    record: np.dtype[Any]
    metadata: range
    of_partition: _OfPartition
    decode: Callable[[Any, int], tuple[Any, int]]


class _TopicReader:
    """Reads arrays of topics, one after another, and keeps their partitions as bytes."""

    def __init__(self, data: bytes, layout: _Layout) -> None:
        self._data, self._layout = data, layout
        self.names: list[str] = []
        self._count: list[int] = []
        self._records: list[bytes] = []
        # Of topics, by their place, in which a parallel consumer has finished records.
        self._finished: dict[int, Rows] = {}

    def read(self, at: int) -> int:
        """Reads one array of topics and returns where it ends."""
        number, at = _read_varint(self._data, at)
        for _ in range(number - 1):
            at = self._read_records(at) or self._read_topic(at)
        return at

    def _read_records(self, at: int) -> int | None:
        """Reads a topic whose partitions have one size, and returns where it ends; None if they
        differ.
        """
        data, layout = self._data, self._layout
        length, at = _read_varint(data, at)
        name, at = data[at : at + length - 1], at + length - 1
        number, at = _read_varint(data, at)
        number -= 1
        if length < 1 or number < 0:
            return None
        more = self._metadata_length(at) if layout.metadata and number else 0
        size = layout.record.itemsize + more
        end = at + number * size
        if more < 0 or end > len(data):
            return None
        records = data[at:end]
        if data[end] or records[size - 1 :: size].count(0) != number:
            return None
        if number and layout.metadata:
            if any(records[n::size].count(records[n]) != number for n in layout.metadata):
                return None
            if more:
                text = layout.metadata.stop
                # The library's objects have the text, which may be a map of finished records.
                if not _OF_MAPS.isdisjoint(records[text::size]):
                    return None
                cells = np.frombuffer(records, np.uint8).reshape(number, size)
                if (cells[:, text : text + more] >= _HIGH_BIT).any():
                    return None
                records = np.hstack([cells[:, :text], cells[:, text + more :]]).tobytes()
        self._add(name.decode(), number, records)
        return end + 1

    def _metadata_length(self, at: int) -> int:
        """Returns the length of the first commit's metadata; negative if it exceeds a byte."""
        length = self._data[at + self._layout.metadata.start]
        return max(length - 1, 0) if length < _HIGH_BIT else -1

    def _read_topic(self, at: int) -> int:
        """Reads a topic with the library's decoder and returns where it ends."""
        topic, at = self._layout.decode(memoryview(self._data), at)
        parts = [self._layout.of_partition(part) for part in topic.partitions or ()]
        records = np.zeros(len(parts), self._layout.record)
        columns = np.array(parts, np.int64).reshape(-1, len(_COLUMNS)).T
        for name, values in zip(_COLUMNS, columns, strict=True):
            if name in (self._layout.record.names or ()):
                records[name] = values
        if columns[-1].any():
            self._finished[len(self.names)] = columns[-1]
        self._add(topic.name or "", len(parts), records.tobytes())
        return at

    def _add(self, name: str, number: int, records: bytes) -> None:
        self.names.append(name)
        self._count.append(number)
        self._records.append(records)

    def partitions(self) -> AnsweredPartitions:
        """Returns the partitions that were read."""
        records = np.frombuffer(b"".join(self._records), self._layout.record)
        names = self._layout.record.names or ()
        columns = (
            records[name].astype(np.int64) if name in names else np.full(len(records), absent)
            for name, absent in _COLUMNS.items()
        )
        count = np.array(self._count, np.int64)
        found = AnsweredPartitions(self.names, count, *columns)
        first = np.cumsum(count) - count
        for topic, finished in self._finished.items():
            found.finished[first[topic] : first[topic] + count[topic]] = finished
        return found


# Columns, each with its value for answers that lack it.
_NO_LAG = -1
_COLUMNS = {"partition_id": 0, "error": 0, "offset": 0, "timestamp": 0}
_COLUMNS |= {"commit_epoch": _NO_EPOCH, "lag": _NO_LAG, "finished": 0}


def _listed_partition(part: Any) -> tuple[int, ...]:
    return part.partition_index, part.error_code, part.offset, part.timestamp, _NO_EPOCH, _NO_LAG, 0


def _fetched_partition(part: Any) -> tuple[int, ...]:
    offset, epoch = part.committed_offset, part.committed_leader_epoch
    finished = count_finished(part.metadata or "")
    return part.partition_index, part.error_code, offset, 0, epoch, _NO_LAG, finished


def _shared_partition(part: Any) -> tuple[int, ...]:
    # No client writes the leader epoch of this answer.
    return part.partition_index, part.error_code, part.start_offset, 0, _NO_EPOCH, part.lag, 0


def _partitions_of(topics: Iterable[Any], of_partition: _OfPartition) -> AnsweredPartitions:
    """Returns the columns of the library's objects."""
    parts = [list(topic.partitions or ()) for topic in topics]
    cells = np.array([of_partition(part) for each in parts for part in each], np.int64)
    count = np.array([len(each) for each in parts], np.int64)
    return AnsweredPartitions(
        [_name_of(topic) for topic in topics], count, *cells.reshape(-1, len(_COLUMNS)).T
    )


def _name_of(topic: Any) -> str:
    return getattr(topic, "topic_name", None) or getattr(topic, "name", None) or ""


@cache
def _listed_layout(version: int) -> _Layout:
    topic = consumer.ListOffsetsResponse.fields["topics"].array_of
    decode = topic.compiled_decode_from(version, compact=True, tagged=True)
    return _Layout(_LISTED, range(0), _listed_partition, decode)


@cache
def _fetched_layout(version: int) -> _Layout:
    topic = consumer.OffsetFetchResponse.fields["groups"].array_of.fields["topics"].array_of
    decode = topic.compiled_decode_from(version, compact=True, tagged=True)
    metadata = range(_offset(_FETCHED, "metadata"), _offset(_FETCHED, "error"))
    return _Layout(_FETCHED, metadata, _fetched_partition, decode)


def _offset(record: np.dtype[Any], name: str) -> int:
    """Returns the place of a field in a record, in bytes."""
    place: int = record.fields[name][1] if record.fields else 0
    return place


def _read_int(data: bytes, at: int) -> tuple[int, int]:
    (value,) = _INT.unpack_from(data, at)
    return value, at + _INT.size


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Returns an unsigned varint and where it ends."""
    value, shift = data[at] % _HIGH_BIT, 7
    while data[at] >= _HIGH_BIT:
        at += 1
        value |= data[at] % _HIGH_BIT << shift
        shift += 7
    return value, at + 1


def _compact(number: int) -> bytes:
    """Returns a length as Kafka's varint, which is one more than the length."""
    number += 1
    data = bytearray()
    while number >= _HIGH_BIT:
        data.append(number % _HIGH_BIT | _HIGH_BIT)
        number //= _HIGH_BIT
    return bytes([*data, number])


def _text(text: str) -> bytes:
    data = text.encode()
    return _compact(len(data)) + data
