# SPDX-License-Identifier: Apache-2.0
"""Judges runs by the logs of the brokers: acknowledged records, commits and deletions.

The truth is an interval, because things happen between a request and its answer, and because
brokers under a fault may answer with earlier values. A value is wrong if it lies outside that
interval even with its stated error. Statuses, and the exactness of ages, are not judged.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dev.faults.subject import DEADLINE, WINDOW, Row, Run
from dev.faults.traffic import TRANSACTIONS
from dev.sim.live.logs import GroupPartition, History, Log
from kafka_lag import contract

# Coordinators report commits, and brokers ends, once followers have them; clients hear of it later.
_AFTERWARDS = 3.0
# Brokers answer as of before a fault, and clients are answered late, until so long after it.
_RECOVERS = 20.0
# A broker keeps the start of a log in memory alone for so long.
_STARTS_KEPT = 60.0
_STANDING = (contract.STOP, contract.STALL)
# Clocks are read in whole ms at both ends.
_ROUNDING = 0.005
# The collector notices a clock that is wrong by more than this.
_SLIGHT = 1.0
# Runs in which a wrong clock still shows.
_RUNS_AFTER = 3
# Seconds that a run may take beyond its deadline, on a busy machine.
_MARGIN = 1.5


class Fault(NamedTuple):
    """A fault on the brokers themselves, from its begin until all brokers were back."""

    name: str
    begin: float
    end: float


class Finding(NamedTuple):
    """One wrong value, with the facts that show why."""

    run: Run
    rule: str
    where: str
    published: Any
    truth: Any


@dataclass(slots=True)
class Verdict:
    """What was wrong, how many values were held to the truth, and what was missing and why.

    `whole`: numbers of runs in which all was read that there was.
    """

    wrong: list[Finding] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    whole: int = 0


def judge(runs: Sequence[Run], history: History, faults: Sequence[Fault]) -> Verdict:
    """Returns the verdict on all runs of a campaign, in the order in which they ended."""
    verdict = Verdict()
    for place, run in enumerate(runs):
        _Judge(runs[: place + 1], history, faults, verdict).judge_run(run)
    return verdict


class _Judge:
    """One run beside the truth, with those before it; it is the last of `runs`."""

    def __init__(
        self, runs: Sequence[Run], history: History, faults: Sequence[Fault], verdict: Verdict
    ) -> None:
        self._runs, self._run, self._history, self._verdict = runs, runs[-1], history, verdict
        self._faults = faults
        self._own = self._moments(self._run)
        self._shifts = self._find_shifts()
        read = [row.read_at for row in self._run.rows or () if row.read_at]
        self._read_at = max(read, default=0) / 1_000 - self._run.ahead

    def judge_run(self, run: Run) -> None:
        if run.ended - run.began > DEADLINE + _MARGIN:
            self._note("late", "the run", f"{run.ended - run.began:.2f} s", f"{DEADLINE} s")
        if run.leaked:
            self._note("secret", "the run", "a password in what it published", "none")
        if run.rows is None:
            self._verdict.missing["run"] += 1
            return
        rows = {row[:3]: row for row in run.rows}
        for at, row in rows.items():
            if row.unread_reason is None:
                self._judge_read(at, row)
            else:
                self._judge_unread(at, row)
        missing = self._count_missing(rows)
        self._verdict.whole += run.calm and not missing

    def _judge_read(self, at: GroupPartition, row: Row) -> None:
        since, until = self._own
        read_at = (row.read_at or 0) / 1_000 - self._run.ahead
        self._hold(at, row, row.lag, since, min(until, read_at + until - self._run.ended))
        beyond = row.end_offset is not None and (row.committed_offset or 0) > row.end_offset
        if row.lag == 0 and not beyond and not row.records_lost and row.status != contract.OK:
            self._note("status", at, row.status, "nothing is unread")
        if row.records_lost and row.status != contract.ERR:
            self._note("status", at, row.status, f"{row.records_lost} records are lost")
        if row.status in _STANDING and (moved := self._find_move(at, row)):
            self._note("status", at, row.status, f"the commit moved at {moved}")

    def _judge_unread(self, at: GroupPartition, row: Row) -> None:
        """Holds the values of an unread row to the truth of the run that read it."""
        self._verdict.missing[f"row: {row.unread_reason}"] += 1
        for name in ("lag", "time_lag_seconds", "status"):
            if getattr(row, name) is not None:
                self._note(f"unread {name}", at, getattr(row, name), None)
        if row.read_at is None:
            return
        # If the clock was changed, several runs may have read it.
        read_at = row.read_at / 1_000
        readers = [
            each
            for each in self._runs
            if each.began - _ROUNDING <= read_at - each.ahead <= each.ended + _ROUNDING
        ]
        if readers:
            since = min(self._moments(each)[0] for each in readers)
            until = max(self._moments(each)[1] for each in readers)
            carried = row._replace(time_lag_seconds=None, records_lost=None)
            self._hold(at, carried, row.last_lag, since, until)
        elif read_at - self._run.ahead > self._runs[0].began:
            self._note("read_at of an unread row", at, read_at, "no run was on then")

    def _hold(
        self, at: GroupPartition, row: Row, lag: int | None, since: float, until: float
    ) -> None:
        """Holds commit, start, end, lag, loss and age to one of the logs that there were."""
        logs = [
            log
            for log in self._history.logs.get(at[1:], ())
            if log.begun <= until and log.over >= since - _RECOVERS
        ]
        found = [list(self._find_faults(at, row, lag, log, since, until)) for log in logs]
        self._verdict.checked["rows"] += 1
        self._verdict.checked["ages"] += row.time_lag_seconds is not None
        for rule, published, truth in min(found, key=len, default=[("log", at, "no such one")]):
            self._note(rule, at, published, truth)

    def _find_faults(
        self, at: GroupPartition, row: Row, lag: int | None, log: Log, since: float, until: float
    ) -> Iterator[tuple[str, Any, Any]]:
        commit, start, end = row.committed_offset, row.start_offset, row.end_offset
        commits = self._find_commits(at, since, until)
        if commit not in commits:
            yield "committed_offset", commit, f"one of {sorted(map(str, commits))}"
        least, most = find_ends(log, since, until)
        if end is not None and not least <= end <= most:
            yield "end_offset", end, f"{least} to {most}"
        least, most = self._find_starts(log, since, until)
        if start is not None and not least <= start <= most:
            yield "start_offset", start, f"{least} to {most}"
        if commit is None or end is None or start is None:
            return
        carried = lag is None and row.unread_reason is not None
        if lag != max(0, end - max(commit, start)) and not carried:
            yield "lag", lag, f"{commit} is committed, the log has {start} to {end}"
        if row.records_lost not in (None, max(0, start - commit)) and not _may_rest(at):
            yield "records_lost", row.records_lost, max(0, start - commit)
        if row.time_lag_seconds is not None and lag is not None and not _may_rest(at):
            yield from self._find_wrong_age(row, lag, log, max(commit, start))

    def _find_wrong_age(
        self, row: Row, lag: int, log: Log, position: int
    ) -> Iterator[tuple[str, Any, Any]]:
        seconds, error = row.time_lag_seconds or 0.0, row.time_lag_error_seconds
        if lag == 0 and seconds:
            yield "age of nothing unread", seconds, 0
            return
        sent, acknowledged = find_times(log, position)
        least = max(0.0, (row.read_at or 0) / 1_000 - self._run.ahead - acknowledged)
        most = max(0.0, self._read_at - sent)
        less, more = self._shifts
        # Without an error an age is the least that it may be.
        too_old = seconds - (error or 0.0) > most + more + _ROUNDING
        too_young = error is not None and seconds + error < least + less - _ROUNDING
        # A clock that went back makes an age 0, not less.
        if lag and (too_young or too_old) and not (seconds == 0 and most + less < 0):
            yield "age", f"{seconds} ± {error}", f"{least:.3f} to {most:.3f}"

    def _find_shifts(self) -> tuple[float, float]:
        """Returns by how much a changed clock may make an age smaller, and larger."""
        before = [each.ahead for each in self._runs[-_RUNS_AFTER:]]
        before += [each.ahead for each in self._runs if abs(each.ahead) <= _SLIGHT]
        shifts = [0.0, self._run.ahead, *(self._run.ahead - each for each in before)]
        return min(shifts), max(shifts)

    def _count_missing(self, rows: dict[tuple[Any, ...], Row]) -> int:
        """Returns how many partitions were not read, and notes the ones without a named reason."""
        since, until = self._own
        count, unnamed = 0, 0
        more = sum(" more not read" in line for line in self._run.log)
        for at in self._history.commits:
            alive = any(
                log.begun < since - _AFTERWARDS and log.over > until
                for log in self._history.logs.get(at[1:], ())
            )
            if not alive or None in self._find_commits(at, since, until):
                continue
            row = rows.get(at)
            count += row is None or row.unread_reason is not None
            if row is None and not self._is_named(at):
                unnamed += 1
                self._verdict.missing["row: not named"] += 1
                if not more:
                    self._note("missing", at, "no row", "it is not named")
        return count

    def _is_named(self, at: GroupPartition) -> bool:
        group, topic, number = at
        names = (
            f"group {group!r} not read",
            f"topic {topic!r} not read",
            f"partition {f'{topic}-{number}'!r} not read",
            "broker ",
        )
        return any(line.startswith(names) for line in self._run.log)

    def _moments(self, run: Run) -> tuple[float, float]:
        """Returns the first and the last moment that answers to a run may show."""
        near = [
            each
            for each in self._faults
            if each.begin - _RECOVERS <= run.ended and each.end + _RECOVERS >= run.began
        ]
        since = min([run.began, *(each.begin for each in near)]) - _AFTERWARDS
        return since, run.ended + (_RECOVERS if near else _AFTERWARDS)

    def _find_commits(self, at: GroupPartition, since: float, until: float) -> set[int | None]:
        commits = self._history.commits.get(at, [])
        first, last = (bisect_right(commits, when, key=_time_of) for when in (since, until))
        before = commits[first - 1][1] if first else None
        return {before, *(offset for _, offset in commits[first:last])}

    def _find_starts(self, log: Log, since: float, until: float) -> tuple[int, int]:
        """Returns the least and the greatest start; a broker that was killed forgets late ones."""
        kills = [each.begin - _STARTS_KEPT for each in self._faults if each.name == "kill"]
        surely = min([since, *(each for each in kills if each <= until)])
        starts = [max([0, *(s for t, s in log.starts if t <= when)]) for when in (surely, until)]
        return starts[0], starts[1]

    def _find_move(self, at: GroupPartition, row: Row) -> float | None:
        """Returns when this offset was first committed, if no run saw it more than a window ago.

        Between two runs a commit may go and come back, which nobody sees.
        """
        commits = self._history.commits.get(at, [])
        same = [when for when, offset in commits if offset == row.committed_offset]
        if not same or same[0] == commits[0][0]:
            return None
        limit = self._run.taken_at - WINDOW
        seen = any(each.taken_at < limit and each.ended >= same[0] for each in self._runs)
        return None if seen else same[0]

    def _note(self, rule: str, where: object, published: object, truth: object) -> None:
        self._verdict.wrong.append(Finding(self._run, rule, str(where), published, truth))


def find_ends(log: Log, since: float, until: float) -> tuple[int, float]:
    """Returns the least and the greatest end: of acknowledged records, and of sent records."""
    surely = bisect_right(log.ends, since, key=_time_of)
    begun = bisect_right(log.stamps, until)
    most = log.offsets[begun] if begun < len(log.offsets) else float("inf")
    return (log.ends[surely - 1][1] if surely else 0), most


def find_times(log: Log, position: int) -> tuple[float, float]:
    """Returns the times between which the record or marker at an offset became readable."""
    place = bisect_left(log.offsets, position)
    acknowledged = log.ends[place][0] if place < len(log.offsets) else float("inf")
    if place < len(log.offsets) and log.offsets[place] == position:
        return log.stamps[place], acknowledged
    return (log.stamps[place - 1] if place else log.begun), acknowledged


def _may_rest(at: GroupPartition) -> bool:
    """Returns True if offsets may be markers, which only a reader of records can know."""
    return at[1].startswith(TRANSACTIONS)


def _time_of(change: tuple[float, Any]) -> float:
    return change[0]
