# SPDX-License-Identifier: Apache-2.0
"""Which row of the snapshot before is remembered, and when a topic begins anew."""

from __future__ import annotations

import pytest

from kafka_lag.lag.carry_over import PreviousRows, match_previous, seconds_between, set_where_read
from kafka_lag.lag.model import Snapshot
from tests.functions.lag.partitions.rows import BEFORE, NOW, Row, column, first, rows, snapshot

SILENT = {"unread_reason": "timeout"}


def remembered(was: Row, now: Row) -> PreviousRows:
    return match_previous(rows(now), snapshot(rows({"committed_offset": 5, **was}, at=BEFORE)))


def test_a_row_remembers_its_own_group_topic_and_partition() -> None:
    keys = [("g", "t", 0), ("g", "t", 1), ("g", "u", 0), ("h", "t", 0)]
    named = [
        dict(zip(("consumer_group", "topic", "partition_id"), key, strict=True)) for key in keys
    ]
    before = rows(*({**row, "committed_offset": n} for n, row in enumerate(named)), at=BEFORE)
    memory = match_previous(rows(*reversed(named)), snapshot(before))
    assert memory.rows.numbers("committed_offset").to_list() == [3, 2, 1, 0]


def test_before_the_first_run_nothing_is_remembered() -> None:
    memory = match_previous(rows({}), Snapshot.empty())
    assert first(memory.rows, "topic", "committed_offset") == (None, None)
    assert memory.recreated.tolist() == [False]


@pytest.mark.parametrize(
    ("was", "now", "recreated"),
    [
        pytest.param({"topic_id": "a"}, {"topic_id": "a"}, False, id="same-id"),
        pytest.param({"topic_id": "a"}, {"topic_id": "b"}, True, id="another-id"),
        pytest.param({}, {"topic_id": "b"}, False, id="id-learnt"),
        pytest.param({"topic_id": "a"}, {}, False, id="id-not-told-now"),
        pytest.param({}, {}, False, id="broker-without-ids"),
        pytest.param({"end_offset": 9}, {"end_offset": 9}, False, id="end-stands"),
        pytest.param({"end_offset": 9}, {"end_offset": 8}, True, id="6-end-went-back"),
        pytest.param({"end_offset": 9}, {"end_offset": 8, **SILENT}, False, id="end-not-read-now"),
        pytest.param({"end_offset": 9}, {}, False, id="end-unknown"),
    ],
)
def test_a_topic_is_another_by_its_id_or_by_an_end_that_went_back(
    was: Row, now: Row, recreated: bool
) -> None:
    memory = remembered(was, now)
    assert memory.recreated.tolist() == [recreated]
    assert first(memory.rows, "committed_offset") == (None if recreated else 5,)


def test_silent_rows_keep_their_columns_where_others_are_updated() -> None:
    frame = rows({"lag": 1, "status": "OK"}, {"lag": 2, "status": "OK", **SILENT})
    words = rows({"status": "WARN"}, {"status": "WARN"}).strings("status")
    told = set_where_read(frame, lag=column([None, 9], "long"), status=words)
    assert told.numbers("lag").to_list() == [None, 2]
    assert told.strings("status").to_list() == ["WARN", "OK"]


@pytest.mark.parametrize(
    ("was", "now", "seconds"),
    [
        pytest.param(BEFORE, NOW, 60.0, id="a-minute"),
        pytest.param(NOW, BEFORE, 0.0, id="clock-went-back"),
        pytest.param(None, NOW, 0.0, id="never-read-before"),
    ],
)
def test_the_time_between_readings_is_never_negative(
    was: int | None, now: int, seconds: float
) -> None:
    assert seconds_between(rows({"read_at": now}), rows({"read_at": was})).fill(0.0).tolist() == [
        seconds
    ]
