# SPDX-License-Identifier: Apache-2.0
"""The searches of a run: positions that need one first, then those of consumers that move."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_lag.lag.columns import Mask
from kafka_lag.lag.rules import Rules
from kafka_lag.lag.time_index.questions import LookUp
from kafka_lag.lag.time_index.search import Sought, search
from kafka_lag.lag.time_lag.dates import Dates, from_search
from kafka_lag.lag.time_lag.needs import Line

# Of a budget, for consumers that move: they ask again each run, so most of it is kept for others.
_MOVING_SHARE = 10


@dataclass(frozen=True, slots=True)
class Improved:
    """Dates by position, and the look-ups they took."""

    dates: Dates
    look_ups: int


@dataclass(frozen=True, slots=True)
class Wishes:
    """Positions whose date is needed, or useful; one `kept` gives way only to a finished search
    that needed no word of this run's clock, which may have gone back."""

    needed: Mask
    useful: Mask
    kept: Mask


def improved(
    dates: Dates,
    sought: Sought,
    wishes: Wishes,
    line: Line,
    rules: Rules,
    look_up: LookUp,
) -> Improved:
    """The dates with what the index tells: of needed ones under the budget, then of useful ones
    under what is left of it, a tenth of it at most.
    """
    budget, spent = rules.lookup_budget, 0
    for mask, limit in ((wishes.needed, budget), (wishes.useful, budget // _MOVING_SHARE)):
        at, within = np.flatnonzero(mask), min(limit, budget - spent)
        part = sought.take(at)
        limits = replace(rules, lookup_budget=within)
        found = search(part, line.queue(at, within), limits, look_up)
        better = from_search(part, found)
        sure = found.ended & found.alone(part.now)
        told = np.flatnonzero(better.best.known & (sure | (found.told & ~wishes.kept[at])))
        dates = dates.replaced(at[told], better.take(told))
        spent += found.look_ups
    return Improved(dates, spent)
