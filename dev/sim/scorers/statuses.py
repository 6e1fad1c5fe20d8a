# SPDX-License-Identifier: Apache-2.0
"""Checks that each partition has a status that its log allows, run by run.

A commit without records to read, or whose next record is younger than the window, is OK. A commit
that moved within the window is neither STOP nor STALL. A commit that did not move for longer than
the window is STOP or STALL. After a loss, a commit that went back, or an open transaction, a window
of runs is not judged.
"""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dev.sim.cases.drawn import SETS
from dev.sim.events import MINUTE, WINDOW, Case
from dev.sim.reading import Floats, Mask
from dev.sim.run import run
from dev.sim.scorers import Line, print_lines, score_chosen
from dev.sim.truth import ages
from dev.sim.world import GroupState, Staged
from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import ByName, Rules

# A run sees what happened up to a minute before it, and a change a run later.
_SLACK = 2 * MINUTE
_STANDING = (contract.STOP, contract.STALL)
Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Truth:
    """What is true of each run and partition: ages and how long the commit `stood`, in seconds.

    A status is not judged where it is `excused`.
    """

    age: Floats
    stood: Floats
    nothing_unread: Mask
    excused: Mask


def score(case: Case) -> Line:
    """Returns a line on a case: how many statuses were judged, and what was wrong first."""
    world = Staged(case).world
    moments: dict[str, list[Floats]] = {group.name: [] for group in world.groups}
    said: list[Mapping[Key, str | None]] = []
    delays = [(f"^{name}$", each.delay_seconds) for name, each in case.groups.items()]
    rules = Rules(lookup_budget=0, delay_seconds=ByName.of(each for each in delays if each[1]))
    for report in run(world, case.runs, rules):
        said.append(_read_statuses(report.snapshot.group_partitions))
        for group in world.groups:
            moments[group.name].append(_look(group))
    wrong, first = Counter[str](), ""
    judged, begin = 0, round((case.warm_up + case.learnt) / MINUTE)
    for group in world.groups:
        delay, pause = case.groups[group.name].delay_seconds, case.pause
        truth = find_truth(np.array(moments[group.name]), delay)
        keys = [(group.name, each.name, n) for each in group.topics for n in range(each.partitions)]
        for number, statuses in enumerate(said[begin:], begin):
            for place, key in enumerate(keys):
                if key not in statuses or truth.excused[number, place]:
                    continue
                judged += 1
                if fault := find_fault(statuses[key], truth, (number, place), pause):
                    wrong[fault] += 1
                    first = first or f"{key} in run {number}: {statuses[key]}, {fault}"
    words = ", ".join(f"{count} {rule}" for rule, count in wrong.most_common())
    return (case.name, f"{judged:,}", first), words


def _look(group: GroupState) -> Floats:
    """Returns a row for each figure of a moment, a column for each partition."""
    end, stable = group.gather("end"), group.gather("stable")
    recreated = [np.full(topic.partitions, topic.generation) for topic in group.topics]
    readable = np.minimum(end - group.gather("tail"), stable)
    is_open = stable < end
    return np.stack([readable, group.committed, group.lost, is_open, np.concatenate(recreated)])


def _read_statuses(rows: Frame) -> Mapping[Key, str | None]:
    """Returns the statuses of the partitions that were read."""
    names = ("consumer_group", "topic", "partition_id", "status", "unread_reason")
    columns: list[list[Any]] = [rows.columns[name].to_list() for name in names]
    return {
        (group, topic, number): status
        for group, topic, number, status, unread in zip(*columns, strict=True)
        if unread is None
    }


def find_truth(moments: Floats, delay: float = 0.0) -> Truth:
    """Returns what is true by moments a minute apart, as `_look` has them.

    An age counts from the second on at which the record has waited for the group's `delay`.
    """
    readable, commit, lost, is_open, recreated = moments.transpose(1, 0, 2)
    moved = np.diff(commit, axis=0, prepend=commit[:1])
    begins = np.zeros_like(commit, bool)
    begins[0] = True
    disturbed = begins | (moved < 0) | (is_open > 0) | (recreated > 0)
    disturbed |= np.diff(lost, axis=0, prepend=lost[:1]) > 0
    return Truth(
        np.maximum(ages(readable, commit, MINUTE) - delay, 0.0),
        _since(moved != 0),
        commit >= readable,
        _since(disturbed) <= WINDOW + _SLACK,
    )


def _since(mask: Mask) -> Floats:
    """Returns seconds since the mask was true the last time."""
    run_of = np.arange(len(mask))[:, None]
    last = np.maximum.accumulate(np.where(mask, run_of, -np.inf))
    seconds: Floats = ((run_of - last) * MINUTE).astype(np.float64)
    return seconds


def find_fault(
    status: str | None, truth: Truth, at: tuple[int, int], pause: float = 0.0
) -> str | None:
    """Returns what is wrong with a status; a commit may stand for a usual `pause`, in seconds."""
    age, stood = truth.age[at], truth.stood[at]
    if truth.nothing_unread[at]:
        return None if status == contract.OK else "nothing is unread"
    if age <= WINDOW - _SLACK or (pause and stood <= pause):
        bad = status not in (contract.OK, None)
        return "the next record is young, or the pause is usual" if bad else None
    if stood <= WINDOW - _SLACK:
        return "the commit moves" if status in _STANDING else None
    if min(age, stood) > max(WINDOW, 2 * pause) + _SLACK and status not in _STANDING:
        return "the commit stands"
    return None


def print_verdicts(options: Namespace) -> bool:
    """Prints a line for each case."""
    every = SETS[options.cases](options.seed)
    lines = score_chosen(score, ((each,) for each in every), options)
    return print_lines("statuses", "case | statuses judged | the first", lines)
