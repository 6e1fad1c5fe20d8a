# SPDX-License-Identifier: Apache-2.0
"""Services that say how many tasks they need, or that more tasks would not help them.

What is true of them is not written down: `scorers.tasks` tries other numbers of tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dev.sim.cases.services import Case, even, hot
from dev.sim.reading import Floats

# Minutes of a trial, minutes in which the collector sees a service, and the most tasks of it.
MINUTES, SEEN, MOST = 100, 72, 12


@dataclass(frozen=True, slots=True)
class Service:
    """A service that runs `start` tasks, and in the second half of its time `grows_to` tasks.

    What is written in so many minutes is there when it begins to read, `behind` them.
    """

    case: Case
    start: int
    behind: int = 0
    grows_to: int | None = None

    @property
    def behind_case(self) -> Case:
        """Its load with the backlog, which comes in the first minute."""
        load = self.case.load.copy()
        load[0] *= 1 + self.behind
        return replace(self.case, load=load)


def _make(
    name: str,
    load: float,
    start: int,
    shares: Floats | None = None,
    wave: tuple[int, int, float] | None = None,
    behind: int = 0,
    grows_to: int | None = None,
    **more: Any,
) -> Service:
    """Returns a service to which `load` tasks' worth of records is written.

    `wave`: in the first `high` of every `every` minutes it is so many `times` the mean.
    """
    minutes = np.arange(MINUTES)
    loads = np.full(len(minutes), load)
    if wave is not None:
        every, high, times = wave
        rest = (every - high * times) / (every - high)
        loads *= np.where(minutes % every < high, times, rest)
    more["shares"] = even(24) if shares is None else shares
    case = Case(name, loads, capacity=np.ones(MINUTES), most=MOST, **more)
    return Service(case, start, behind, grows_to)


def _skewed(partitions: int) -> Floats:
    """Returns shares that fall with the root of the rank, in an order that is not that of ranks."""
    ranks = np.arange(1, partitions + 1) ** -0.5
    order = np.random.default_rng(partitions).permutation(partitions)
    shares: Floats = (ranks / ranks.sum())[order]
    return shares


_WAVES, _PEAKS = (8, 4, 1.5), (15, 3, 2.5)


def _advised() -> Iterator[Service]:
    """Yields services of one to eight tasks that run as many as they are said to need."""
    yield _make("even 0.7", 0.7, 1, behind=12)
    for load, start in ((1.4, 1), (2.5, 2), (3.6, 2), (5.3, 3), (7.2, 6)):
        yield _make(f"even {load:g}", load, start)
    for load, start in ((1.6, 1), (2.4, 1), (3.3, 2), (4.4, 3)):
        yield _make(f"skewed {load:g}", load, start, _skewed(16))
    yield _make("hot partition 40% of 2.2", 2.2, 1, hot(12, 0.4))
    for load, start in ((1.5, 1), (2.6, 1), (4.4, 3)):
        yield _make(f"waves of {load:g}", load, start, wave=_WAVES)
    for load, start in ((1.3, 1), (3.3, 2)):
        yield _make(f"peaks of {load:g}", load, start, wave=_PEAKS)
    for load, start in ((1.4, 1), (2.4, 2), (3.4, 2), (4.3, 3)):
        yield _make(f"one slow of {load:g}", load, start, slow=0.6)


def _enough() -> Iterator[Service]:
    """Yields services that keep up all the time, and so show nothing of their capacity."""
    yield _make("enough for 1.5", 1.5, 3)
    yield _make("enough for 0.4", 0.4, 1)
    yield _make("enough for skewed 2.4", 2.4, 6, _skewed(16))
    yield _make("enough for waves of 1.6", 1.6, 4, wave=_WAVES)
    yield _make("enough, polls every 3 minutes", 1.2, 3, poll_seconds=180)


def _limited() -> Iterator[Service]:
    """Yields services that fall behind; more tasks help some of them."""
    for load, share, start in ((2.5, 0.6, 2), (3.0, 0.45, 3), (4.5, 0.3, 4), (1.6, 0.8, 1)):
        yield _make(f"hot {share:.0%} of {load:g}", load, start, hot(12, share))
    yield _make("hot 70% of 2 on 6", 2.0, 3, hot(6, 0.7))
    for count, load, start in ((1, 1.6, 1), (2, 3.2, 2), (3, 4.4, 2), (4, 5.5, 4), (3, 4.0, 5)):
        yield _make(f"{count} partitions for {load:g}, {start} tasks", load, start, even(count))
    for load, start in ((2.6, 1), (3.5, 2), (5.4, 4)):
        yield _make(f"too few for {load:g}", load, start)
    for load, start in ((2.4, 1), (3.5, 2)):
        yield _make(f"too few for skewed {load:g}", load, start, _skewed(16))
    for load, share in ((2.0, 0.4), (2.6, 0.3)):
        yield _make(f"too few, hot {share:.0%} of {load:g}", load, 1, hot(12, share))
    yield _make("too few on 4 partitions for 3.2", 3.2, 2, even(4))
    yield _make("too few for waves of 2.6", 2.6, 1, wave=_WAVES)
    yield _make("too few, one slow of 3.3", 3.3, 2, slow=0.6)


def _shared() -> Iterator[Service]:
    """Yields services that get more tasks behind a backlog; a store holds some of them up."""
    for gives, few, many, contention in (
        (2.4, 3, 6, 0.0),
        (1.6, 2, 5, 0.0),
        (2.2, 3, 6, 0.04),
        (3.2, 3, 7, 0.05),
        (1.0, 2, 4, 0.0),
    ):
        name = f"store of {gives:g}, {contention:.0%} a task, {few} to {many}"
        store = np.full(MINUTES, gives)
        more = partial(_make, store=store, contention=contention)
        yield more(name, 9.0, few, behind=4, grows_to=many)
    for few, many in ((2, 4), (3, 6), (2, 5)):
        yield _make(f"too few, {few} to {many}", 9.0, few, behind=4, grows_to=many)
    yield _make("too few and one slow, 2 to 5", 9.0, 2, slow=0.6, behind=4, grows_to=5)
    yield _make("too few in waves, 3 to 6", 9.0, 3, wave=_WAVES, behind=4, grows_to=6)


KINDS: Mapping[str, Callable[[], Iterator[Service]]] = {
    "advised": _advised,
    "enough": _enough,
    "limited": _limited,
    "shared": _shared,
}
