# SPDX-License-Identifier: Apache-2.0
"""How right the rivals are about the same commits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dev.time_lag_bench.answers.figures import nth
from dev.time_lag_bench.answers.rivals import RIVALS, Rival
from dev.time_lag_bench.brokers.prepared import Prepared
from dev.time_lag_bench.brokers.reading import Place
from dev.time_lag_bench.logs import Floats


@dataclass(frozen=True, slots=True)
class Told:
    """95th percentile of a rival's error, s, NaN for none, and the share of rows it is of."""

    p95: float
    answered: float


def told_by_rivals(prepared: Prepared, now: Floats) -> dict[str, Told]:
    """By rival; `now` is the clock of each row, ms. Rows without a truth do not count."""
    age = (now - prepared.reached) / 1000
    return {
        name: _held(_ages(rival, prepared, int(now.max())), age) for name, rival in RIVALS.items()
    }


def _ages(rival: Rival, prepared: Prepared, now: int) -> Floats:
    rows: dict[Place, list[int]] = {}
    for row, place in enumerate(prepared.places):
        rows.setdefault(place, []).append(row)
    ages = np.full(len(prepared.places), np.nan)
    for place, at in rows.items():
        ages[at] = rival(prepared.logs[place], prepared.committed[at], now)
    return ages


def _held(told: Floats, age: Floats) -> Told:
    defined = age >= 0
    known = defined & ~np.isnan(told)
    share = float(known.sum() / max(1, defined.sum()))
    return Told(nth(np.abs(told - age)[known], 0.95), share)
