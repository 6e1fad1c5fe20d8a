# SPDX-License-Identifier: Apache-2.0
"""What is true of a group follows from the events, and from how late they make it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from dev.sim.cases.mixed import ASIDE, TRIED
from dev.sim.cases.staged import HEALTHY, TROUBLES
from dev.sim.events import (
    MINUTE,
    Case,
    Deploy,
    Event,
    Flap,
    Freeze,
    Group,
    Hang,
    Join,
    Kill,
    Leave,
    LoseLeaders,
    MoveLeaders,
    OpenTransaction,
    OutOfSync,
    Poison,
    Produce,
    Recreate,
    Reset,
    Retain,
    Slow,
    SlowBroker,
    StopBroker,
    Topic,
    even,
    skew,
)
from dev.sim.truth import ages, find_incidents, right_causes
from kafka_lag import contract

STOPS = 20 * MINUTE


def case(*happens: tuple[float, Event], **group: object) -> Case:
    """A topic of 4 partitions with 10 records/s each, and two members that read 30 each."""
    reader = Group("orders", **{"members": 2, "ms": 33.0, **group})  # type: ignore[arg-type]
    topics = {"orders": Topic(even(4, 40), copies=1)}
    return Case("one", topics, {"billing": reader}, happens, warm_up=600, watched=3_600)


def causes(made: Case) -> set[str]:
    return set(right_causes(made).get("billing", ()))


def test_the_age_is_that_of_the_next_unread_record() -> None:
    end = np.array([[0], [10], [20], [30], [30]], float)
    position = np.array([[0], [10], [10], [10], [30]], float)

    assert ages(end, position, step=10.0).ravel().tolist() == [0, 0, 10, 20, 0]


def _name(value: object) -> str:
    """Returns a test's name that does not depend on the order of a set."""
    return "+".join(sorted(map(str, value))) if isinstance(value, set) else repr(value)


@pytest.mark.parametrize(
    ("event", "right"),
    [
        (Produce("orders", 3.0), {contract.MORE_PRODUCED}),
        (Produce("orders", 1.2), set()),
        (Produce("orders", 3.0, lasts=120), set()),
        (Produce("orders", skew(4, {1: 9})), {contract.HOT_PARTITION}),
        (Slow("billing", 90.0), {contract.CAPACITY_FELL}),
        (Slow("billing", 40.0), set()),
        (Slow("billing", 90.0, members=(1,)), {contract.SLOW_MEMBER}),
        (Slow("billing", 200.0, partitions=(1,)), {contract.HOT_PARTITION}),
        (Deploy("billing"), set()),
        (Deploy("billing", ms=90.0), {contract.CAPACITY_FELL}),
        (Hang("billing", (0,)), {contract.SLOW_MEMBER}),
        (Hang("billing", (0,), lasts=60), set()),
        (Hang("billing"), {contract.HUNG}),
        (Slow("billing", 90.0, members=(0, 1)), {contract.SLOW_MEMBERS}),
        (Leave("billing", (1,)), {contract.TOO_FEW_MEMBERS}),
        (Leave("billing"), {contract.STOPPED}),
        (Kill("billing", (1,)), {contract.TOO_FEW_MEMBERS}),
        (Freeze("billing"), {contract.STOPPED}),
        (Freeze("billing", lasts=60), set()),
        (Flap("billing", 2), {contract.REBALANCES}),
        (Poison("billing", 2), {contract.STUCK_RECORD}),
        (Poison("billing", 2, "crash"), {contract.STUCK_RECORD, contract.REBALANCES}),
        (Reset("billing", 600, (0,)), {contract.OFFSETS_RESET}),
        (Recreate("orders"), {contract.OFFSETS_RESET}),
        (OpenTransaction("orders", 1), {contract.OPEN_TRANSACTION}),
        (OpenTransaction("orders", 1, lasts=60), set()),
        (OutOfSync("orders", 2), set()),
        (LoseLeaders("orders", (1,)), {contract.UNAVAILABLE}),
        (StopBroker(2), {contract.UNAVAILABLE}),
        (MoveLeaders("orders"), set()),
    ],
    ids=_name,
)
def test_a_cause_is_true_of_an_event_that_harms(event: Event, right: set[str]) -> None:
    assert causes(case((0, event))) == right


def test_a_slow_broker_harms_groups_whose_connections_it_slows() -> None:
    event = (0, SlowBroker(2, rate=5.0))

    # One group alone is not enough to blame a broker.
    alone = {contract.SLOW_BROKER, contract.UNEXPLAINED}
    assert causes(case(event, slow_line=True)) == alone
    assert causes(case(event)) == set()


def test_records_that_are_deleted_before_they_are_committed_decide_the_cause() -> None:
    lost = case((0, Retain("orders", 60)), commit_seconds=300.0)

    assert causes(lost) == {contract.RETENTION_RACE, contract.SETTINGS_CHANGED}
    assert causes(case((0, Retain("orders", 60)))) == set()
    assert find_incidents(lost)[0].lost > 0


def test_an_incident_lasts_from_the_first_late_record_until_the_backlog_is_worked_off() -> None:
    (found,) = find_incidents(case((0, Leave("billing")), (STOPS, Join("billing", 2))))

    assert (found.group, found.lost) == ("billing", 0)
    assert found.since == pytest.approx(600 + 120, abs=20)
    # 1,200 s of 40 records/s are worked off at 20 records/s, until the oldest is 120 s old.
    assert found.until == pytest.approx(600 + STOPS + 2_240, abs=120)


@pytest.mark.thorough
def test_staged_cases_have_troubles_of_all_causes_and_groups_that_keep_up() -> None:
    counts = Counter(
        cause
        for each in (*TROUBLES, *TRIED, *ASIDE)
        for right in right_causes(each).values()
        for cause in right
    )

    rare = {cause for cause in contract.CAUSES if counts[cause] < 2}
    assert rare == {contract.CATCHING_UP, contract.UNEXPLAINED}
    assert [each.name for each in HEALTHY if right_causes(each)] == []
