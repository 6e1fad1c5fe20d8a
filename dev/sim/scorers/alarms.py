# SPDX-License-Identifier: Apache-2.0
"""Counts how many planted incidents page, and how many pages are false.

The last third of the days is set aside. Each group has the shortest SLA that paged seldom on
the days before it, and a replay makes the pages. A page is false unless it begins within an
incident, or while the incident's backlog is worked off. 95 % of the incidents must page.
"""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from dev.documents import make_cluster
from dev.sim.cases.alarms import DAY, MINUTES, Incident, Track, plant
from dev.sim.reading import FIRST, MINUTE_MS, Floats
from dev.sim.scorers import Line, print_lines
from kafka_lag import contract
from kafka_lag_cli.replay.pages import find_pages
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_cli.state.groups_over_time import GroupsOverTime, Period
from kafka_lag_config.alarm_rules import SLA
from kafka_lag_config.cluster import Cluster

# The days that choose the SLAs, and the days set aside.
SPLIT = MINUTES * 2 // 3
# Seconds to choose from, and the most pages on the days that choose: 3 a month, half as many again
# as there are incidents. Fewer buy silence with incidents.
_SLAS = (60, 120, 180, 300, 600, 900, 1_800, 3_600, 7_200)
_MOST_PAGES = 3 * SPLIT / (30 * DAY)
_WINDOW_MINUTES, _UNREAD_SHARE = 10, 0.002
_LEAST_FOUND = 0.95
_OK, _WARN, _ERR = (float(contract.GROUP_STATUS_VALUES[each]) for each in ("OK", "WARN", "ERR"))


# The group of a page, and the minute of the days in which it begins.
Page: TypeAlias = tuple[str, int]


def score(seed: int) -> Line:
    """Returns the verdict on the days of a seed that are set aside."""
    tracks, incidents = plant(seed)
    recorded = record(tracks, np.random.default_rng([seed, 1]))
    pages = find_pages(recorded, make_document(choose_slas(recorded)))
    found = [(page.group, (page.begin - FIRST) // MINUTE_MS) for page in pages if page.group]
    return judge(seed, incidents, [page for page in found if page[1] >= SPLIT])


def judge(seed: int, incidents: Sequence[Incident], pages: Sequence[Page]) -> Line:
    """Returns how many incidents page, false pages, and minutes until the pages."""
    aside = [each for each in incidents if each.begin >= SPLIT]
    own = [[begin for group, begin in pages if _is_of(group, begin, each)] for each in aside]
    delays = [min(begins) - each.begin for begins, each in zip(own, aside, strict=True) if begins]
    false = sum(not any(_is_of(*page, each) for each in incidents) for page in pages)
    delay = f"{np.median(delays):.0f}" if delays else "-"
    cells = seed, f"{len(delays)} of {len(aside)}", false, delay
    return cells, "too few" if len(delays) < _LEAST_FOUND * len(aside) else ""


def _is_of(group: str, begin: int, incident: Incident) -> bool:
    return group == incident.group and incident.begin <= begin <= incident.over


def record(tracks: Mapping[str, Track], rng: np.random.Generator) -> Recorded:
    """Returns the published rows of the groups; some runs are missing, and some rows unread."""
    each = list(tracks.values())
    ages = np.stack([track.ages for track in each], axis=1)
    statuses = np.stack([_find_statuses(track) for track in each], axis=1)
    lags = np.stack([track.lags for track in each], axis=1)
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
    now, ages = np.arange(len(track.ages)), track.ages
    stands = now - np.maximum.accumulate(np.where(track.moves, now, 0)) > _WINDOW_MINUTES
    old = ages > 60.0 * _WINDOW_MINUTES
    grows = np.append(np.zeros(_WINDOW_MINUTES, bool), np.subtract(ages[10:], ages[:-10]) >= 0)
    return np.where(stands & old, _ERR, np.where(old & grows, _WARN, _OK))


def choose_slas(recorded: Recorded) -> dict[str, int]:
    """Returns the shortest SLA of each group that pages seldom enough on the days that choose."""
    chosen: dict[str, int] = {}
    for seconds in reversed(_SLAS):
        every = find_pages(recorded, make_document(dict.fromkeys(recorded.groups, seconds)))
        paged = Counter(
            page.group
            for page in every
            if page.rule == SLA.name and page.begin < recorded.time(SPLIT)
        )
        chosen |= {group: seconds for group in recorded.groups if paged[group] <= _MOST_PAGES}
    return chosen


def make_document(slas: Mapping[str, int]) -> Cluster:
    """Returns a cluster with alarms on groups that have an SLA: five of ten runs must break it."""
    runs = {"datapoints": 5, "periods": 10}
    return make_cluster(
        "shop",
        sla_seconds={f"^{group}$": seconds for group, seconds in slas.items()},
        alarms={"groups": list(slas), "sla_runs": dict.fromkeys(slas, runs)},
    )


def print_verdicts(options: Namespace) -> bool:
    """Prints a line for each of three seeds."""
    columns = "seed | incidents found | false pages | median minutes"
    seeds = range(options.seed, options.seed + 3)
    return print_lines("alarms", columns, (score(seed) for seed in seeds))
