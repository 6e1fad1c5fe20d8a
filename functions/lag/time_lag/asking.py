# SPDX-License-Identifier: Apache-2.0
"""The searches of a run: positions that need one first, then those of consumers that move."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from functions.lag.columns import Mask
from functions.lag.rules import Rules
from functions.lag.time_index.questions import LookUp
from functions.lag.time_index.search import Sought, search
from functions.lag.time_lag.dates import Dates, from_search
from functions.lag.time_lag.needs import Line

# Of a budget, for consumers that move: they ask again each run, so most of it is kept for others.
_MOVING_SHARE = 10


@dataclass(frozen=True, slots=True)
class Improved:
    """Dates by position, and the look-ups they took."""

    dates: Dates
    look_ups: int


def improved(
    dates: Dates,
    sought: Sought,
    needed: Mask,
    useful: Mask,
    line: Line,
    rules: Rules,
    look_up: LookUp,
) -> Improved:
    """The dates with what the index tells: of `needed` ones under the budget, then of `useful`
    ones under what is left of it, a tenth of it at most.
    """
    budget, spent = rules.lookup_budget, 0
    for mask, limit in ((needed, budget), (useful, budget // _MOVING_SHARE)):
        at, within = np.flatnonzero(mask), min(limit, budget - spent)
        part = sought.take(at)
        limits = replace(rules, lookup_budget=within)
        found = search(part, line.queue(at, within), limits, look_up)
        told = np.flatnonzero(found.told)
        dates = dates.replaced(at[told], from_search(part, found).take(told))
        spent += found.look_ups
    return Improved(dates, spent)
