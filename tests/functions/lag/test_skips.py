# SPDX-License-Identifier: Apache-2.0
"""Commits that skip records, through whole runs: resets are not reading, nor is reading a reset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.lag.group_settings import Rules
from tests.functions.lag.strips import Strips, strip_of

# Before the first run this much was written.
WRITTEN = 1_000_000_000
HOUR = 60  # minutes

# What the group does in a minute: from the minute, its commit and the log's end the new commit.
Step = Callable[[int, int, int], int]


@dataclass(frozen=True, slots=True)
class Case:
    """One group and its log, a minute a run.

    `speed`: records/s written, by the minute. `backlog`: unread at the first run. `first`: the run
    that first sees the group. `resets`: the runs that see a jump that is no reading. `unsure`: the
    run that sees one of which nobody knows whether it is. `epoch`: the leader epoch with the commit
    of that minute; `members`: of that minute; `member`: the owner of the partition, if any.
    """

    speed: Callable[[int], float]
    step: Step
    backlog: int = 0
    policy: str = "delete"
    first: int = 0
    runs: int = 60
    resets: Sequence[int] = ()
    start: int = 0
    hidden: Sequence[int] = field(default=())
    epoch: Callable[[int], int | None] = lambda _: None
    members: Callable[[int], int] = lambda _: 1
    member: Callable[[int], str] = lambda _: "m-1"
    unsure: int | None = None

    def tracks(self) -> list[tuple[int, int]]:
        """Commit and end, run by run."""
        end, found = WRITTEN, list[tuple[int, int]]()
        commit = max(end - self.backlog, self.start)
        for minute in range(self.runs):
            end += int(60 * self.speed(minute))
            commit = self.step(minute, commit, end)
            found.append((commit, end))
        return found

    def strip(self) -> str:
        """What the runs see of it."""
        commits, ends = zip(*self.tracks(), strict=True)
        minutes = range(self.runs)
        unseen = [minute in self.hidden or minute < self.first for minute in minutes]
        members = [self.members(minute) for minute in minutes]
        owners = [self.member(m) if count else "-" for m, count in enumerate(members)]
        return strip_of(
            end=ends,
            commit=commits,
            start=[self.start],
            owner=owners,
            members=members,
            unread=["timeout" if each else "-" for each in unseen],
            commit_epoch=[e if e is not None else "-" for e in map(self.epoch, minutes)],
            cleanup_policy=[self.policy],
        )


def at(speed: float) -> Callable[[int], float]:
    """Evenly written."""
    return lambda _: speed


def reads(speed: float) -> Step:
    """As fast as this, records/s, as long as there is something."""
    return lambda _, commit, end: min(end, commit + int(60 * speed))


def away(since: int, until: int, step: Step) -> Step:
    """The same, but for these minutes."""
    return lambda m, commit, end: commit if since <= m < until else step(m, commit, end)


def every(minutes: int, step: Step) -> Step:
    """Commits only so often, for all that was read since."""
    return lambda m, commit, end: commit if m % minutes else step(m, commit, end)


def jumping(minute: int, target: Callable[[int, int], int], step: Step) -> Step:
    """The same, but in this minute somebody sets the commit, knowing it and the log's end."""
    return lambda m, commit, end: target(commit, end) if m == minute else step(m, commit, end)


def latest(_: int, end: int) -> int:
    """--to-latest."""
    return end


def by(records: int) -> Callable[[int, int], int]:
    """--shift-by."""
    return lambda commit, _: commit + records


def back(records: int) -> Callable[[int, int], int]:
    """--to-datetime: to where the log ended so many records ago."""
    return lambda _, end: end - records


def stands(_: int, commit: int, __: int) -> int:
    """Nobody reads."""
    return commit


def _reset(
    speed: float,
    backlog: int,
    target: Callable[[int, int], int] = latest,
    step: Step = stands,
    minute: int = 20,
    **more: Any,
) -> Case:
    step = jumping(minute, target, step)
    return Case(at(speed), step, backlog, resets=(minute,), **more)


