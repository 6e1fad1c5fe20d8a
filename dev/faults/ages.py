# SPDX-License-Identifier: Apache-2.0
"""Ages, and the times until a loss that follow from them.

Truth: an age is the time since the record at the position became readable, which lies between its
being sent and acknowledged. A stated error is no larger than what the runs could see of the log's
end explains: two intervals, or as long as no run read it. Clocks that jumped shift both by as much.
A loss comes when the record is as old as the retention, sooner by as much as the age grows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from dev.faults.judge import (
    NO_LOSS,
    RETENTION_MS,
    ROUNDED,
    ROUNDING_MS,
    Counted,
    Evidence,
    Judge,
    is_read,
    partition_of,
)
from dev.faults.run import Counts, Earlier, Reading, Row
from dev.faults.truth import LogView
from kafka_lag import contract

WIDE = "time_lag_error_seconds"

# By the collector's defaults.
_RISK_BOUND = min(86_400.0, RETENTION_MS / 2_000)
_STANDING_GROWTH = 0.02
# An age must be so exact where nothing is in the way: two runs apart, or what look-ups leave.
_INTERVALS, _TOLERANCE, _SHARE = 2, 0.1, 0.001
# Where the index names no earlier record, one that could not be read may be so much older, s.
_HELD_BACK = 30.0
# Intervals for which the ends of a log are remembered, ever fewer of them.
_DATED_WITHIN = 500
# So many rests make their length known.
_RESTS = 2
_STEPS = (0.1, 0.5, 1.0, 2.0, 5.0, 30.0)


class Ages(Judge):
    """Ages and losses of partitions, and of groups and topics as the oldest of them."""

    def __init__(self, seen: Evidence) -> None:
        super().__init__(seen)
        self._transactional = {
            topic
            for (topic, _), row in seen.topic_rows.items()
            if row["transaction_seen_at"] is not None
        }

    def age(self, where: str, row: Row, log: LogView, position: int | None) -> None:
        seconds, error = row["time_lag_seconds"], row["time_lag_error_seconds"]
        if row["lag"] == 0:
            self._true("time_lag_seconds of nothing", where, seconds, 0.0)
            self._true("error of nothing", where, error, 0.0)
            self._equal("time_lag_method of nothing", where, row["time_lag_method"], "none")
            return
        if seconds is None or position is None:
            self.verdict.missing["age: not known"] += row["lag"] is not None
            if self.run.calm and row["lag"] is not None:
                self._wrong("recovery", where, "no age", "no fault for two runs")
            return
        if row["time_lag_method"] == contract.METHOD_MARKER:
            self._markers(where, row, log, position)
            return
        below, position = position, self._dated(row, log, position)
        truth = self._age_between(row, log, below)
        method = row["time_lag_method"]
        text = f"{seconds} ± {error} ({method}), read_at {row['read_at']}, offset {position}"
        across = method != contract.METHOD_RECORD_TIME
        self._age_within("time_lag_seconds", where, (seconds, error), truth, text, across=across)
        self.verdict.ages[_exactness(error)] += 1
        limit = self._error_limit(row, log, position)
        if self._rests_below(row, position):
            if error is None and row["next_record_after"] is not None:
                # The bound is of the next record; no run may have read the log's end farther down.
                self.verdict.missing["error of what lies in a short rest"] += 1
                return
            limit += self._reach(row, log, below)
        doubted = self.history.slight_jumps(log.readable(position)[0])
        bounded = self.run.calm and not doubted
        self._exact_enough(where, text, error, limit, bounded=bounded)
        if (error is None) != (row["next_record_after"] is None):
            self._wrong("time_lag_error_seconds", where, text, row["next_record_after"])

    def _markers(self, where: str, row: Row, log: LogView, position: int) -> None:
        """All that lies between commit and end is markers, and records that were aborted, or no
        older than the error says: who has not rested yet may be about to read it.
        """
        self.verdict.checked["markers"] += 1
        end, error = row["end_offset"], row["time_lag_error_seconds"]
        unread = log.next_committed(position, end)
        self._equal("age of markers", where, row["time_lag_seconds"], 0.0)
        if unread is not None and self._rested(row):
            self.verdict.missing["records not farther below the end than markers were"] += 1
        elif unread is not None and error is not None:
            truth = self.true_age(log, unread, self._real(row["read_at"]), self._real(self.now))
            # By a clock that is behind it is younger.
            if error < truth[0] + self.shift(truth[1])[0]:
                text = f"{position} to {end} are markers ± {error}"
                self._wrong("markers", where, text, f"a record at {unread}, {truth[0]:.3f} old")
        if error:
            limit = self._reach(row, log, position)
            self._exact_enough(where, f"markers ± {error}", error, limit, bounded=False)

    def _rested(self, row: Row) -> bool:
        """Whether the commit stood below its rest for as long as makes it known."""
        left = self.run.taken_at if row["rest_left_at"] is None else row["rest_left_at"]
        since = row["commit_changed_at"]
        return bool(since is not None and left - since > _INTERVALS * self.run.interval_ms)

    def _rest_end(self, row: Row) -> int | None:
        """Where the row's rest ends, if it is one that its rests before explain."""
        end, known = row["rest_end"], self._rest_records(row)
        if end is None or known is None or row["rests_seen"] < _RESTS:
            return None
        return int(end) if 0 < end - row["committed_offset"] <= known else None

    def lost(self, row: Row) -> int | None:
        """Records deleted before they were committed, but for what the row is known to rest below;
        None where it is not known.
        """
        lost, end = Counts.of(row).lost, self._rest_end(row)
        return lost if lost is None or end is None else max(0, min(lost, row["start_offset"] - end))

    def _rests_below(self, row: Row, offset: int) -> bool:
        """Whether that rest ends at or below the offset."""
        end = self._rest_end(row)
        return end is not None and end <= offset

    def _rest_records(self, row: Row) -> int | None:
        """The longest rest that is known, in records, on a topic whose rests count: one on which a
        transaction was seen.
        """
        known: int | None = row["rest_records"]
        return known if row["topic"] in self._transactional else None

    def _next_unread(self, row: Row, log: LogView, position: int) -> int:
        """Where the next record lies, if the row's rests are known and its age says so."""
        behind, known = log.next_record(position), self._rest_records(row)
        if behind is None or known is None or not 0 < behind - position <= known:
            return position
        after = row["next_record_after"]
        is_later = after is not None and after > log.readable(position)[1]
        return behind if is_later else position

    def _dated(self, row: Row, log: LogView, position: int) -> int:
        """The record whose age the row has: the next one, or that behind what is taken for a rest,
        whatever lies in it.
        """
        end = self._rest_end(row)
        return self._next_unread(row, log, position if end is None else max(position, end))

    def _age_between(self, row: Row, log: LogView, position: int) -> tuple[float, float]:
        """Least and greatest age, s, that a row may have, whose error counts on.

        Where it was seen to rest it may be the age of what lies behind. That may have been aborted:
        then it is older than the next record.
        """
        begin, end = self._real(row["read_at"]), self._real(self.now)
        unread = self._next_unread(row, log, position)
        least, most = self.true_age(log, unread, begin, end)
        if self._rested(row):
            behind = self.true_age(log, self._dated(row, log, position), begin, end)
            least, most = behind[0], max(most, behind[1])
        return least, most

    def _error_limit(self, row: Row, log: LogView, position: int) -> float:
        truth = self.true_age(log, position, self._real(row["read_at"]), self._real(self.now))
        at = partition_of(row)
        return self.error_limit(at, log, position, truth, settled=self.run.calm)

    def _reach(self, row: Row, log: LogView, position: int) -> float:
        """How old, s, an error may make what lies at the position."""
        begin, end = self._real(row["read_at"]), self._real(self.now)
        return self._error_limit(row, log, position) + self.true_age(log, position, begin, end)[1]

    def _exact_enough(
        self, where: str, text: str, error: float | None, limit: float, *, bounded: bool
    ) -> None:
        """The error is no larger than what the runs could see explains, and there is one."""
        self.verdict.checked["time_lag_error_seconds"] += 1
        if error is None and bounded:
            self._wrong("time_lag_error_seconds", where, text, "no fault for two runs")
        if error is not None and error < 0:
            self._wrong("time_lag_error_seconds", where, text, "0 at least")
        if error is not None and error > limit:
            self._doubt(WIDE, where, text, f"exact to {limit:.3f}")

    def error_limit(
        self,
        at: tuple[str, int],
        log: LogView,
        position: int,
        truth: tuple[float, float],
        *,
        settled: bool,
    ) -> float:
        """How far an age may be off, s: two intervals, or as long as no run read the log's end.

        A record may be acknowledged long after its own time: the error holds both moments. Unless
        all is `settled` there may have been no look-ups, and older readings are fewer.
        """
        low, high = log.readable(position)
        held_back = min(high, self._real(self.now)) - low
        apart = self._readings_apart(at, low, high)
        interval = _INTERVALS * self.run.interval_ms
        limit = (max(interval, apart) + held_back) / 1_000 + max(_TOLERANCE, _SHARE * truth[1])
        less, more = self.shift(truth[1])
        limit += more - less
        if not settled:
            limit += truth[1] + (_HELD_BACK if self._hidden_from_a_run(at, low, high) else 0.0)
        return limit + (self._log_age(log) if self._purged_meanwhile(log, position) else 0.0)

    def _purged_meanwhile(self, log: LogView, position: int) -> bool:
        """Whether the record may have been deleted before a look-up could date it."""
        since = self.run.began - self.run.interval_ms
        return any(
            purge.offset > position and purge.acked >= since and purge.sent <= self.run.ended
            for purge in log.purges
        )

    def _log_age(self, log: LogView) -> float:
        return (self.run.ended - log.since) / 1_000

    def _readings_apart(self, at: tuple[str, int], low: int, high: int) -> int:
        """Between the last reading of the log's end before a record and the first after it, ms.

        The record may have been dated at any time until now, when fewer readings were left.
        """
        readings = self._readings(at, high)
        last = bisect_right(readings, low, key=lambda each: each.end) - 1
        if last < 0:
            return 0
        first = bisect_left(readings, high, key=lambda each: each.begin)
        after = readings[first].end if first < len(readings) else self._real(self.now)
        return after - readings[last].begin

    def _hidden_from_a_run(self, at: tuple[str, int], low: int, high: int) -> bool:
        """Whether a run saw the log's end while the record lay in it and could not be read."""
        return any(low < each.end and each.begin < high for each in self._readings(at, high))

    def _readings(self, at: tuple[str, int], high: int) -> list[Reading]:
        """Readings of a log's end that runs still knew which dated its record."""
        interval = self.run.interval_ms
        latest = min(self.run.taken_at, high // interval * interval + _DATED_WITHIN * interval)
        return self.history.readings(at, latest, interval)

    def shift(self, age: float, *, across: bool = True) -> tuple[float, float]:
        """By how much clocks that jumped make an age, s, less and more than it is, s, rounded.

        `across`: dates that earlier runs' clocks had a part in. A run's own dates are right by its
        own clock, and those of the brokers are wrong by as much as it is; but what a clock that
        was a little wrong said of the record holds them, as nothing contradicts it.
        """
        ahead = self.run.clock_ahead
        known = self.history.slight_jumps(self._real(self.now) - int(1_000 * age))
        known += self.run.clocks_before if across else ()
        shifts = [0, ahead, *(ahead - before for before in known)]
        return (min(shifts) - ROUNDING_MS) / 1_000, (max(shifts) + ROUNDING_MS) / 1_000

    def _age_within(
        self,
        rule: str,
        where: str,
        published: tuple[float, float | None],
        truth: tuple[float, float],
        text: str,
        *,
        across: bool = True,
    ) -> None:
        seconds, error = published
        self.verdict.checked[rule] += 1
        less, more = self.shift(truth[1], across=across)
        least, most = truth[0] + less, truth[1] + more
        wrong = seconds > most if error is None else not _meet(seconds, error, least, most)
        # A clock that went back makes an age 0, not less.
        if (wrong and not (seconds == 0 and most < 0)) or seconds < 0:
            self._wrong(rule, where, text, f"between {truth[0]:.3f} and {truth[1]:.3f}")

    def true_age(self, log: LogView, position: int, begin: int, end: int) -> tuple[float, float]:
        """Least and greatest age, s, of the record at a position in this time."""
        low, high = log.readable(position)
        return max(0, begin - high) / 1_000, max(0, end - low) / 1_000

    def bracket(self, where: str, row: Row, log: LogView, position: int | None) -> None:
        if position is None or row["lag"] == 0 or (not is_read(row) and row["last_lag"] == 0):
            return
        if row["time_lag_method"] == contract.METHOD_MARKER:
            return
        position = self._dated(row, log, position)
        low, high = log.readable(position)
        clocks = (0, self.run.clock_ahead, *self.run.clocks_before)
        clocks += self.history.slight_jumps(low)
        after, before = row["next_record_after"], row["next_record_before"]
        if after is not None:
            self.verdict.checked["next_record_after"] += 1
            if after > high + ROUNDING_MS + max(clocks):
                self._wrong("next_record_after", where, after, f"readable by {high}")
        if before is not None:
            self.verdict.checked["next_record_before"] += 1
            if before < low - ROUNDING_MS + min(clocks):
                self._wrong("next_record_before", where, before, f"not sent before {low}")
        if None not in (row["time_lag_seconds"], row["time_lag_error_seconds"]):
            self._stated(where, row, position)

    def _stated(self, where: str, row: Row, position: int) -> None:
        """The error that is stated is that of the bracket, or more where the group may read on
        below it.
        """
        seconds, error = row["time_lag_seconds"], row["time_lag_error_seconds"]
        after, before = row["next_record_after"], row["next_record_before"]
        if after is None or before is None:
            self._wrong("bracket", where, (after, before), f"within {seconds} ± {error}")
            return
        oldest, youngest = (max(0, row["read_at"] - time) / 1_000 for time in (after, before))
        expected = max(oldest - seconds, seconds - youngest, 0.0)
        if self._rests_below(row, position):
            expected = max(expected, error)
        self._equal("error of the bracket", where, error, expected)

    def carried_age(
        self, run: Earlier, row: Row, log: LogView, counts: Counts
    ) -> tuple[float, float]:
        if counts.lag == 0 or counts.position is None:
            return 0.0, 0.0
        if row["time_lag_method"] == contract.METHOD_MARKER:
            return 0.0, 0.0
        position = self._dated(row, log, counts.position)
        truth = self.true_age(log, position, row["read_at"] - run.clock_ahead, run.ended)
        after, before = row["next_record_after"], row["next_record_before"]
        clocks = (0, *self.run.clocks_before, *(each.clock_ahead for each in self.history.runs))
        shifts = [run.clock_ahead - each for each in clocks] if any(clocks) else [0]
        least, most = truth[0] + min(0, *shifts) / 1_000, truth[1] + max(0, *shifts) / 1_000
        width = 0 if after is None or before is None else before - after
        error = width / 1_000 + ROUNDED + ROUNDING_MS / 1_000
        # Without an upper bound it is at least so old.
        return 0.0 if after is None else least - error, most + error

    def loss(self, where: str, row: Row, source: Row) -> None:
        seconds, risk = row["seconds_until_loss"], row["retention_risk"]
        self._true("retention_risk", where, risk, risk_of(row, row["lag"]))
        if row["lag"] == 0:
            self._true("seconds_until_loss", where, seconds, NO_LOSS)
            return
        span = self._time_left(row, source)
        if span is None:
            self._equal("seconds_until_loss", where, seconds, None)
        else:
            self._within("seconds_until_loss", where, seconds, span)

    def _time_left(self, row: Row, source: Row) -> tuple[float, float] | None:
        """Least and greatest time until retention takes the record; None where it is not known."""
        topic, position = self._topic(source), Counts.of(row).position
        known = row["lag"] is not None and source["retention_ms"] is not None
        dated = row["next_record_time"] is not None or row["time_lag_error_seconds"] is not None
        if not known or not dated or topic is None or position is None:
            return None
        log = topic.logs[row["partition_id"]]
        at_markers = row["time_lag_method"] == contract.METHOD_MARKER
        position = position if at_markers else self._dated(row, log, position)
        truth = self.true_age(log, position, self._real(row["read_at"]), self._real(self.now))
        if at_markers:
            truth = 0.0, truth[1]
        limit = self._error_limit(row, log, position)
        less, more = self.shift(truth[1])
        most_left = RETENTION_MS / 1_000 - (truth[0] + less - limit)
        least_left = RETENTION_MS / 1_000 - (truth[1] + more + limit)
        growth = row["age_growth"]
        if row["records_lost"] or growth is None or self._lies_still(row):
            growth = 1.0
        if growth <= _STANDING_GROWTH:
            return NO_LOSS, NO_LOSS
        return min(least_left / growth, NO_LOSS), min(most_left / growth, NO_LOSS)

    def _lies_still(self, row: Row) -> bool:
        since, window = row["commit_changed_at"], self.run.window_ms
        if since is None:
            return bool(row["observations"] >= max(2, window // self.run.interval_ms))
        return bool(self.run.taken_at - since > window)

    def oldest(self, rule: str, where: str, seconds: Any, rows: list[Row]) -> None:
        """An age of several partitions: the oldest's; not 0 where one is not known."""
        counted = [self._counted(each) for each in rows]
        pairs = zip(rows, counted, strict=True)
        ages = [(self._known_age(each, one), one) for each, one in pairs]
        known = [age for age, _ in ages if age is not None]
        blind = any(age is None and not one.uncommitted for age, one in ages)
        oldest = max(known, default=None)
        self._equal(rule, where, seconds, None if blind and oldest == 0 else oldest)
        if seconds is None:
            self.verdict.missing["age of a group or topic"] += bool(rows)
            if self.run.calm and any(one.lag is not None for one in counted):
                self._wrong("recovery", where, "no age", "no fault for two runs")

    def _known_age(self, row: Row, counted: Counted) -> float | None:
        """A row's age; of one that was not read the last one, grown since if anything was unread"""
        if counted.missing:
            return None
        last: float | None = row["time_lag_seconds" if is_read(row) else "last_time_lag_seconds"]
        if last is None or is_read(row):
            return last
        behind = last > 0 or row["next_record_before"] is not None
        return last + self._unread_seconds(row) if behind else last

    def group_error(self, where: str, age: tuple[Any, Any], rows: list[Row]) -> None:
        """A group's error is bounded by those of its rows, and unknown where one of them is."""
        seconds, error = age
        if seconds is None:
            return
        apart = [each for each in rows if not self._counted(each).uncommitted]
        errors = [each["time_lag_error_seconds"] for each in apart]
        if None in errors:
            self._equal("error of group", where, error, None)
        elif error is None or not 0 <= error <= max(errors, default=0.0) + ROUNDED:
            self._wrong("error of group", where, error, f"up to {max(errors, default=0.0)}")

    def group_age(self, where: str, published: tuple[Any, Any], rows: list[Row]) -> None:
        """The age against the truth of all partitions; unread ones grow from where they were."""
        seconds, error = published
        truths = [truth for each in rows if (truth := self._age_of(each)) is not None]
        if seconds is None or not truths:
            return
        least, most = max(least for least, _ in truths), max(most for _, most in truths)
        if error is None:
            # Beside an unread partition it is the estimate of another, whose error is that row's.
            most = max([most, *(_most(each) for each in rows)])
        text = f"{seconds} ± {error}"
        self._age_within("time lag of group or topic", where, published, (least, most), text)

    def _age_of(self, row: Row) -> tuple[float, float] | None:
        counts = Counts.of(row)
        if counts.lag is None or counts.position is None:
            return None
        if counts.lag == 0:
            return 0.0, 0.0
        source = self.topic_rows.get((row["topic"], row["partition_id"]), row)
        topic = self.truth.topics.get(row["topic_id"] or source["topic_id"])
        if topic is None or row["partition_id"] >= len(topic.logs):
            return None
        begin = self._real(row["read_at"] if is_read(row) else self.now)
        log, now = topic.logs[row["partition_id"]], self._real(self.now)
        if row["time_lag_method"] == contract.METHOD_MARKER:
            unread = log.next_committed(counts.position, row["end_offset"])
            return 0.0, 0.0 if unread is None else self.true_age(log, unread, begin, now)[1]
        dated = self._dated(row, log, counts.position)
        unread = self._next_unread(row, log, counts.position)
        least, latest = self.true_age(log, dated, begin, now)
        most = self.true_age(log, unread, begin, now)[1]
        if self._rested(row):
            # What lies behind the rest may have been aborted, and be older than the next record.
            most = max(most, latest)
        if not is_read(row) and row["next_record_after"] is not None:
            # Carried: an estimate within the bracket of when it was read, and so not proven.
            most = max(most, (now - self._real(row["next_record_after"])) / 1_000)
        return least, most

    def group_loss(self, rows: list[Row]) -> float | None:
        """The least of what is known to be at risk, 0 where records are lost; the longest only
        where all risks are known. What was not read counts down, and may come to be at risk.
        """
        risks, known = [], []
        for row in rows:
            counted = self._counted(row)
            if counted.uncommitted:
                continue
            risk = None if counted.missing else row["retention_risk"]
            known.append(risk is not None)
            if risk == contract.LOST:
                risks.append(0.0)
            elif risk is not None and row["seconds_until_loss"] is not None:
                left = max(0.0, row["seconds_until_loss"] - self._unread_seconds(row))
                comes = not is_read(row) and row["seconds_until_loss"] < NO_LOSS
                if risk == contract.AT_RISK or (comes and left < _RISK_BOUND):
                    risks.append(left)
        if risks:
            return min(risks)
        return NO_LOSS if known and all(known) else None


def risk_of(row: Row, lag: int | None) -> str | None:
    """The risk of losing records that goes with the time that is left."""
    seconds = row["seconds_until_loss"]
    if row["records_lost"]:
        return contract.LOST
    if lag == 0:
        return contract.SAFE
    if seconds is None:
        return None
    return contract.AT_RISK if seconds < _RISK_BOUND else contract.SAFE


def _most(row: Row) -> float:
    """The age that a row says is possible; the row itself is judged by the truth."""
    return (row["time_lag_seconds"] or 0.0) + (row["time_lag_error_seconds"] or 0.0)


def _meet(seconds: float, error: float, least: float, most: float) -> bool:
    return seconds - error <= most and seconds + error >= least


def _exactness(error: float | None) -> str:
    """In which step an error lies, in words."""
    if error is None:
        return "at least"
    step = next((step for step in _STEPS if error <= step), None)
    return f"over {_STEPS[-1]:g} s" if step is None else f"± {step:g} s"
