# SPDX-License-Identifier: Apache-2.0
"""A small slice of what `python -m dev.benchmarks.pauses` looks at."""

from __future__ import annotations

import numpy as np

from dev.benchmarks.pauses.tracks import Track
from dev.benchmarks.pauses.whole_runs import Pattern, verdict


def test_a_pattern_that_changes_too_often_is_missed() -> None:
    nothing = Track(*(np.zeros(2, np.int64),) * 2, np.zeros(2, bool))
    held, status = np.zeros(2_880, np.int8), np.zeros(2_880, np.int8)
    held[1_500:1_600] = 1
    calm_one = Pattern("quiet", nothing, 60, 0.0)
    stuck = Pattern("stuck", nothing, 60, 0.0, trouble=1_500, soon=13)
    assert verdict(calm_one, held, status, held_out=False).missed
    assert verdict(stuck, held, status, held_out=False).missed
    status[1_511:] = 3
    assert not verdict(stuck, held, status, held_out=False).missed
