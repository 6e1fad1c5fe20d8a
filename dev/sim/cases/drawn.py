# SPDX-License-Identifier: Apache-2.0
"""Sets of cases by name, as they are written down or with sizes and times that a seed draws.

All rates and speeds of a drawn case are multiplied by one number, so an event has the same effect
on a group. The truth of a drawn case follows from the logs, as in every case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from zlib import crc32

import numpy as np

from dev.sim.cases import days
from dev.sim.cases.text import read_cases
from dev.sim.events import Case, Deploy, Event, Group, Reassign, Slow, SlowBroker, Topic

SEED = 1
# Cases that run on brokers as well.
TROUBLES, HEALTHY = read_cases("staged.txt").values()
# Two troubles at once, a part of a group, or troubles that end before the case; in memory.
TRIED, ASIDE, UNSEEN = read_cases("mixed.txt").values()
(RHYTHMS,) = read_cases("rhythms.txt").values()
# Planned work: releases, good and bad, and brokers that restart one after another. What is set
# aside was not seen by who made the rules.
PLANNED = read_cases("planned.txt")
# The factors of rates, at least and at most.
_LEAST, _MOST = 0.2, 30.0
_SHIFT = days.HOUR / 2
_COMMITS = (10.0, 20.0, 30.0)


def draw_cases(seed: int) -> list[Case]:
    """Returns the cases of a seed."""
    return [vary(each, seed) for each in (*TROUBLES, *HEALTHY, *TRIED, *ASIDE)]


def draw_days(seed: int, written: Iterable[Case]) -> list[Case]:
    """Returns the same days with sizes that a seed draws; all happens up to half an hour off."""
    rng = np.random.default_rng(seed)
    return [_shift(vary(each, seed), rng.uniform(-_SHIFT, _SHIFT)) for each in written]


def plan_days(seed: int, only: Callable[[str], bool] = bool) -> list[Case]:
    """Returns clusters of the written days; with a seed as it draws them."""
    chosen = [[each for each in one if only(each.name)] for one in days.CLUSTERS]
    if seed:
        chosen = [draw_days(seed, each) for each in chosen]
    return [days.merge(f"days-{place}", each) for place, each in enumerate(chosen) if each]


def vary(case: Case, seed: int) -> Case:
    """Returns the case with drawn rates, noise, leaders, commits and protocols; with 0 as it is."""
    if not seed:
        return case
    seeds = (seed, crc32(case.name.encode()))
    rng = np.random.default_rng(seeds)
    times = float(np.exp(rng.uniform(math.log(_LEAST), math.log(_MOST))))
    return replace(
        case,
        topics={name: _vary_topic(topic, times, rng) for name, topic in case.topics.items()},
        groups={name: _vary_group(group, times, rng) for name, group in case.groups.items()},
        happens=tuple((second, _scale(event, times)) for second, event in case.happens),
        seed=(*seeds, 1),
    )


def _vary_topic(topic: Topic, times: float, rng: np.random.Generator) -> Topic:
    rates = np.array(topic.rates) * times * (1.0 + rng.uniform(-0.05, 0.05, len(topic.rates)))
    first = int(rng.integers(len(topic.brokers)))
    noise = max(topic.noise, float(rng.uniform(0.0, 0.15)))
    brokers = (*topic.brokers[first:], *topic.brokers[:first])
    return replace(topic, rates=tuple(rates.tolist()), noise=noise, brokers=brokers)


def _vary_group(group: Group, times: float, rng: np.random.Generator) -> Group:
    """The members are up to a fifth faster, so that the group still keeps up."""
    commits = float(rng.choice(_COMMITS))
    return replace(
        group,
        ms=group.ms / times * float(rng.uniform(0.8, 1.0)),
        commit_seconds=commits if group.commit_seconds in _COMMITS else group.commit_seconds,
        protocol="consumer" if rng.integers(3) == 0 else "classic",
    )


def _scale(event: Event, times: float) -> Event:
    if isinstance(event, Slow):
        ms = event.ms
        slower = tuple(each / times for each in ms) if isinstance(ms, tuple) else ms / times
        return replace(event, ms=slower)
    if isinstance(event, Deploy) and event.ms is not None:
        return replace(event, ms=event.ms / times)
    if isinstance(event, SlowBroker | Reassign):
        return replace(event, rate=event.rate * times)
    return event


def _shift(case: Case, seconds: float) -> Case:
    """Returns the case with what happens on the day itself so many seconds later."""
    later = tuple((at + seconds * (at >= 0), event) for at, event in case.happens)
    return replace(case, happens=later)


# Returns the cases of a set for a seed; cases that are written down are the same for each.
SETS: Mapping[str, Callable[[int], Sequence[Case]]] = {
    "drawn": draw_cases,
    "staged": lambda _: (*TROUBLES, *HEALTHY),
    "mixed": lambda _: TRIED,
    "mixed-aside": lambda _: ASIDE,
    "mixed-unseen": lambda _: UNSEEN,
    "rhythms": lambda _: RHYTHMS,
}
