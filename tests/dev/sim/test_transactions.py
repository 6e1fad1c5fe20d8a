# SPDX-License-Identifier: Apache-2.0
"""Logs that are written in transactions are as they are described, and errors are counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dev.sim.cases.transactions import Case, Consumer, Reader, Writer, write
from dev.sim.scorers.transactions import Look, Score, judge, look, rests
from kafka_lag.contract import METHOD_MARKER, OK, OPEN_TRANSACTION, STALL

WRITER = Writer(records=(1, 4), seconds=(1.0, 5.0), a_minute=(5, 20), busy=(2, 6), quiet=(8, 20))
MINUTES = 90


def a_case(reader: Reader = Reader.COMMITS_RECORDS, **more: Any) -> Case:
    return Case(
        **{"name": "c", "writer": WRITER, "reader": reader, "delay": 1.0, "seed": (1,), **more}
    )


@pytest.mark.parametrize("producers", [1, 3])
@pytest.mark.parametrize("aborted", [0.0, 0.5])
def test_committed_records_are_readable_up_to_the_first_of_an_open_transaction(
    producers: int, aborted: float
) -> None:
    log = write(a_case(writer=replace(WRITER, producers=producers, aborted=aborted)), MINUTES)
    for at in np.linspace(0, 60 * MINUTES, 200):
        stable, end = log.stable(at), log.end(at)
        is_open = (log.begun <= at) & (log.over > at)
        assert stable == min([end, *log.first[is_open]])
        assert log.readable(at) == (log.records < stable).sum()


def test_aborted_records_are_none_that_can_be_read() -> None:
    log = write(a_case(writer=replace(WRITER, aborted=1.0)), MINUTES)
    assert (len(log.records), len(log.written) > 0) == (0, True)


def test_a_stuck_reader_leaves_the_newest_record_and_one_more_transaction_follows() -> None:
    case = a_case(Reader.STUCK, turns_at=40)
    log = write(case, MINUTES)
    consumer = Consumer(case, log, MINUTES)
    commits = [consumer.commit(minute) for minute in range(MINUTES)]
    assert len(set(commits[40:])) == 1
    assert log.readable(60 * 79) == consumer.read + 1
    assert log.readable(60 * 85) > consumer.read + 1


def test_a_reader_that_commits_behind_markers_stands_at_the_stable_offset() -> None:
    case = a_case(Reader.COMMITS_MARKERS)
    log = write(case, MINUTES)
    assert Consumer(case, log, MINUTES).commit(50) == log.stable(60 * 50 - 1.0)


def a_look(minute: int, **more: Any) -> Look:
    said = {
        "status": OK,
        "method": METHOD_MARKER,
        "reason": None,
        "named_since": None,
        "unread_minutes": 0.0,
        "end": 10,
        "commit": 9,
        "distance": 1,
        "seen_open": True,
    }
    return Look(minute, **{**said, **more})


def resting(count: int, **bad: Any) -> list[Look]:
    """Rests of five runs each; the last run of all is as given."""
    looks = [
        a_look(5 * rest + run, end=10 * (rest + 1), commit=10 * (rest + 1) - 1)
        for rest in range(count)
        for run in range(5)
    ]
    return [*looks[:-1], replace(looks[-1], **bad)]


def test_a_rest_is_over_when_its_reader_moves_on() -> None:
    assert list(rests(resting(4))) == [(5, 1), (10, 1), (15, 1)]


@pytest.mark.parametrize(
    ("bad", "wrong"),
    [
        pytest.param({}, 0, id="right"),
        pytest.param({"status": STALL}, 1, id="called stalled after its second rest"),
        pytest.param({"status": STALL, "distance": 3}, 0, id="farther than it ever rested"),
        pytest.param({"status": STALL, "seen_open": False}, 0, id="no transaction seen"),
    ],
)
def test_a_healthy_reader_is_wronged_at_distances_that_it_has_rested_at(
    bad: dict[str, Any], wrong: int
) -> None:
    score: Score = judge([a_case()], {"c": resting(4, **bad)})
    assert len(score.wrong) == wrong


@pytest.mark.parametrize(("named", "wrong"), [(42, 0), (43, 1)])
def test_an_open_transaction_is_to_be_named_by_the_second_run(named: int, wrong: int) -> None:
    looks = [
        a_look(n, reason=OPEN_TRANSACTION if n >= named else None, named_since=41.0)
        for n in range(60)
    ]
    assert len(judge([a_case(turns_at=40, hangs=True)], {"c": looks}).wrong) == wrong


def test_whole_runs_name_a_transaction_that_hangs() -> None:
    case = a_case(Reader.COMMITS_MARKERS, turns_at=30, hangs=True)
    score = judge([case], look([case], 40))
    assert score.counts["open transaction: named"] == 1
    assert score.wrong == []