def _set_while_stopped(
    speed: float,
    runs: int,
    target: Callable[[int, int], int] = latest,
    *,
    back: int = 3,
    **more: Any,
) -> Case:
    """A client that writes epochs stops for so many runs; then somebody sets its commit, and it
    reads again some minutes later.
    """
    stops, resets = 15, 15 + runs
    step = jumping(resets, target, away(stops, resets + back, reads(2 * speed)))
    return Case(
        at(speed),
        step,
        resets=(resets,),
        runs=resets + 20,
        epoch=lambda m: None if resets <= m < resets + back else 7,
        members=lambda m: 0 if stops <= m < resets + back else 1,
        **more,
    )


def _read_while_away(speed: float, runs: int, **more: Any) -> Case:
    """The same, but it has read what it commits after so many runs: with an epoch."""
    step = away(15, 15 + runs, reads(100 * speed))
    return Case(at(speed), step, runs=35 + runs, **{"epoch": lambda _: 7, **more})


def _leaving(speed: float, minute: int) -> Case:
    """Members of a client that writes epochs, but with its last commit."""
    return Case(
        at(20),
        away(minute + 1, minute + 10, reads(speed)),
        6_000,
        runs=minute + 30,
        epoch=lambda m: 7 if m < minute else None,
        members=lambda m: 0 if minute <= m < minute + 10 else 1,
    )


def _restarted(speed: float, runs: int, **more: Any) -> Case:
    """A group stops for so many runs, and in the next one nothing is left: its members have read
    it, or somebody set its commit before they came.
    """
    stops, back = 15, 15 + runs
    return Case(
        at(speed),
        away(stops, back, reads(1e9)),
        runs=back + 20,
        **{
            "epoch": lambda _: 7,
            "members": lambda m: 0 if stops <= m < back else 1,
            "unsure": back,
            **more,
        },
    )


def _replaced(step: Step, **more: Any) -> Case:
    """All members of a group are others from one run to the next, without a run that sees none."""
    return Case(
        at(20),
        step,
        runs=45,
        epoch=lambda _: 7,
        member=lambda m: "m-1" if m < 25 else "m-2",
        **more,
    )


def _catching_up(speed: float, times: float, hours: float = 3) -> Case:
    """Reads at so many times the usual rate after hours without a consumer."""
    backlog = int(speed * hours * 3_600)
    return Case(at(speed), away(0, 20, reads(times * speed)), backlog, runs=45)


