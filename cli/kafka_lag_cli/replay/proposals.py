# SPDX-License-Identifier: Apache-2.0
"""Promises that keep a group's pages within a budget, chosen on some days and tried on the rest.

A threshold that is chosen and tried on the same days is too good to be true: the first two thirds
of the days choose, the last third says what would have come of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag_cdk.alarm_rules import SLA
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.simulation.grid import Grid, find_spans, find_states
from kafka_lag_cli.replay.alarms import condition_of
from kafka_lag_cli.replay.pages import ASSUMED
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_cli.tasks.policy import DELAY_MINUTES

# Promises that people write, in seconds: half a minute to a day.
CANDIDATES = (
    *(30, 60, 120, 180, 300, 600, 900, 1_200, 1_800, 2_700, 3_600),
    *(5_400, 7_200, 10_800, 14_400, 21_600, 43_200, 86_400),
)
_MONTH_DAYS, _DAY_MINUTES, _MINUTE_SECONDS = 30, 24 * 60, 60
_CHOSEN_ON = 2 / 3
# Days that are too few to say anything of a month.
LEAST_DAYS = 3
# A promise that is broken for a larger share of the time pages rarely, as it never ends.
_MOST_BROKEN = 0.25

# The minutes in which an alarm goes off, and those in which it is over.
_Spans = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A promise for a group, and the pages a month that it would have meant.

    Its days are those from the group's first known age to its last. `sla_seconds` is None where
    they are fewer than `LEAST_DAYS`, and where even the longest of `CANDIDATES` pages more often or
    is broken for more than a quarter of the time. `now_seconds` is what the document promises.
    `chosen` and `tried` are pages a month on the days that choose and on the rest; None for a
    document's promise that there is not. `later_seconds`: how much later the median page of the
    rest comes by the proposal than by the document; None without pages.
    """

    cluster: str
    group: str
    sla_seconds: int | None
    now_seconds: float | None
    chosen: float | None
    tried: float | None
    tried_now: float | None
    later_seconds: float | None


def find_promises(recorded: Recorded, cluster: Cluster, pages_a_month: float) -> Iterator[Proposal]:
    """For each group the shortest promise that keeps to the budget on the days that choose."""
    ages = recorded.metric(contract.ESTIMATED_TIME_LAG, cluster)
    by_candidate = [_spans(ages, seconds, cluster) for seconds in CANDIDATES]
    for at, group in enumerate(recorded.groups):
        known = np.flatnonzero(~np.isnan(ages[:, at]))
        if not cluster.groups.names.accepts(group) or not len(known):
            continue
        first, end = int(known[0]), int(known[-1]) + 1
        now = cluster.sla_of(group)
        of_now = None if now is None else _spans(ages[first:end, at : at + 1], now, cluster)[0]
        yield _propose_one(
            cluster.name,
            group,
            [[(one - first, other - first) for one, other in spans[at]] for spans in by_candidate],
            (now, of_now),
            end - first,
            pages_a_month,
        )


def _propose_one(
    cluster: str,
    group: str,
    by_candidate: Sequence[_Spans],
    now: tuple[float | None, _Spans | None],
    minutes: int,
    pages_a_month: float,
) -> Proposal:
    promised, of_now = now
    if minutes < LEAST_DAYS * _DAY_MINUTES:
        return Proposal(cluster, group, None, promised, None, None, None, None)
    split = int(minutes * _CHOSEN_ON)
    tried_now = None if of_now is None else _a_month(_rest(of_now, split), minutes - split)
    for seconds, spans in zip(CANDIDATES, by_candidate, strict=True):
        chosen = _a_month([begin for begin, _ in spans if begin < split], split)
        broken = sum(max(min(end, split) - begin, 0) for begin, end in spans)
        if chosen <= pages_a_month and broken <= _MOST_BROKEN * split:
            rest = _rest(spans, split)
            tried = _a_month(rest, minutes - split)
            later = None
            if promised is not None and of_now is not None:
                by_now = _rest(of_now, split)
                if seconds >= promised:
                    later = _median_delay(by_now, rest)
                elif (earlier := _median_delay(rest, by_now)) is not None:
                    later = -earlier
            return Proposal(cluster, group, seconds, promised, chosen, tried, tried_now, later)
    return Proposal(cluster, group, None, promised, None, None, tried_now, None)


def _spans(ages: Grid, seconds: float, cluster: Cluster) -> list[_Spans]:
    """By group, when an alarm on this promise would have been on."""
    condition = condition_of(cluster, SLA, float(seconds))
    found: list[_Spans] = [[] for _ in range(ages.shape[1])]
    for group, begin, end in find_spans(find_states(ages, condition, ASSUMED, DELAY_MINUTES)):
        found[group].append((begin, end))
    return found


def _rest(spans: _Spans, split: int) -> list[int]:
    return [begin for begin, _ in spans if begin >= split]


def _a_month(begins: Sequence[int], minutes: int) -> float:
    return len(begins) / (minutes / _DAY_MINUTES) * _MONTH_DAYS


def _median_delay(shorter: Sequence[int], longer: Sequence[int]) -> float | None:
    """Of the pages of the longer promise, each since that of the shorter one before it, seconds."""
    places = np.searchsorted(shorter, longer, "right") - 1
    delays = [page - shorter[at] for page, at in zip(longer, places, strict=True) if at >= 0]
    return float(np.median(delays)) * _MINUTE_SECONDS if delays else None
