# SPDX-License-Identifier: Apache-2.0
"""All memory is in the snapshots: a container that starts cold each run says the same."""

from __future__ import annotations

from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.lag.model import ClusterReading
from kafka_lag.snapshots.parquet import from_parquet
from tests.builders import HOUR, MINUTE, NOON, Commit, a_reading, table
from tests.builders import Log as LogRead
from tests.fakes import MemoryStore
from tests.functions.lag.time_index_fake import Broker, Log
from tests.functions.runs import Run

Stored: TypeAlias = dict[str, list[tuple[object, ...]]]

_REASONS = st.sampled_from([contract.TIMEOUT, contract.DENIED])
_STATES = st.sampled_from(["Stable", "Stable", "Empty", "PreparingRebalance"])


@st.composite
def days(draw: st.DrawFn, most: int) -> tuple[list[tuple[int, ClusterReading]], Log]:
    """Up to so many runs: a log that grows, a commit that moves, rests, goes back or is unread."""
    at, committed, end = NOON, 0, draw(st.integers(0, 40))
    log = Log([NOON - HOUR + i * MINUTE for i in range(60)])
    runs: list[tuple[int, ClusterReading]] = []
    for _ in range(draw(st.integers(2, most))):
        at += draw(st.sampled_from([MINUTE] * 8 + [3 * MINUTE, 2 * HOUR]))
        end = min(end + draw(st.integers(0, 3)), log.end)
        committed = max(0, min(committed + draw(st.sampled_from([0, 0, 0, 1, 4, -6])), end))
        result: LogRead = draw(st.one_of(st.just((0, end)), st.just((0, end)), _REASONS))
        commit: Commit = draw(st.one_of(st.just(committed), st.just(committed), _REASONS))
        reading = a_reading(
            {"g": {"t": [commit]}},
            {"t": [result]},
            at=at,
            state=draw(_STATES),
            owners={("g", "t", 0): draw(st.sampled_from([None, "m"]))},
            topic_ids={"t": draw(st.sampled_from(["one"] * 12 + ["two"]))},
        )
        runs.append((at, reading))
    return runs, log


def said(store: MemoryStore) -> Stored:
    """Everything in the store, as Python values."""
    return {
        key: table(from_parquet(data, dataset), *contract.COLUMNS[dataset])
        for key, data in store.objects.items()
        for dataset in contract.DATASETS
        if f"/{dataset}/" in key
    }


@settings(max_examples=8)
@given(days(most=12))
def test_cold_says_what_warm_says(day: tuple[list[tuple[int, ClusterReading]], Log]) -> None:
    cold, warm = stored(*day)
    assert cold == warm


def stored(runs: list[tuple[int, ClusterReading]], log: Log) -> tuple[Stored, Stored]:
    """What a new collector for each run stores, and what one for all does."""
    answers = Broker({("t", 0): log})
    warm = Run(*(reading for _, reading in runs), answers=answers)
    cold = MemoryStore()
    for at, reading in runs:
        warm(at)
        Run(reading, store=cold, answers=answers)(at)
    return said(cold), said(warm.store)
