# SPDX-License-Identifier: Apache-2.0
"""Cases on brokers as data: which run together, what is written, and how a recording is judged."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from dev.causes.brokers import plan_waves
from dev.causes.cluster import BEGIN, MINUTE, Cluster, Group, run_minutes
from dev.causes.cluster import Topic as SimulatedTopic
from dev.causes.faults import Case, Event, Leave, StopBroker, Topic
from dev.causes.faults import Group as GroupOnBrokers
from dev.causes.recording import ANSWERS, Recording, Truth, judge_recording, read_answers
from dev.causes.score import NOT_EXPLAINED, RIGHT, WRONG, Verdict, name_ours
from dev.causes.writer import Stream
from kafka_lag import contract
from kafka_lag.snapshots.store import write_snapshot

CLUSTER, ILL, WELL, STOPS_AT = "wave-1", "1-00.billing", "1-00.audit", 12


def a_case(name: str, *happens: Event, members: int = 2) -> Case:
    group = GroupOnBrokers("orders", members=members)
    return Case(name, {"orders": Topic()}, {"billing": group}, tuple((0, e) for e in happens))


def names_of(waves: Iterable[Iterable[Case]]) -> list[list[str]]:
    return [[case.name for case in wave] for wave in waves]


def test_a_case_that_stops_a_broker_has_the_cluster_for_itself() -> None:
    cases = [a_case("a", StopBroker(1)), a_case("b", Leave("billing")), a_case("c")]
    assert names_of(plan_waves(cases)) == [["b", "c"], ["a"]]


def test_what_the_machine_does_not_bear_at_once_comes_in_the_next_wave() -> None:
    cases = [a_case("a", members=40), a_case("b", members=40), a_case("c")]
    assert names_of(plan_waves(cases)) == [["a"], ["b", "c"]]


def test_a_weight_says_how_many_times_as_much_as_others_a_partition_gets() -> None:
    stream = Stream(Topic(partitions=4, rate=60), 0.0, {2: 3.0})
    assert stream.rates(1.0).tolist() == [10.0, 10.0, 30.0, 10.0]


def test_a_rate_grows_within_its_ramp() -> None:
    stream = Stream(Topic(partitions=1, rate=10), 0.0)
    stream.change(3.0, ramp=20.0)
    rates = [stream.rates(stream.since + seconds).sum() for seconds in (0.0, 10.0, 50.0)]
    assert rates == pytest.approx([10.0, 20.0, 30.0])


def test_a_batch_job_writes_what_is_due_at_once() -> None:
    stream, rng = Stream(Topic(rate=100, batch_seconds=60), 0.0), np.random.default_rng(1)
    counts = [int(stream.take_due(now, 1.0, rng).sum()) for now in (0.0, 1.0, 30.0, 60.0)]
    assert counts[0] > 0
    assert counts[1:3] == [0, 0]
    assert counts[3] > counts[0]


@pytest.fixture
def recorded(tmp_path: Path) -> Recording:
    """A group that loses its members, and one beside it that does not."""
    topic = SimulatedTopic("1-00.orders", np.full(3, 10.0))
    ill, well = (Group(name, topic, {f"{name}-m": 90.0}) for name in (ILL, WELL))
    cluster = Cluster([topic], [ill, well], np.random.default_rng(1))

    def change(_: Cluster, minute: int) -> None:
        if minute == STOPS_AT:
            ill.speed = {}

    recording = Recording.begin(tmp_path)
    for snapshot in run_minutes(cluster, STOPS_AT + 25, change):
        write_snapshot(recording.store, CLUSTER, snapshot)
    begins = BEGIN + STOPS_AT * MINUTE
    for group, right in ((ILL, {contract.STOPPED}), (WELL, set[str]())):
        recording.add(Truth("all-left", CLUSTER, group, begins, frozenset(right)))
    return recording


def verdicts_of(found: Iterable[Verdict]) -> dict[str, str]:
    return {each.group: each.verdict for each in found}


def test_a_recording_is_judged_group_by_group(recorded: Recording) -> None:
    found = judge_recording(recorded, {"ours": name_ours})["ours"]
    assert verdicts_of(found) == {ILL: RIGHT, WELL: RIGHT}


def test_a_case_that_is_not_wanted_is_not_judged(recorded: Recording) -> None:
    assert judge_recording(recorded, {"ours": name_ours}, ("other",)) == {"ours": []}


@pytest.mark.parametrize(
    ("group", "cause", "verdicts"),
    [
        (ILL, contract.STOPPED, {ILL: RIGHT, WELL: RIGHT}),
        (ILL, contract.HOT_PARTITION, {ILL: WRONG, WELL: RIGHT}),
        (WELL, contract.STOPPED, {ILL: NOT_EXPLAINED, WELL: WRONG}),
    ],
    ids=["right", "another cause", "of the group that is well"],
)
def test_answers_of_any_program_are_judged(
    recorded: Recording, tmp_path: Path, group: str, cause: str, verdicts: dict[str, str]
) -> None:
    answers = tmp_path / "answers.csv"
    with answers.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(ANSWERS)
        for snapshot in recorded.snapshots(CLUSTER):
            rows.writerow((CLUSTER, group, snapshot.taken_at, cause))
    found = judge_recording(recorded, {"theirs": read_answers(answers)})["theirs"]
    assert verdicts_of(found) == verdicts


def test_answers_in_another_form_are_not_taken(tmp_path: Path) -> None:
    answers = tmp_path / "answers.csv"
    answers.write_text("group,cause\n")
    with pytest.raises(SystemExit, match="must have the columns"):
        read_answers(answers)
