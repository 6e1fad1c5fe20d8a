# SPDX-License-Identifier: Apache-2.0
"""Groups beside their usual figures: what is called unusual, and when nothing is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.usual_lag import add_unusual, no_figures
from tests.builders import table

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
    names = ("usual_lag", "lag_spread", "usual_time_lag", "time_lag_spread")
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
        }
    )


@pytest.mark.parametrize("case", CASES)
def test_a_group_beside_what_is_usual_for_it(case: str) -> None:
    _, usual, unusual = CASES[case]
    rows = table(
        add_unusual(groups(), figures()),
        *("consumer_group", "unusual", "usual_lag", "usual_time_lag"),
    )
    assert [row for row in rows if row[0] == case] == [(case, unusual, usual[0], usual[2])]


def test_of_a_group_that_is_not_among_the_figures_nothing_is_said() -> None:
    found = add_unusual(groups(), figures())
    assert table(found, "unusual", "usual_lag", "usual_time_lag")[-1] == (None, None, None)


def test_without_figures_nothing_is_said() -> None:
    found = add_unusual(groups(), no_figures())
    assert set(table(found, "unusual", "usual_lag", "usual_time_lag")) == {(None, None, None)}


def test_a_truth_is_stored_as_the_contract_says() -> None:
    assert contract.COLUMNS[contract.GROUPS]["unusual"] == contract.BOOLEAN
    assert add_unusual(groups(), figures()).numbers("unusual").values.dtype == bool