M = 1_000_000
PLANTED: Mapping[str, Case] = {
    # Resets.
    "to latest over 100 million": _reset(7.5, 100 * M, step=reads(7.5)),
    "to latest, of an idle topic": _reset(0, 50 * M),
    "to latest, a day of 10,000/s": _reset(10_000, 864 * M, step=reads(9_000)),
    "to latest, of a group seen later": _reset(20, 40 * M, minute=40, first=25),
    "to latest, in two runs": _reset(20, 40 * M, hidden=(19, 20), minute=20),
    "to a time an hour ago": _reset(50, 20 * M, back(180_000)),
    "to a time an hour ago, then read": _reset(50, 20 * M, back(180_000), reads(500)),
    "by a million": _reset(10, 100 * M, by(M), reads(10)),
    "by 700,000": _reset(1, 2 * M, by(700_000), reads(1)),
    "past what was deleted": _reset(20, 100 * M, step=stands, start=WRITTEN - 90 * M),
    "back and forward again": _reset(
        20, 0, step=jumping(13, lambda commit, _: commit - 60 * M, reads(25)), minute=30
    ),
    # Resets of less than any client reads in a minute, by somebody else than the group's client.
    **{
        f"to latest over {runs} runs of {speed:g}/s": _set_while_stopped(speed, runs)
        for runs, speed in ((2, 0.5), (8, 200), (20, 5_000))
    },
    "to latest over 6 runs of 40/s, in a group seen since just now": _set_while_stopped(
        40, 6, first=20
    ),
    "by 100 over 10 runs of 20/s": _set_while_stopped(20, 10, by(100)),
    "by 6,000 over 20 runs of 20/s": _set_while_stopped(20, 20, by(6_000)),
    "to a minute ago over 9 runs of 20/s": _set_while_stopped(20, 9, back(1_200)),
    "to latest over ten times what is read in a run, at once": replace(
        _set_while_stopped(20, 0), backlog=15_000, step=jumping(15, latest, away(15, 18, reads(20)))
    ),
    "to latest over 9 runs, begun again 12 minutes later": _set_while_stopped(20, 9, back=12),
    "to latest over what was written since a run that saw it stop in time": replace(
        _set_while_stopped(20, 1), step=jumping(16, latest, away(16, 19, reads(40)))
    ),
    # Read or skipped, as members may have been away.
    **{
        f"{runs} runs of {speed:g}/s without members, then nothing is left": _restarted(speed, runs)
        for runs, speed in ((1, 16), (2, 0.5), (8, 200), (20, 16))
    },
    "other members of a group that stood still for ten runs": _replaced(
        away(15, 25, reads(1e9)), unsure=25
    ),
    # Consumption.
    "other members of a group that is in time": _replaced(reads(1e9)),
    "other members that read bit by bit": _replaced(away(15, 25, reads(60))),
    "the same members after ten runs": replace(
        _replaced(away(15, 25, reads(1e9))), member=lambda _: "m-1"
    ),
    "a restart of a client that writes no epochs": _restarted(
        16, 5, epoch=lambda _: None, unsure=None
    ),
    "a restart of one whose last commit has no epoch": _restarted(
        16, 5, epoch=lambda m: None if 14 <= m < 20 else 7, unsure=None
    ),
    "consumers without members that stop and begin again": _restarted(
        16, 5, members=lambda _: 0, unsure=None
    ),
    "consumers without members whose last commit has no epoch": _restarted(
        16, 5, members=lambda _: 0, epoch=lambda m: None if 14 <= m < 20 else 7, unsure=None
    ),
    **{
        f"{runs} runs of {speed:g}/s, read with an epoch": _read_while_away(speed, runs)
        for runs, speed in ((2, 7.5), (20, 200))
    },
    **{
        f"members that leave with a commit without an epoch, {name}": _leaving(speed, minute)
        for name, speed, minute in (
            ("far behind", 20, 20),
            ("falling behind", 15, 20),
            ("catching up", 30, 5),
            ("soon after they came", 20, 1),
        )
    },
    "a job that is never seen to have members, with epochs": _read_while_away(
        50, 8, members=lambda _: 0
    ),
    "a job that is never seen to have members, and writes none": _read_while_away(
        50, 8, members=lambda _: 0, epoch=lambda _: None
    ),
    "a release that ceases to write epochs": Case(
        at(50), reads(50), runs=45, epoch=lambda m: 7 if m < 20 else None
    ),
    "a release that begins to write epochs": Case(
        at(50), reads(50), runs=45, epoch=lambda m: 7 if m >= 20 else None
    ),
    "a group that stops, and writes no epochs": _read_while_away(50, 8, epoch=lambda _: None),
    "100 times, 100/s": _catching_up(100, 100),
    "200 times, 500/s": _catching_up(500, 200, 4),
    "100 times, in one run": _catching_up(2_000, 150, 1.5),
    "from earliest, a new group": Case(at(10), reads(50_000), backlog=6 * M, first=20, runs=40),
    "a job every 25 minutes": Case(at(100), every(25, reads(1e9)), runs=80),
    "a job a day": Case(at(5), every(40, reads(1e9)), backlog=5 * 86_400, runs=60),
    "a compacted topic": Case(at(1), away(0, 20, reads(100_000)), backlog=50 * M, policy="compact"),
    "compacted and deleted": Case(
        at(1), away(0, 20, reads(100_000)), backlog=50 * M, policy="compact,delete"
    ),
    "a burst": Case(lambda m: 80_000.0 if 20 <= m < 22 else 1.0, reads(70_000), runs=40),
    "a burst, read later": Case(
        lambda m: 80_000.0 if 20 <= m < 22 else 1.0, away(18, 25, reads(1e9)), runs=40
    ),
    "after a night without producers": Case(
        lambda m: 1_000.0 if m < 30 else 0.0, away(15, 60, reads(60_000)), runs=80
    ),
    "a transaction of 15 minutes": Case(at(3_000), away(20, 35, reads(1e9)), runs=60),
    "transactions of a minute": Case(at(3_000), every(2, reads(1e9)), runs=60),
    "after a weekend, 20,000/s": _catching_up(10, 2_000, 60),
}


