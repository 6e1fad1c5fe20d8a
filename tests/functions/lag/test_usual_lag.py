# SPDX-License-Identifier: Apache-2.0
"""Groups beside their usual figures: what is called unusual, and when nothing is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import no_figures
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


def figures() -> Frame:
    rows = [usual for _, usual, _ in CASES.values()]
    numbers = [Column.optional([row[n] for row in rows], float) for n in range(4)]
    numbers += [Column.unknown(len(rows), float)] * 2
    names = (
        *("usual_lag", "lag_spread", "usual_time_lag", "time_lag_spread"),
        *("usual_produce_rate", "produce_rate_spread"),
    )
    # The collector's groups come in another order.
    return Frame.of(
        {"consumer_group": Strings.of(CASES), **dict(zip(names, numbers, strict=True))}
    ).take(np.arange(len(rows))[::-1])


def groups() -> Frame:
    values = [now for now, _, _ in CASES.values()]
    return Frame.of(
        {
            "consumer_group": Strings.of([*CASES, "new"]),
            "lag": Column.optional([*(lag for lag, _ in values), 5]),
            "time_lag_seconds": Column.optional([*(age for _, age in values), 5.0], float),
            "produce_rate": Column.unknown(len(values) + 1, float),
        }
    )


RULES = Rules()


def compared(frame: Frame, usual: Frame, runs: int = 3) -> Frame:
    """The same in so many runs."""
    before = Frame.empty(contract.GROUPS)
    for run in range(runs):
        at = NOON + run * MINUTE
        now = frame.with_columns(read_at=Column.of(np.full(len(frame), at)))
        before = add_unusual(now, usual, before, at, RULES)
    return before


@pytest.mark.parametrize("case", CASES)
def test_a_group_beside_what_is_usual_for_it(case: str) -> None:
    _, usual, unusual = CASES[case]
    rows = table(
        compared(groups(), figures()),
        *("consumer_group", "unusual", "usual_lag", "usual_time_lag"),
    )
    assert [row for row in rows if row[0] == case] == [(case, unusual, usual[0], usual[2])]


def test_of_a_group_that_is_not_among_the_figures_nothing_is_said() -> None:
    found = compared(groups(), figures())
    assert table(found, "unusual", "usual_lag", "usual_time_lag")[-1] == (None, None, None)


def test_without_figures_nothing_is_said() -> None:
    found = compared(groups(), no_figures())
    assert set(table(found, "unusual", "usual_lag", "usual_time_lag")) == {(None, None, None)}


def test_a_truth_is_stored_as_the_contract_says() -> None:
    assert contract.COLUMNS[contract.GROUPS]["unusual"] == contract.BOOLEAN
    assert compared(groups(), figures()).numbers("unusual").values.dtype == bool


@pytest.mark.parametrize(("runs", "unusual"), [(1, False), (2, False), (3, True), (4, True)])
def test_three_runs_in_a_row_are_unusual_and_fewer_may_be_chance(runs: int, unusual: bool) -> None:
    found = compared(groups(), figures(), runs)
    (row,) = [
        row
        for row in table(found, "consumer_group", "unusual", "unusual_since")
        if row[0] == "a backlog by the spread"
    ]
    assert row[1:] == (unusual, NOON)


def learnt(usual: tuple[Any, Any, Any, Any]) -> Frame:
    """The figures of one group."""
    names = ("usual_lag", "lag_spread", "usual_time_lag", "time_lag_spread")
    rates = ("usual_produce_rate", "produce_rate_spread")
    values = {name: Column.optional([v], float) for name, v in zip(names, usual, strict=True)}
    return Frame.of(
        {
            "consumer_group": Strings.of(["g"]),
            **values,
            **{name: Column.unknown(1, float) for name in rates},
        }
    )


def seen(lag: int | None, age: float | None, at: int) -> Frame:
    """That group in a run."""
    return Frame.of(
        {
            "consumer_group": Strings.of(["g"]),
            "read_at": Column.of(np.array([at])),
            "produce_rate": Column.unknown(1, float),
            "lag": Column.optional([lag]),
            "time_lag_seconds": Column.optional([age], float),
        }
    )


@pytest.mark.parametrize(
    ("second", "unusual", "first"),
    [
        pytest.param((None, None), True, NOON, id="unread"),
        pytest.param((2000, 100.0), True, NOON, id="far"),
        pytest.param((1000, 100.0), False, NOON + 2 * MINUTE, id="as usual"),
    ],
)
def test_a_run_in_which_it_is_not_known_does_not_end_what_is_unusual(
    second: tuple[int | None, float | None], unusual: bool, first: int
) -> None:
    backlog, usual, _ = CASES["a backlog by the spread"]
    before = Frame.empty(contract.GROUPS)
    for run, (lag, age) in enumerate([backlog, second, backlog]):
        at = NOON + run * MINUTE
        before = add_unusual(seen(lag, age, at), learnt(usual), before, at, RULES)
    assert table(before, "unusual", "unusual_since") == [(unusual, first)]


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
        Frame.of(
            {
                "consumer_group": Strings.of(map(str, range(len(groups)))),
                "usual_lag": Column.optional([each[place] for each in groups], float),
                "lag_spread": Column.of(np.zeros(len(groups))),
                **{
                    name: Column.unknown(len(groups), float)
                    for name in ("usual_time_lag", "time_lag_spread", *contract.USUAL_ADDED)
                },
            }
        )
        for place in (0, 1)
    )
    lags = Column.of(np.array([lag for *_, lag in groups]))
    known = Frame.of({"consumer_group": now.strings("consumer_group"), "lag": lags})
    before = Frame.empty(contract.GROUPS)
    for run in range(3):
        at = NOON + run * MINUTE
        seen_now = known.with_columns(
            read_at=Column.of(np.full(len(groups), at)),
            time_lag_seconds=Column.unknown(len(groups), float),
            produce_rate=Column.unknown(len(groups), float),
        )
        before = add_unusual(seen_now, now, before, at, RULES, beside=[beside])
    assert before.numbers("unusual").to_list() == unusual


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
    one = Strings.of(["g"])
    known = {"usual_produce_rate": 10.0, "produce_rate_spread": spread}
    none = ("usual_lag", "lag_spread", "usual_time_lag", "time_lag_spread")
    usual = Frame.of(
        {
            "consumer_group": one,
            **{name: Column.of(np.array([value])) for name, value in known.items()},
            **{name: Column.unknown(1, float) for name in none},
        }
    )
    before, mean = Frame.empty(contract.GROUPS), 10.0
    for run in range(20):
        weight = 1 - 2 ** (-1 / 5)
        mean += weight * ((rate if run >= 10 else 10.0) - mean)
        at = NOON + run * MINUTE
        now = Frame.of(
            {
                "consumer_group": one,
                "read_at": Column.of(np.array([at])),
                "produce_rate": Column.of(np.array([mean])),
                "lag": Column.unknown(1),
                "time_lag_seconds": Column.unknown(1, float),
            }
        )
        before = add_unusual(now, usual, before, at, RULES)
        if table(before, "unusual") == [(True,)]:
            return run - 9
    return None


@pytest.mark.parametrize("case", WRITTEN)
def test_what_is_written_is_seen_to_be_unusual_in_the_third_run(case: str) -> None:
    rate, spread, unusual = WRITTEN[case]
    assert seen_after(rate, spread) == (3 if unusual else None)
