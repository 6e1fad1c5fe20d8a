# SPDX-License-Identifier: Apache-2.0
"""Planned work in memory: a release of each kind, a rolling restart, a stall, changes of rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from unittest.mock import Mock

import numpy as np
import pytest

from dev.sim.cases.drawn import PLANNED
from dev.sim.events import MINUTE, SHORTENED, Case
from dev.sim.live.stage import Stage
from dev.sim.live.waves import INTERVAL_MS, Watched
from dev.sim.run import run_case
from dev.sim.scorers import changes, probes, releases, restarts, windows
from kafka_lag.lag.columns import Column


def find_case(section: str, name: str) -> Case:
    (found,) = (each for each in PLANNED[section] if each.name == name)
    return found


@pytest.mark.parametrize(
    ("section", "name", "is_rolled_back"),
    [
        ("bad", "slow-by-half", True),
        ("bad", "skips-small", True),
        ("good", "after-brokers-restarted", False),
        ("good", "slow-before", False),
    ],
)
def test_bad_releases_are_rolled_back_and_good_ones_are_not(
    section: str, name: str, is_rolled_back: bool
) -> None:
    (*_, after, _), fault = releases.score(find_case(section, name), section == "bad")

    assert fault == ""
    assert (after is not None) is is_rolled_back


@pytest.mark.parametrize("name", ["one-stays-away", "two-at-once", "restarted-before"])
def test_maintenance_is_not_named_unless_brokers_restart_in_turn(name: str) -> None:
    _, fault = restarts.score(find_case("no-restarts", name), False)

    assert fault == ""


def test_maintenance_is_named_and_a_group_that_is_late_pages_after_the_window() -> None:
    case = find_case("restarts", "members-die")

    (*_, named, loud, muted, paged), fault = restarts.score(case, True)

    assert fault == ""
    assert str(named).startswith("billing")
    assert loud
    assert (muted, paged) == (0, "3 of 3")


# The window is open in minutes 75 to 120; both groups hang from 131 on, and audit did before.
PAGED = [("audit", 45), ("billing", 121), ("audit", 137), ("billing", 137)]


@pytest.mark.parametrize(
    ("pages", "paged", "fault"),
    [
        (PAGED, "3 of 3", ""),
        ([*PAGED, ("billing", 90)], "3 of 3", "paged in the window"),
        ([*PAGED, ("audit", 121)], "3 of 3", "false page: audit 121"),
        ([*PAGED, ("audit", 60)], "3 of 3", "false page: audit 60"),
        (PAGED[1:], "2 of 3", "missed: audit"),
        ([PAGED[0], *PAGED[2:]], "3 of 3", "missed: billing"),
        (PAGED[:3], "2 of 3", "missed: billing"),
        ([*PAGED[:3], ("billing", 150)], "2 of 3", "missed: billing"),
    ],
)
def test_pages_of_a_window_are_right_if_the_group_was_late(
    pages: list[windows.Page], paged: str, fault: str
) -> None:
    planned = windows.plan(find_case("restarts", "one-copy-small"))
    late = {name: np.arange(200) > planned.hangs for name in planned.case.groups}
    late["audit"][42:50] = late["billing"][85:125] = True

    assert (planned.begin, planned.end, planned.hangs) == (75, 121, 131)
    assert windows.judge(planned, pages, late) == (paged, fault)


@pytest.mark.parametrize(
    ("backs", "named", "fault"),
    [
        ((8, 20, 30), {"billing": 13}, ""),
        ((8, 20, 30), {"billing": 11}, "too early"),
        ((8, 20, 30), {"audit": 13}, "not named of billing"),
        ((12, 20, 30), {"billing": 13}, "not one after another"),
    ],
)
def test_restarts_are_judged_by_when_brokers_really_were_down(
    backs: Sequence[float], named: dict[str, float], fault: str
) -> None:
    downs = [(0.5, backs[0], 1), (11.0, backs[1], 2), (22.0, backs[2], 3)]

    assert restarts.find_fault({"billing"}, named, downs) == fault


def test_runs_on_brokers_are_judged_at_the_times_of_memory() -> None:
    case = replace(find_case("restarts", "one-copy-small"), warm_up=2 * MINUTE, watched=3 * MINUTE)
    runs = list(run_case(case))
    begin = 1_000_000_000 * INTERVAL_MS
    live = [
        replace(run, taken_at=at, groups=run.groups.with_columns(taken_at=Column.constant(at, 2)))
        for at, run in zip(count(begin - 2 * INTERVAL_MS, INTERVAL_MS), runs, strict=False)
    ]
    watched = Watched(case, Mock(Stage), began_ms=begin - INTERVAL_MS / 4, snapshots=live)

    found = list(watched.as_in_memory())

    assert [each.taken_at for each in found] == [each.taken_at for each in runs]
    assert [each.groups.numbers("taken_at").to_list() for each in found] == [
        run.groups.numbers("taken_at").to_list() for run in runs
    ]
    assert [each.groups.numbers("time_lag_seconds").to_list() for each in found] == [
        (run.groups.numbers("time_lag_seconds") * SHORTENED).to_list() for run in runs
    ]


def test_only_the_probe_of_a_stalled_member_fails() -> None:
    case = find_case("stalls", "hangs-billing-00")

    assert probes.score(case, "billing-00")[1] == ""
    assert probes.score(case, "billing-01")[1] == "wrong"


def test_diff_counts_the_pages_that_a_change_of_rules_adds() -> None:
    (*_, right, said), fault = changes.score(changes.draw_change(3), 3)

    assert fault == ""
    assert right == said == "+69"
