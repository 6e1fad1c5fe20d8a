# SPDX-License-Identifier: Apache-2.0
"""Which planted incidents page, and which pages are false."""

from __future__ import annotations

import numpy as np
import pytest

from dev.sim.cases.alarms import Incident, plant
from dev.sim.scorers.alarms import SPLIT, Page, judge

INCIDENT = Incident("billing", "stopped", SPLIT + 100, SPLIT + 160, SPLIT + 200)
EARLY = Incident("billing", "slow", 100, 160, 200)


@pytest.mark.parametrize(
    ("page", "delays", "false"),
    [
        (Page("billing", SPLIT + 110), (10,), 0),
        (Page("billing", SPLIT + 200), (100,), 0),
        (Page("billing", SPLIT + 201), (), 1),
        (Page("billing", SPLIT + 99), (), 1),
        (Page("mailer", SPLIT + 110), (), 1),
    ],
    ids=["within", "worked off", "over", "before", "of another"],
)
def test_a_page_counts_from_the_incidents_begin_until_it_is_worked_off(
    page: Page, delays: tuple[int, ...], false: int
) -> None:
    found = judge(1, [EARLY, INCIDENT], [page])

    assert (found.incidents, found.delays, found.false) == (1, delays, false)
    assert found.missed is not bool(delays)


def test_planted_incidents_are_in_the_ages() -> None:
    tracks, incidents = plant(5)
    stopped = [each for each in incidents if each.what == "stopped"]

    assert stopped
    for each in stopped:
        at_end = tracks[each.group].ages()[each.end - 5 : each.end]
        # It stood for as long as that, and the first unread record is about as old.
        assert np.max(at_end) > 60 * (each.end - each.begin) * 0.5
