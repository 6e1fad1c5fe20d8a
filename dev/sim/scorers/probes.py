# SPDX-License-Identifier: Apache-2.0
"""Whether the probe of a stalled member fails, and no other, not in rebalances and restarts."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from tempfile import TemporaryDirectory

from dev.sim.cases.drawn import PLANNED, vary
from dev.sim.events import MINUTE, Case
from dev.sim.run import Kept, run_case
from dev.sim.scorers import Line, print_lines, score_chosen
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.store import FolderStore
from kafka_lag.views.latest_run import Snapshots
from kafka_lag.views.member_probe import probe_member

_CLUSTER, _GROUP, _EACH = "sim", "billing", 20
# Sections with a stalled member, and those without.
_SECTIONS = {
    "probes": ("stalls", "restarts", "good"),
    "probes-unseen": ("stalls-unseen", "no-stalls-unseen", "restarts-unseen", "good-unseen"),
}
# Each so many runs all members are probed.
_EVERY = 4


def score(case: Case, stalled: str | None) -> Line:
    """Returns a line on a case: its stalled member, whose probes failed and when, the fault."""
    failed = dict[str, float]()
    with TemporaryDirectory() as folder:
        store, clock = FolderStore(Path(folder)), [0.0]
        snapshots = Snapshots(store, lambda: clock[0])
        for number, snapshot in enumerate(run_case(case, Kept(store, _CLUSTER))):
            clock[0] = snapshot.taken_at / 1_000 + 1
            if number % _EVERY or number * MINUTE < case.warm_up:
                continue
            for member in _list_members(snapshot):
                now = round(clock[0] * 1_000)
                found = probe_member(snapshots, _CLUSTER, _GROUP, member, now)
                if found.is_alive is False:
                    failed.setdefault(member, number - case.warm_up / MINUTE)
    when = ", ".join(f"{member} {minute:g}" for member, minute in failed.items())
    right = failed.keys() == ({stalled} if stalled else set())
    return (case.name, stalled, when), "" if right else "wrong"


def _list_members(snapshot: Snapshot) -> list[str]:
    rows = snapshot.group_partitions
    own = rows.strings("client_id").only(rows.strings("consumer_group").is_in([_GROUP]))
    return sorted({str(each) for each in own.to_list() if each is not None})


def print_verdicts(options: Namespace) -> bool:
    """Prints a line for each case: each of four members stalled, then rebalances and restarts."""
    cases, *others = (PLANNED[section] for section in _SECTIONS[options.cases])
    seeds = [options.seed + turn for turn in range(_EACH) for _ in cases]
    stalls = [
        (vary(case, seed), case.name[-10:]) for case, seed in zip(cases * _EACH, seeds, strict=True)
    ]
    quiet = [each for section in others for each in section if not each.name.endswith("-before")]
    jobs = [*stalls[:_EACH], *((vary(each, options.seed), None) for each in quiet[:_EACH])]
    columns = "case | stalled | probes that failed, minute"
    return print_lines("probes", columns, score_chosen(score, jobs, options))
