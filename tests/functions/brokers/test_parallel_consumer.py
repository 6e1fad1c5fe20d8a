# SPDX-License-Identifier: Apache-2.0
"""What a parallel consumer has finished is read from its commits, whatever their encoding."""

from __future__ import annotations

import base64
import struct
from itertools import groupby

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.brokers.parallel_consumer import count_finished

# Records from the commit on, which is unfinished, up to the last finished one; or none.
MAPS: st.SearchStrategy[list[bool]] = st.lists(st.booleans(), max_size=400).map(
    lambda more: [False, *more, True]
) | st.just([])
# The letters of each encoding, plain and compressed, and the format of its numbers.
BITS = {"la": ">h", "os": ">i"}
RUNS = {"nJ": ">h", "ep": ">i"}
# Commits of real clients (0.5.3.3), with the records they had finished.
REAL = {
    "bADqfr/f7/d6vV6v12q1Wq1WKpVKpVIoFAqFQiAQCAQCAA==": 117,
    "bgABAGM=": 99,
    "YSi1L/0AWGkCAAJO8Dbls+++Vnj2j+z//sP/6X923+txn34mx9/7/tcc77yt6tr17Xu8olbob7U+1sHP"
    "Gzb19yK/3PmH7fP+en3ffPdc+NF//2jj3j8A": 399,
    "ZQAAAAEAAJw/": 39999,
    "bwAAAk7wNuWz775WePaP7P/+w//pf3bf63GffibH3/v+1xzvvK3q2vXte7yiVuhvtT7Wwc8bNvX3Ir/c"
    "+Yft8/56fd9891z40X//aOPePwA=": 399,
    "Sii1L/0AWE0AABAAAQEAN1/vsA==": 1999,
    "cyi1L/0AWHkCAAAAAk7wNuWz775WePaP7P/+w//pf3bf63GffibH3/v+1xzvvK3q2vXte7yiVuhvtT7W"
    "wc8bNvX3Ir/c+Yft8/56fd9891z40X//aOPePwA=": 399,
    "cCi1L/0AWOUFANJECYpDMzIRERDiFzXYIP6N3ahN4ow4kWTCQDskv8ooYuUvzT/tV/9qqCC7HAADERnr"
    "BhGwhKYY5SVaNgP8WBNGhvtltR2Lb11ag5IFqQaYJjP3lOoHYsYNq7Qzp53bmBgucuakvRfhORuUejK0"
    "OJAXPj2Dm5B+JjSQfD02cvNX0URK201hMNmvUK06jOCi8ydADueyTbrV+0wqp5dlrF5wnzPJzlOZtLnP"
    "IRPuyJp4MefsOWfGgsHTRd4B": 399,
}


def encode(done: list[bool], letters: str, *, compressed: bool) -> str:
    """The metadata for these records, as the client writes it."""
    if letters in BITS:
        bits = sum(finished << place for place, finished in enumerate(done))
        size = (len(done) + 7) // 8 + 1
        data = struct.pack(BITS[letters], len(done)) + bits.to_bytes(size, "little")
    else:
        runs = [len(list(run)) for _, run in groupby(done)] or [0]
        data = b"".join(struct.pack(RUNS[letters], run) for run in runs)
    if compressed:
        data = pa.compress(data, codec="zstd", asbytes=True)
    return base64.b64encode(letters[compressed].encode() + data).decode()


@given(MAPS, st.sampled_from([*BITS, *RUNS]), st.booleans())
def test_all_that_is_finished_is_counted(done: list[bool], letters: str, compressed: bool) -> None:
    assert count_finished(encode(done, letters, compressed=compressed)) == sum(done)


@given(MAPS, st.sampled_from([*BITS, *RUNS]), st.booleans(), st.data())
def test_damaged_maps_say_nothing_or_a_number_and_never_fail(
    done: list[bool], letters: str, compressed: bool, data: st.DataObject
) -> None:
    text = encode(done, letters, compressed=compressed)
    at = data.draw(st.integers(0, len(text) - 1))
    cut, changed = text[:at], f"{text[:at]}{data.draw(st.characters())}{text[at + 1 :]}"
    assert count_finished(cut) >= 0
    assert count_finished(changed) >= 0


@given(st.text())
def test_any_other_metadata_says_nothing(text: str) -> None:
    assert count_finished(text) >= 0


# Other clients' metadata, words, and maps in which the commit's own record is finished.
@pytest.mark.parametrize(
    "text", ["", "AgAAAZY1s2PX", "checkpoint", "Yes", "bg==", "bAAD", "bAACAwA=", "bgAAAAM="]
)
def test_text_that_is_no_map_says_nothing(text: str) -> None:
    assert count_finished(text) == 0


def test_a_map_that_a_few_bytes_make_huge_is_not_read() -> None:
    huge = pa.compress(b"\0\0\0\1" * 2**20, codec="zstd", asbytes=True)
    assert count_finished(base64.b64encode(b"p" + huge).decode()) == 0


@pytest.mark.parametrize("text", REAL)
def test_commits_of_real_clients_are_read(text: str) -> None:
    assert count_finished(text) == REAL[text]
