# SPDX-License-Identifier: Apache-2.0
"""The judge of planted incidents: what is found, what is false, and which budgets are kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dev.benchmarks.alarms import DAY, MINUTES, Days, Incident, Page, count_kept, judge, plant
from kafka_lag_cli.replay.proposals import Proposal

SET_ASIDE = MINUTES * 2 // 3
INCIDENT = Incident("billing", "stopped", SET_ASIDE + 100, SET_ASIDE + 160, SET_ASIDE + 200)


@pytest.fixture(name="days", scope="module")
def _days() -> Days:
    return plant(5)


@pytest.mark.parametrize(
    ("page", "found", "false"),
    [
        (Page("billing", SET_ASIDE + 110), 1, 0),
        (Page("billing", SET_ASIDE + 200), 1, 0),
        (Page("billing", SET_ASIDE + 201), 0, 1),
        (Page("billing", SET_ASIDE + 99), 0, 1),
        (Page("mailer", SET_ASIDE + 110), 0, 1),
    ],
    ids=["within", "worked off", "over", "before", "of another"],
)
def test_a_page_counts_from_the_incidents_begin_until_it_is_worked_off(
    days: Days, page: Page, found: int, false: int
) -> None:
    score = judge(replace(days, incidents=(INCIDENT,)), [page])
    assert (score.found, score.false) == (found, false)
    assert score.delays == ((page.begin - INCIDENT.begin,) if found else ())


def test_incidents_of_the_days_that_choose_are_not_asked_for(days: Days) -> None:
    early = replace(INCIDENT, begin=100, end=160, over=200)
    assert judge(replace(days, incidents=(early, INCIDENT)), []).incidents == 1


def test_planted_incidents_are_in_the_ages(days: Days) -> None:
    ages = days.recorded.ages
    stopped = [each for each in days.incidents if each.what == "stopped" and each.end < MINUTES]
    assert stopped
    for each in stopped:
        of_group = ages[:, days.recorded.groups.index(each.group)]
        at_end = of_group[each.end - 5 : each.end]
        # It stood for as long as that, and the first unread record is about as old.
        assert np.nanmax(at_end) > 60 * (each.end - each.begin) * 0.5


@pytest.mark.parametrize(("tried", "kept"), [(3.0, 1), (5.2, 1), (5.3, 0), (None, 1)])
def test_a_budget_is_kept_within_one_page(tried: float | None, kept: int) -> None:
    # 3 a month are 1.33 in the days set aside, and one more is 2.33.
    assert pytest.approx(13.3, abs=0.1) == (MINUTES - SET_ASIDE) / DAY
    proposal = Proposal("shop", "billing", sla_seconds=60, chosen=1.0, tried=tried)
    assert count_kept({"billing": proposal}, 3.0) == kept
