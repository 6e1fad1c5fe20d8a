# SPDX-License-Identifier: Apache-2.0
"""Logs as they are known in the end: what was read back, and how it came there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dev.time_lag_bench.brokers.reading import Living, Place
from dev.time_lag_bench.cases.case import Case, Records
from dev.time_lag_bench.logs import Ints, Log


def logs_of(
    case: Case,
    plan: Mapping[Place, Records],
    living: Mapping[Place, Living],
    acknowledged: list[Ints],
) -> dict[Place, Log]:
    """Logs of a case, its partitions in order.

    Where the broker dates records, the truth is when their acknowledgements came (`acknowledged`,
    by partition); in transactions, when the producer wrote them.
    """
    if acknowledged:
        return {at: _of_moments(living[at], acknowledged[at[1]]) for at in plan}
    if case.pace == "transactions":
        return {at: _of_moments(living[at], living[at].times) for at in plan}
    return {at: _as_told(living[at], records) for at, records in plan.items()}


def _as_told(living: Living, records: Records) -> Log:
    written = np.arange(len(records.times))
    if living.end != len(written):
        raise RuntimeError(f"The log ends at {living.end} after {len(written)} records")
    start, end = living.start, living.end
    return Log(living.offsets, living.times, start, end, written, records.appended)


def _of_moments(living: Living, moments: Ints) -> Log:
    came = np.maximum.accumulate(moments)
    return Log(living.offsets, came, living.start, living.end, living.offsets, came)
