# SPDX-License-Identifier: Apache-2.0
"""SLAs that keep a group's pages within a budget, chosen on some days and tried on the rest.

An SLA that is chosen and tried on the same days is too good to be true: the first two thirds
of the days choose, the last third says what would have come of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from kafka_lag import contract
from kafka_lag_cli.replay.alarms import condition_of
from kafka_lag_cli.replay.pages import ASSUMED, DELAY_MINUTES
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_config.alarm_rules import SLA
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.simulation.grid import Grid, find_spans, find_states

# Promises that people write, in seconds: half a minute to a day.
CANDIDATES = (
    *(30, 60, 120, 180, 300, 600, 900, 1_200, 1_800, 2_700, 3_600),
    *(5_400, 7_200, 10_800, 14_400, 21_600, 43_200, 86_400),
)
# Runs that must be above an SLA, of how many: a deployed alarm's, and longer ones, which let a
# shorter SLA live with spikes. Fewer are no incident.
COUNTS = ((SLA.datapoints, SLA.periods), (5, 10), (10, 15))
_MONTH_DAYS, _DAY_MINUTES, _MINUTE_SECONDS = 30, 24 * 60, 60
_CHOSEN_ON = 2 / 3
# Days that are too few to say anything of a month.
LEAST_DAYS = 3
# An SLA that is broken for a larger share of the time pages rarely, as it never ends.
_MOST_BROKEN = 0.25

# The minutes in which an alarm goes off, and those in which it is over.
_Spans = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Proposal:
    """An SLA for a group, and the pages a month that it would have meant.

    Its days are those from the group's first known age to its last. `sla_seconds`, `datapoints` and
    `periods` are None where they are fewer than `LEAST_DAYS`, and where even the longest of
    `CANDIDATES` pages more often or is broken for more than a quarter of the time. `now_seconds` is
    the present SLA. `chosen` and `tried` are pages a month on the days that choose and on the rest.
    """

    cluster: str
    group: str
    sla_seconds: int | None = None
    datapoints: int | None = None
    periods: int | None = None
    now_seconds: float | None = None
    chosen: float | None = None
    tried: float | None = None


@dataclass(frozen=True, slots=True)
class _Sla:
    """The parameters of an alarm on a group's age; `soonest` is how many seconds after its last
    commit a group that stands still pages.
    """

    seconds: int
    datapoints: int
    periods: int
    run_seconds: int

    @property
    def soonest(self) -> float:
        return self.seconds + self.datapoints * self.run_seconds


@dataclass(frozen=True, slots=True)
class _Days:
    """A group's minutes from `first`; those up to `split` choose, and the rest ends with `end`."""

    first: int
    split: int
    end: int

    @classmethod
    def of(cls, ages: Grid) -> _Days | None:
        """Return a group's days; null if no age is known."""
        known = np.flatnonzero(~np.isnan(ages))
        if not len(known):
            return None
        first, end = int(known[0]), int(known[-1]) + 1
        return cls(first, first + int((end - first) * _CHOSEN_ON), end)

    @property
    def suffice(self) -> bool:
        """Return true if there are enough days to judge a month."""
        return self.end - self.first >= LEAST_DAYS * _DAY_MINUTES

    def chosen(self, spans: _Spans) -> float:
        """Pages a month in the days that choose."""
        return _count_a_month(spans, self.first, self.split)

    def tried(self, spans: _Spans) -> float:
        """Pages a month in the other days."""
        return _count_a_month(spans, self.split, self.end)

    def broken(self, spans: _Spans) -> float:
        """The share of the days that choose in which the alarm is on."""
        minutes = sum(max(min(end, self.split) - begin, 0) for begin, end in spans)
        return minutes / (self.split - self.first)


def propose_slas(recorded: Recorded, cluster: Cluster, pages_a_month: float) -> Iterator[Proposal]:
    """Yield for each group the SLA that reports a standing group soonest, among those within the
    budget on the days that choose.
    """
    ages = recorded.metric(contract.ESTIMATED_TIME_LAG, cluster)
    accepted = {
        at: days
        for at, group in enumerate(recorded.groups)
        if cluster.groups.names.accepts(group) and (days := _Days.of(ages[:, at])) is not None
    }
    found = _choose(ages, cluster, accepted, pages_a_month)
    for at, days in accepted.items():
        group = recorded.groups[at]
        proposal = Proposal(cluster.name, group, now_seconds=cluster.sla_of(group))
        if at in found:
            sla, spans = found[at]
            proposal = replace(
                proposal,
                sla_seconds=sla.seconds,
                datapoints=sla.datapoints,
                periods=sla.periods,
                chosen=days.chosen(spans),
                tried=days.tried(spans),
            )
        yield proposal


def _choose(
    ages: Grid, cluster: Cluster, every: Mapping[int, _Days], pages_a_month: float
) -> dict[int, tuple[_Sla, _Spans]]:
    """Return the choice by group; of two that report equally soon, the one with fewer runs."""
    best: dict[int, tuple[_Sla, _Spans]] = {}
    for counts in COUNTS:
        for seconds in CANDIDATES:
            sla = _Sla(seconds, *counts, cluster.interval_minutes * _MINUTE_SECONDS)
            open_ = [
                at
                for at, days in every.items()
                if days.suffice and (at not in best or sla.soonest < best[at][0].soonest)
            ]
            of_open = _find_spans(ages[:, open_], sla, cluster)
            for at, spans in zip(open_, of_open, strict=True):
                is_kept = every[at].chosen(spans) <= pages_a_month
                if is_kept and every[at].broken(spans) <= _MOST_BROKEN:
                    best[at] = sla, spans
    return best


def _find_spans(ages: Grid, sla: _Sla, cluster: Cluster) -> list[_Spans]:
    """Return by group the times at which an alarm on this SLA would have been on."""
    rule = replace(SLA, datapoints=sla.datapoints, periods=sla.periods)
    condition = condition_of(cluster, rule, float(sla.seconds))
    found: list[_Spans] = [[] for _ in range(ages.shape[1])]
    for group, begin, end in find_spans(find_states(ages, condition, ASSUMED, DELAY_MINUTES)):
        found[group].append((begin, end))
    return found


def _count_a_month(spans: _Spans, since: int, until: int) -> float:
    count = sum(since <= begin < until for begin, _ in spans)
    return count / ((until - since) / _DAY_MINUTES) * _MONTH_DAYS
