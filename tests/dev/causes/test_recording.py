# SPDX-License-Identifier: Apache-2.0
"""Cases on brokers as data: which run together, what is written, and how a recording is judged."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from dev.causes.cluster import BEGIN, MINUTE, Cluster, Group, run_minutes
from dev.causes.cluster import Topic as SimulatedTopic
from dev.causes.recording import ANSWERS, Recording, Truth, judge_recording, read_answers
from dev.causes.score import NOT_EXPLAINED, RIGHT, WRONG, Verdict, name_ours
from kafka_lag import contract
from kafka_lag.snapshots.store import write_snapshot

CLUSTER, ILL, WELL, STOPS_AT = "wave-1", "1-00.billing", "1-00.audit", 12


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
