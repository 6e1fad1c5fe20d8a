# SPDX-License-Identifier: Apache-2.0
"""The memory of a run: the previous run if warm, else the store; and the run's requests."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest

from kafka_lag import contract
from kafka_lag.errors import StoreError
from kafka_lag.lag.group_settings import NameFilter, Rules
from kafka_lag.lag.model import Snapshot
from kafka_lag.sinks.config import Levels
from kafka_lag.snapshots.previous import load_newest
from tests.builders import MINUTE, NOON, Groups, a_reading, cell, table
from tests.fakes import MemoryStore
from tests.functions.runs import GROUP, GROUPS, TOPICS, Run

# Of another group something is read: else the run would be no success.
UNREAD = a_reading({"g": contract.TIMEOUT, "other": {"orders": [0, 0]}}, TOPICS, at=NOON + MINUTE)


def stored(run: Run, taken_at: int) -> Snapshot:
    return load_newest(run.store, "shop", taken_at + 1).value


def test_a_warm_run_reads_nothing_from_the_store() -> None:
    run = Run()
    run(NOON)
    run.store.calls.clear()
    assert run(NOON + MINUTE) == 3
    assert set(run.store.calls) == {"write_once"}


def lag_of_the_unread(run: Run, taken_at: int) -> float | None:
    """What a run publishes that read nothing of the group: what it remembers."""
    run.sink.published.clear()
    with suppress(StoreError):
        run(taken_at)
    return run.sink.values().get((GROUP, "OffsetLag"))


def test_a_warm_run_and_a_cold_one_remember_what_was_read_and_not_their_own_set() -> None:
    run = Run(a_reading(GROUPS, TOPICS), UNREAD)
    run(NOON)
    assert lag_of_the_unread(run.again(UNREAD), NOON) is None
    assert lag_of_the_unread(run.again(UNREAD), NOON + MINUTE) == 6
    assert lag_of_the_unread(run, NOON + MINUTE) == 6


@pytest.mark.parametrize("taken_at", [NOON + 2 * MINUTE, NOON, NOON - MINUTE])
def test_memory_of_any_other_run_than_the_one_before_is_not_used(taken_at: int) -> None:
    run = Run()
    run(NOON)
    run.store.calls.clear()
    run(taken_at)
    assert "keys" in run.store.calls


def test_the_interval_says_which_run_is_the_one_before() -> None:
    run = Run(interval_ms=30_000)
    run(NOON)
    run.store.calls.clear()
    run(NOON + 30_000)
    assert set(run.store.calls) == {"write_once"}


def test_a_repeated_run_writes_nothing_new() -> None:
    run = Run()
    run(NOON)
    before = dict(run.store.objects)
    assert run(NOON) == 0
    assert run.again()(NOON) == 0
    assert run.store.objects == before


def test_after_losing_to_another_run_its_set_is_the_truth() -> None:
    other = Run()
    other(NOON)
    late = Run(a_reading({"g": {"orders": [0, 0]}}, TOPICS), UNREAD, store=other.store)
    late(NOON)
    late(NOON + MINUTE)
    assert cell(stored(late, NOON + MINUTE).groups, "lag", consumer_group="g") == 6


def test_a_set_that_could_not_be_stored_is_remembered_while_warm() -> None:
    run = Run(a_reading(GROUPS, TOPICS), UNREAD, store=MemoryStore({"write_once"}))
    with pytest.raises(StoreError):
        run(NOON)
    run.store.down = set()
    assert lag_of_the_unread(run, NOON + MINUTE) == 6


DOWN = {"keys", "folders", "read", "write_once"}


@pytest.mark.parametrize(
    ("window", "lag"), [(2 * MINUTE, 6), (MINUTE, None)], ids=["within the window", "older"]
)
def test_a_store_that_fails_leaves_the_memory_of_an_earlier_run(
    window: int, lag: int | None
) -> None:
    run = Run(a_reading(GROUPS, TOPICS), UNREAD, rules=Rules(window_ms=window))
    run(NOON)
    run.store.down = DOWN
    assert lag_of_the_unread(run, NOON + 2 * MINUTE) == lag


BEHIND = a_reading({"g": {"orders": [0, 0]}}, TOPICS)


@pytest.mark.parametrize("down", [set(), {"write_once"}, DOWN], ids=["well", "full", "down"])
@pytest.mark.parametrize("there", [False, True], ids=["first", "repeated"])
def test_a_run_that_comes_late_leaves_the_memory_of_the_one_after_it(
    down: set[str], there: bool
) -> None:
    other = Run(BEHIND)
    if there:
        other(NOON - MINUTE)
    run = Run(a_reading(GROUPS, TOPICS), BEHIND, UNREAD, store=other.store)
    run(NOON)
    run.store.down = down
    with suppress(StoreError):
        run(NOON - MINUTE)
    run.store.down = DOWN
    assert lag_of_the_unread(run, NOON + MINUTE) == 6


def test_a_run_that_is_repeated_without_its_past_leaves_the_memory_of_the_first() -> None:
    run = Run(a_reading(GROUPS, TOPICS), BEHIND, UNREAD)
    run(NOON)
    run.store.down = DOWN
    with pytest.raises(StoreError):
        run(NOON)
    assert lag_of_the_unread(run, NOON + MINUTE) == 6


def test_after_a_clock_was_set_back_farther_runs_remember_each_other() -> None:
    run = Run(BEHIND, a_reading(GROUPS, TOPICS), UNREAD, rules=Rules(window_ms=30 * MINUTE))
    run(NOON + 31 * MINUTE)
    run(NOON)
    run.store.calls.clear()
    assert lag_of_the_unread(run, NOON + MINUTE) == 6
    assert set(run.store.calls) == {"write_once"}


def test_while_a_store_cannot_be_read_runs_remember_each_other_and_store_nothing() -> None:
    run = Run(a_reading(GROUPS, TOPICS), UNREAD, store=MemoryStore({"keys"}))
    lags = [lag_of_the_unread(run, NOON + minute * MINUTE) for minute in range(3)]
    assert lags == [6, 6, 6]
    assert run.store.objects == {}


def test_once_the_store_answers_what_it_knows_is_what_counts() -> None:
    other = Run()
    other(NOON)
    late = Run(a_reading({"g": {"orders": [0, 0]}}, TOPICS), UNREAD, store=other.store)
    late.store.down = {"keys"}
    with pytest.raises(StoreError):
        late(NOON + MINUTE)
    late.store.down = set()
    late(NOON + 2 * MINUTE)
    assert cell(stored(late, NOON + 2 * MINUTE).groups, "lag", consumer_group="g") == 6


def test_the_finest_published_level_is_stored_with_each_partition() -> None:
    run = Run(levels=Levels(max_metrics=len(contract.HEALTH_UNITS) + 4))
    run()
    rows = stored(run, NOON).group_partitions
    assert table(rows, "published") == [("group",), ("group",)]


def test_the_metrics_of_the_last_run_are_first_in_the_next() -> None:
    levels = Levels(max_metrics=len(contract.HEALTH_UNITS) + 6)
    crowd: Groups = {"a": {"orders": [0, 0]}, **GROUPS}
    run = Run(a_reading(GROUPS, TOPICS), a_reading(crowd, TOPICS), levels=levels)
    run(NOON)
    run(NOON + MINUTE)
    assert ("shop", "a") not in {dimensions for dimensions, _ in run.sink.values()}


def test_a_run_requests_by_its_filters_and_what_the_previous_one_knew() -> None:
    rules = Rules(groups=NameFilter(re.compile("g")), topics=NameFilter(re.compile("o")))
    run = Run(rules=rules)
    run(NOON)
    run(NOON + MINUTE)
    first, second = run.source.requests
    assert (first.groups, first.topics) == (rules.groups, rules.topics)
    assert first.known_groups == first.known_topics == frozenset()
    assert (second.known_groups, second.known_topics) == (
        frozenset({"g"}),
        frozenset({"orders"}),
    )


def test_a_group_or_topic_that_is_gone_is_not_requested_again() -> None:
    topics = {**TOPICS, "bills": [(0, 1)], "dark": [(0, 1)]}
    hidden = {"dark": contract.DENIED}
    gone = a_reading({}, TOPICS, gone_groups=["g"], gone_topics=["bills"], hidden_topics=hidden)
    run = Run(a_reading(GROUPS, topics), gone)
    for minute in range(3):
        run(NOON + minute * MINUTE)
    assert run.source.requests[2].known_groups == frozenset()
    assert run.source.requests[2].known_topics == {"orders", "dark"}
