# SPDX-License-Identifier: Apache-2.0
"""Topics as a cluster has them: many that are regular, busy or idle, fewer that are hard."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dev.time_lag_bench.cases import shapes
from dev.time_lag_bench.cases.case import DAY, HOUR, Random, Records
from dev.time_lag_bench.cases.shapes import MINUTE
from dev.time_lag_bench.logs import Ints

_COUNT = 300


def mixed(rng: Random, now: int) -> list[Records]:
    """Thirteen partitions, each of any shape, some hundred records long."""
    weights = np.array([weight for weight, _ in _SHAPES])
    picked = rng.choice(len(_SHAPES), 13, p=weights / weights.sum())
    return [Records.of(_SHAPES[place][1](rng, now)) for place in picked]


def _regular(rng: Random, now: int) -> Ints:
    return shapes.steady(rng, now, _COUNT, int(rng.integers(100, 10 * MINUTE)))


def _idle(rng: Random, now: int) -> Ints:
    return _regular(rng, now - int(rng.integers(HOUR, 4 * DAY)))


def _busy(rng: Random, now: int) -> Ints:
    return shapes.by_chance(rng, now, 4 * _COUNT, int(rng.integers(HOUR, 6 * DAY)))


def _sparse(rng: Random, now: int) -> Ints:
    return shapes.by_chance(rng, now, _COUNT, int(rng.integers(HOUR, 6 * DAY)))


def _bursty(rng: Random, now: int) -> Ints:
    return shapes.bursty(rng, now, 6, _COUNT // 6)


def _late(rng: Random, now: int) -> Ints:
    return _sparse(rng, now) - rng.integers(0, HOUR, _COUNT)


def _equal(rng: Random, now: int) -> Ints:
    return shapes.equal(rng, now, 2, _COUNT // 2)


_SHAPES: tuple[tuple[int, Callable[[Random, int], Ints]], ...] = (
    (5, _regular),
    (4, _idle),
    (5, _busy),
    (2, _sparse),
    (2, _bursty),
    (1, _late),
    (1, _equal),
)
