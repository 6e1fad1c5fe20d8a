# SPDX-License-Identifier: Apache-2.0
"""Groups over hours, days and weeks: which keep a status, and after how many runs it changes.

Jobs that pause regularly are not outages, and outages are not regular pauses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

from dev.sim.events import MINUTE as SECONDS
from dev.sim.events import Case, Group, Slow, Topic, even
from dev.sim.records import Log, RecordIndex
from dev.sim.run import BEGIN, run
from dev.sim.world import STEP, Staged
from kafka_lag.contract import OK, PAUSING, REWIND, STALL, STOP, WARN
from kafka_lag.lag.group_settings import Rules
from tests.builders import MINUTE
from tests.functions.lag.strips import Strips, strip_of

Ints: TypeAlias = npt.NDArray[np.int64]

# Runs a minute apart over a topic of so many records a minute; trouble begins in TROUBLE.
RUNS, HOUR, RATE, TROUBLE = 520, 60, 600, 300
MINUTES = np.arange(RUNS)
EVEN = 1_000 + RATE * MINUTES
NOISY = 1_000 + np.random.default_rng(1).poisson(RATE, RUNS).cumsum()


def group(end: Ints, commit: Ints, owned: Iterable[bool] | None = None) -> str:
    """A strip; a member owns the partition unless it is said when."""
    owners = ["m"] if owned is None else ["m" if each else "-" for each in owned]
    return strip_of(end=end, commit=np.minimum(commit, end), owner=owners)


def reads_on(end: Ints, a_minute: Callable[[int], float], first: int | None = None) -> Ints:
    """Commits of a group of so many records a minute, whenever it is behind."""
    found, position = np.zeros(len(end), np.int64), float(end[0] if first is None else first)
    for minute in range(len(end)):
        position = min(float(end[minute]), position + a_minute(minute))
        found[minute] = position
    return found


def batches(end: Ints, every: int, work: int = 1, late: int = 0) -> Ints:
    """Commits of a job that reads so often what is there then, in so many minutes."""
    minute = np.maximum(MINUTES - late, 0)
    due = minute - minute % every
    before = end[np.maximum(due - every, 0)]
    commits: Ints = before + (end[due] - before) * np.minimum(minute - due + 1, work) // work
    return commits


def checkpoints(every: int, missed: int = -1, died: int = RUNS) -> str:
    """Flink commits at the end of a checkpoint what it had read at its beginning, without members.
    One checkpoint fails; the job dies in that minute.
    """
    commits = np.full(RUNS, NOISY[0])
    for number in range(1, died // every):
        if number != missed:
            commits[number * every + 1 :] = NOISY[number * every]
    return group(NOISY, commits, [False])


def outages(*spans: tuple[int, int], end: Ints = EVEN, speed: int = 3 * RATE) -> str:
    """A group that keeps up but in these minutes."""

    def a_minute(minute: int) -> float:
        return 0 if any(since <= minute < until for since, until in spans) else speed

    return group(end, reads_on(end - 100, a_minute))


def slower(share: float) -> str:
    return group(EVEN, reads_on(EVEN, lambda run: RATE * (share if run >= TROUBLE else 1)))


def bursts(seed: int, share: float) -> Ints:
    """The log's end where bursts come at random, that take a reader this share of its time."""
    rng, rate = np.random.default_rng(seed), np.zeros(RUNS)
    starts = rng.exponential(20, RUNS).cumsum().astype(np.int64)
    starts = starts[starts < RUNS]
    np.add.at(rate, starts, rng.exponential(share * 20 * RATE, len(starts)))
    return 1_000 + rate.cumsum().astype(np.int64)


