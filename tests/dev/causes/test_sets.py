# SPDX-License-Identifier: Apache-2.0
"""Cases on brokers: each can be staged, is well at first, and every cause is covered."""

from __future__ import annotations

import math
from collections import Counter

from dev.causes.brokers import plan_waves
from dev.causes.faults import Case, Group
from dev.causes.seen import CASES
from kafka_lag import contract

# Groups of which a cause is right, at least; waves, at most.
LEAST, MOST_WAVES = 2, 7


def reads_in_time(case: Case, group: Group) -> bool:
    """Whether the member that is assigned most, or a partition's own worker, can read it all."""
    topic = case.topics[group.topic]
    owned = 1 if group.workers == "each" else math.ceil(topic.partitions / group.members)
    return owned / topic.partitions * topic.rate < 1_000 / group.ms


def test_a_group_reads_in_time_until_something_happens() -> None:
    late = [
        f"{case.name} {name}"
        for case in CASES
        for name, group in case.groups.items()
        if not reads_in_time(case, group)
    ]
    assert late == []


def test_what_happens_meets_what_is_there() -> None:
    for case in CASES:
        for _, event in case.happens:
            there = [
                getattr(event, "group", None) in {None, *case.groups},
                getattr(event, "topic", None) in {None, *case.topics},
            ]
            assert all(there), f"{case.name}: {event}"


def test_what_is_right_is_a_cause_of_a_group_of_the_case() -> None:
    named = set(contract.CAUSES) - {contract.UNEXPLAINED}
    for case in CASES:
        assert set(case.right) <= set(case.groups), case.name
        assert all(causes and causes <= named for causes in case.right.values()), case.name


def test_each_cause_is_right_of_several_groups() -> None:
    counts = Counter(cause for case in CASES for right in case.right.values() for cause in right)
    assert {cause: counts[cause] for cause in contract.CAUSES if counts[cause] < LEAST} == {
        contract.UNEXPLAINED: 0
    }


def test_the_cases_are_recorded_in_a_few_waves() -> None:
    assert len(plan_waves(CASES)) <= MOST_WAVES
