# SPDX-License-Identifier: Apache-2.0
"""Pages on the budget of an SLO: how many minutes they take, and the effect of gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kafka_lag.lag.group_settings import Objective
from kafka_lag_config.alarm_rules import Rule, burn_rules
from kafka_lag_config.simulation.evaluation import Assumptions, Counts
from kafka_lag_config.simulation.grid import ALARM, Condition, find_spans, find_states

AGE = 300.0
BOTH = tuple(burn_rules(Objective(AGE, 99, 30), 1))


@pytest.mark.parametrize(
    ("target", "interval", "expected"),
    [
        # 14.4 and 6 times the share that may be broken, of 60 and of 360 minutes.
        (99, 1, [("slo-fast", 9, 60), ("slo-slow", 22, 360)]),
        (99.5, 1, [("slo-fast", 5, 60), ("slo-slow", 11, 360)]),
        (99.9, 1, [("slo-fast", 3, 60), ("slo-slow", 3, 360)]),
        (95, 1, [("slo-fast", 44, 60), ("slo-slow", 108, 360)]),
        (90, 1, [("slo-slow", 216, 360)]),
        (80, 1, []),
        (99, 5, [("slo-fast", 3, 12), ("slo-slow", 5, 72)]),
        (99, 60, [("slo-slow", 3, 6)]),
    ],
)
def test_so_many_runs_must_be_broken(
    target: float, interval: int, expected: list[tuple[str, int, int]]
) -> None:
    rules = burn_rules(Objective(AGE, target, 30), interval)
    assert [(rule.name, rule.datapoints, rule.periods) for rule in rules] == expected


def days_with_gaps(random: np.random.Generator, series: int, minutes: int) -> np.ndarray[Any, Any]:
    """Ages of groups that are late for a while, or not read, or late just before they are not."""
    ages = np.full((minutes, series), 10.0)
    for column in ages.T:
        at = 0
        while at < minutes:
            at += 1 + int(random.exponential(120))
            late, unread = 1 + int(random.exponential(25)), 1 + int(random.exponential(75))
            match random.integers(3):
                case 0:
                    column[at : at + late] = 2 * AGE
                case 1:
                    column[at : at + unread] = np.nan
                case _:
                    column[at : at + unread] = np.nan
                    column[at : at + 2] = 2 * AGE
            at += unread
        column[random.random(minutes) < random.choice([0, 0.02, 0.5])] = np.nan
    return ages


def wrong_pages(ages: np.ndarray[Any, Any], rule: Rule) -> tuple[int, int]:
    """Pages without enough broken minutes in the evaluation range, and spells that page nobody."""
    assumed = Assumptions()
    counts = Counts(rule.datapoints, rule.periods, rule.missing.value)
    condition = Condition(rule.operator.word, AGE, counts)
    states = find_states(ages, condition, assumed)
    length = rule.periods + assumed.extra_points
    broken = np.cumsum(ages > AGE, axis=0, dtype=np.int64)
    broken[length:] -= broken[:-length].copy()
    enough = broken >= rule.datapoints
    pages = [not enough[begin, at] for at, begin, _ in find_spans(states)]
    spells = list(find_spans(np.where(enough, ALARM, 0).astype(np.int8)))
    assert len(spells) > 50
    unseen = [not (states[begin:end, at] == ALARM).any() for at, begin, end in spells]
    return sum(pages), sum(unseen)


@pytest.mark.parametrize("rule", BOTH, ids=lambda rule: rule.name)
def test_gaps_make_no_page_and_hide_none(rule: Rule) -> None:
    ages = days_with_gaps(np.random.default_rng(7), 60, 4_320)
    assert wrong_pages(ages, rule) == (0, 0)
