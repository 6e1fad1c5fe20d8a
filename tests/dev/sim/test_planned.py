# SPDX-License-Identifier: Apache-2.0
"""Planned work in memory: a release of each kind, a rolling restart, a stall, changes of rules."""

from __future__ import annotations

import pytest

from dev.sim.cases.drawn import PLANNED
from dev.sim.events import Case
from dev.sim.scorers import changes, probes, releases, restarts


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
    found = releases.score(find_case(section, name), section == "bad")

    assert found.fault == ""
    assert (found.after is not None) is is_rolled_back


@pytest.mark.parametrize(
    ("section", "name"),
    [
        ("restarts", "one-copy-small"),
        *(("no-restarts", each) for each in ("one-stays-away", "two-at-once", "restarted-before")),
    ],
)
def test_maintenance_is_named_only_while_brokers_restart_in_turn(section: str, name: str) -> None:
    _, fault = restarts.score(find_case(section, name), section == "restarts")

    assert fault == ""


def test_only_the_probe_of_a_stalled_member_fails() -> None:
    case = find_case("stalls", "hangs-billing-00")

    assert probes.score(case, "billing-00")[1] == ""
    assert probes.score(case, "billing-01")[1] == "wrong"


def test_diff_counts_the_pages_that_a_change_of_rules_adds() -> None:
    (*_, right, said), fault = changes.score(3)

    assert fault == ""
    assert right == said == "+69"
