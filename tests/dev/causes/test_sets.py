# SPDX-License-Identifier: Apache-2.0
"""Sets of cases on brokers: each can be staged, is well at first, and covers every cause."""

from __future__ import annotations

import math
from collections import Counter
from importlib import import_module

import pytest

from dev.causes.brokers import plan_waves
from dev.causes.faults import Case, Group
from kafka_lag import contract

# Groups of which a cause is right, at least; waves, at most.
SETS = {"seen": (2, 7), "tried": (2, 7), "unseen": (3, 7)}


def cases_of(name: str) -> tuple[Case, ...]:
    cases: tuple[Case, ...] = import_module(f"dev.causes.{name}").CASES
    return cases


@pytest.fixture(params=SETS)
def cases(request: pytest.FixtureRequest) -> tuple[Case, ...]:
    return cases_of(request.param)


def reads_in_time(case: Case, group: Group) -> bool:
    """Whether the member that is assigned most, or a partition's own worker, can read it all."""
    topic = case.topics[group.topic]
    owned = 1 if group.workers == "each" else math.ceil(topic.partitions / group.members)
    return owned / topic.partitions * topic.rate < 1_000 / group.ms


def test_each_case_has_a_name_of_its_own(cases: tuple[Case, ...]) -> None:
    assert max(Counter(case.name for case in cases).values()) == 1


def test_a_group_reads_in_time_until_something_happens(cases: tuple[Case, ...]) -> None:
    late = [
        f"{case.name} {name}"
        for case in cases
        for name, group in case.groups.items()
        if not reads_in_time(case, group)
    ]
    assert late == []


def test_what_happens_meets_what_is_there(cases: tuple[Case, ...]) -> None:
    for case in cases:
        for _, event in case.happens:
            there = [
                getattr(event, "group", None) in {None, *case.groups},
                getattr(event, "topic", None) in {None, *case.topics},
            ]
            assert all(there), f"{case.name}: {event}"


def test_something_happens_while_a_case_is_watched(cases: tuple[Case, ...]) -> None:
    assert [c.name for c in cases if any(not 0 <= at < c.watched for at, _ in c.happens)] == []


def test_what_is_right_is_a_cause_of_a_group_of_the_case(cases: tuple[Case, ...]) -> None:
    named = set(contract.CAUSES) - {contract.UNEXPLAINED}
    for case in cases:
        assert set(case.right) <= set(case.groups), case.name
        assert all(causes and causes <= named for causes in case.right.values()), case.name


def test_a_set_has_groups_that_are_well(cases: tuple[Case, ...]) -> None:
    assert any({*case.groups} - {*case.right} for case in cases)


@pytest.mark.parametrize(("name", "least"), [(name, least) for name, (least, _) in SETS.items()])
def test_each_cause_is_right_of_several_groups(name: str, least: int) -> None:
    counts = Counter(
        cause for case in cases_of(name) for right in case.right.values() for cause in right
    )
    assert {cause: counts[cause] for cause in contract.CAUSES if counts[cause] < least} == {
        contract.UNEXPLAINED: 0
    }


@pytest.mark.parametrize(("name", "most"), [(name, most) for name, (_, most) in SETS.items()])
def test_a_set_is_recorded_in_a_few_waves(name: str, most: int) -> None:
    assert len(plan_waves(cases_of(name))) <= most


def test_no_case_that_was_tried_is_among_those_set_aside() -> None:
    used = {case.name for name in ("seen", "tried") for case in cases_of(name)}
    assert used.isdisjoint(case.name for case in cases_of("unseen"))
