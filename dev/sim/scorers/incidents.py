# SPDX-License-Identifier: Apache-2.0
"""Checks that the daily report states each incident of a day with its time and cost, and no others.

A row of its incidents is good if it is about one planted incident and all its values are true.
Every other row is a fault, and so is an incident without a row. Page and message are made of these
rows; golden files hold their words.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from multiprocessing import Pool
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from dev.sim.cases.drawn import plan_days
from dev.sim.events import MINUTE, Case
from dev.sim.run import find_midnight, read_incidents, run_report, write_case
from dev.sim.truth import BEHIND, REBALANCING, REWOUND, SLA_MISSED, UNEVEN, Planted

Row: TypeAlias = Mapping[str, Any]

# Runs come once a minute, and events happen at any second. A group that falls behind bit by bit is
# behind once its oldest record is as old as the window.
_WITHIN = {BEHIND: 11.0, REBALANCING: 4.0, REWOUND: 3.0, SLA_MISSED: 3.0}
_EXACT = 1.01
# A group is well once its status was OK, and its SLA kept, for three runs. It keeps up as long as
# its next record is younger than two runs.
_HELD, _YOUNG = 4 * MINUTE, 2 * MINUTE
# An age is that of the run before, and retention that is enough is rounded up.
_AGE, _ENOUGH = 3 * MINUTE, 25 * MINUTE


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result for one cluster: the planted incidents, the ones with a true row, and faults."""

    cluster: str
    planted: Sequence[Planted]
    found: Collection[int]
    faults: list[str] = field(default_factory=list)


def score(cases: Sequence[Case], root: Path) -> list[Verdict]:
    """Returns a verdict on each cluster; all are reported in one run of the job."""
    with Pool(2) as pool:
        truths = pool.starmap(write_case, [(root, case) for case in cases], chunksize=1)
    run_report(root)
    return [
        judge(case, planted, read_incidents(root, case.name))
        for case, planted in zip(cases, truths, strict=True)
    ]


def judge(case: Case, planted: Sequence[Planted], rows: Sequence[Row]) -> Verdict:
    """Returns the verdict on one cluster's rows."""
    taken: dict[int, bool] = {}
    faults = []
    begins = find_midnight() / 1_000 - case.warm_up
    for row in rows:
        places = [n for n, one in enumerate(planted) if one.who in _list_subjects(row)]
        if not places:
            faults.append(f"about nothing that happened: {row['text']}")
            continue
        errors = {n: list(_list_errors(row, planted[n], begins)) for n in places}
        best = min(places, key=lambda n: (n in taken, len(errors[n])))
        if best in taken:
            faults.append(f"said twice: {row['text']}")
        elif errors[best]:
            faults.append(f"{'; '.join(errors[best])}: {row['text']}")
        taken.setdefault(best, not errors[best])
    for n, one in enumerate(planted):
        if n not in taken:
            what = " or ".join(sorted(one.kinds))
            span = [_hour(each, case) for each in (one.since, one.until)]
            faults.append(f"missing: {one.who} {what} from {span[0]} to {span[1]}")
    return Verdict(case.name, planted, {n for n, right in taken.items() if right}, faults)


def _hour(second: float, case: Case) -> str:
    return f"{(second - case.warm_up) / 3_600:.2f}" if isfinite(second) else "?"


def _list_subjects(row: Row) -> set[str | None]:
    """Returns the groups, topics or brokers that a row may be about."""
    match row["kind"]:
        case "no_runs":
            return {"runs"}
        case "no_leader" | "leader_moved":
            return {f"broker {row['leader']}"}
        case "topic_recreated" | "produced_unevenly":
            return {row["topic"]}
        case "unknown":
            return {row["consumer_group"], row["topic"]} - {None}
    return {row["consumer_group"]}


def _list_errors(row: Row, one: Planted, begins: float) -> Iterator[str]:
    """Yields the false statements of a row about an incident; the world began at `begins`, in s."""
    if row["kind"] not in one.kinds:
        yield f"not {' or '.join(sorted(one.kinds))}"
    if row["kind"] != UNEVEN:
        since, until = (row[name] and row[name].timestamp() - begins for name in ("since", "until"))
        yield from _list_wrong_times(row, one, since, until)
    for name, value in one.blamed:
        if row[name] != value:
            yield f"{name} {row[name]}, not {value}"
    if one.misses_sla != bool(row["sla_missed_minutes"]):
        yield "SLA missed" if one.misses_sla else "no SLA was missed"
    lost = row["records_lost"] or 0
    if one.lost and not one.lost[0] <= lost <= one.lost[1]:
        yield f"{lost:,} lost, not {one.lost[0]:,.0f} to {one.lost[1]:,.0f}"
    yield from _list_wrong_ages(row, one)


def _list_wrong_times(
    row: Row, one: Planted, since: float | None, until: float | None
) -> Iterator[str]:
    within = max(_WITHIN.get(row["kind"], _EXACT), _WITHIN.get(min(one.kinds), _EXACT)) * MINUTE
    if row["still"] != (one.until == inf):
        yield "it is over" if row["still"] else "it was still so"
    if since is None or one.since == -inf:
        if (since is None) != (one.since == -inf):
            yield "nobody knows since when" if since else "since when is known"
    elif not any(
        each is not None and -within <= since - each <= within + _YOUNG
        for each in (one.since, one.main_since)
    ):
        yield f"{(since - one.since) / MINUTE:.1f} min late"
    if until is not None and one.until < inf:
        first, last = one.gap or (one.until, one.until)
        if not first - within <= until <= last + within + _HELD:
            yield f"ends {(until - one.until) / MINUTE:.1f} min late"
    elif until is None and one.until < inf and not row["still"]:
        yield "has no end"


def _list_wrong_ages(row: Row, one: Planted) -> Iterator[str]:
    age, left = row["time_lag_max"], row["least_seconds_until_loss"]
    if one.age is not None and age is not None:
        short = one.age - age > _AGE and not row["time_lag_is_least"] and not one.gap
        if short or age - one.age > _AGE:
            yield f"the oldest record was {one.age:.0f} s old, not {age:.0f}"
    if one.left is not None and left is not None and abs(left - one.left) > _AGE:
        yield f"{one.left:.0f} s were left, not {left:.0f}"


def print_verdicts(options: Namespace) -> bool:
    """Prints the faults of each cluster, and how many incidents were found."""
    cases = plan_days(options.seed, lambda name: name.startswith(options.only))
    with TemporaryDirectory() as folder:
        found = score(cases, options.folder or Path(folder))
    for each in found:
        words = f"{each.cluster}: {len(each.found)} of {len(each.planted)} incidents found"
        print(words, file=sys.stderr, flush=True)
        for fault in each.faults:
            print(f"  {fault}")
    return not any(each.faults for each in found)
