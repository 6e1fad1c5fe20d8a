# SPDX-License-Identifier: Apache-2.0
"""Whatever the shape of the log and whoever answers, the truth lies in the stated bracket."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import HOUR, NOON
from tests.functions.lag.time_index.brokers import Broker, Log
from tests.functions.lag.time_index.searched import DAY, brackets, dated


def steps() -> st.SearchStrategy[list[int]]:
    """Times between records: bursts, pauses, and now and then backwards."""
    short = st.integers(0, 50)
    long = st.integers(1, 6 * HOUR)
    back = st.integers(-2 * HOUR, -1)
    return st.lists(st.one_of(short, short, long, back), min_size=1, max_size=60)


@settings(max_examples=300, deadline=None)
@given(
    steps(),
    st.data(),
    st.integers(3, 40),
    st.integers(0, 30),
    st.booleans(),
    st.booleans(),
    st.integers(0, 400),
)
def test_whatever_the_log_the_truth_lies_in_the_bracket(
    gaps: list[int],
    data: st.DataObject,
    segment: int,
    start: int,
    compact: bool,
    newest: bool,
    budget: int,
) -> None:
    times = (NOON - 10 * DAY + np.cumsum(gaps)).tolist()
    start = min(start, len(times) - 1)
    dead = (
        data.draw(st.sets(st.integers(0, len(times) - 2))) if compact and len(times) > 2 else set()
    )
    log = Log(times, start, segment, dead)
    positions = data.draw(st.lists(st.integers(start, len(times) - 1), min_size=1, max_size=6))
    broker = Broker({("t", 0): log}, knows_newest=newest)
    dates, _ = dated(broker, [(0, p) for p in positions], compact=compact, budget=budget)
    assert broker.asked <= budget
    for position, (first, best, last) in zip(positions, brackets(dates), strict=True):
        ahead = [o for o in log.living() if o >= position]
        truth = (
            log.running_maximum(ahead[0]) if compact and ahead else log.running_maximum(position)
        )
        if best is None or truth is None:
            continue
        assert last is not None
        assert (first or 0) <= best <= last <= NOON
        assert (first or 0) <= truth <= last
