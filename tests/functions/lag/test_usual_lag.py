# SPDX-License-Identifier: Apache-2.0
"""Groups beside their usual figures: which values are called unusual, and when none is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import no_figures
from kafka_lag.lag.run import Run
from kafka_lag.lag.usual_lag import add_unusual
from tests.builders import MINUTE, NOON, table

# lag, time lag -> usual lag and spread, usual time lag and spread -> unusual
CASES: dict[str, tuple[tuple[Any, Any], tuple[Any, Any, Any, Any], bool | None]] = {
    "as usual": ((1000, 100.0), (1000.0, 50.0, 100.0, 5.0), False),
    "a backlog by the spread": ((2000, 100.0), (1000.0, 200.0, 100.0, 5.0), True),
    "within five spreads": ((1999, 100.0), (1000.0, 200.0, 100.0, 5.0), False),
    "a backlog by a tenth of the usual": ((1500, 100.0), (1000.0, 0.0, 100.0, 5.0), True),
    "less than five tenths": ((1499, 100.0), (1000.0, 0.0, 100.0, 5.0), False),
    "a hundred records where none were": ((100, 0.0), (0.0, 0.0, 0.0, 0.0), True),
    "a few records are nothing": ((99, 49.0), (0.0, 0.0, 0.0, 0.0), False),
    "an age of a minute where none was": ((0, 60.0), (0.0, 0.0, 0.0, 0.0), True),
    "far below": ((100, 100.0), (1000.0, 100.0, 100.0, 5.0), True),
    "nothing learnt": ((10**9, 1e6), (None, None, None, None), None),
    "only one learnt": ((1000, 1e6), (1000.0, 50.0, None, None), False),
    "one learnt and unknown now": ((1000, None), (1000.0, 50.0, 100.0, 5.0), None),
    "one far and one unknown now": ((9000, None), (1000.0, 50.0, 100.0, 5.0), True),
    "unread": ((None, None), (1000.0, 50.0, 100.0, 5.0), None),
}


FIGURES = (
    *("usual_lag", "lag_spread", "usual_time_lag", "time_lag_spread"),
    *("usual_produce_rate", "produce_rate_spread"),
)
SEEN = ("lag", "time_lag_seconds", "produce_rate")
Values: TypeAlias = Sequence[float | None]


def usual_of(groups: Mapping[str, Values]) -> Frame:
    """What is usual for each group, in the order of FIGURES; the rest is not learnt."""
    return _frame(groups, FIGURES)


def seen_of(groups: Mapping[str, Values], at: int) -> Frame:
    """What a run sees of each group, in the order of SEEN."""
    read_at = Column.of(np.full(len(groups), at))
    return _frame(groups, SEEN).with_columns(read_at=read_at)


def _frame(groups: Mapping[str, Values], names: Sequence[str]) -> Frame:
    rows = [[*values, *[None] * (len(names) - len(values))] for values in groups.values()]
    columns = zip(names, zip(*rows, strict=True), strict=True)
    numbers = {name: Column.optional(list(values), np.float64) for name, values in columns}
    return Frame.of({"consumer_group": Strings.of(groups), **numbers})


RULES = Rules()


def after(
    runs: Sequence[Mapping[str, Values]], usual: Frame, beside: Sequence[Frame] = ()
) -> Frame:
    """The groups after runs that saw these."""
    before = Frame.empty(contract.GROUPS)
    for run, groups in enumerate(runs):
        at = NOON + run * MINUTE
        before = add_unusual(seen_of(groups, at), usual, before, Run(at, RULES), beside=beside)
    return before


NAMES = ("unusual", "usual_lag", "usual_time_lag")


@pytest.fixture(name="found", scope="module")
def _found() -> dict[str, tuple[Any, ...]]:
    """What is said of each case after three runs; the figures come in another order."""
    usual = usual_of({name: figures for name, (_, figures, _) in reversed(CASES.items())})
    groups = {**{name: values for name, (values, *_) in CASES.items()}, "new": (5, 5.0)}
    rows = table(after([groups] * 3, usual), "consumer_group", *NAMES)
    return {name: tuple(values) for name, *values in rows}


@pytest.mark.parametrize("case", CASES)
def test_a_group_beside_what_is_usual_for_it(case: str, found: dict[str, tuple[Any, ...]]) -> None:
    _, usual, unusual = CASES[case]
    assert found[case] == (unusual, usual[0], usual[2])


def test_nothing_is_said_of_a_group_without_figures(found: dict[str, tuple[Any, ...]]) -> None:
    assert found["new"] == (None, None, None)
    assert table(after([{"g": (10**6, 1e6)}] * 3, no_figures()), *NAMES) == [(None, None, None)]


BACKLOG, USUAL, UNREAD = (2000, 100.0), (1000, 100.0), (None, None)


@pytest.mark.parametrize(
    ("runs", "unusual", "since"),
    [
        pytest.param([BACKLOG], False, NOON, id="once"),
        pytest.param([BACKLOG] * 2, False, NOON, id="twice-may-be-chance"),
        pytest.param([BACKLOG] * 3, True, NOON, id="three-times"),
        pytest.param([BACKLOG, UNREAD, BACKLOG], True, NOON, id="unread-between"),
        pytest.param([BACKLOG, USUAL, BACKLOG], False, NOON + 2 * MINUTE, id="as-usual-between"),
    ],
)
def test_three_runs_in_a_row_are_unusual(runs: list[Values], unusual: bool, since: int) -> None:
    figures = usual_of({"g": CASES["a backlog by the spread"][1]})
    found = after([{"g": values} for values in runs], figures)
    assert table(found, "unusual", "unusual_since") == [(unusual, since)]
    assert found.numbers("unusual").values.dtype == bool


# Usual lags at the hour of the runs and at the one beside it, and the lag now, of each group.
BY_THE_HOUR_BESIDE: dict[str, tuple[list[tuple[float, float | None, int]], list[bool]]] = {
    "its day has moved": ([(0.0, 5_000.0, 5_000)], [False]),
    "nor is it as usual there": ([(0.0, 500.0, 5_000)], [True]),
    "not learnt there": ([(0.0, None, 5_000)], [True]),
    "all days have moved": ([(0.0, 5_000.0, 5_000), (900.0, 50.0, 50), (7.0, 7.0, 7)], [False] * 3),
    "other days have not": ([(0.0, 5_000.0, 5_000), (0.0, 5_000.0, 0)], [True, False]),
}


@pytest.mark.parametrize("case", BY_THE_HOUR_BESIDE)
def test_an_hour_beside_explains_it_where_most_groups_say_so(case: str) -> None:
    groups, unusual = BY_THE_HOUR_BESIDE[case]
    now, beside = (
        usual_of({f"{n}": (each[place], 0.0) for n, each in enumerate(groups)}) for place in (0, 1)
    )
    lags = {f"{n}": (lag,) for n, (*_, lag) in enumerate(groups)}
    assert after([lags] * 3, now, [beside]).numbers("unusual").to_list() == unusual


# The rate that is written from the eleventh run on, where 10 records/s are usual, and its spread.
WRITTEN = {
    "as usual": (10.0, 0.5, False),
    "nothing any more": (0.0, 0.5, True),
    "half of it": (5.0, 0.5, True),
    "a little less": (5.5, 0.5, False),
    "ten times as much": (100.0, 0.5, True),
    "nothing, as bursts often leave it": (0.0, 2.5, False),
    "more, as bursts bring it": (22.0, 2.5, False),
}


def seen_after(rate: float, spread: float) -> int | None:
    """Runs from the first with the rate until it is called unusual; None where it is not."""
    usual, means = usual_of({"g": (None, None, None, None, 10.0, spread)}), [10.0]
    for run in range(1, 20):
        written = rate if run >= 10 else 10.0
        means.append(means[-1] + (1 - 2 ** (-1 / 5)) * (written - means[-1]))
        runs = [{"g": (None, None, mean)} for mean in means]
        if table(after(runs, usual), "unusual") == [(True,)]:
            return run - 9
    return None


@pytest.mark.parametrize("case", WRITTEN)
def test_what_is_written_is_seen_to_be_unusual_in_the_third_run(case: str) -> None:
    rate, spread, unusual = WRITTEN[case]
    assert seen_after(rate, spread) == (3 if unusual else None)
