# SPDX-License-Identifier: Apache-2.0
"""A large cluster on a working day, for benchmarks."""

from __future__ import annotations

from dev.sim.cases.days import DAY, HOUR
from dev.sim.events import Case, Deploy, Event, Group, Slow, Topic, even
from dev.sim.world import Staged, World

TOPICS_A_GROUP, PARTITIONS = 5, 12
# Groups that share a topic.
_SHARED = 2.5


def make_fleet(groups: int) -> World:
    """Returns groups of five topics of twelve partitions each.

    Every tenth group falls behind for hours, and every eighth is deployed. Rates rise and fall with
    the hour. Groups are named group-0000 and on, topics topic-000 and on.
    """
    names = [f"topic-{number:03}" for number in range(round(groups * TOPICS_A_GROUP / _SHARED))]
    happens = list[tuple[float, Event]]()
    for number in range(0, groups, 10):
        lasts = HOUR * (number % 7 + 2)
        happens.append((HOUR * (number % 17), Slow(f"group-{number:04}", 10.0, lasts=lasts)))
    happens += [
        (HOUR * (number % 23), Deploy(f"group-{number:04}")) for number in range(1, groups, 8)
    ]
    case = Case(
        "bench",
        {name: Topic(even(PARTITIONS, 240.0), wave_seconds=DAY * HOUR) for name in names},
        {f"group-{number:04}": _make_group(number, names) for number in range(groups)},
        tuple(happens),
        HOUR,
        DAY * HOUR,
    )
    world = Staged(case).world
    # No scorer reads the history of this world.
    world.keep_every = round(2 * DAY * HOUR)
    return world


def _make_group(number: int, names: list[str]) -> Group:
    first, *more = (names[(number * 7 + place) % len(names)] for place in range(TOPICS_A_GROUP))
    return Group(first, members=4, ms=1.5, commit_seconds=10.0, more_topics=tuple(more))
