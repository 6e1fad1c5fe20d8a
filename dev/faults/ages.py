# SPDX-License-Identifier: Apache-2.0
"""Judges ages and losses of partitions.

An age is the time since the record at the committed offset became readable, which lies between its
being sent and acknowledged. In a log with transaction markers the next record that a group reads
may lie up to `_LONGEST_REST` offsets further on, so any age between the two is right. Clocks that
jumped shift ages by as much.
"""

from __future__ import annotations

import math
from typing import Any

from dev.faults.run import Earlier, Finding, History, Row, Run, Verdict, by_key
from dev.faults.truth import LogView, TruthView
from kafka_lag import contract

ROUNDING_MS = 3  # Clocks are read in whole ms at both ends.
_ROUNDED = 0.0011  # seconds
_RETENTION_SECONDS = 7 * 86_400.0  # of all topics of the campaign
# The collector takes at most this many offsets for markers and aborted records.
_LONGEST_REST = 10


class Ages:
    """Ages and losses of one run's rows beside the truth; findings go to `verdict`."""

    def __init__(self, truth: TruthView, run: Run, history: History) -> None:
        self.truth, self.run, self.history = truth, run, history
        self.verdict = Verdict()
        self.sets = by_key(run.metrics)
        topics = run.rows_of(contract.TOPIC_PARTITIONS)
        read = [r["read_at"] for r in topics if r["unread_reason"] is None and r["read_at"]]
        self._now = self.real(max(read, default=run.ended + run.clock_ahead))

    def age(self, where: str, row: Row, log: LogView) -> None:
        """Holds the age of a read row, with its error and its bounds, to the truth."""
        seconds, error = row["time_lag_seconds"], row["time_lag_error_seconds"]
        position = _position(row)
        if row["lag"] == 0:
            self.equal("age of nothing unread", where, seconds, 0.0)
            return
        if seconds is None or position is None:
            self.verdict.missing["age: not known"] += row["lag"] is not None
            if self.run.calm and row["lag"] is not None:
                self.note("recovery", where, "no age", "no fault for two runs")
            return
        self.verdict.checked["age"] += 1
        least, most = self._true_age(log, position, self.real(row["read_at"]), self._now)
        less, more = self._shift(most)
        low, high = (seconds, math.inf) if error is None else (seconds - error, seconds + error)
        wrong = low > most + more or high < least + less
        # A clock that went back makes an age 0, not less.
        if (wrong and not (seconds == 0 and most + more < 0)) or seconds < 0 or (error or 0) < 0:
            text = f"{seconds} ± {error} ({row['time_lag_method']}), offset {position}"
            self.note("age", where, text, f"between {least:.3f} and {most:.3f}")
        if (
            error is None
            and self.run.calm
            and not self.history.slight_jumps(log.readable(position)[0])
        ):
            self.note("recovery", where, f"{seconds} without an error", "no fault for two runs")
        self._bounds(where, row, log, position)

    def _bounds(self, where: str, row: Row, log: LogView, position: int) -> None:
        """Holds the times between which the next record was appended to the truth."""
        if row["time_lag_method"] == contract.METHOD_MARKER:
            return
        low, high = log.readable(position)[0], log.readable(_furthest(log, position))[1]
        clocks = (0, self.run.clock_ahead, *self.run.clocks_before)
        clocks += self.history.slight_jumps(low)
        after, before = row["next_record_after"], row["next_record_before"]
        self.verdict.checked["bounds of an age"] += 1
        if after is not None and after > high + ROUNDING_MS + max(clocks):
            self.note("next_record_after", where, after, f"readable by {high}")
        if before is not None and before < low - ROUNDING_MS + min(clocks):
            self.note("next_record_before", where, before, f"not sent before {low}")

    def loss(self, where: str, row: Row, log: LogView) -> None:
        """Holds lost records and the time until a loss to the truth.

        Retention deletes a record when it is as old as the retention; an age grows by at most a
        second a second.
        """
        lost, left = row["records_lost"], row["seconds_until_loss"]
        if lost is not None:
            self.within("records_lost", where, lost, self.lost(row, log))
        position = _position(row)
        if left is None or position is None:
            return
        age = self._true_age(log, position, self.real(row["read_at"]), self._now)[1]
        age += self._shift(age)[1] + (row["time_lag_error_seconds"] or 0.0)
        least = _RETENTION_SECONDS - age if row["lag"] else float(contract.NO_LOSS_SECONDS)
        self.within("seconds_until_loss", where, left, (least, contract.NO_LOSS_SECONDS))

    def lost(self, row: Row, log: LogView) -> tuple[int, int]:
        """Returns how many records the row may have lost; offsets of markers may be among them."""
        commit, start = row["committed_offset"], row["start_offset"]
        if commit is None or start is None:
            return 0, 0
        most = max(0, start - commit)
        return (max(0, most - _LONGEST_REST) if log.has_markers else most), most

    def may_be_older(self, row: Row, log: LogView, seconds: float) -> bool:
        """Returns true if the row's next record may be older than this, by its own error."""
        position, error = _position(row), row["time_lag_error_seconds"]
        if position is None or error is None:
            return True
        age = self._true_age(log, position, self.real(row["read_at"]), self._now)[1]
        jumps = [each.clock_ahead for each in self.history.runs]
        age += self._shift(age)[1] + float(error)
        # A clock that goes back ends no status, because only a commit does.
        age += max(0, max(jumps, default=0) - self.run.clock_ahead) / 1_000
        return age > seconds

    def carried_age(self, run: Earlier, row: Row, log: LogView) -> tuple[float, float]:
        """Returns the ages that a row may carry from the run that read it."""
        position = _position(row)
        if row["last_lag"] == 0 or position is None:
            return 0.0, 0.0
        begin = row["read_at"] - run.clock_ahead
        least, most = self._true_age(log, position, begin, run.ended)
        after, before = row["next_record_after"], row["next_record_before"]
        width = 0 if after is None or before is None else before - after
        clocks = (0, *self.run.clocks_before, *(each.clock_ahead for each in self.history.runs))
        shifts = [run.clock_ahead - each for each in clocks] if any(clocks) else [0]
        error = (width + ROUNDING_MS) / 1_000 + _ROUNDED
        least += min(0, *shifts) / 1_000 - error
        most += max(0, *shifts) / 1_000 + error
        # Without an upper bound the age is at least this.
        return 0.0 if after is None else least, most

    def _true_age(self, log: LogView, position: int, begin: int, end: int) -> tuple[float, float]:
        """Returns the least and greatest age, s, of the next record between two times, ms."""
        high = log.readable(_furthest(log, position))[1]
        low = log.readable(position)[0]
        return max(0, begin - high) / 1_000, max(0, end - low) / 1_000

    def _shift(self, age: float) -> tuple[float, float]:
        """Returns by how many seconds clocks that jumped may make an age less, and more."""
        ahead = self.run.clock_ahead
        known = self.history.slight_jumps(self._now - int(1_000 * age)) + self.run.clocks_before
        shifts = [0, ahead, *(ahead - before for before in known)]
        return (min(shifts) - ROUNDING_MS) / 1_000, (max(shifts) + ROUNDING_MS) / 1_000

    def real(self, time: int) -> int:
        """Returns a time of the collector's clock, ms, by the truth's clock."""
        return time - self.run.clock_ahead

    def within(self, rule: str, where: str, value: Any, span: tuple[float, float]) -> None:
        """Notes a value outside the truth's interval."""
        self.verdict.checked[rule] += 1
        if value is None or not span[0] - _ROUNDED <= value <= span[1] + _ROUNDED:
            self.note(rule, where, value, f"between {span[0]} and {span[1]}")

    def equal(self, rule: str, where: str, value: Any, expected: Any) -> None:
        """Notes a value that is not the expected one."""
        self.verdict.checked[rule] += 1
        known = value is not None and expected is not None
        if not (abs(value - expected) <= _ROUNDED if known else value is expected):
            self.note(rule, where, value, expected)

    def note(self, rule: str, where: str, published: Any, truth: Any) -> None:
        """Adds a finding."""
        finding = Finding(self.run.number, rule, where, str(published), str(truth))
        self.verdict.wrong.append(finding)


def _position(row: Row) -> int | None:
    """Returns the offset of the next record to be read; null without a commit."""
    if row["committed_offset"] is None:
        return None
    return max(int(row["committed_offset"]), row["start_offset"] or 0)


def _furthest(log: LogView, position: int) -> int:
    return position + (_LONGEST_REST if log.has_markers else 0)
