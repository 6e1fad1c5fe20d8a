# SPDX-License-Identifier: Apache-2.0
"""The truth about a group follows from the events, and from how late they make it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from dev.sim import events as on
from dev.sim.cases.drawn import ASIDE, HEALTHY, TRIED, TROUBLES
from dev.sim.events import Case, Event, Group, Topic, even, skew
from dev.sim.truth import ages, find_suffering, right_causes
from kafka_lag import contract


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
        (on.Produce("orders", 3.0), {contract.MORE_PRODUCED}),
        (on.Produce("orders", 1.2), set()),
        (on.Produce("orders", 3.0, lasts=120), set()),
        (on.Produce("orders", skew(4, {1: 9})), {contract.HOT_PARTITION}),
        (on.Slow("billing", 90.0), {contract.CAPACITY_FELL}),
        (on.Slow("billing", 40.0), set()),
        (on.Slow("billing", 90.0, members=(1,)), {contract.SLOW_MEMBER}),
        (on.Slow("billing", 200.0, partitions=(1,)), {contract.HOT_PARTITION}),
        (on.Deploy("billing"), set()),
        (on.Deploy("billing", ms=90.0), {contract.CAPACITY_FELL}),
        (on.Hang("billing", (0,)), {contract.SLOW_MEMBER}),
        (on.Hang("billing", (0,), lasts=60), set()),
        (on.Hang("billing"), {contract.HUNG}),
        (on.Slow("billing", 90.0, members=(0, 1)), {contract.SLOW_MEMBERS}),
        (on.Leave("billing", (1,)), {contract.TOO_FEW_MEMBERS}),
        (on.Leave("billing"), {contract.STOPPED}),
        (on.Kill("billing", (1,)), {contract.TOO_FEW_MEMBERS}),
        (on.Freeze("billing"), {contract.STOPPED}),
        (on.Freeze("billing", lasts=60), set()),
        (on.Flap("billing", 2), {contract.REBALANCES}),
        (on.Poison("billing", 2), {contract.STUCK_RECORD}),
        (on.Poison("billing", 2, "crash"), {contract.STUCK_RECORD, contract.REBALANCES}),
        (on.Reset("billing", 600, (0,)), {contract.OFFSETS_RESET}),
        (on.Recreate("orders"), set()),
        (on.OpenTransaction("orders", 1), {contract.OPEN_TRANSACTION}),
        (on.OpenTransaction("orders", 1, lasts=60), set()),
        (on.OutOfSync("orders", 2), set()),
        (on.LoseLeaders("orders", (1,)), {contract.UNAVAILABLE}),
        (on.StopBroker(2), {contract.UNAVAILABLE}),
        (on.MoveLeaders("orders"), set()),
    ],
    ids=_name,
)
def test_a_cause_is_true_of_an_event_that_harms(event: Event, right: set[str]) -> None:
    assert causes(case((0, event))) == right


def test_a_slow_broker_harms_groups_whose_connections_it_slows() -> None:
    event = (0, on.SlowBroker(2, rate=5.0))

    # One group alone is not enough to blame a broker.
    alone = {contract.SLOW_BROKER, contract.UNEXPLAINED}
    assert causes(case(event, slow_line=True)) == alone
    assert causes(case(event)) == set()


def test_records_that_are_deleted_before_they_are_committed_decide_the_cause() -> None:
    lost = case((0, on.Retain("orders", 60)), commit_seconds=300.0)

    assert causes(lost) == {contract.RETENTION_RACE, contract.SETTINGS_CHANGED}
    assert causes(case((0, on.Retain("orders", 60)))) == set()
    assert find_suffering(lost)["billing"] > 0


@pytest.mark.thorough
def test_staged_cases_have_troubles_of_all_causes_and_groups_that_keep_up() -> None:
    counts = Counter(
        cause
        for each in (*TROUBLES, *TRIED, *ASIDE)
        for right in right_causes(each).values()
        for cause in right
    )

    rare = {cause for cause in contract.CAUSES if counts[cause] < 2}
    # The scorer `restarts` has its own cases of maintenance.
    assert rare == {contract.CATCHING_UP, contract.UNEXPLAINED, contract.MAINTENANCE}
    assert [each.name for each in HEALTHY if right_causes(each)] == []
