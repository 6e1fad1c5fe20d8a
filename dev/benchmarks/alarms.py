# SPDX-License-Identifier: Apache-2.0
"""How many planted incidents page, and how many pages are false, beside cwtune's.

    python -m dev.benchmarks.alarms --cwtune /elsewhere/bin/python

Days of groups as columns of minutes, with incidents whose minutes are known: groups that rest at
weekends, are deployed, have holidays, read in batches, or have one partition that gets most. The
last third of the days is set aside: promises are those of `kafka-lag replay --propose` on the days
before, and the pages are those of a replay. cwtune chooses a threshold on the records behind, which
is what it would be given, and on the age that the collector publishes, by its own functions, in its
own Python; it is installed apart, as it is no dependency.

A page is false unless it begins within an incident, or while what that left is worked off. Ends
with 1 where less than 95 % of the incidents set aside page, where there are more than half as many
false pages as cwtune's on records by its defaults, or where of 20 groups fewer than 18 keep their
budget within one page.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from dev.documents import make_cluster
from kafka_lag import contract
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cli.replay.pages import replay_alarms
from kafka_lag_cli.replay.proposals import Proposal, propose_slas
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_cli.state.groups_over_time import MINUTE_MS, GroupsOverTime, Period

Values: TypeAlias = npt.NDArray[np.float64]

# A Sunday.
BEGIN = int(datetime(2026, 2, 1, tzinfo=UTC).timestamp()) * 1000
DAYS, DAY = 40, 24 * 60
MINUTES = DAYS * DAY
# As proposals have it: the days that choose, and those that are set aside.
_SPLIT = MINUTES * 2 // 3
GROUPS = 20
HOLIDAYS = (16, 34)
_WINDOW_MINUTES, _WINDOW_SECONDS = 10, 600.0
# Rows that are not read, and weekdays with a deploy; less than this is what sums of doubles leave.
_UNREAD_SHARE, _DEPLOYED_SHARE, _NOTHING = 0.002, 0.7, 1e-6
# A hot partition's reader is one of three.
_HOT_CAPACITY = 0.37
_OK, _WARN, _ERR = (float(contract.GROUP_STATUS_VALUES[each]) for each in ("OK", "WARN", "ERR"))
# Pages a month that promises are proposed for: half as many again as there are incidents. A budget
# below these buys silence with incidents.
BUDGET = 3.0
# What cwtune is given: a metric and the most alerts in its 14 days, by default or by the budget.
_CWTUNE = (
    (contract.OFFSET_LAG, 11),
    (contract.OFFSET_LAG, round(BUDGET * 14 / 30)),
    (contract.ESTIMATED_TIME_LAG, 11),
)
_RECALL, _FALSE_SHARE, _KEPT = 0.95, 0.5, 18


@dataclass(frozen=True, slots=True)
class Incident:
    """Minutes in which a group is in trouble; `over` is when it has worked off what that left."""

    group: str
    what: str
    begin: int
    end: int
    over: int


@dataclass(frozen=True, slots=True)
class Days:
    """All groups' minutes, and the truth about them."""

    recorded: Recorded
    incidents: tuple[Incident, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """When somebody is woken for which group, a minute of the days."""

    group: str
    begin: int


@dataclass(frozen=True, slots=True)
class Score:
    """Of the days set aside: incidents that page and all, false pages, minutes until the pages."""

    found: int
    incidents: int
    false: int
    delays: tuple[int, ...]

    @property
    def recall(self) -> float:
        """The share of incidents that page."""
        return self.found / self.incidents if self.incidents else 1.0


def plant(seed: int) -> Days:
    """Forty days of twenty groups of five kinds."""
    random = np.random.default_rng(seed)
    kinds: tuple[Callable[[np.random.Generator], _Load], ...] = (
        _steady,
        _office,
        _deployed,
        _batches,
        _skewed,
    )
    names = [f"{kinds[at % len(kinds)].__name__[1:]}-{at // len(kinds)}" for at in range(GROUPS)]
    ages, lags, statuses = (np.empty((MINUTES, GROUPS)) for _ in range(3))
    incidents: list[Incident] = []
    for at, name in enumerate(names):
        load = kinds[at % len(kinds)](random)
        own = list(_plant_incidents(random, name, load))
        ages[:, at] = _ages(random, load)
        lags[:, at] = _lags(load, ages[:, at])
        statuses[:, at] = _statuses(load, ages[:, at])
        incidents += [_with_end(each, ages[:, at]) for each in own]
    unread = random.random((MINUTES, GROUPS)) < _UNREAD_SHARE
    has_run = np.ones(MINUTES, bool)
    for first in random.integers(0, MINUTES, 6):
        has_run[first : first + random.integers(1, 25)] = False
    for values in (ages, lags, statuses):
        values[unread | ~has_run[:, None]] = np.nan
    return Days(_recorded(names, (ages, lags, statuses), has_run), tuple(incidents))


@dataclass(slots=True)
class _Load:
    """Records a minute that are written and that could be read; a share of them is one partition's.

    `reads`: whether the consumer commits at all. `rests`: minutes that it rests on purpose.
    """

    written: Values
    capacity: Values
    reads: npt.NDArray[np.bool_]
    hot_share: float = 0.0
    rests: int = 0


def _hours() -> Values:
    found: Values = np.arange(MINUTES) / 60 % 24
    return found


def _weekday() -> npt.NDArray[np.int64]:
    """0 is Sunday."""
    return np.arange(MINUTES) // DAY % 7


def _noise(random: np.random.Generator, spread: float) -> Values:
    found: Values = np.exp(random.normal(0, spread, MINUTES))
    return found


def _whole(written: Values, spare: float) -> _Load:
    capacity = np.full(MINUTES, float(np.quantile(written, 0.99)) * spare)
    return _Load(written, capacity, np.ones(MINUTES, bool))


def _steady(random: np.random.Generator) -> _Load:
    return _whole(600 * _noise(random, 0.1), 1.5)


def _office(random: np.random.Generator) -> _Load:
    """Busy by day, calm at weekends and on holidays, with a rush now and then."""
    shape = 0.1 + np.clip(np.sin((_hours() - 6) / 12 * np.pi), 0, None)
    rest = np.isin(_weekday(), (0, 6)) | np.isin(np.arange(MINUTES) // DAY, HOLIDAYS)
    written = 900 * np.where(rest, 0.08, shape) * _noise(random, 0.15)
    for first in random.integers(0, MINUTES, 12):
        written[first : first + 5] *= random.uniform(2, 3)
    return _whole(written, 1.1)


def _deployed(random: np.random.Generator) -> _Load:
    """Deployed on most weekdays: nobody reads for some minutes."""
    load = _whole(600 * _noise(random, 0.1), 1.6)
    for day in range(DAYS):
        if day % 7 not in (0, 6) and random.random() < _DEPLOYED_SHARE:
            first = day * DAY + int(random.integers(9 * 60, 17 * 60))
            load.reads[first : first + random.integers(2, 7)] = False
    return load


def _batches(random: np.random.Generator) -> _Load:
    """Written through the night in lumps, each of which takes a while; read without a rest."""
    written = 60 * _noise(random, 0.1)
    hour = int(random.integers(0, 5))
    for day in range(DAYS):
        first = day * DAY + hour * 60 + int(random.integers(0, 10))
        written[first : first + 5] += random.uniform(2_500, 4_000)
    load = _whole(written, 1.0)
    load.capacity[:] = 900
    return load


def _skewed(random: np.random.Generator) -> _Load:
    """One partition gets a third, and is late at the busiest hour."""
    shape = 0.4 + 0.6 * np.clip(np.sin((_hours() - 8) / 10 * np.pi), 0, None)
    load = _whole(800 * shape * _noise(random, 0.1), 1.3)
    load.hot_share = 0.33
    return load


def _plant_incidents(random: np.random.Generator, name: str, load: _Load) -> Iterator[Incident]:
    """Two a month or so, each of a kind of its own, changing the load."""
    day = int(random.integers(2, 14))
    while day < DAYS:
        first = day * DAY + int(random.integers(0, DAY))
        what = str(random.choice(["stopped", "slow", "stuck"]))
        length = int(random.integers(40, 180))
        times = slice(first, first + length)
        match what:
            case "stopped":
                load.reads[times] = False
            case "slow":
                # A dependency answers slowly: a third of what is written now is read.
                load.capacity[times] = 0.35 * load.written[first : first + 120].mean()
            case _:
                # A record that stops one partition, which the others do not feel.
                load.hot_share = load.hot_share or 0.08
                load.capacity[times] *= 0.05
        if first + length < MINUTES:
            yield Incident(name, what, first, first + length, first + length)
        day += int(random.integers(11, 19))


def _ages(random: np.random.Generator, load: _Load) -> Values:
    """Seconds since the oldest unread record was written, of the partition that is worst."""
    age = _queue_age(load.written, np.where(load.reads, load.capacity, 0.0))
    if load.hot_share:
        hot = np.where(load.reads, load.capacity * _HOT_CAPACITY, 0.0)
        age = np.maximum(age, _queue_age(load.written * load.hot_share, hot))
    found: Values = np.round(age * 60 + random.lognormal(1.2, 0.6, MINUTES), 3)
    return found


def _queue_age(written: Values, capacity: Values) -> Values:
    """Minutes, of records that wait in line."""
    total, backlog = np.cumsum(written), _backlog(written, capacity)
    read = total - backlog
    place = np.searchsorted(total, read, "right")
    now = np.arange(len(written))
    found: Values = np.where(backlog > _NOTHING, np.maximum(now - place + 1, 0), 0).astype(
        np.float64
    )
    return found


def _backlog(written: Values, capacity: Values) -> Values:
    surplus = np.cumsum(written - capacity)
    found: Values = surplus - np.minimum(np.minimum.accumulate(surplus), 0)
    return found


def _lags(load: _Load, ages: Values) -> Values:
    """Records, those among them that are on their way."""
    of_all = _backlog(load.written, np.where(load.reads, load.capacity, 0.0))
    hot = np.where(load.reads, load.capacity * _HOT_CAPACITY, 0.0)
    of_one = _backlog(load.written * load.hot_share, hot)
    on_the_way = load.written / 60 * np.minimum(ages, 60)
    return np.asarray(np.round(np.maximum(of_all, of_one) + on_the_way))


def _statuses(load: _Load, ages: Values) -> Values:
    """As the collector has them of a commit that stands, or of a backlog that grows."""
    now = np.arange(MINUTES)
    moved = np.maximum.accumulate(np.where(load.reads, now, 0))
    stands = now - moved > _WINDOW_MINUTES
    old = ages > _WINDOW_SECONDS
    grows = np.concatenate([np.zeros(10, bool), ages[10:] >= ages[:-10]])
    found: Values = np.where(stands & old, _ERR, np.where(old & grows, _WARN, _OK))
    return found


def _with_end(incident: Incident, ages: Values) -> Incident:
    """Over once the group is as young again as it is half of the time."""
    usual = 60 + float(np.median(ages))
    young = np.flatnonzero(ages[incident.end :] <= usual)
    over = incident.end + (int(young[0]) if len(young) else MINUTES)
    return Incident(incident.group, incident.what, incident.begin, incident.end, over)


def _recorded(
    names: Sequence[str],
    values: tuple[Values, Values, Values],
    has_run: npt.NDArray[np.bool_],
) -> Recorded:
    ages, lags, statuses = values
    period = Period(BEGIN, BEGIN + MINUTES * MINUTE_MS - 1, MINUTE_MS)
    times = BEGIN + np.arange(MINUTES) * MINUTE_MS
    columns = {
        "time_lag_seconds": ages,
        "lag": lags,
        "status": statuses,
        "incident_since": np.full(ages.shape, np.nan),
        "seconds_until_loss": np.where(np.isnan(ages), np.nan, contract.NO_LOSS_SECONDS),
    }
    over_time = GroupsOverTime(period, tuple(names), times, has_run, 0, columns)
    return Recorded(BEGIN, has_run, 0, tuple(names), over_time)


def document(proposals: Mapping[str, Proposal]) -> Cluster:
    """A cluster that promises what is proposed, in as many runs, with the alarms of each group."""
    promised = {name: each for name, each in proposals.items() if each.sla_seconds is not None}
    return make_cluster(
        "shop",
        sla_seconds={f"^{name}$": each.sla_seconds for name, each in promised.items()},
        alarms={
            "groups": list(promised),
            "sla_runs": {
                name: {"datapoints": each.datapoints, "periods": each.periods}
                for name, each in promised.items()
            },
        },
    )


def propose(days: Days, budget: float = BUDGET) -> dict[str, Proposal]:
    """By group."""
    return {each.group: each for each in propose_slas(days.recorded, document({}), budget)}


def find_own_pages(days: Days, proposals: dict[str, Proposal]) -> list[Page]:
    """Those on groups that a deployment with these promises sends in the days set aside."""
    pages = replay_alarms(days.recorded, document(proposals)).pages
    found = [Page(page.group, (page.begin - BEGIN) // MINUTE_MS) for page in pages if page.group]
    return [page for page in found if page.begin >= _SPLIT]


# Run by cwtune's own Python: its functions as `run` calls them, on the days that choose, then the
# breaches of its threshold on the rest. It reads 14 days at most and takes a missing minute for 0.
_BY_CWTUNE = """
import io, json, sys
from contextlib import redirect_stdout
from datetime import datetime, timedelta, timezone
from cwtune.cli import AlarmType
from cwtune.analyze import calculate_threshold_and_breaches
from cwtune.timeseries import get_breaches, zero_pad
asked = json.load(sys.stdin)
begin = datetime.fromtimestamp(asked["begin"] / 1000, timezone.utc)
def series(values, first, last):
    times = [begin + timedelta(minutes=first + at) for at in range(last - first)]
    known = [(t, v) for t, v in zip(times, values[first:last]) if v is not None]
    return zero_pad(known, 1, times[0], times[-1])
found = {}
for name, values in asked["groups"].items():
    with redirect_stdout(io.StringIO()):
        chosen = series(values, asked["split"] - 14 * 1440, asked["split"])
        window, alerts = 5, asked["alerts"]
        threshold, _ = calculate_threshold_and_breaches(
            chosen, AlarmType.GREATER_THAN, window, alerts)
        rest = series(values, asked["split"], len(values))
        breaches = get_breaches(rest, threshold, AlarmType.GREATER_THAN, window, 3)
    minutes = [int((each["start"] - begin).total_seconds() // 60) for each in breaches]
    found[name] = {"threshold": threshold, "pages": minutes}
json.dump(found, sys.stdout)
"""


def find_cwtune_pages(days: Days, python: str, alerts: int, metric: str) -> list[Page]:
    """Those that cwtune's thresholds send in the same days, chosen for so many in 14."""
    values = days.recorded.metric(metric, document({}))
    groups = {
        name: [None if np.isnan(value) else value for value in values[:, at].tolist()]
        for at, name in enumerate(days.recorded.groups)
    }
    asked = {"begin": BEGIN, "split": _SPLIT, "alerts": alerts, "groups": groups}
    done = subprocess.run(
        [python, "-c", _BY_CWTUNE],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"cwtune failed: {done.stderr.strip()[-400:]}")
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return [Page(name, at) for name, each in found.items() for at in each["pages"]]


def judge(days: Days, pages: Sequence[Page]) -> Score:
    """Pages against the truth of the days set aside."""
    incidents = [each for each in days.incidents if each.begin >= _SPLIT]
    delays = []
    for each in incidents:
        own = [page.begin for page in pages if _is_of(page, each)]
        if own:
            delays.append(min(own) - each.begin)
    false = sum(not any(_is_of(page, each) for each in days.incidents) for page in pages)
    return Score(len(delays), len(incidents), false, tuple(delays))


def _is_of(page: Page, incident: Incident) -> bool:
    return page.group == incident.group and incident.begin <= page.begin <= incident.over


def count_kept(proposals: dict[str, Proposal], budget: float = BUDGET) -> int:
    """Groups that keep the budget within a page on the days set aside; one that gets no promise
    keeps it by paging nobody.
    """
    share = (MINUTES - _SPLIT) / (30 * DAY)
    return sum(
        each.tried is None or each.tried * share <= budget * share + 1
        for each in proposals.values()
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dev.benchmarks.alarms", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--cwtune", metavar="PYTHON", help="of an environment that has cwtune")
    options = parser.parse_args(argv)
    table = Table(box=None)
    for name in ("seed", "by", "incidents found", "false pages", "median minutes", "budgets kept"):
        table.add_column(name, justify="left" if name == "by" else "right")
    is_good = True
    for seed in options.seeds:
        days = plant(seed)
        proposals = propose(days)
        own, kept = judge(days, find_own_pages(days, proposals)), count_kept(proposals)
        _add(table, seed, f"replay --propose {BUDGET:g}", own, f"{kept} of {len(proposals)}")
        is_good &= own.recall >= _RECALL and kept >= _KEPT
        if options.cwtune:
            for metric, alerts in _CWTUNE:
                pages = find_cwtune_pages(days, options.cwtune, alerts, metric)
                other = judge(days, pages)
                _add(table, seed, f"cwtune, {metric}, {alerts} alerts", other, "")
                if (metric, alerts) == _CWTUNE[0]:
                    is_good &= own.false <= _FALSE_SHARE * other.false
    Console().print(table)
    return 0 if is_good else 1


def _add(table: Table, seed: int, by: str, score: Score, kept: str) -> None:
    delay = f"{np.median(score.delays):.0f}" if score.delays else "-"
    found = f"{score.found} of {score.incidents}"
    table.add_row(str(seed), by, found, str(score.false), delay, kept)


if __name__ == "__main__":
    sys.exit(main())
