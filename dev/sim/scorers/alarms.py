# SPDX-License-Identifier: Apache-2.0
"""Counts how many planted incidents page, and how many pages are false.

The last third of the days is set aside. Its SLAs are proposed by `kafka-lag replay --propose` from
the days before, and its pages are made by a replay. A page is false unless it begins within an
incident, or while the incident's backlog is worked off. 95 % of the incidents must page, and 18 of
20 groups must keep their budget within one page.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dev.documents import make_cluster
from dev.sim.cases.alarms import DAY, MINUTES, Incident, Track, plant
from dev.sim.reading import FIRST, MINUTE_MS, Floats
from dev.sim.scorers import print_lines
from kafka_lag import contract
from kafka_lag_cli.replay.pages import find_pages
from kafka_lag_cli.replay.proposals import Proposal, propose_slas
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_cli.state.groups_over_time import GroupsOverTime, Period
from kafka_lag_config.cluster import Cluster

# The days that choose a proposal, and the days set aside, as in proposals.
SPLIT = MINUTES * 2 // 3
# Pages a month that SLAs are proposed for: half as many again as there are incidents. A budget
# below these buys silence with incidents.
BUDGET = 3.0
_WINDOW_MINUTES, _UNREAD_SHARE = 10, 0.002
_LEAST_FOUND, _LEAST_KEPT = 0.95, 0.9
_OK, _WARN, _ERR = (float(contract.GROUP_STATUS_VALUES[each]) for each in ("OK", "WARN", "ERR"))


@dataclass(frozen=True, slots=True)
class Page:
    """A page for a group; `begin` is a minute of the days."""

    group: str
    begin: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on the days set aside: incidents, false pages, and minutes until the pages.

    `kept` is how many of the `groups` keep their budget.
    """

    seed: int
    incidents: int
    false: int
    delays: tuple[int, ...]
    kept: int
    groups: int

    @property
    def missed(self) -> bool:
        """Returns True if too few incidents page, or too few budgets are kept."""
        unfound = len(self.delays) < _LEAST_FOUND * self.incidents
        return unfound or self.kept < _LEAST_KEPT * self.groups


def score(seed: int) -> Verdict:
    """Returns the verdict on the days of a seed."""
    tracks, incidents = plant(seed)
    recorded = record(tracks, np.random.default_rng([seed, 1]))
    proposals = list(propose_slas(recorded, make_document([]), BUDGET))
    pages = find_pages(recorded, make_document(proposals))
    found = [Page(page.group, (page.begin - FIRST) // MINUTE_MS) for page in pages if page.group]
    return judge(seed, incidents, [page for page in found if page.begin >= SPLIT], proposals)


def judge(
    seed: int, incidents: Sequence[Incident], pages: Sequence[Page], proposals: Sequence[Proposal]
) -> Verdict:
    """Returns the verdict on pages of the days set aside."""
    aside = [each for each in incidents if each.begin >= SPLIT]
    own = [[page.begin for page in pages if _is_of(page, each)] for each in aside]
    delays = [min(begins) - each.begin for begins, each in zip(own, aside, strict=True) if begins]
    false = sum(not any(_is_of(page, each) for each in incidents) for page in pages)
    kept = sum(map(keeps_budget, proposals))
    return Verdict(seed, len(aside), false, tuple(delays), kept, len(proposals))


def _is_of(page: Page, incident: Incident) -> bool:
    return page.group == incident.group and incident.begin <= page.begin <= incident.over


def keeps_budget(proposal: Proposal) -> bool:
    """Returns whether a group keeps the budget within a page on the days set aside.

    One that gets no SLA keeps it by paging nobody.
    """
    share = (MINUTES - SPLIT) / (30 * DAY)
    return proposal.tried is None or proposal.tried * share <= BUDGET * share + 1


def record(tracks: Mapping[str, Track], rng: np.random.Generator) -> Recorded:
    """Returns the published rows of the groups; some runs are missing, and some rows unread."""
    each = list(tracks.values())
    ages = np.stack([track.ages() for track in each], axis=1)
    statuses = np.stack([_find_statuses(track) for track in each], axis=1)
    lags = np.stack([(track.end - track.committed)[track.at_runs()] for track in each], axis=1)
    has_run = np.ones(MINUTES, bool)
    for first in rng.integers(0, MINUTES, 6):
        has_run[first : first + rng.integers(1, 25)] = False
    unread = (rng.random(ages.shape) < _UNREAD_SHARE) | ~has_run[:, None]
    columns = {
        "time_lag_seconds": np.round(ages + rng.lognormal(1.2, 0.6, ages.shape), 3),
        "lag": lags.astype(np.float64),
        "status": statuses,
        "incident_since": np.full(ages.shape, np.nan),
        "seconds_until_loss": np.full(ages.shape, contract.NO_LOSS_SECONDS, np.float64),
    }
    known = {name: np.where(unread, np.nan, values) for name, values in columns.items()}
    period = Period(FIRST, FIRST + MINUTES * MINUTE_MS - 1, MINUTE_MS)
    times = FIRST + np.arange(MINUTES) * MINUTE_MS
    over_time = GroupsOverTime(period, tuple(tracks), times, has_run, 0, known)
    return Recorded(FIRST, has_run, 0, tuple(tracks), over_time)


def _find_statuses(track: Track) -> Floats:
    """Returns the status of a commit that stands, or of a backlog that grows, run by run."""
    now, ages = np.arange(track.runs), track.ages()
    stands = now - np.maximum.accumulate(np.where(track.moves(), now, 0)) > _WINDOW_MINUTES
    old = ages > 60.0 * _WINDOW_MINUTES
    grows = np.append(np.zeros(_WINDOW_MINUTES, bool), np.subtract(ages[10:], ages[:-10]) >= 0)
    return np.where(stands & old, _ERR, np.where(old & grows, _WARN, _OK))


def make_document(proposals: Sequence[Proposal]) -> Cluster:
    """Returns a cluster with the SLAs that are proposed, in as many runs, and alarms on groups."""
    chosen = [each for each in proposals if each.sla_seconds is not None]
    runs = {each.group: {"datapoints": each.datapoints, "periods": each.periods} for each in chosen}
    return make_cluster(
        "shop",
        sla_seconds={f"^{each.group}$": each.sla_seconds for each in chosen},
        alarms={"groups": list(runs), "sla_runs": runs},
    )


def print_verdicts(options: Namespace) -> bool:
    """Prints a line for each of three seeds."""
    lines = []
    for one in (score(seed) for seed in range(options.seed, options.seed + 3)):
        found, kept = f"{len(one.delays)} of {one.incidents}", f"{one.kept} of {one.groups}"
        delay = f"{np.median(one.delays):.0f}" if one.delays else "-"
        cells = one.seed, found, one.false, delay, kept
        lines.append((cells, "too few" if one.missed else ""))
    columns = "seed | incidents found | false pages | median minutes | budgets kept"
    return print_lines("alarms", columns, lines)
