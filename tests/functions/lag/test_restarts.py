# SPDX-License-Identifier: Apache-2.0
"""Brokers that restart one after another, by the in-sync replicas of partitions, run by run."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.restarts import add_restarts
from kafka_lag.lag.run import Run
from tests.builders import MINUTE, NOON

PARTITIONS = 12


def seen(*down: int, copies: int = 3, of: int = PARTITIONS) -> Frame:
    """Partitions while brokers are down, as `of` of them show it."""
    held = [tuple((n + each) % 3 + 1 for each in range(copies)) for n in range(PARTITIONS)]
    off = [set(down) if n < of else set() for n in range(PARTITIONS)]
    alive = [tuple(b for b in each if b not in o) for each, o in zip(held, off, strict=True)]
    return Frame.of(
        {
            "replicas": Strings.of(held),
            # Kafka leaves the last replica in sync.
            "in_sync_replicas": Strings.of(a or h for a, h in zip(alive, held, strict=True)),
            "leader": Column.optional([a[0] if a else None for a in alive]),
        }
    )


def follow(runs: Sequence[Frame], every: int = 1) -> list[tuple[list[int], float | None]]:
    """The brokers that restarted, as each run knows it, and since which minute one is down."""
    before, found = Frame.empty("groups"), []
    for number, topics in enumerate(runs):
        run = Run(NOON + number * every * MINUTE, Rules())
        before = add_restarts(Frame.of({"taken_at": run.now(2)}), before, topics, run)
        (text,) = set(before.strings("brokers_restarted").to_list())
        known = json.loads(text) if text else {"brokers": [], "down_since": None}
        since = known["down_since"]
        minute = None if since is None else (since - NOON) / MINUTE
        found.append((known["brokers"], minute))
    return found


ONE, TWO, NONE = seen(1), seen(2), seen()


@pytest.mark.parametrize(
    ("runs", "brokers", "down_since"),
    [
        pytest.param([NONE, NONE], [], None, id="all are up"),
        pytest.param([ONE, ONE, NONE], [1], None, id="one"),
        pytest.param([ONE, NONE, TWO, seen(3)], [1, 2, 3], 3, id="one after another"),
        pytest.param([NONE, ONE, ONE, ONE], [1], 1, id="one stays away"),
        pytest.param([ONE, NONE, ONE], [1], 2, id="the same twice"),
        pytest.param([ONE, seen(1, 2), TWO], [2], 2, id="two at once"),
        pytest.param([seen(1, of=8), NONE, seen(2, of=8)], [], None, id="partitions in part"),
        pytest.param([seen(1, copies=1), NONE, seen(2, copies=2)], [1, 2], 2, id="fewer copies"),
    ],
)
def test_brokers_that_are_down_alone_are_remembered_in_order(
    runs: list[Frame], brokers: list[int], down_since: float | None
) -> None:
    assert follow(runs)[-1] == (brokers, down_since)


def test_brokers_are_forgotten_half_an_hour_after_the_last_one() -> None:
    *known, last = follow([ONE, NONE, NONE, NONE, NONE], every=10)

    assert known == [([1], 0.0), ([1], None), ([1], None), ([1], None)]
    assert last == ([], None)


@pytest.mark.parametrize(
    ("after", "known"),
    [
        pytest.param(NONE, ([], None), id="it is back"),
        pytest.param(seen(3), ([3], 55), id="another one is down"),
        pytest.param(TWO, ([1, 2], 11), id="it is down"),
    ],
)
def test_a_broker_that_was_away_for_more_than_half_an_hour_did_not_restart(
    after: Frame, known: tuple[list[int], float | None]
) -> None:
    assert follow([ONE, TWO, TWO, TWO, TWO, after], every=11)[-1] == known
    # Half an hour is a restart.
    assert follow([ONE, TWO, TWO, TWO, TWO, NONE], every=10)[-1] == ([1, 2], None)