def a_job(minutes: int, works: int) -> Case:
    """It has members only while it works."""
    return Case(
        at(20),
        lambda m, commit, end: end if m % minutes < works else commit,
        runs=5 * minutes + 1,
        epoch=lambda _: 7,
        members=lambda m: int(m % minutes < works),
    )


COMES_AND_GOES = {(2, 1): 2, (3, 1): 3, (3, 2): 3, (5, 2): 5, (15, 1): 15, (15, 2): 15}
# It reads half of what is written, so its age needs twenty minutes to be over the window.
SLOW = Case(at(7.5), jumping(20, latest, reads(3.7)), 100 * M, runs=50)

# The limits, on either side: a backlog of ten million that was not moved for ten readings.
# Commits, and the `skipped_to` that they must have; then other lines of the strip. Its log ends at
# ten million unless it is said.
LIMITS: dict[str, tuple[str, ...]] = {
    "what any client may read": ("0x11 600000", "?x12"),
    "more than that": (
        "0x11 601000x3",
        "?x11 601000x3",
        "skipped_from ?x11 0x3",
        "skipped_at ?x11 11x3",
        "skip_reason ?x11 set_aheadx3",
        "consume_rate ? 0x10 ? 0x2",
        "group.records_skipped ?x11 601000x3",
        "group.skip_reason ?x11 set_aheadx3",
    ),
    "in the second minute as much again": (
        "0x12 1200000",
        "?x13",
        "end 10_000_000x11 timeout 10_000_000",
    ),
    "in the second minute more": (
        "0x12 1201000",
        "?x12 1201000",
        "end 10_000_000x11 timeout 10_000_000",
    ),
    "as much as is written in five hours": ("0x11 1800000", "?x12", "end 10_000_000 +6000"),
    "more than is written in five hours": ("0x11 1802000", "?x11 1802000", "end 10_000_000 +6000"),
    "seen in nine readings": ("0x9 9000000", "?x10"),
    "on a compacted topic": ("0x11 9000000", "?x12", "cleanup_policy compact"),
    "on a topic of which the policy is unknown": ("0x11 9000000", "?x12", "cleanup_policy ?"),
    "over what was written since then": ("0x11 9000000", "?x12", "end 600_000x11 10_000_000"),
    "beyond the end": ("0x11 10000001", ".", "skipped_at ?x12"),
    "reads on at a tenth of the speed": ("0x11 5000000 5500000", "?x11 5000000 ?"),
    "reads on more slowly": ("0x11 5000000 5499000", "?x11 5000000x2"),
    "reads on as fast after the window": ("0x11 5000000x11 5500000", "?x11 5000000x12"),
    "jumps three times as far as it did before": (
        "0x11 2000000x12 8000000",
        "?x11 2000000x13",
        "end 20_000_000",
    ),
    "jumps farther than that": (
        "0x11 2000000x12 8001000",
        "?x11 2000000x12 8001000",
        "end 20_000_000",
    ),
    "set by somebody else, a record": ("0x3 1", "?x3 1", "owner m -", "commit_epoch 0x3 ?"),
    "set by its client": ("0x3 1", "?x4", "owner m -", "commit_epoch 0x3 4"),
    "by a client that writes no epochs": ("0x3 1", "?x4", "owner m -"),
    "while members are there": ("0x3 1", "?x4", "commit_epoch 0x3 ?"),
    "set by somebody else on a compacted topic": (
        "0x3 1",
        "?x4",
        "owner m -",
        "commit_epoch 0x3 ?",
        "cleanup_policy compact",
    ),
    "set again within the window": (
        "0x3 5x2 1000",
        "?x3 5x2 1000",
        "owner m -",
        "commit_epoch 0x3 ? 3 ?",
    ),
    "a last commit of a member that left, no faster than it read": (
        "0 +600x9 7200",
        "?x11",
        "owner mx10 -",
        "commit_epoch 0x10 ?",
    ),
    "a last commit, faster than it ever read": (
        "0 +600x9 7201",
        "?x10 7201",
        "owner mx10 -",
        "commit_epoch 0x10 ?",
    ),
}


