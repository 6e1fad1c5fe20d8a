# SPDX-License-Identifier: Apache-2.0
"""What the collector stored of cases on brokers, the truth beside it, and answers judged by it.

A folder holds the snapshots of each wave, under its name as the cluster's, and `truth.csv`: case,
cluster, group, the moment of the case (`begins`, ms UTC), and the causes that are right, none of a
group that is well. Answers are a CSV of cluster, group, taken_at and cause: a line for each run in
which a program names one.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dev.causes.score import (
    Named,
    Namer,
    Planted,
    Run,
    Verdict,
    find_troubled,
    judge,
    name_ours,
)
from kafka_lag import contract
from kafka_lag.lag.causes import add_causes, find_lagging
from kafka_lag.lag.frame import locate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.previous_rows import match_previous, match_previous_groups
from kafka_lag.lag.rebalances import add_rebalances
from kafka_lag.lag.rollup import counts_of
from kafka_lag.snapshots.store import FolderStore, list_runs, read_dataset

_TRUTH = ("case", "cluster", "group", "begins", "causes")
ANSWERS = ("cluster", "group", "taken_at", "cause")
# Of a group that is well no cause may be named so long before the moment either, ms.
_BEFORE_MS = 20_000
# No wave lasts as long, before or after the moments of its cases, ms.
_AROUND_MS = 6 * 3_600_000


@dataclass(frozen=True, slots=True)
class Truth:
    """Of one group: `begins`, ms UTC, is the moment of its case."""

    case: str
    cluster: str
    group: str
    begins: int
    right: frozenset[str]


class Recording:
    """A folder of snapshots with the truth."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "truth.csv"
        self.store = FolderStore(folder)

    @classmethod
    def begin(cls, folder: Path) -> Recording:
        """An empty one."""
        folder.mkdir(parents=True, exist_ok=True)
        recording = cls(folder)
        with recording._file.open("w", newline="") as file:
            csv.writer(file).writerow(_TRUTH)
        return recording

    def add(self, truth: Truth) -> None:
        """What is true of a group."""
        with self._file.open("a", newline="") as file:
            causes = " ".join(sorted(truth.right))
            row = (truth.case, truth.cluster, truth.group, truth.begins, causes)
            csv.writer(file).writerow(row)

    def truths(self) -> list[Truth]:
        """All of them."""
        with self._file.open(newline="") as file:
            return [
                Truth(
                    row["case"],
                    row["cluster"],
                    row["group"],
                    int(row["begins"]),
                    frozenset(row["causes"].split()),
                )
                for row in csv.DictReader(file)
            ]

    def snapshots(self, cluster: str) -> Iterator[Snapshot]:
        """Those of a wave, oldest first."""
        moments = [each.begins for each in self.truths() if each.cluster == cluster]
        since, before = min(moments) - _AROUND_MS, max(moments) + _AROUND_MS
        for taken_at in list_runs(self.store, contract.GROUPS, cluster, since, before):
            frames = (
                read_dataset(self.store, dataset, cluster, taken_at)
                for dataset in contract.DATASETS
            )
            yield Snapshot(taken_at, *frames)


def name_anew(rules: Rules) -> Callable[[], Namer]:
    """The collector's rules as they are now, on runs that others before them have seen."""

    def make() -> Namer:
        previous = [Snapshot.empty()]

        def name(snapshot: Snapshot) -> Named:
            rows = snapshot.group_partitions
            counts = counts_of(rows)
            at = locate(rows, snapshot.topic_partitions, ("topic", "partition_id"))
            old = match_previous_groups(snapshot.groups, previous[0])
            groups = add_causes(
                add_rebalances(snapshot.groups, old, rules),
                old,
                rows,
                snapshot.topic_partitions.lazy_take(at),
                counts,
                find_lagging(rows, counts),
                match_previous(rows, previous[0]),
                snapshot.taken_at,
                rules,
            )
            previous[0] = replace(snapshot, groups=groups)
            return name_ours()(previous[0])

        return name

    return make


def judge_recording(
    recording: Recording, programs: Mapping[str, Callable[[], Namer]], only: tuple[str, ...] = ("",)
) -> dict[str, list[Verdict]]:
    """Each program's verdicts; it is given the groups of one case at a time.

    A group that is in trouble before the moment of its case is left out: what was planted is not
    what is wrong with it.
    """
    verdicts: dict[str, list[Verdict]] = {name: [] for name in programs}
    cases: dict[tuple[str, str], list[Truth]] = defaultdict(list)
    for truth in recording.truths():
        if truth.case.startswith(only):
            cases[truth.cluster, truth.case].append(truth)
    by_wave: dict[str, list[Sequence[Truth]]] = defaultdict(list)
    for (cluster, _), truths in cases.items():
        by_wave[cluster].append(truths)
    for cluster, of_wave in by_wave.items():
        snapshots = list(recording.snapshots(cluster))
        for planted in of_wave:
            for name, found in _judge_case(planted, snapshots, programs).items():
                verdicts[name] += found
    return verdicts


def _judge_case(
    truths: Sequence[Truth],
    snapshots: Sequence[Snapshot],
    programs: Mapping[str, Callable[[], Namer]],
) -> dict[str, list[Verdict]]:
    namers = {name: make() for name, make in programs.items()}
    begins = truths[0].begins
    prefix = truths[0].group.partition(".")[0] + "."
    runs = []
    ill_before: frozenset[str] = frozenset()
    for snapshot in snapshots:
        own = _only(snapshot, prefix)
        named = {name: program(own) for name, program in namers.items()}
        if snapshot.taken_at < begins:
            ill_before = find_troubled(own)
        if snapshot.taken_at >= begins - _BEFORE_MS:
            ill = find_troubled(own) if snapshot.taken_at >= begins else frozenset[str]()
            runs.append(Run(ill, named))
    planted = Planted(
        truths[0].case,
        tuple(each.group for each in truths if each.group not in ill_before),
        {each.group: each.right for each in truths if each.right},
    )
    return {name: list(judge(planted, runs, name)) for name in programs}


def _only(snapshot: Snapshot, prefix: str) -> Snapshot:
    """The run as a cluster would show it that had the groups of one case alone."""
    frames = []
    for dataset in contract.DATASETS:
        frame = snapshot.dataset(dataset)
        column = "topic" if dataset == contract.TOPIC_PARTITIONS else "consumer_group"
        names = frame.strings(column)
        mine = [name for name in set(names.to_list()) if name and name.startswith(prefix)]
        frames.append(frame.where(names.is_in(mine)))
    return Snapshot(snapshot.taken_at, *frames)


def read_answers(file: Path) -> Callable[[], Namer]:
    """A program that has answered before: see the module."""
    answers: dict[tuple[int, str], str] = {}
    with file.open(newline="") as lines:
        rows = csv.DictReader(lines)
        if tuple(rows.fieldnames or ()) != ANSWERS:
            sys.exit(f"{file} must have the columns {', '.join(ANSWERS)}.")
        for row in rows:
            answers[int(row["taken_at"]), row["group"]] = row["cause"]

    def name(snapshot: Snapshot) -> Named:
        groups = [g for g in snapshot.groups.strings("consumer_group").to_list() if g is not None]
        at = snapshot.taken_at
        return {group: answers[at, group] for group in groups if (at, group) in answers}

    return lambda: name
