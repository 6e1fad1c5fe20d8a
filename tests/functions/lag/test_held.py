# SPDX-License-Identifier: Apache-2.0
"""A status and a trouble count once they have lasted."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.lag.group_settings import ByName, Rules
from tests.builders import MINUTE, NOON, a_reading, a_report, cell, table
from tests.functions.lag.strips import Strips, split_strips, strip_of

RULES = Rules(hold=3, window_ms=6 * MINUTE, sla_seconds=ByName.of([("^promised", 90.0)]))


def runs(letters: str) -> str:
    """In a run E records are deleted unread, in a run O the group has read all, ? is not read."""
    end, start, commit = 100, 0, 100
    lines: dict[str, list[object]] = {"end": [], "start": [], "commit": []}
    for letter in letters.replace(" ", ""):
        if letter == "E":
            end, start = end + 100, end + 50
        elif letter == "O":
            commit = end
        lines["end"].append("timeout" if letter == "?" else end)
        lines["start"].append(start)
        lines["commit"].append(commit)
    return strip_of(**lines)


NAMES = ("status_since", "held_status", "held_since")
HELD: dict[str, tuple[Any, ...]] = {
    "O": (0, None, None),
    "OO": (0, None, None),
    "OOO": (0, "OK", 0),
    "OOOE": (3, "OK", 0),
    "OOOEEO": (5, "OK", 0),
    "OOOEEE": (3, "ERR", 3),
    "EEE": (0, "ERR", 0),
    "EEEOOO": (3, "OK", 3),
    "?": (None, None, None),
    "?OOO": (1, "OK", 1),
    "OO?O": (0, "OK", 0),
    "OO?": (0, None, None),
    "OOO????": (0, "OK", 0),
    "OOO?EEE": (4, "ERR", 4),
    "EEEOOOOOO": (3, "OK", 3),
    "EEEOOOOOO?????": (3, "OK", 3),
    "EEEOEEE": (4, "ERR", 0),
    "EEE?????": (0, "ERR", 0),
}
LOSSES: dict[str, tuple[Any, ...]] = {
    "OOOOO": (None, None),
    "OE": (1, None),
    "OEE": (1, None),
    "OEEE": (1, 1),
    "OEEEOO": (1, 1),
    "OEEEOOO": (None, None),
    "OEOOE": (1, 1),
    "OEOOOE": (5, None),
    "OEEEOOOE": (7, None),
    "OE?E": (1, 1),
    # It counts as it was when it was last read.
    "OE??": (1, 1),
    "OEEE???": (1, 1),
}
PROMISES = split_strips(
    """
    promised, as long as it is late
        end                          100 +10x5 ?x0
        commit                       100x6
        group.sla_broken_since       ?x2 2x4
        group.held_sla_broken_since  ?x4 2x2
    promised, and in time again
        end                          100 +10x9
        commit                       100x6 160 +10x3
        group.sla_broken_since       ?x2 2x6 ?x2
        group.held_sla_broken_since  ?x4 2x4 ?x2
        group.cause                  ?x4 unexplainedx2 ?x4
    promised, and no longer read
        end                          100 +10x5 timeoutx12
        commit                       100x6
        group.sla_broken_since       ?x2 2x16
        group.held_sla_broken_since  ?x4 2x14
    not to be late
        end                     100 +10x5
        commit                  100x6
        group.sla_broken_since  ?x6
    """
)
PROMISES = {name: text.replace(" ?x0", "") for name, text in PROMISES.items()}
RUNS = Strips({**{each: runs(each) for each in (*HELD, *LOSSES)}, **PROMISES}, RULES)


@pytest.mark.parametrize(("letters", "expected"), HELD.items())
def test_a_status_is_held_once_it_lasted(letters: str, expected: tuple[Any, ...]) -> None:
    assert tuple(RUNS.said(letters, f"group.{name}")[-1] for name in NAMES) == expected


@pytest.mark.parametrize(("letters", "expected"), LOSSES.items())
def test_a_trouble_is_held_once_it_lasted_and_ends_once_it_stays_away(
    letters: str, expected: tuple[Any, ...]
) -> None:
    names = ("loss_since", "held_loss_since")
    assert tuple(RUNS.said(letters, f"group.{name}")[-1] for name in names) == expected


@pytest.mark.parametrize("name", PROMISES)
def test_a_promise_is_broken_by_an_age_that_is_proven(name: str) -> None:
    RUNS.check(name)


@pytest.mark.parametrize(("hold", "held"), [(1, "ERR"), (2, "OK")])
def test_as_many_runs_as_configured_hold_a_status(hold: int, held: str) -> None:
    found = Strips({"g": runs("OOOE")}, Rules(hold=hold))
    assert found.said("g", "group.held_status")[-1] == held
    assert found.said("g", "group.held_loss_since")[-1] == (3 if hold == 1 else None)


@pytest.mark.parametrize(("minutes", "held"), [((0, 2), "ERR"), ((0, 1), None)])
def test_a_status_lasts_through_a_run_that_was_missed(
    minutes: tuple[int, ...], held: str | None
) -> None:
    found = Strips({"g": runs("EE")}, RULES, minutes=minutes)
    assert found.said("g", "group.held_status")[-1] == held


def test_runs_are_as_far_apart_as_the_interval_says() -> None:
    rules = Rules(hold=2).at_interval(5 * MINUTE)
    assert (
        Strips({"g": runs("EE")}, rules, minutes=(0, 4)).said("g", "group.held_status")[1] is None
    )
    assert (
        Strips({"g": runs("EE")}, rules, minutes=(0, 5)).said("g", "group.held_status")[1] == "ERR"
    )


def test_the_last_row_of_a_deleted_group_says_what_it_was_and_no_status_or_numbers() -> None:
    topics = {"t": [(0, 9)]}
    rules = Rules(hold=1, owners=ByName.of([("g", "payments")]))
    old = a_report(a_reading({"g": {"t": [12]}}, topics), rules=rules).snapshot
    for minute in (1, 2):
        at = NOON + minute * MINUTE
        old = a_report(a_reading({"g": {"t": [12]}}, topics, at=at), old, rules, at).snapshot
    gone = a_reading({"h": {}}, topics, at=NOON + 3 * MINUTE, gone_groups=["g"])
    groups = a_report(gone, old, rules, NOON + 3 * MINUTE).snapshot.groups

    kept = ("owner", "last_status", "held_status", "held_since", "incident_id", "read_at")
    said = {name: cell(groups, name, consumer_group="g") for name in groups.columns}
    expected = {name: cell(old.groups, name, consumer_group="g") for name in kept}
    assert {name: said[name] for name in kept} == expected
    assert (said["status_reason"], said["status"], said["lag"]) == (contract.GONE, None, None)
    again = a_report(gone, a_report(gone, old, rules).snapshot, rules).snapshot.groups
    assert table(again, "consumer_group") == [("h",)]


def test_a_group_that_was_gone_starts_again() -> None:
    topics = {"t": [(0, 9)]}
    old = a_report(a_reading({"g": {"t": [12]}}, topics), rules=Rules(hold=1)).snapshot
    old = a_report(a_reading({}, topics, gone_groups=["g"]), old).snapshot
    again = a_report(a_reading({"g": {"t": [9]}}, topics, at=NOON + MINUTE), old, RULES).snapshot
    names = ("last_status", "held_status", "incident_since")
    assert table(again.groups, *names) == [("OK", None, None)]
