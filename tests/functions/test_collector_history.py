# SPDX-License-Identifier: Apache-2.0
"""A warm container and one that starts cold say the same, whatever happened to runs before."""

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
    """Refuses objects of the minutes in `broken` that hold the word `refused` in their key.

    A `mute` one takes the object and says nevertheless that it did not.
    """

    def __init__(self, broken: Iterable[int], refused: str = "", *, mute: bool = False) -> None:
        super().__init__()
        self._broken, self._refused, self._mute = set(broken), refused, mute
        self.minute = 0

    def write_once(self, key: str, data: bytes) -> bool:
        fails = self.minute in self._broken and self._refused in key
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
        pytest.param([0], id="one"),
        pytest.param(list(range(50)), id="every-minute"),
        pytest.param([*range(20), *range(23, 60)], id="a-gap"),
        pytest.param([*range(5), *range(700, 740)], id="a-gap-longer-than-history"),
        pytest.param([*range(0, 100, 7), 99, 100, 101], id="now-and-then"),
        pytest.param([*range(30), 5, 29, 30, 31, 32], id="back-and-forth"),
    ],
)
def test_a_warm_run_starts_from_the_past_of_a_cold_one(minutes: list[int]) -> None:
    assert_warm_is_cold(runs(minutes), minutes[-1] + 1)


@pytest.mark.parametrize("dataset", contract.DATASETS)
@pytest.mark.parametrize("mute", [False, True], ids=["refused", "taken-but-not-said"])
@pytest.mark.parametrize("broken", [[20], [20, 21, 22]], ids=["once", "thrice"])
def test_once_a_store_works_again_a_warm_run_knows_what_it_holds(
    broken: list[int], mute: bool, dataset: str
) -> None:
    store = BreakingStore(broken, dataset, mute=mute)
    run = runs([*range(25)], store)
    assert_warm_is_cold(run, 25)


def test_while_a_store_takes_nothing_a_warm_run_knows_its_own_runs() -> None:
    store = BreakingStore(range(3, 30))
    run = runs([*range(8)], store)
    past = run.collector.memory.previous_runs()
    assert past.newest.taken_at == NOON + 7 * MINUTE
    assert [frame.numbers("end_offset").to_list() for frame in past.ends] == [
        [10 + minute] for minute in range(8)
    ]


def test_the_first_run_after_an_outage_loads() -> None:
    store = BreakingStore([3])
    run = runs([*range(5)], store)
    store.calls.clear()
    run(NOON + 5 * MINUTE)
    assert "keys" in store.calls


def test_after_another_run_wrote_the_same_minute_the_store_is_asked() -> None:
    run = runs([0, 1, 2])
    late = Run(reading(3), store=run.store)
    late(NOON + 3 * MINUTE)
    run(NOON + 3 * MINUTE)
    run.store.calls.clear()
    run(NOON + 4 * MINUTE)
    assert "keys" in run.store.calls


def test_end_offsets_that_cannot_be_read_are_warned_of_and_the_run_goes_on() -> None:
    run = runs([0, 1, 2])
    (key,) = [k for k in run.store.objects if "/topic_partitions/" in k and "T120100Z" in k]
    run.store.objects[key] = b"scribble"
    cold = run.again(reading(3))
    assert cold(NOON + 3 * MINUTE) == 3
    (warning,) = cold.logger.warnings
    assert warning.startswith(f"the end offsets of {key} were left out: ")


def test_end_offsets_that_nobody_answers_for_leave_a_run_that_keeps_nothing() -> None:
    class Deaf(MemoryStore):
        def keys(self, prefix: str, after: str = "") -> list[str]:
            if "/topic_partitions/" in prefix:
                raise StoreError("no answer")
            return super().keys(prefix, after)

    store = Deaf()
    store.objects = runs([0, 1]).store.objects
    run = Run(reading(2), store=store)
    with pytest.raises(StoreError, match="no answer"):
        run(NOON + 2 * MINUTE)
    assert len(store.objects) == 6
    assert run.sink.published != []
