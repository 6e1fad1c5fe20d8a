# SPDX-License-Identifier: Apache-2.0
"""Whether nothing pages while brokers restart in a mute window, and trouble after it does.

Each case of a rolling restart gets a window from its first event to half an hour after its last
one. After the window each group hangs. Pages are those that a replay finds.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing import Pool
from pathlib import Path
from tempfile import TemporaryDirectory

from dev.documents import make_cluster
from dev.sim.cases.drawn import PLANNED, vary
from dev.sim.events import MINUTE, Case, Hang
from dev.sim.reading import MINUTE_MS
from dev.sim.run import BEGIN, Kept, run_case
from dev.sim.scorers import Line, print_lines
from kafka_lag import contract
from kafka_lag.snapshots.store import FolderStore
from kafka_lag_cli.replay.pages import find_pages
from kafka_lag_cli.replay.recorded import read_recorded

_CLUSTER = "sim"
_SETTLES, _APART, _HANGS, _LATE = 30, 10, 30, 15
_SLA = 120
_METRICS = (contract.GROUP_STATUS, contract.ESTIMATED_TIME_LAG, contract.TIME_TO_DATA_LOSS)


def score(case: Case) -> Line:
    """Returns a line on a case: pages without and with the window, planted troubles, the fault."""
    before = round(case.warm_up / MINUTE)
    begin = before + int(min(at for at, _ in case.happens) // MINUTE)
    ends = (at + (getattr(event, "lasts", None) or 0.0) for at, event in case.happens)
    end = before + int(max(ends) // MINUTE) + _SETTLES
    hangs = end + _APART
    planted = [((hangs - before) * MINUTE, Hang(group)) for group in case.groups]
    minutes = hangs + _HANGS
    watched = (minutes - before) * MINUTE
    whole = replace(case, happens=(*case.happens, *planted), watched=watched)
    pages = list(_find_pages(whole, begin, end))
    loud, muted = ([each for each in found if begin <= each[1] < end] for found in pages)
    outside = {group for group, at in pages[1] if hangs <= at < hangs + _LATE}
    false = [each for each in pages[1] if not hangs <= each[1]]
    missed = case.groups.keys() - outside
    fault = "paged in the window" if muted else "false page" if false else ""
    fault = fault or (f"missed {', '.join(sorted(missed))}" if missed else "")
    return (case.name, len(loud), len(muted), f"{len(outside)} of {len(planted)}"), fault


def _find_pages(case: Case, begin: int, end: int) -> Iterator[list[tuple[str | None, int]]]:
    """Yields the groups that page, and the minutes in which they do: without and with a window."""
    with TemporaryDirectory() as folder:
        store = FolderStore(Path(folder))
        for _ in run_case(case, Kept(store, _CLUSTER)):
            pass
        until = BEGIN + case.runs * MINUTE_MS
        recorded = read_recorded(store, _CLUSTER, _METRICS, BEGIN, until, lambda _: lambda _: None)
    at = datetime.fromtimestamp((BEGIN + begin * MINUTE_MS) / 1_000, UTC)
    window = {"at": at.strftime("%Y-%m-%dT%H:%M"), "duration": f"{end - begin}m"}
    alarms = {"groups": list(case.groups)}
    for mute in ([], [window]):
        cluster = make_cluster(_CLUSTER, sla_seconds={".*": _SLA}, alarms=alarms, mute=mute)
        pages = find_pages(recorded, cluster)
        yield [(each.group, (each.begin - BEGIN) // MINUTE_MS) for each in pages]


def print_verdicts(options: Namespace) -> bool:
    """Prints a line for each rolling restart, with sizes that the seed draws."""
    cases = [*PLANNED["restarts"], *PLANNED["restarts-aside"]]
    chosen = [vary(each, options.seed + 1) for each in cases if each.name.startswith(options.only)]
    with Pool(2) as pool:
        lines = pool.map(score, chosen)
    columns = "case | pages there without a window | pages in it | troubles after it that paged"
    return print_lines("windows", columns, lines)
