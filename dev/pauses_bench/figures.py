# SPDX-License-Identifier: Apache-2.0
"""The rule alone against its thresholds, what was looked at and what was held out apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dev.pauses_bench.batch import BATCHES, Batch
from dev.pauses_bench.learning import (
    added_by_gaps,
    calm,
    steady_with_gaps,
    track_of,
    unreported,
)
from dev.pauses_bench.outages import cases, is_held_out, judged
from dev.pauses_bench.tracks import DAY

_STEADY = 60
# Days that hold five periods to learn by, outages, and the death of jobs with short and long ones.
_SHORT_DAYS, _LONG_DAYS = 35, 110


@dataclass(frozen=True, slots=True)
class Figure:
    """The worst of some cases, and how bad it may be."""

    name: str
    of: str
    held_out: bool
    cases: int
    worst: float
    allowed: float

    @property
    def missed(self) -> bool:
        """Worse than allowed."""
        return self.worst > self.allowed


def rule_alone(
    thousands: int, seeds: int, days: int, say: Callable[[str], None]
) -> Iterator[Figure]:
    """A, B, C, D and F."""
    for held_out in (False, True):
        chosen = [seed for seed in range(thousands) if is_held_out(seed) == held_out]
        say(f"A: {len(chosen)} thousand cases")
        late = [judged(cases(seed, held_out=held_out)) for seed in chosen]
        count = sum(len(some.kind) for some in late)
        worst = sum(int(some.late.sum()) for some in late)
        yield Figure("A late", "groups that fail", held_out, count, worst, 0)
    for held_out in (False, True):
        batches = [b for n, b in enumerate(BATCHES) if is_held_out(n) == held_out]
        chosen = [seed for seed in range(seeds) if is_held_out(seed) == held_out]
        if batches and chosen:
            yield from _learnt(batches, chosen, days, say, held_out=held_out)


def _learnt(
    batches: list[Batch], seeds: list[int], days: int, say: Callable[[str], None], *, held_out: bool
) -> Iterator[Figure]:
    say(f"B, C: {len(batches)} ways to pause, {len(seeds)} seeds, {days} days")
    pairs = [(batch, seed) for batch in batches for seed in seeds]
    tracks = [(batch, track_of(batch, seed, days)) for batch, seed in pairs]
    changes = calm(tracks)
    added = added_by_gaps(tracks, [seed for _, seed in pairs])
    for name, found in (("B held changes", changes), ("C added by gaps", added)):
        for batch in batches:
            own = [n for (b, _), n in zip(pairs, found, strict=True) if b is batch]
            yield Figure(name, batch.name, held_out, len(own), max(own), batch.most or 0)
    learnt = steady_with_gaps([seed + 100 * n for seed in seeds for n in range(_STEADY)])
    yield Figure("C learnt by gaps", "steady", held_out, len(learnt), int(learnt.sum()), 0)
    for name, outages, most in (("D periods", False, 2.0), ("F periods", True, 2.5)):
        say(name)
        for long in (False, True):
            some = [(b, seed) for b, seed in pairs if (b.period > DAY) == long]
            late = unreported(some, _LONG_DAYS if long else _SHORT_DAYS, outages=outages)
            for batch in dict.fromkeys(batch for batch, _ in some):
                own_late = [x for (b, _), x in zip(some, late.tolist(), strict=True) if b is batch]
                longest = round(max(own_late), 2)
                yield Figure(name, batch.name, held_out, len(own_late), longest, most)
