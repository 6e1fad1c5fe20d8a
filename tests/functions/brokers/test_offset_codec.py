# SPDX-License-Identifier: Apache-2.0
"""The columnar codec of offsets agrees with the library, on right bytes and on any others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol import consumer

from kafka_lag.brokers.offset_codec import (
    FetchedOffsets,
    ListedOffsets,
    ListOffsetsRequest,
    RequestedPartitions,
    decode_list_offsets,
    decode_offset_fetch,
)

_LISTED = consumer.ListOffsetsResponse.ListOffsetsTopicResponse
_LISTED_PART = _LISTED.ListOffsetsPartitionResponse
_GROUP = consumer.OffsetFetchResponse.OffsetFetchResponseGroup
_OF_GROUP = _GROUP.OffsetFetchResponseTopics
_OF_GROUP_PART = _OF_GROUP.OffsetFetchResponsePartitions

_LIST_VERSIONS = range(7, 12)
# From version 10 on an answer has ids of topics, which are not requested.
_FETCH_VERSIONS = range(8, 10)

# A parallel consumer's map of finished records: two are not, three are.
MAP = "bgACAAM="

_INT32 = st.integers(-(2**31), 2**31 - 1)
_INT64 = st.integers(-(2**63), 2**63 - 1)
_CODE = st.sampled_from([0, 0, 0, 3, 29, -1])
_NAME = st.sampled_from(["a", "orders", "größe", "x" * 126, "y" * 127, "z" * 249, ""])
# Metadata of one length, as Streams writes it, and of any.
_METADATA = st.sampled_from(["", "", "", "AgAAAZY1s2PX", "BgAAAZY1s2PX", MAP, "ü", "m" * 127, None])
_ONE_METADATA = st.sampled_from(["", "AgAAAZY1s2PX", "m" * 130, None, MAP])


@st.composite
def _listed(draw: st.DrawFn) -> tuple[Any, int]:
    """An answer to ListOffsets and its version."""
    version = draw(st.sampled_from(_LIST_VERSIONS))
    parts = st.lists(
        st.builds(
            _LISTED_PART,
            partition_index=_INT32,
            error_code=_CODE,
            old_style_offsets=st.just([]),
            timestamp=_INT64,
            offset=_INT64,
            leader_epoch=_INT32,
        ),
        max_size=4,
    )
    topics = draw(st.lists(st.builds(_LISTED, name=_NAME, partitions=parts), max_size=4))
    answer = consumer.ListOffsetsResponse(throttle_time_ms=draw(_INT32), topics=topics)
    return answer, version


@st.composite
def _fetched(draw: st.DrawFn) -> tuple[Any, int]:
    """An answer to OffsetFetch and its version."""
    version = draw(st.sampled_from(_FETCH_VERSIONS))

    def topics() -> st.SearchStrategy[Any]:
        metadata = _METADATA if draw(st.booleans()) else st.just(draw(_ONE_METADATA))
        part = st.builds(
            _OF_GROUP_PART,
            partition_index=_INT32,
            committed_offset=_INT64,
            committed_leader_epoch=_INT32,
            metadata=metadata,
            error_code=_CODE,
        )
        parts = st.lists(part, max_size=4)
        return st.lists(st.builds(_OF_GROUP, name=_NAME, partitions=parts), max_size=3)

    group = st.builds(_GROUP, group_id=_NAME, topics=topics(), error_code=_CODE)
    groups, throttle = draw(st.lists(group, max_size=3)), draw(_INT32)
    return consumer.OffsetFetchResponse(throttle_time_ms=throttle, groups=groups), version


def _of_library_listed(data: bytes, version: int) -> ListedOffsets:
    return ListedOffsets.of(consumer.ListOffsetsResponse.decode(data, version=version))


def _of_library_fetched(data: bytes, version: int) -> FetchedOffsets:
    answer = consumer.OffsetFetchResponse.decode(data, version=version)
    return FetchedOffsets.of(answer)


_Decode = Callable[[bytes, int], Any]
_CODECS: dict[str, tuple[st.SearchStrategy[tuple[Any, int]], _Decode, _Decode]] = {
    "ListOffsets": (_listed(), decode_list_offsets, _of_library_listed),
    "OffsetFetch": (_fetched(), decode_offset_fetch, _of_library_fetched),
}
_BOTH = pytest.mark.parametrize("kind", _CODECS)


def _said(decode: _Decode, data: bytes, version: int) -> Any:
    """What a codec makes of bytes: plain values, or the kind of error."""
    try:
        answer = decode(data, version)
    except Exception as error:  # noqa: BLE001 - whatever the library raises
        return type(error)
    plain = (each.tolist() if isinstance(each, np.ndarray) else each for each in _flat(answer))
    return list(plain)


def _flat(answer: Any) -> Any:
    for each in astuple(answer):
        yield from each if isinstance(each, tuple) else (each,)


@_BOTH
@given(st.data())
def test_any_answer_has_the_librarys_values(kind: str, data: st.DataObject) -> None:
    answers, decode, by_library = _CODECS[kind]
    answer, version = data.draw(answers)
    encoded = bytes(answer.encode(version=version))
    said = _said(decode, encoded, version)
    assert said == _said(by_library, encoded, version)
    assert isinstance(said, list)


@_BOTH
@given(st.data())
def test_truncated_and_damaged_bytes_have_the_librarys_values_or_its_error(
    kind: str, data: st.DataObject
) -> None:
    answers, decode, by_library = _CODECS[kind]
    answer, version = data.draw(answers)
    encoded = bytes(answer.encode(version=version))
    for end in data.draw(st.lists(st.integers(0, len(encoded)), min_size=1, max_size=20)):
        cut = encoded[:end]
        assert _said(decode, cut, version) == _said(by_library, cut, version)
    change = st.tuples(st.integers(0, max(len(encoded) - 1, 0)), st.integers(0, 255))
    for at, value in data.draw(st.lists(change, min_size=1, max_size=20)):
        damaged = encoded[:at] + bytes([value]) + encoded[at + 1 :]
        assert _said(decode, damaged, version) == _said(by_library, damaged, version)


def test_metadata_of_one_length_that_is_no_text_raises_what_the_library_does() -> None:
    parts = [_OF_GROUP_PART(number, 5 + number, 1, "text", 0) for number in range(2)]
    topics = [_OF_GROUP(name="a", partitions=parts)]
    version, group = 8, _GROUP(group_id="g", topics=topics, error_code=0)
    encoded = bytes(consumer.OffsetFetchResponse(groups=[group]).encode(version=version))
    assert decode_offset_fetch(encoded, version).partitions.offset.tolist() == [5, 6]
    with pytest.raises(UnicodeDecodeError):
        decode_offset_fetch(encoded.replace(b"text", b"te\xfft"), version)


@pytest.mark.parametrize("version", range(7, 10))
def test_a_tagged_field_that_no_version_knows_is_passed_over(version: int) -> None:
    parts = [{"partition_index": n, "error_code": 0, "timestamp": 5, "offset": n} for n in (0, 1)]
    topics = [_LISTED(name="a", partitions=[_LISTED_PART(**part) for part in parts])] * 2
    encoded = bytes(consumer.ListOffsetsResponse(topics=topics).encode(version=version))
    # Behind each record, topic and answer stands the number of its tagged fields: of the first
    # topic's second record, one of two bytes with tag 7.
    record = encoded.index(b"\x02a") + len(b"\x02a\x03") + 2 * 27
    tagged = encoded[: record - 1] + b"\x01\x07\x02xy" + encoded[record:]

    answer = decode_list_offsets(tagged, version)

    assert answer.partitions.topics == ["a", "a"]
    assert answer.partitions.offset.tolist() == [0, 1, 0, 1]
    assert _said(decode_list_offsets, tagged, version) == _said(_of_library_listed, tagged, version)


@given(
    version=st.sampled_from(_LIST_VERSIONS),
    counts=st.lists(
        st.tuples(_NAME, st.integers(1, 3)), max_size=4, unique_by=lambda each: each[0]
    ),
    times=st.lists(_INT64, min_size=12, max_size=12),
    isolation=st.sampled_from([0, 1]),
    remote_ms=_INT32,
)
def test_a_request_has_the_bytes_of_the_librarys_whatever_was_encoded_before(
    version: int, counts: list[tuple[str, int]], times: list[int], isolation: int, remote_ms: int
) -> None:
    names = tuple(name for name, _ in counts)
    sizes = np.array([count for _, count in counts], np.int64)
    code = np.repeat(np.arange(len(names)), sizes)
    number = np.concatenate([np.zeros(0, np.int64), *(np.arange(count) for count in sizes)])
    partitions = RequestedPartitions(names, code, number)

    for time in (-2, np.array(times[: len(code)], np.int64)):
        request = ListOffsetsRequest(partitions, time, isolation, remote_ms)
        library = _library_request(names, code, number, time, isolation, remote_ms)
        for each in (request, library):
            each.API_VERSION = version
            each.with_header(correlation_id=77, client_id="x")
        assert request.encode(header=True, framed=True) == library.encode(header=True, framed=True)


def _library_request(
    names: tuple[str, ...], code: Any, number: Any, time: Any, isolation: int, remote_ms: int
) -> Any:
    topic_of = consumer.ListOffsetsRequest.ListOffsetsTopic
    part_of = topic_of.ListOffsetsPartition
    times = np.broadcast_to(time, len(code)).tolist()
    cells = list(zip(code.tolist(), number.tolist(), times, strict=True))
    topics = [
        topic_of(
            name=name,
            partitions=[part_of(partition_index=n, timestamp=t) for c, n, t in cells if c == at],
        )
        for at, name in enumerate(names)
    ]
    return consumer.ListOffsetsRequest(
        replica_id=-1, isolation_level=isolation, topics=topics, timeout_ms=remote_ms
    )
