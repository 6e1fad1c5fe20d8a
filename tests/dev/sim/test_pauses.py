# SPDX-License-Identifier: Apache-2.0
"""Which patterns of work and trouble are judged to be missed."""

from __future__ import annotations

import numpy as np

from dev.sim.cases.patterns import Pattern
from dev.sim.scorers.pauses import judge
from dev.sim.tracks import Track


def test_a_pattern_that_changes_too_often_or_is_reported_late_is_missed() -> None:
    nothing = Track(*(np.zeros(2, np.int64),) * 2, np.zeros(2, bool))
    held, status = np.zeros(2_880, np.int8), np.zeros(2_880, np.int8)
    held[1_500:1_600] = 1
    calm = Pattern("calm", nothing, 60, 0.0)
    stuck = Pattern("stuck", nothing, 60, 0.0, trouble=1_500, soon=13)

    assert judge(calm, held, status).missed
    assert judge(stuck, held, status).missed
    status[1_511:] = 3
    assert not judge(stuck, held, status).missed
