# SPDX-License-Identifier: Apache-2.0
"""How far each group has read, from one run to the next."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dev.days.cast import Cast
from dev.days.events import HOUR, Absent, Events, Rewind, Rows, Slow
from dev.days.logs import Numbers

# So far back at most has a group been at rest that rests in the first run.
_LONGEST_REST = 30 * 86_400.0


class Commits:
    """The last run's commit of each row of the cast, -1 for none."""

    def __init__(self, cast: Cast, events: Events) -> None:
        self._cast, self._logs, self._events = cast, cast.logs, events
        self._reads = ~cast.uncommitted()
        self._delay = cast.of_groups(lambda group: group.delay_seconds)
        self._pace = cast.of_groups(lambda group: group.catch_up)
        self.now: Numbers = np.full(len(cast), -1, np.int64)
        self._second: float | None = None

    def move_on(self, second: float) -> Numbers:
        """The commits at this second, which must be later than the one before."""
        there = self._cast.exist(second) & self._reads
        target = self._logs.ends(second - self._delays(second), self._cast.row)
        if self._second is None:
            moved = self._rested(target, second)
        else:
            moved = self._moved(np.where(self.now < 0, target, self.now), target, second)
            moved = self._rewound(moved, second)
        self.now, self._second = np.where(there, moved, -1), second
        return self.now

    def _delays(self, second: float) -> npt.NDArray[np.float64]:
        rng = np.random.default_rng((self._cast.day.seed, int(second) + 10**9))
        return self._delay * rng.uniform(0.2, 1.0, len(self._cast))

    def _rested(self, target: Numbers, second: float) -> Numbers:
        """Commits of the first run: whoever reads nothing in it has not since that began."""
        rests = [(e.when, Rows(group=e.group)) for e in self._events.on(Absent, second)]
        rests += [(e.when, e.rows) for e in self._events.on(Slow, second) if not e.share]
        for when, rows in rests:
            since = np.full(len(self._cast), max(when.begin * HOUR, -_LONGEST_REST))
            rested = self._logs.ends(since, self._cast.row)
            target = np.where(self._cast.fit(rows, second), rested, target)
        return target

    def _moved(self, before: Numbers, target: Numbers, second: float) -> Numbers:
        """No farther than the target, nor faster than each row can."""
        most = self._most(second)
        # A consumer that lost records goes on at the log's beginning.
        start = self._logs.starts(second)[self._cast.row]
        begin = np.where(most > 0, np.maximum(before, start), before)
        return np.maximum(begin, np.minimum(target, begin + most))

    def _most(self, second: float) -> Numbers:
        last = second if self._second is None else self._second
        row = self._cast.row
        produced = (self._logs.ends(second) - self._logs.ends(last))[row]
        usual = self._logs.rate[row] * (second - last)
        most = np.ceil(np.maximum(usual * self._pace, produced * 1.1)) + 1.0
        for event in self._events.on(Slow, second):
            hit = self._cast.fit(event.rows, second)
            most = np.where(hit, np.minimum(most, np.round(produced * event.share)), most)
        return np.where(self._cast.resting(second), 0.0, most).astype(np.int64)

    def _rewound(self, commits: Numbers, second: float) -> Numbers:
        for event in self._events.on(Rewind, second):
            if self._second is not None and not event.when.holds(self._second):
                hit = self._cast.fit(event.rows, second) & (commits >= 0)
                at = np.full(len(self._cast), second - event.seconds)
                back = np.minimum(self._logs.ends(at, self._cast.row), commits)
                commits = np.where(hit, back, commits)
        return commits
