# SPDX-License-Identifier: Apache-2.0
"""Whether nothing pages while brokers restart in a mute window, and all trouble outside it does.

The window ends half an hour after the last event. Before it the first group by name hangs for a
while, and after it each group. Pages are those that a replay finds; log ends and commits tell which
group was late.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np

from dev.documents import make_cluster, mute_between
from dev.sim.events import MINUTE, Case, Hang, end_of
from dev.sim.reading import MINUTE_MS, Floats, Mask
from dev.sim.run import BEGIN
from dev.sim.scorers import Line
from dev.sim.truth import LATE, ages
from kafka_lag import contract
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.store import FolderStore, write_snapshot
from kafka_lag_cli.replay.pages import find_pages
from kafka_lag_cli.replay.recorded import read_recorded

COLUMNS = "pages without a window | in it | troubles that paged"
_CLUSTER = "sim"
# Minutes: the first trouble lasts, its backlog is worked off, the brokers settle, all is well, all
# hang. A trouble pages in time if it does so within `_LATE`.
_HANGS_FIRST, _WORKS_OFF, _SETTLES, _APART, _HANGS, _LATE = 10, 25, 30, 10, 20, 15
_METRICS = (contract.GROUP_STATUS, contract.ESTIMATED_TIME_LAG, contract.TIME_TO_DATA_LOSS)

# A group, and a minute from the first run on.
Page: TypeAlias = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """A case with planted troubles; its window and when all hang, in minutes from its first run.

    `first`: the group that hangs before the window.
    """

    case: Case
    first: str
    begin: int
    end: int
    hangs: int


def plan(case: Case) -> Plan:
    """Returns the plan of a rolling restart."""
    before = round(case.warm_up / MINUTE)
    happens = [(at + (_HANGS_FIRST + _WORKS_OFF) * MINUTE, event) for at, event in case.happens]
    begin = before + int(min(at for at, _ in happens) // MINUTE)
    end = before + int(max(end_of(*each) for each in happens) // MINUTE) + _SETTLES
    hangs = end + _APART
    hanging = [Hang(group, lasts=_HANGS * MINUTE) for group in case.groups]
    first = min(case.groups)
    happens += [(0.0, Hang(first, lasts=_HANGS_FIRST * MINUTE))]
    happens += [((hangs - before) * MINUTE, each) for each in hanging]
    watched = (hangs + _HANGS - before) * MINUTE
    whole = replace(case, happens=tuple(happens), watched=watched)
    return Plan(whole, first, begin, end, hangs)


def score(planned: Plan, snapshots: Sequence[Snapshot]) -> Line:
    """Returns pages in the window without and with it, troubles that paged, and the fault."""
    loud, muted = _find_pages(planned, snapshots)
    inside = [sum(planned.begin <= at < planned.end for _, at in each) for each in (loud, muted)]
    paged, fault = judge(planned, muted, find_late(snapshots))
    return (*inside, paged), fault


def judge(planned: Plan, pages: Sequence[Page], late: Mapping[str, Mask]) -> tuple[str, str]:
    """Returns how many planted troubles paged, and the fault; `late` tells by group and minute.

    A group that is late all the time up to the end of the window pages then. Any other page is
    right if the group was late in the last minute that its alarm saw.
    """
    begin, end, hangs = planned.begin, planned.end, planned.hangs
    troubles = [
        (planned.first, 0, begin),
        *((each, hangs, hangs + _LATE) for each in planned.case.groups),
    ]
    left = [(each, end, end + 1) for each in late if late[each][end - _LATE : end].all()]
    silent = {each for each in [*troubles, *left] if not _has_page(pages, *each)}
    paged = f"{len(troubles) - len(silent.intersection(troubles))} of {len(troubles)}"
    false = [f"{name} {at}" for name, at in pages if not late[name][at - 1]]
    if any(begin <= at < end for _, at in pages):
        return paged, "paged in the window"
    if false:
        return paged, f"false page: {', '.join(false)}"
    return paged, f"missed: {', '.join(sorted(name for name, *_ in silent))}" if silent else ""


def _has_page(pages: Sequence[Page], group: str, since: int, until: int) -> bool:
    return any(name == group and since <= at < until for name, at in pages)


def find_late(snapshots: Sequence[Snapshot]) -> Mapping[str, Mask]:
    """Returns by group and minute whether its oldest unread record was older than the SLA."""
    offsets, found = dict[tuple[str, str, int], Floats](), dict[str, Mask]()
    minutes = [(each.taken_at - BEGIN) // MINUTE_MS for each in snapshots]
    for minute, snapshot in zip(minutes, snapshots, strict=True):
        for row in snapshot.group_partitions.to_dicts():
            at = row["consumer_group"], row["topic"], row["partition_id"]
            offsets.setdefault(at, np.full((minutes[-1] + 1, 2), np.nan))
            offsets[at][minute] = row["end_offset"], row["committed_offset"]
    for (group, *_), each in offsets.items():
        # What was not read stays as it was.
        ends, commits = np.hsplit(np.nan_to_num(np.fmax.accumulate(each)), 2)
        # Nobody saw when the records of the first run came.
        late = (ages(ends, commits, MINUTE) > LATE) | (commits < ends[minutes[0]])
        found[group] = found.get(group, False) | late[:, 0]
    return found


def _find_pages(planned: Plan, snapshots: Sequence[Snapshot]) -> Iterator[list[Page]]:
    """Yields the pages without and with a window."""
    with TemporaryDirectory() as folder:
        store = FolderStore(Path(folder))
        for each in snapshots:
            write_snapshot(store, _CLUSTER, each)
        until = snapshots[-1].taken_at + MINUTE_MS
        recorded = read_recorded(store, _CLUSTER, _METRICS, BEGIN, until, lambda _: lambda _: None)
    window = mute_between(*(BEGIN + at * MINUTE_MS for at in (planned.begin, planned.end)))
    alarms = {"groups": list(planned.case.groups)}
    for mute in ([], [window]):
        cluster = make_cluster(_CLUSTER, sla_seconds={".*": LATE}, alarms=alarms, mute=mute)
        pages = find_pages(recorded, cluster)
        yield [(each.group, (each.begin - BEGIN) // MINUTE_MS) for each in pages if each.group]
