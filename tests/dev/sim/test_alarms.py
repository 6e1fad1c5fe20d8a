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
    ("page", "delay", "false"),
    [
        (("billing", SPLIT + 110), "10", 0),
        (("billing", SPLIT + 200), "100", 0),
        (("billing", SPLIT + 201), "-", 1),
        (("billing", SPLIT + 99), "-", 1),
        (("mailer", SPLIT + 110), "-", 1),
    ],
    ids=["within", "worked off", "over", "before", "of another"],
)
def test_a_page_counts_from_the_incidents_begin_until_it_is_worked_off(
    page: Page, delay: str, false: int
) -> None:
    (_, found, is_false, after), fault = judge(1, [EARLY, INCIDENT], [page])

    assert (found, after, is_false) == (f"{delay != '-':d} of 1", delay, false)
    assert fault == ("too few" if delay == "-" else "")


def test_planted_incidents_are_in_the_ages() -> None:
    tracks, incidents = plant(5)
    stopped = [each for each in incidents if each.what == "stopped"]

    assert stopped
    for each in stopped:
        at_end = tracks[each.group].ages[each.end - 5 : each.end]
        # It stood for as long as that, and the first unread record is about as old.
        assert np.max(at_end) > 60 * (each.end - each.begin) * 0.5
