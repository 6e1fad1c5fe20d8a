# SPDX-License-Identifier: Apache-2.0
"""Commits that jump, through whole runs: resets are no consumption, and catching up is no reset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.previous_rows import match_previous
from kafka_lag.lag.skips import add_skips
from kafka_lag.snapshots.previous import Memory
from tests.builders import MINUTE, NOON, Groups, Topics, a_reading, table
from tests.functions.lag.builders import BEFORE, LATER, NOW, Row, first, rows, snapshot, topic_rows

RULES = Rules(lookup_budget=0)
# Before the first run this much was written.
WRITTEN = 1_000_000_000
A_DAY, HOUR = 1_440, 60  # minutes

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
    policy: str | None = "delete"
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
    "to latest, of a slow group": _reset(7.5, 100 * M, step=reads(3.7)),
    "to latest, of an idle topic": _reset(0, 50 * M),
    "to latest, three days of 1,000/s": _reset(1_000, 259 * M),
    "to latest, 12 hours of 2,000/s": _reset(2_000, 86 * M, step=reads(1_500)),
    "to latest, 8 hours of 1,000/s": _reset(1_000, 29 * M),
    "to latest, a day of 10,000/s": _reset(10_000, 864 * M, step=reads(9_000)),
    "to latest, of a group seen later": _reset(20, 40 * M, minute=40, first=25),
    "to latest, in two runs": _reset(20, 40 * M, hidden=(19, 20), minute=20),
    "to a time an hour ago": _reset(50, 20 * M, back(180_000)),
    "to a time an hour ago, then read": _reset(50, 20 * M, back(180_000), reads(500)),
    "to a time a day ago": _reset(100, 90 * M, back(8_640_000), reads(100)),
    "by 5 million": _reset(20, 100 * M, by(5 * M)),
    "by a million": _reset(10, 100 * M, by(M), reads(10)),
    "by 5 million, then read at ten times": _reset(20, 100 * M, by(5 * M), reads(200)),
    "by 700,000": _reset(1, 2 * M, by(700_000), reads(1)),
    "past what was deleted": _reset(20, 100 * M, step=stands, start=WRITTEN - 90 * M),
    "back and forward again": _reset(
        20, 0, step=jumping(13, lambda commit, _: commit - 60 * M, reads(25)), minute=30
    ),
    # Resets of less than any client reads in a minute, by somebody else than the group's client.
    **{
        f"to latest over {runs} runs of {speed:g}/s": _set_while_stopped(speed, runs)
        for runs in (2, 3, 5, 8, 12, 20)
        for speed in (0.5, 7.5, 200, 5_000)
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
    "to latest over 9 runs, begun anew 12 minutes later": _set_while_stopped(20, 9, back=12),
    "to latest over what was written since a run that saw it stop in time": replace(
        _set_while_stopped(20, 1), step=jumping(16, latest, away(16, 19, reads(40)))
    ),
    # Read or skipped, as members may have been away.
    **{
        f"{runs} runs of {speed:g}/s without members, then nothing is left": _restarted(speed, runs)
        for runs in (1, 2, 8, 20)
        for speed in (0.5, 16, 200)
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
    "consumers without members that stop and begin anew": _restarted(
        16, 5, members=lambda _: 0, unsure=None
    ),
    "consumers without members whose last commit has no epoch": _restarted(
        16, 5, members=lambda _: 0, epoch=lambda m: None if 14 <= m < 20 else 7, unsure=None
    ),
    **{
        f"{runs} runs of {speed:g}/s, read with an epoch": _read_while_away(speed, runs)
        for runs in (2, 5, 20)
        for speed in (7.5, 200)
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
    "10 times, 100/s": Case(at(100), away(15, 135, reads(1_000)), runs=160),
    "100 times, 1/s": _catching_up(1, 100),
    "100 times, 100/s": _catching_up(100, 100),
    "100 times, 1,000/s": _catching_up(1_000, 100),
    "100 times, 10,000/s": _catching_up(10_000, 100),
    "200 times, 500/s": _catching_up(500, 200, 4),
    "100 times, in one run": _catching_up(2_000, 150, 1.5),
    "100 times, a commit every 3 minutes": Case(
        at(200), every(3, away(15, 195, reads(60_000))), runs=230
    ),
    "30 times, a commit every 5 minutes": Case(
        at(100), every(5, away(15, 195, reads(15_000))), runs=230
    ),
    "from earliest, a new group": Case(at(10), reads(50_000), backlog=6 * M, first=20, runs=40),
    "from earliest, at 100 times": Case(at(100), reads(10_000), backlog=20 * M, runs=60),
    "a job every hour": Case(at(100), every(HOUR, reads(1e9)), runs=190),
    "a job every hour, 5,000/s": Case(at(5_000), every(HOUR, reads(1e9)), runs=190),
    "a job every hour, 20 times as fast": Case(at(1_000), every(HOUR, reads(1e9)), runs=190),
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
        lambda m: 1_000.0 if m < 120 else 0.0, away(60, 240, reads(60_000)), runs=260
    ),
    "a transaction of 15 minutes": Case(at(3_000), away(20, 35, reads(1e9)), runs=60),
    "transactions of a minute": Case(at(3_000), every(2, reads(1e9)), runs=60),
    "after a weekend, 20,000/s": _catching_up(10, 2_000, 60),
}


def is_set_aside(name: str) -> bool:
    """Every third of each kind was not looked at before the limits stood."""
    kind = [
        each for each, case in PLANTED.items() if bool(case.resets) == bool(PLANTED[name].resets)
    ]
    return kind.index(name) % 3 == 2


@dataclass(frozen=True, slots=True)
class Seen:
    """What one run says of a partition."""

    minute: int
    rate: float | None
    skipped: tuple[int, int, int] | None
    status: str | None
    true_rate: float
    reason: str | None = None


def simulated(cases: Mapping[str, Case]) -> dict[str, list[Seen]]:
    """All runs of all cases, each group on a topic of its own."""
    memory, tracks = Memory.empty(), {name: case.tracks() for name, case in cases.items()}
    found: dict[str, list[Seen]] = {name: [] for name in cases}
    skip = ("skipped_from", "skipped_to", "skipped_at", "skip_reason")
    names = ("consumer_group", "consume_rate", "status", *skip)
    for minute in range(max(case.runs for case in cases.values())):
        on = {name: case for name, case in cases.items() if minute < case.runs}
        when = NOON + minute * MINUTE
        groups: Groups = {
            name: "timeout" if minute in case.hidden else {name: [tracks[name][minute][0]]}
            for name, case in on.items()
            if minute >= case.first
        }
        logs: Topics = {name: [(case.start, tracks[name][minute][1])] for name, case in on.items()}
        owners = {(n, n, 0): on[n].member(minute) for n in on if on[n].members(minute)}
        reading = a_reading(groups, logs, at=when, owners=owners)
        topics = reading.topic_partitions.with_columns(
            cleanup_policy=Strings.of(case.policy for case in on.values()),
            retention_ms=Column.optional([-1] * len(on)),
            retention_bytes=Column.optional([-1] * len(on)),
        )
        rows = reading.group_partitions
        reading = replace(
            reading,
            topic_partitions=topics,
            group_partitions=rows.with_columns(
                commit_epoch=Column.optional(
                    [on[name].epoch(minute) for name in rows.strings("consumer_group").to_list()]
                )
            ),
            groups=reading.groups.with_columns(
                members=Column.optional([on[name].members(minute) for name in groups])
            ),
        )
        snapshot = evaluate(reading, memory.previous_runs(), RULES, when).snapshot
        memory = memory.add_run(snapshot, MINUTE, stored=True)
        for name, rate, status, since, until, skip_at, reason in table(
            snapshot.group_partitions, *names
        ):
            if minute in on[name].hidden:
                continue
            skipped = None if skip_at is None else (since, until, (skip_at - NOON) // MINUTE)
            before = tracks[name][max(minute - 1, 0)][0]
            moved = (tracks[name][minute][0] - before) / 60
            found[name].append(Seen(minute, rate, skipped, status, moved, reason))
    return found


@cache
def everything() -> dict[str, list[Seen]]:
    """The planted cases, simulated once."""
    return simulated(PLANTED)


RESETS = [name for name, case in PLANTED.items() if case.resets]
UNSURE = [name for name, case in PLANTED.items() if case.unsure is not None]
READ = [name for name, case in PLANTED.items() if not case.resets and case.unsure is None]


@pytest.mark.parametrize("name", RESETS)
def test_a_reset_is_named_and_is_no_consumption(name: str) -> None:
    case, runs = PLANTED[name], everything()[name]
    tracks, (minute,) = case.tracks(), case.resets
    seen_at = minute if minute not in case.hidden else minute + 1
    after = [seen for seen in runs if seen.minute >= seen_at]
    skip = after[0].skipped or (0, 0, 0)
    assert skip[1:] == (tracks[seen_at][0], seen_at)
    assert after[0].rate is None
    # It stays named, and no later rate has a part of it.
    assert {(seen.skipped, seen.reason) for seen in after} == {(skip, contract.SET_AHEAD)}
    real = max(seen.true_rate for seen in after[1:])
    assert all(seen.rate is not None and seen.rate <= 1.01 * real for seen in after[1:])


@pytest.mark.parametrize("name", UNSURE)
def test_it_is_not_known_whether_it_was_read(name: str) -> None:
    case, runs = PLANTED[name], everything()[name]
    minute = case.unsure or 0
    assert {seen.reason for seen in runs if seen.minute < minute} == {None}
    first, *after = [seen for seen in runs if seen.minute >= minute]
    tracks = case.tracks()
    skipped = (tracks[minute - 1][0], tracks[minute][0], minute)
    assert (first.skipped, first.reason, first.rate) == (skipped, contract.READ_OR_SKIPPED, None)
    # Once, and in no rate.
    assert {(seen.skipped, seen.reason) for seen in after} == {(skipped, first.reason)}
    real = max(seen.true_rate for seen in after)
    assert all(seen.rate is not None and seen.rate <= 1.01 * real for seen in after)


@pytest.mark.parametrize("name", READ)
def test_whoever_catches_up_has_read_it(name: str) -> None:
    runs = everything()[name]
    assert runs[-1].skipped is None
    unknown = [seen.minute for seen in runs[2:] if seen.rate is None]
    assert len(unknown) <= 1


# The limits, on either side: a backlog of ten million from offset 0 on, read a minute ago.

DAYS_AGO, JUST_NOW = NOW - 2 * A_DAY * MINUTE, NOW - MINUTE
BEHIND: Row = {"committed_offset": 0, "lag": 10 * M, "end_offset": 10 * M, "observations": 10}
DATED: Row = {"time_lag_seconds": 100_000.0, "time_lag_error_seconds": 1.0}
DELETED: Row = {"cleanup_policy": "delete", "produce_rate": 0.0}


def last_skip(records: int, when: int) -> Row:
    """A skip that earlier runs saw."""
    return {"skipped_from": 5, "skipped_to": 5 + records, "skipped_at": when}


def skip_of(
    before: Row,
    commit: int,
    topic: Row,
    *,
    epoch: int | None = None,
    members: int = 1,
    previously: int | None = 0,
) -> tuple[int | None, ...]:
    """The columns after a commit, where a run before left its own, and so many members."""
    frame = rows({"committed_offset": commit, "end_offset": 20 * M, "commit_epoch": epoch})
    memory = match_previous(frame, snapshot(rows({**BEHIND, **before}, at=BEFORE)))
    of_group = Frame.of({"members": Column.of([members])})
    old_group = Frame.of({"members": Column.optional([previously])})
    of_topic = topic_rows({**DELETED, **topic})
    found = add_skips(frame, memory, of_topic, of_group, old_group, NOW, Rules())
    return first(found, "skipped_from", "skipped_to", "skipped_at")


@pytest.mark.parametrize(
    ("before", "topic", "most"),
    [
        pytest.param({}, {}, 600_000, id="what-any-client-may-read"),
        pytest.param({}, {"produce_rate": 100.0}, 1_800_000, id="as-much-is-written"),
        pytest.param({"consume_rate": 100.0}, {}, 1_800_000, id="as-much-is-read"),
        pytest.param(DATED, {}, 1_800_000, id="as-much-was-written"),
        pytest.param(
            {**DATED, "time_lag_error_seconds": None}, {}, 600_000, id="or-longer-ago-than-known"
        ),
        pytest.param({"read_at": NOW + LATER - 2 * MINUTE}, {}, 1_200_000, id="in-two-minutes"),
        pytest.param(last_skip(2 * M, DAYS_AGO), {}, 6 * M, id="like-the-last-one"),
        pytest.param(
            {"lag": None, "last_lag": 10 * M, "unread_reason": "timeout"}, {}, 600_000, id="unread"
        ),
    ],
)
def test_a_jump_is_a_skip_beyond_a_limit(before: Row, topic: Row, most: int) -> None:
    earlier = tuple(before.get(name) for name in ("skipped_from", "skipped_to", "skipped_at"))
    assert skip_of(before, most, topic) == earlier
    assert skip_of(before, most + 1_000, topic) == (0, most + 1_000, NOW)


@pytest.mark.parametrize(
    ("before", "topic"),
    [
        pytest.param({"observations": 9}, {}, id="too-few-readings"),
        pytest.param({}, {"cleanup_policy": "compact"}, id="offsets-are-no-records"),
        pytest.param({}, {"cleanup_policy": None}, id="offsets-may-be-no-records"),
        pytest.param({"lag": 600_000, "end_offset": 600_000}, {}, id="written-since-then"),
        pytest.param({"lag": None}, {}, id="nothing-known-of-it"),
    ],
)
def test_what_may_have_been_read_is_no_skip(before: Row, topic: Row) -> None:
    assert skip_of({}, 9 * M, {}) == (0, 9 * M, NOW)
    assert skip_of(before, 9 * M, topic) == (None, None, None)


@pytest.mark.parametrize(
    ("before", "epoch", "members", "topic", "named"),
    [
        pytest.param({"commit_epoch": 0}, None, 0, {}, True, id="by-somebody-else"),
        pytest.param({"commit_epoch": 0, "observations": 1}, None, 0, {}, True, id="seen-once"),
        pytest.param({"commit_epoch": 0}, 0, 0, {}, False, id="by-its-client"),
        pytest.param({"commit_epoch": 0}, 4, 0, {}, False, id="under-another-leader"),
        pytest.param({}, None, 0, {}, False, id="which-never-writes-one"),
        pytest.param({"commit_epoch": 0}, None, 1, {}, False, id="which-writes-none-any-more"),
        pytest.param(
            {"commit_epoch": 0}, None, 0, {"cleanup_policy": "compact"}, False, id="compacted"
        ),
        pytest.param({"commit_epoch": 0, "lag": 0}, None, 0, {}, False, id="nothing-was-unread"),
    ],
)
def test_a_small_jump_is_a_skip_where_another_client_made_it(
    before: Row, epoch: int | None, members: int, topic: Row, *, named: bool
) -> None:
    commit = 10 * M if before.get("lag") == 0 else 1
    expected = (0, 1, NOW) if named else (None, None, None)
    assert skip_of(before, commit, topic, epoch=epoch, members=members) == expected


@pytest.mark.parametrize(
    ("previously", "rate", "records", "named"),
    [
        pytest.param(1, 10.0, 1_800, False, id="may-have-read-it"),
        pytest.param(1, 10.0, 1_801, True, id="never-read-so-fast"),
        pytest.param(1, None, 1_801, False, id="nobody-knows-how-fast"),
        pytest.param(None, 10.0, 1_800, False, id="nobody-knows-of-members"),
        pytest.param(0, 10.0, 1, True, id="nobody-was-there"),
    ],
)
def test_a_last_commit_of_members_that_left_is_a_skip_beyond_what_they_read(
    previously: int | None, rate: float | None, records: int, *, named: bool
) -> None:
    before = {"commit_epoch": 0, "consume_rate": rate}
    skip = skip_of(before, records, {}, members=0, previously=previously)
    assert skip == ((0, records, NOW) if named else (None, None, None))


def test_a_small_skip_is_not_taken_back_by_what_is_read_after_it() -> None:
    assert skip_of(last_skip(600_000, JUST_NOW), 600_000, {}) == (5, 600_005, JUST_NOW)
    assert skip_of(last_skip(600_060, JUST_NOW), 600_000, {}) == (None, None, None)


def test_a_second_reset_within_the_window_is_named_too() -> None:
    before = {**last_skip(5 * M, JUST_NOW), "commit_epoch": 3}
    assert skip_of(before, 5 * M, {}, members=0) == (0, 5 * M, NOW)


def test_a_commit_beyond_the_end_has_another_name() -> None:
    assert skip_of({}, 20 * M, {}) == (0, 20 * M, NOW)
    assert skip_of({}, 20 * M + 1, {}) == (None, None, None)


@pytest.mark.parametrize(
    ("records", "when", "cleared"),
    [
        pytest.param(500_000, JUST_NOW, True, id="reads-on-at-a-tenth"),
        pytest.param(499_000, JUST_NOW, False, id="reads-less"),
        pytest.param(500_000, NOW - 10 * MINUTE, True, id="within-the-window"),
        pytest.param(500_000, NOW - 11 * MINUTE, False, id="after-it"),
    ],
)
def test_who_reads_on_as_fast_had_skipped_nothing(records: int, when: int, cleared: bool) -> None:
    """The skip was of five million."""
    expected = (None, None, None) if cleared else (5, 5 * M + 5, when)
    assert skip_of(last_skip(5 * M, when), records, {}) == expected


def test_a_much_smaller_skip_is_not_like_the_last_one() -> None:
    assert skip_of(last_skip(3 * M, DAYS_AGO), 999_000, {}) == (0, 999_000, NOW)
    assert skip_of(last_skip(3 * M, DAYS_AGO), M, {}) == (5, 3 * M + 5, DAYS_AGO)


def test_a_job_that_has_members_only_while_it_works_is_named_once() -> None:
    def job(minutes: int, works: int) -> Case:
        return Case(
            at(20),
            lambda m, commit, end: end if m % minutes < works else commit,
            runs=8 * minutes + 1,
            epoch=lambda _: 7,
            members=lambda m: int(m % minutes < works),
        )

    jobs = {f"{minutes} {works}": (minutes, works) for minutes in (2, 3, 5, 15) for works in (1, 2)}
    del jobs["2 2"]  # It never rests.
    found = simulated({name: job(*each) for name, each in jobs.items()})
    named = {name: runs[-1].skipped for name, runs in found.items()}
    assert {name: skip and skip[2] for name, skip in named.items()} == {
        name: minutes for name, (minutes, _) in jobs.items()
    }


def test_a_slow_group_is_slow_soon_after_its_reset() -> None:
    """It reads half of what is written, so its age needs twenty minutes to be over the window."""
    step = jumping(20, latest, reads(3.7))
    runs = simulated({"slow": Case(at(7.5), step, 100 * M, runs=50)})["slow"]
    assert next(seen.minute for seen in runs if seen.minute > 20 and seen.status == "WARN") <= 45
