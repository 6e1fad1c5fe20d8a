# SPDX-License-Identifier: Apache-2.0
"""Groups beside what is usual for them at this hour of this weekday."""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask
from kafka_lag.lag.frame import DTYPES, Frame, locate, unknown

# Measure, and the columns with its usual value and the spread of runs around it.
_MEASURES = (
    ("lag", "usual_lag", "lag_spread"),
    ("time_lag_seconds", "usual_time_lag", "time_lag_spread"),
)


def no_figures() -> Frame:
    """Before anything is learnt: the columns of the usual figures, no rows."""
    columns = {name: unknown(kind, 0) for name, kind in contract.USUAL_COLUMNS.items()}
    return Frame(columns, 0)


def add_unusual(groups: Frame, figures: Frame) -> Frame:
    """The groups with `usual_lag` (records), `usual_time_lag` (s) and `unusual`.

    `figures` are the usual ones of the run's weekday and hour. `unusual`: whether lag or time lag
    lies contract.FAR spreads or more from its usual value, up or down. It is true where one is
    known to be, unknown where none was learnt or one that was is not known in this run.
    """
    at = locate(groups, figures, ("consumer_group",))
    of_group = figures.take(at)
    far, learnt = np.zeros(len(groups), bool), np.zeros(len(groups), bool)
    missing = np.zeros(len(groups), bool)
    for measure, usual_name, spread_name in _MEASURES:
        usual, value = of_group.numbers(usual_name), groups.numbers(measure)
        learnt |= usual.known
        missing |= usual.known & ~value.known
        far |= _is_far(value, usual, of_group.numbers(spread_name), contract.FLOORS[measure])
    return groups.with_columns(
        usual_lag=of_group.numbers("usual_lag"),
        usual_time_lag=of_group.numbers("usual_time_lag"),
        unusual=Column(far.astype(DTYPES[contract.BOOLEAN]), far | (learnt & ~missing)),
    )


def _is_far(value: Column, usual: Column, spread: Column, floor: float) -> Mask:
    least = np.maximum(usual.fill(0.0) * contract.USUAL_PART, floor)
    scale = np.maximum(spread.fill(0.0), least)
    above = value - usual
    mask: Mask = (above >= contract.FAR * scale) | (above <= -contract.FAR * scale)
    return mask
