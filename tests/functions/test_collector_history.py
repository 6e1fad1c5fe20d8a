# SPDX-License-Identifier: Apache-2.0
"""A warm function and a cold one report the same, whatever happened to earlier runs."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from kafka_lag import contract
from kafka_lag.errors import ReporterError, StoreError
from kafka_lag.lag.model import ClusterReading, PreviousRuns
from kafka_lag.snapshots.previous import load_memory
from tests.builders import MINUTE, NOON, a_reading, datasets, same
from tests.fakes import MemoryStore
from tests.functions.runs import Run

# The group stands still at 5 while the log grows by a record a minute.
STUCK = {"g": {"orders": [5]}}


def reading(minute: int) -> ClusterReading:
    topics = {"orders": [(0, 10 + minute)]}
    return a_reading(STUCK, topics, at=NOON + minute * MINUTE)


class BreakingStore(MemoryStore):
    """Rejects objects of the minutes in `broken` that hold the text `rejected` in their key.

    A `mute` one takes the object and says nevertheless that it did not.
    """

    def __init__(self, broken: Iterable[int], rejected: str = "", *, mute: bool = False) -> None:
        super().__init__()
        self._broken, self._rejected, self._mute = set(broken), rejected, mute
        self.minute = 0

    def write_once(self, key: str, data: bytes) -> bool:
        fails = self.minute in self._broken and self._rejected in key
        if fails and not self._mute:
            raise StoreError("the store is full")
        written = super().write_once(key, data)
        if fails:
            raise StoreError("the store does not say")
        return written


def runs(minutes: list[int], store: BreakingStore | None = None) -> Run:
    """A warm collector after runs at these minutes; failures to write are its own affair."""
    run = Run(*(reading(minute) for minute in minutes), store=store or MemoryStore())
    for minute in minutes:
        if store is not None:
            store.minute = minute
        try:
            run(NOON + minute * MINUTE)
        except ReporterError:
            assert store is not None
    return run


def same_past(one: PreviousRuns, other: PreviousRuns) -> bool:
    return (
        one.newest.taken_at == other.newest.taken_at
        and len(one.ends) == len(other.ends)
        and all(map(same, datasets(one.newest).values(), datasets(other.newest).values()))
        and all(map(same, one.ends, other.ends))
    )


def assert_warm_is_cold(run: Run, minute: int) -> None:
    """The run at this minute starts from the same past and says the same, warm or cold."""
    taken_at = NOON + minute * MINUTE
    store = MemoryStore()
    store.objects = dict(run.store.objects)
    loaded = load_memory(store, "shop", taken_at, MINUTE).value
    assert same_past(run.collector.memory.previous_runs(), loaded.previous_runs())
    warm, cold = Run(reading(minute), store=run.store), Run(reading(minute), store=store)
    warm.collector.memory = run.collector.memory
    said = [one.collector.run(taken_at).report.snapshot for one in (warm, cold)]
    assert set(warm.store.calls[-3:]) == {"write_once"}
    assert all(map(same, datasets(said[0]).values(), datasets(said[1]).values()))


@pytest.mark.parametrize(
    "minutes",
    [
        pytest.param([*range(9), *range(12, 24)], id="a-gap"),
        pytest.param([*range(3), *range(700, 712)], id="a-gap-longer-than-history"),
        pytest.param([*range(0, 100, 7), 99, 100, 101], id="now-and-then"),
        pytest.param([*range(14), 5, 13, 14, 15, 16], id="back-and-forth"),
    ],
)
def test_a_warm_run_starts_from_the_past_of_a_cold_one(minutes: list[int]) -> None:
    assert_warm_is_cold(runs(minutes), minutes[-1] + 1)


@pytest.mark.parametrize(
    ("dataset", "mute"),
    [*((each, False) for each in contract.DATASETS), (contract.GROUPS, True)],
)
def test_once_a_store_works_again_a_warm_run_knows_what_it_holds(mute: bool, dataset: str) -> None:
    store = BreakingStore([8, 9, 10], dataset, mute=mute)
    run = runs([*range(13)], store)
    assert_warm_is_cold(run, 13)


def test_after_another_run_wrote_the_same_minute_the_store_is_read() -> None:
    run = runs([0, 1, 2])
    late = Run(reading(3), store=run.store)
    late(NOON + 3 * MINUTE)
    run(NOON + 3 * MINUTE)
    run.store.calls.clear()
    run(NOON + 4 * MINUTE)
    assert "keys" in run.store.calls
