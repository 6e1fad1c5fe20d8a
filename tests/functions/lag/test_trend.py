# SPDX-License-Identifier: Apache-2.0
"""The trend of a group's lag over its last five readings."""

from __future__ import annotations

import pytest

from tests.functions.lag.strips import Strips, split_strips

TRENDS = split_strips(
    """
    falls behind
        end          0 +100x11
        commit       0 +50x11
        group.trend  ?x4 growingx8
    keeps up, with a lag that comes and goes
        end          0 +100x11
        commit       0 90 195 290 392 490 595 690 792 890 995 1090
        group.trend  ?x4 steadyx8
    catches up
        end          0x2 1000x10
        commit       0x3 +100x9
        group.trend  ?x4 steadyx2 shrinkingx6
    has nothing to read
        end          5x8
        commit       5
        group.trend  ?x4 steadyx4
    is behind by the same
        end          0x2 1000 +10x9
        commit       0x2 10 +10x9
        group.trend  ?x4 steadyx8
    a run that does not know
        end          0 +100x11
        commit       0 +50x11
        unread       -x7 timeout -x4
        group.trend  ?x4 growingx3 ? growingx4
    """
)
RUNS = Strips(TRENDS)


@pytest.mark.parametrize("name", TRENDS)
def test_a_lag_grows_shrinks_or_stays(name: str) -> None:
    RUNS.check(name)