def limit(commit: str, skipped_to: str, *more: str) -> str:
    """The strip of a limit."""
    lines = ["end 10_000_000", "cleanup_policy delete", f"commit {commit}", *more]
    return "\n".join([*lines, f"skipped_to {skipped_to}"])


RUNS = Strips(
    {
        **{name: case.strip() for name, case in PLANTED.items()},
        **{f"job {m} {works}": a_job(m, works).strip() for m, works in COMES_AND_GOES},
        "slow": SLOW.strip(),
        **{name: limit(*lines) for name, lines in LIMITS.items()},
    },
    Rules(lookup_budget=0),
)
RESETS = [name for name, case in PLANTED.items() if case.resets]
UNSURE = [name for name, case in PLANTED.items() if case.unsure is not None]
READ = [name for name, case in PLANTED.items() if not case.resets and case.unsure is None]
SKIP = ("skipped_from", "skipped_to", "skipped_at", "skip_reason")


def skips_of(name: str) -> list[tuple[Any, ...]]:
    """Of each run."""
    return list(zip(*(RUNS.said(name, column) for column in SKIP), strict=True))


def check_rates(name: str, since: int) -> None:
    """No rate has a part of what was skipped."""
    commits = [commit for commit, _ in PLANTED[name].tracks()]
    real = max((now - then) / 60 for then, now in pairwise(commits[since:]))
    rates = RUNS.said(name, "consume_rate")
    assert rates[since] is None
    assert all(rate is not None and rate <= 1.01 * real for rate in rates[since + 1 :])


@pytest.mark.parametrize("name", LIMITS)
def test_a_jump_is_a_skip_beyond_a_limit(name: str) -> None:
    RUNS.check(name)


@pytest.mark.parametrize("name", RESETS)
def test_a_reset_is_named_and_is_no_consumption(name: str) -> None:
    case = PLANTED[name]
    (minute,) = case.resets
    seen_at = max((minute, *(hidden + 1 for hidden in case.hidden)))
    skips = skips_of(name)[seen_at:]
    assert skips[0][1:] == (case.tracks()[seen_at][0], seen_at, contract.SET_AHEAD)
    # It stays named.
    assert set(skips) == {skips[0]}
    check_rates(name, seen_at)


@pytest.mark.parametrize("name", UNSURE)
def test_it_is_not_known_whether_it_was_read(name: str) -> None:
    case = PLANTED[name]
    minute, commits = case.unsure or 0, [commit for commit, _ in case.tracks()]
    skips = skips_of(name)
    assert set(skips[:minute]) == {(None,) * 4}
    expected = (commits[minute - 1], commits[minute], minute, contract.READ_OR_SKIPPED)
    assert set(skips[minute:]) == {expected}
    check_rates(name, minute)


@pytest.mark.parametrize("name", READ)
def test_a_group_that_catches_up_has_read_it(name: str) -> None:
    assert skips_of(name)[-1] == (None,) * 4
    seen = max(2, PLANTED[name].first + 2)
    assert sum(rate is None for rate in RUNS.said(name, "consume_rate")[seen:]) <= 1


@pytest.mark.parametrize(("job", "named"), COMES_AND_GOES.items())
def test_a_job_that_has_members_only_while_it_works_is_named_once(
    job: tuple[int, int], named: int
) -> None:
    assert RUNS.said(f"job {job[0]} {job[1]}", "skipped_at")[-1] == named


def test_a_slow_group_is_slow_soon_after_its_reset() -> None:
    assert RUNS.said("slow", "status").index("WARN", 21) <= 45