REGULAR_BURSTS = 1_000 + np.cumsum(np.where(MINUTES % 180 < 2, 20_000, 0))
FOLLOWS = EVEN - 150
STUCK = np.minimum(FOLLOWS, FOLLOWS[TROUBLE])
# Nothing is written for 40 minutes of each hour, until the trouble begins.
QUIET_HOURS = 1_000 + np.where((MINUTES % HOUR < 20) | (MINUTES >= TROUBLE), RATE, 0).cumsum()
REBALANCING = MINUTES // 2 % 2 == 1

HEALTHY = {
    "steady": group(NOISY, NOISY - 150),
    "micro-batch of 5 minutes": group(NOISY, batches(NOISY, 5)),
    "micro-batch of 8 minutes": group(NOISY, batches(NOISY, 8)),
    "micro-batch of 10 minutes, 3 late": group(NOISY, batches(NOISY, 10, late=3)),
    "bursts": group(REGULAR_BURSTS, reads_on(REGULAR_BURSTS, lambda _: 10_000)),
    "bursts, 30 minutes of work": group(REGULAR_BURSTS, reads_on(REGULAR_BURSTS, lambda _: 1_333)),
    "one record an hour": group(1 + MINUTES // HOUR, 1 + (MINUTES - 1) // HOUR),
    "endless rebalance": group(NOISY, NOISY - 150, ~REBALANCING),
    **{f"a checkpoint in {every} minutes": checkpoints(every) for every in (1, 3, 5, 8)},
}
BURSTS = {
    f"random bursts, {share}": group(end, reads_on(end, lambda _: RATE))
    for share in (0.7, 0.8, 0.9)
    for end in [bursts(int(share * 10), share)]
}
JOBS = {
    "every 20 minutes": (group(NOISY, batches(NOISY, 20)), 60),
    "hourly": (group(NOISY, batches(NOISY, HOUR)), 180),
    "hourly, 20 minutes of work": (group(NOISY, batches(NOISY, HOUR, 20)), 180),
    "hourly, 45 minutes of work": (group(NOISY, batches(NOISY, HOUR, 45)), 240),
}
SELDOM = {every: checkpoints(every, 400 // every) for every in (15, 30)}
DIES = {every: checkpoints(every, died=TROUBLE) for every in (15, 30)}
REWOUND = np.where(
    MINUTES < TROUBLE,
    FOLLOWS,
    reads_on(EVEN, lambda run: 3 * RATE * (run >= TROUBLE), int(STUCK[-1]) - 120 * RATE),
)
TROUBLED = {
    "half as fast": (slower(0.5), [(20, WARN)]),
    "a fifth slower": (slower(0.8), [(50, WARN)]),
    "stuck": (group(EVEN, STUCK), [(11, STALL)]),
    "stopped": (group(EVEN, STUCK, MINUTES < TROUBLE), [(11, STOP)]),
    "stuck after quiet hours": (
        group(QUIET_HOURS, reads_on(QUIET_HOURS, lambda run: 3 * RATE * (run < TROUBLE))),
        [(10, STALL)],
    ),
    "stuck in an endless rebalance": (group(EVEN, STUCK, ~REBALANCING), [(11, STALL)]),
    "rewound": (group(EVEN, REWOUND), [(0, REWIND), (11, OK)]),
    "back after five hours": (
        group(EVEN, reads_on(EVEN, lambda run: 2 * RATE * (run >= TROUBLE))),
        [(0, OK)],
    ),
    "back, and hardly faster than is written": (
        group(EVEN, reads_on(EVEN, lambda run: 1.05 * RATE * (run >= TROUBLE))),
        [(0, OK), (1, WARN)],
    ),
    "stuck after two outages": (
        outages((60, 100), (180, 220), (TROUBLE, RUNS)),
        [(10, STALL)],
    ),
    "stuck for longer than after three outages": (
        outages((30, 60), (100, 130), (170, 200), (TROUBLE, TROUBLE + 90)),
        [(10, STALL), (90, OK)],
    ),
    "stuck after two short outages": (
        outages((200, 215), (250, 265), (TROUBLE, RUNS)),
        [(10, STALL)],
    ),
}
BACKLOGS = {
    rate: group(end, np.concatenate([np.full(30, end[0]), end[:-30]]))
    for rate in (600, 100, 30, 10)
    for end in [1_000 + np.random.default_rng(rate).poisson(rate, RUNS).cumsum()]
}
WRONG = np.where((MINUTES >= 60) & (MINUTES % 40 < 3), 1_800, 0)
CLOCKS = {
    f"a clock {name}": strip_of(end=EVEN, commit=np.maximum(EVEN - 35 * RATE, 1_000), clock=clock)
    for name, clock in (("late", WRONG[:130]), ("early", -WRONG[:130]))
}
ONCE_LONGER = {
    hour: group(EVEN, np.where(hour == MINUTES // HOUR, batches(EVEN, HOUR, 45), usual))
    for hour in (4, 7)
    for usual in [batches(EVEN, HOUR, 10)]
}
DEAD_JOB = group(EVEN, np.minimum(batches(EVEN, HOUR, 10), batches(EVEN, HOUR, 10)[310]))

# Jobs that begin once 3,000 records are there: four times in the first hour of three, and twice in
# the other two hours. In the third round both are known.
COUNT, ROUND, KNOWN = 3_000, 180, 360
UNEVEN = 1_000 + np.where(MINUTES % ROUND < HOUR, 200, 50).cumsum()


def by_count(noise: float = 0.0, dead: int = RUNS) -> Ints:
    rng, commits, read = np.random.default_rng(0), np.zeros(RUNS, np.int64), int(UNEVEN[0])
    due = COUNT
    for minute in range(RUNS):
        if UNEVEN[minute] - read >= due and minute < dead:
            read, due = int(UNEVEN[minute]), round(COUNT * (1 + rng.uniform(-noise, noise)))
        commits[minute] = read
    return commits


DEAD_FAST, DEAD_SLOW, STUCK_LATER = KNOWN + 20, KNOWN + 65, 460
BY_COUNT = {
    "by count": by_count(),
    "by count, not exactly": by_count(0.1),
    "by count, dead while much is written": by_count(dead=DEAD_FAST),
    "by count, dead while little is written": by_count(dead=DEAD_SLOW),
}
# Each outage ends at about 3,000 records.
LIKE_BATCHES = ((25, 40), (75, 135), (205, 220), (255, 315), (385, 400), (STUCK_LATER, RUNS))

# The share of what is written that a group reads, and runs within which it must be reported.
SOON = {
    "a twelfth": (1 / 12, 15),
    "half": (0.5, 25),
    "four fifths": (0.8, 60),
    "a tenth less": (0.9, 120),
}
# Minutes between two commits, at least and at most.
COMMITS = {
    "every 15 s": (0.25, 0.25),
    "every 50 s": (5 / 6, 5 / 6),
    **{f"every {minutes} minutes": (minutes, minutes) for minutes in (1, 2, 5, 8, 15)},
    "every 1 to 8 minutes": (1, 8),
    "every 1 to 3 minutes": (1, 3),
}


def seldom(seed: int, share: float, gaps: tuple[float, float]) -> str:
    """A group that reads a share from the second hour on, and commits now and then."""
    rng, runs = np.random.default_rng(seed), np.arange(245)
    end = 1_000 + rng.poisson(RATE, len(runs)).cumsum()
    position = reads_on(end, lambda run: RATE * (share if run >= HOUR else 3))
    times = rng.uniform(*gaps, int(len(runs) / gaps[0]) + 2).cumsum()
    last = np.searchsorted(times, runs, side="right") - 1
    return group(end, np.where(last < 0, end[0], position[times[last].astype(int) % len(runs)]))


SLOW = {
    f"reads {name} of it, commits {often}": seldom(10 * way + number, share, gaps)
    for way, (often, gaps) in enumerate(COMMITS.items())
    for number, (name, (share, _)) in enumerate(SOON.items())
}


BY_THE_MINUTE = Strips(
    {
        **HEALTHY,
        **BURSTS,
        **{name: text for name, (text, _) in JOBS.items()},
        **{f"fails {every}": text for every, text in SELDOM.items()},
        **{f"dies {every}": text for every, text in DIES.items()},
        **{name: text for name, (text, _) in TROUBLED.items()},
        **{f"half an hour behind {rate}": text for rate, text in BACKLOGS.items()},
        **CLOCKS,
        **{f"longer in hour {hour}": text for hour, text in ONCE_LONGER.items()},
        "dead job": DEAD_JOB,
        **{name: group(UNEVEN, commits) for name, commits in BY_COUNT.items()},
        "outages like batches": outages(*LIKE_BATCHES, end=UNEVEN, speed=800),
        **SLOW,
    },
    rules=Rules(lookup_budget=0),
    of_groups=False,
)


def test_partitions_have_their_statuses_whatever_is_said_of_groups() -> None:
    text = strip_of(end=EVEN[:30], commit=STUCK[TROUBLE - 15 : TROUBLE + 15] - 285 * RATE)
    alone, beside = (Strips({"g": text}, of_groups=of_groups) for of_groups in (False, True))
    for column in ("status", "status_reason", "commit_changed_at", "age_growth"):
        assert alone.said("g", column) == beside.said("g", column)
    assert STALL in alone.said("g", "status")


def statuses_of(name: str) -> list[str | None]:
    return BY_THE_MINUTE.said(name, "status")


def changes(name: str, since: int = 0) -> list[tuple[int, str | None]]:
    """Runs with another status than the run before, from `since` on."""
    found = statuses_of(name)
    runs = range(max(1, since), len(found))
    return [(run - since, found[run]) for run in runs if found[run] != found[run - 1]]


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_group_is_ok_in_every_run(name: str) -> None:
    # A batch comes late for the first time.
    assert set(statuses_of(name)[15:]) == {OK}


@pytest.mark.parametrize("name", BURSTS)
def test_a_group_that_works_off_random_bursts_is_hardly_ever_slow(name: str) -> None:
    assert len(changes(name)) <= 4


@pytest.mark.parametrize("name", JOBS)
def test_a_job_is_ok_from_the_end_of_its_third_pause(name: str) -> None:
    _, known = JOBS[name]
    assert set(statuses_of(name)[known:]) == {OK}
    assert PAUSING in BY_THE_MINUTE.said(name, "status_reason")[known:] or "45" in name


def test_the_first_three_pauses_of_a_job_are_reported() -> None:
    stalls = [[(n * HOUR + 11, STALL), ((n + 1) * HOUR, OK)] for n in range(3)]
    assert changes("hourly") == [change for stall in stalls for change in stall]


@pytest.mark.parametrize("every", SELDOM)
def test_checkpoints_beyond_the_window_are_ok_from_the_fourth_on_though_one_fails(
    every: int,
) -> None:
    statuses = statuses_of(f"fails {every}")
    failing = 400 // every * every
    assert STOP in statuses[: 3 * every]
    assert set(statuses[4 * every + 2 : failing]) == {OK}
    assert sum(status != OK for status in statuses[failing:]) < Rules().hold


@pytest.mark.parametrize("every", DIES)
def test_a_job_whose_checkpoints_end_is_reported_within_two_of_them(every: int) -> None:
    statuses, last = statuses_of(f"dies {every}"), TROUBLE - every
    assert set(statuses[4 * every + 2 : last]) == {OK}
    assert statuses[last + 2 * every + 3] == STOP


@pytest.mark.parametrize("name", TROUBLED)
def test_trouble_is_reported_once_after_so_many_runs(name: str) -> None:
    _, expected = TROUBLED[name]
    assert changes(name, TROUBLE) == expected


@pytest.mark.parametrize("rate", BACKLOGS)
def test_a_constant_backlog_stays_slow_however_its_rates_jitter(rate: int) -> None:
    name = f"half an hour behind {rate}"
    # Ten a minute are mostly noise.
    assert len(changes(name, 2 * HOUR)) <= (10 if rate == min(BACKLOGS) else 0)
    assert statuses_of(name)[-1] == WARN


@pytest.mark.parametrize("name", CLOCKS)
def test_a_wrong_clock_teaches_no_pauses(name: str) -> None:
    assert set(BY_THE_MINUTE.said(name, "pauses_seen")[60:]) == {None}
    assert PAUSING not in BY_THE_MINUTE.said(name, "status_reason")


def test_work_that_is_longer_once_is_reported_until_a_job_is_well_known() -> None:
    """As docs/metrics.md says: 45 minutes of work in place of 10, in the fifth and eighth hour."""
    late, known = (changes(f"longer in hour {hour}", 3 * HOUR) for hour in ONCE_LONGER)
    assert [run for run, status in late if status == STALL] == [HOUR + 55]
    assert [run for run, status in known if status == STALL] == []


def test_a_job_that_dies_is_reported_as_the_manual_says() -> None:
    """docs/metrics.md: three pauses 11 minutes after the last commit, then none until it has paused
    for 100 minutes.
    """
    reported = [run for run, status in changes("dead job") if status == STALL]
    assert reported == [11, HOUR + 20, 2 * HOUR + 20, 310 + 100]


@pytest.mark.parametrize("name", ["by count", "by count, not exactly"])
def test_a_job_by_count_changes_nothing_once_both_speeds_are_known(name: str) -> None:
    assert STALL in statuses_of(name)[:KNOWN]
    assert set(statuses_of(name)[KNOWN:]) == {OK}
    assert PAUSING in BY_THE_MINUTE.said(name, "status_reason")[KNOWN:]


@pytest.mark.parametrize(
    ("name", "dead"),
    [
        ("by count, dead while much is written", DEAD_FAST),
        ("by count, dead while little is written", DEAD_SLOW),
    ],
)
def test_a_dead_job_is_reported_once_a_batch_and_a_quarter_are_there(name: str, dead: int) -> None:
    reported = statuses_of(name).index(STALL, dead)
    lag = UNEVEN[reported] - BY_COUNT[name][reported]
    assert COUNT < lag <= 1.35 * COUNT


def test_outages_that_end_at_like_lags_delay_no_report() -> None:
    assert statuses_of("outages like batches").index(STALL, STUCK_LATER) - STUCK_LATER <= 12


@pytest.mark.parametrize("commits", COMMITS)
@pytest.mark.parametrize("share", SOON)
def test_a_group_that_falls_behind_is_slow_however_seldom_it_commits(
    share: str, commits: str
) -> None:
    statuses = statuses_of(f"reads {share} of it, commits {commits}")
    soon = SOON[share][1] + int(np.ceil(3 * COMMITS[commits][1]))
    assert WARN in statuses[HOUR : HOUR + soon]
    assert OK not in statuses[HOUR + soon :]


# Four partitions of ten records a second, of which the members read these shares.
FALLING = Case(
    "falling",
    {"orders": Topic(even(4, 40))},
    {"billing": Group("orders", members=4, ms=10.0, commit_seconds=10.0)},
    ((0, Slow("billing", tuple(100.0 / share for share in (0.2, 0.45, 0.7, 0.8)))),),
    warm_up=10 * SECONDS,
    watched=70 * SECONDS,
)


def logs_of(case: Case) -> dict[tuple[str, int], Log]:
    """Its logs, to which records come at the end of each step; the first run is at BEGIN."""
    world = Staged(case).world
    for _ in range(case.runs):
        world.live_a_minute()
    ends, step_ms = np.array(world.ends["orders"]), STEP * 1_000
    first = BEGIN - MINUTE + step_ms
    return {
        ("orders", number): Log.of(
            first + step_ms * np.searchsorted(end, np.arange(end[-1]), side="right")
        )
        for number, end in enumerate(ends.T)
    }


def test_a_slow_group_is_reported_once_and_in_time_however_few_look_ups_there_are() -> None:
    logs = logs_of(FALLING)

    def first_and_changes(look_ups: int) -> tuple[Ints, Ints]:
        index, rules = RecordIndex(logs, BEGIN), Rules(lookup_budget=look_ups)
        warned = []
        for report in run(Staged(FALLING).world, FALLING.runs, rules, look_up=index):
            statuses = report.snapshot.group_partitions.strings("status")
            warned.append([status == WARN for status in statuses.to_list()])
            index.now = (index.now or 0) + MINUTE
        codes = np.array(warned)
        return codes.argmax(axis=0), (np.diff(codes, axis=0) != 0).sum(axis=0)

    (first, changed), (late, changed_late) = (first_and_changes(most) for most in (10_000, 20))
    assert (first > 0).all()
    assert (np.abs(late - first) <= 3).all()
    assert (np.maximum(changed, changed_late) <= 2).all()


def test_gaps_of_the_collector_are_no_pauses_of_a_group() -> None:
    """It stays 35 minutes behind, and nobody looks for 20 minutes, twice."""
    minutes = [*range(50), *range(70, 90), *range(110, 140)]
    ends = [1_000 + 20 * minute for minute in minutes]
    commits = [max(end - 35 * 20, 1_000) for end in ends]
    text = strip_of(end=ends, commit=commits)
    strips = Strips({"g": text}, minutes=minutes, of_groups=False)
    assert set(strips.said("g", "status")[45:]) == {WARN}


def test_a_group_that_commits_every_5_minutes_is_ok_at_15_s_between_runs() -> None:
    minutes = np.arange(4 * 16) // 4
    text = strip_of(end=1_000 + 20 * minutes, commit=1_000 + minutes // 5 * 5 * 20)
    strips = Strips({"g": text}, Rules().at_interval(15_000), of_groups=False)
    assert set(strips.said("g", "status")) == {OK}


# Three weeks of runs, six a day.
DAY, WEEK = 6, 42
DEAD = 15 * DAY
AT = np.arange(4 * WEEK + DAY)
WRITTEN = 1_000_000 + 600 * 240 * AT


def steady_on(works: npt.NDArray[np.bool_]) -> str:
    most = 3 * 600 * 240
    return group(WRITTEN, reads_on(WRITTEN - 100, lambda run: most * bool(works[run])))


def job(every: int, dead: int = len(AT)) -> str:
    at = np.minimum(AT, dead)
    return group(WRITTEN, WRITTEN[at - at % every])


WEEKS = Strips(
    {
        "weekly": job(WEEK),
        "weekdays": steady_on(AT % WEEK < 5 * DAY),
        "daily": job(DAY),
        "dead": job(DAY, DEAD),
    },
    Rules(lookup_budget=0, window_ms=12 * HOUR * MINUTE).at_interval(4 * HOUR * MINUTE),
    of_groups=False,
)


@pytest.mark.parametrize(
    ("name", "known"), [("weekly", 3 * WEEK), ("weekdays", 3 * WEEK), ("daily", 3 * DAY)]
)
def test_a_pause_of_days_is_usual_once_three_were_alike(name: str, known: int) -> None:
    statuses: Sequence[str | None] = WEEKS.said(name, "status")
    assert STALL in statuses[:WEEK]
    assert set(statuses[known + 1 :]) == {OK}
    assert PAUSING in WEEKS.said(name, "status_reason")[known:]


def test_a_daily_job_that_dies_is_reported_within_two_days() -> None:
    assert WEEKS.said("dead", "status").index(STALL, DEAD) - DEAD <= 2 * DAY + 1
