# SPDX-License-Identifier: Apache-2.0
"""How a group's commit on one partition stood in the eyes of the runs, by the clients' own commits.

STOP and STALL need a commit that no run saw move for longer than the window, so it matters what
each run could see: `commits` holds what was possible when, `earlier` when runs looked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from dev.faults.run import Earlier, Names, Row, Run, Seen
from dev.faults.truth import NEVER, Commit, TruthView, possible

# Pauses that must be over before another one can be known to recur, and how much longer than the
# longest of them it may be.
_PAUSES, _TIMES = 2, 2
# An unread row hides moves; so far back is looked for a run that saw the commit first.
_LOOKED_AT = 60


@dataclass(frozen=True, slots=True)
class Movement:
    """One row of a run that was read, the group's commits there, and the runs before."""

    truth: TruthView
    run: Run
    names: Names
    row: Row
    earlier: Sequence[Earlier]

    @property
    def _commits(self) -> Sequence[Commit]:
        group, topic, partition = self.names
        return self.truth.commits.get(group, {}).get((topic, partition), ())

    @property
    def _now(self) -> int:
        now: int = self.row["read_at"] - self.run.clock_ahead
        return now

    def may_stand(self) -> bool:
        """Whether the runs may have seen this commit, and no other, for longer than the window.

        A commit that is not known to be of this topic id (since a topic was recreated) counts as
        unmoved once it was read for all the readings of a window.
        """
        if self.row["commit_changed_at"] is None:
            needed = self.run.window_ms // self.run.interval_ms - 1
            return sum(self._held_in(each) for each in self._before()) >= needed
        limit = self.run.taken_at - self.run.window_ms
        later: list[Earlier] = []
        for number, each in enumerate(reversed(list(self._perhaps_loaded()))):
            if each.taken_at < limit and self._held_in(each):
                return all(self._held_in(one) for one in later)
            if number > _LOOKED_AT:
                break
            if each.stored and self._seen(each, read=True):
                later.append(each)
        return False

    def surely_stands(self) -> bool:
        """Whether the runs must have seen this commit, and no other, for longer than the window."""
        first = self._newest_reading(self.run.taken_at - self.run.window_ms)
        if first is None or not self._unbroken_since(first):
            return False
        if self.row["commit_changed_at"] is None and not self._read_often_since(first):
            return False
        return self._possible(first.began, self._now) == {self.row["committed_offset"]}

    def changed_wrongly(self) -> str | None:
        """Why `commit_changed_at` cannot be the first run that saw this commit, if it cannot."""
        since = self.row["commit_changed_at"]
        if since is None or since == self.run.taken_at:
            pass
        elif since > self.run.taken_at:
            return "this run is earlier"
        else:
            runs = [each for each in self.earlier if each.taken_at == since]
            if not runs and any(each.taken_at <= since for each in self.earlier):
                return "no run was scheduled for then"
            if runs and not any(self._held_in(each) for each in runs):
                return "the commit was another one then"
        first = self._newest_reading(since or 0)
        held = first is not None and self._unbroken_since(first)
        if first is None or not held or first.rows[self.names].changed_at is None:
            return None
        surely = self._possible(first.began, self._now) == {self.row["committed_offset"]}
        return f"seen by the run of {first.taken_at}" if surely else None

    def surely_judged(self) -> bool:
        """Whether this is the second reading of this topic at least."""
        first = self._newest_reading(self.run.taken_at)
        return first is not None and self._unbroken_since(first)

    def may_be_rewound(self) -> bool:
        """Whether it was farther ahead once, and a run within the window may have seen it go back.

        Where to does not matter: it may have come nearer to where it was since. A coordinator that
        does not know yet that another took over answers with earlier commits, which is the same to
        a run.
        """
        if self._answered_by_a_stale_coordinator():
            return True
        offset = self.row["committed_offset"] or 0
        moves = [each for each in self._commits if each.sent <= self._now]
        if not any(each.offset is not None and each.offset > offset for each in moves):
            return False
        first = self._newest_reading(self.run.taken_at - self.run.window_ms)
        begin = first.began if first else 0
        seen = self._seen_by(first) if first else set()
        highest = max((each for each in seen if each is not None), default=-1)
        for each in moves:
            if each.sent >= begin and each.offset is not None:
                if each.offset < highest:
                    return True
                highest = each.offset
        return False

    def _answered_by_a_stale_coordinator(self) -> bool:
        """Whether one of the runs within the window may have had its commits from such a one."""
        limit = self.run.taken_at - self.run.window_ms
        asked = [(each.began, each.ended) for each in self.earlier if each.taken_at >= limit]
        return any(
            self.truth.commits_as_of(self.names[0], begin, end) < begin
            for begin, end in [*asked, (self.run.began, self._now)]
        )

    def surely_rewound(self) -> bool:
        """Whether a run within the window must have seen the commit go back, and none since saw it
        where it once was.
        """
        now = self._possible(self.run.began, self._now)
        if None in now:
            return False
        most = later = max(each for each in now if each is not None)
        went_back = False
        # From the newest reading on backwards.
        for each, seen, looked_at in self._farther_ahead():
            offsets = [offset for offset in self._seen_by(each) if offset is not None]
            ours = seen.changed_at is not None and (seen.committed or 0) <= (seen.end or 0)
            if not offsets or not ours:
                return False
            least = min(offsets)
            within = looked_at >= self.run.taken_at - self.run.window_ms
            went_back = went_back or (least > later and within)
            if went_back and least > most:
                return self._unbroken_since(each)
            later = max(offsets)
            most = max(most, later)
        return False

    def _farther_ahead(self) -> list[tuple[Earlier, Seen, int]]:
        """Snapshots with this row read, the newest first, if one was farther ahead than it is;
        with each the time, ms, of the first run that could see it gone back.
        """
        found, after = [], self.run.taken_at
        for each in reversed(list(self._before())[-_LOOKED_AT:]):
            seen = self._seen(each, read=True)
            if each.stored and seen is not None:
                found.append((each, seen, after))
            after = each.taken_at
        here = self.row["committed_offset"] or 0
        return found if any((seen.committed or 0) > here for _, seen, _ in found) else []

    def may_pause(self) -> bool:
        """Whether pauses like this one came before: so many as it takes to know that they recur."""
        moves = [each for each in self._commits if each.sent <= self._now]
        taken = [each for each in moves if each.acked != NEVER]
        # Where it is not known whether a commit was taken, runs may have seen either.
        return any(each and self._recurs(each) for each in (moves, taken))

    def _recurs(self, moves: Sequence[Commit]) -> bool:
        """By these commits. One of the same offset again is no move."""
        firsts = [next(same) for _, same in groupby(moves, key=lambda each: each.offset)]
        lay = [after.sent - before.sent for before, after in pairwise(firsts)]
        # The window that the runs saw began and ended up to an interval off.
        pauses = [each for each in lay if each > self.run.window_ms - 2 * self.run.interval_ms]
        if len(pauses) < _PAUSES:
            return False
        limit = _TIMES * max(pauses) + 2 * self.run.interval_ms
        age, unmoved = self.row["time_lag_seconds"], self._now - moves[-1].sent
        # Hours in which nothing is produced are no pause: the younger of record and commit counts.
        return (unmoved if age is None else min(unmoved, 1_000 * age)) <= limit

    def _before(self) -> Iterator[Earlier]:
        limit = self.run.taken_at
        return (each for each in self.earlier if each.taken_at < limit and not each.late)

    def _perhaps_loaded(self) -> Iterator[Earlier]:
        """The runs before, with each of several for one time."""
        limit = self.run.taken_at
        return (
            each
            for each in self.earlier
            if each.taken_at < limit and (each.contested or not each.late)
        )

    def _seen(self, each: Earlier, *, read: bool = False) -> Seen | None:
        seen = each.rows.get(self.names)
        return seen if seen is not None and (seen.read or not read) else None

    def _newest_reading(self, before: int) -> Earlier | None:
        """The newest snapshot scheduled before this time that has this row read."""
        return next(
            (
                each
                for each in reversed(self.earlier)
                if each.taken_at < before and each.stored and self._seen(each, read=True)
            ),
            None,
        )

    def _unbroken_since(self, first: Earlier) -> bool:
        """Whether all that runs knew of this row came down to this one.

        They forget it with the topic it was of, where the log's end goes back, and with a snapshot
        that lacks the row. One that the store did not take may have lacked it unseen, as the group
        was deleted then.
        """
        ends: list[int] = []
        for each in self.earlier:
            if not first.taken_at <= each.taken_at < self.run.taken_at:
                continue
            if not each.whole:
                if None in self._seen_by(each):
                    return False
                continue
            seen = self._seen(each)
            if seen is None or seen.topic_id != self.row["topic_id"]:
                return False
            if not each.late:
                ends.append(seen.end or 0)
        return all(a <= b for a, b in pairwise([*ends, self.row["end_offset"] or 0]))

    def _read_often_since(self, first: Earlier) -> bool:
        needed = self.run.window_ms // self.run.interval_ms
        readings = [
            each
            for each in self._before()
            if each.taken_at >= first.taken_at and each.stored and self._seen(each, read=True)
        ]
        return len(readings) >= needed

    def _held_in(self, each: Earlier) -> bool:
        return self.row["committed_offset"] in self._seen_by(each)

    def _seen_by(self, each: Earlier) -> set[int | None]:
        return self._possible(each.began, each.ended)

    def _possible(self, begin: int, end: int) -> set[int | None]:
        return possible(self._commits, self.truth.commits_as_of(self.names[0], begin, end), end)
