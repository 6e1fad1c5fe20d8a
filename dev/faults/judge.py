# SPDX-License-Identifier: Apache-2.0
"""What a judge holds values against, and the ways in which one can be right.

A number is right when it lies within the truth's interval, widened by the error that is stated
with it. A number that follows from others of the run must follow exactly.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dev.faults.run import (
    Counts,
    Finding,
    History,
    Key,
    Names,
    Row,
    Run,
    Verdict,
    by_key,
)
from dev.faults.truth import TopicView, TruthView, possible
from kafka_lag import contract
from kafka_lag.formatting import format_list

# Clocks are read in whole ms at both ends.
ROUNDING_MS = 3
ROUNDED = 0.0011  # seconds, and shares
NO_LOSS = contract.NO_LOSS_SECONDS
# Of all topics of the campaign.
RETENTION_MS = 7 * 86_400_000
_NAMED = 5
# What a line on a broker counts beside it.
_WITH_IT = "; with it "
_COUNT = re.compile(r"([\d,]+) (?:partition|group)")


class Evidence:
    """One run beside the truth; the verdict is filled by its judges."""

    def __init__(self, truth: TruthView, run: Run, history: History) -> None:
        self.truth, self.run, self.history = truth, run, history
        self.verdict = Verdict()
        topics = run.rows_of(contract.TOPIC_PARTITIONS)
        self.topic_rows = {partition_of(row): row for row in topics}
        self.rows: dict[Names, Row] = {}
        self.by_group: dict[str, list[Row]] = defaultdict(list)
        for row in run.rows_of(contract.GROUP_PARTITIONS):
            self.rows[names_of(row)] = row
            self.by_group[row["consumer_group"]].append(row)
        self.group_rows = {r["consumer_group"]: r for r in run.rows_of(contract.GROUPS)}
        self.sets: dict[Key, dict[str, Any]] = by_key(run.metrics)
        read = [r["read_at"] for r in topics if is_read(r) and r["read_at"]]
        self.now: int = max(read, default=run.ended + run.clock_ahead)


class Judge:
    """What all judges of a run share."""

    def __init__(self, seen: Evidence) -> None:
        self.truth, self.run, self.history = seen.truth, seen.run, seen.history
        self.verdict, self.sets, self.now = seen.verdict, seen.sets, seen.now
        self.topic_rows, self.rows = seen.topic_rows, seen.rows
        self.by_group, self.group_rows = seen.by_group, seen.group_rows

    def _possible(self, group: str, row: Row) -> set[int | None]:
        read = self._real(row["read_at"])
        return self._held(group, (row["topic"], row["partition_id"]), self.run.began, read)

    def _held(self, group: str, at: tuple[str, int], begin: int, end: int) -> set[int | None]:
        """Offsets that a coordinator may have answered with in this time."""
        commits = self.truth.commits.get(group, {}).get(at, ())
        return possible(commits, self.truth.commits_as_of(group, begin, end), end)

    def _counted(self, row: Row) -> Counted:
        return Counted.of(row, self._in_window(row))

    def _in_window(self, row: Row) -> bool:
        read_at = row["read_at"]
        return read_at is not None and read_at >= self.run.taken_at - self.run.window_ms

    def _unread_seconds(self, row: Row) -> float:
        return 0.0 if is_read(row) else max(0.0, (self.run.taken_at - row["read_at"]) / 1_000)

    def _topic(self, row: Row) -> TopicView | None:
        return self.truth.topics.get(row["topic_id"])

    def _real(self, time: int) -> int:
        """A time of the collector's clock, ms, as the truth's."""
        return time - self.run.clock_ahead

    def _within(self, rule: str, where: str, value: Any, span: tuple[float, float]) -> None:
        self.verdict.checked[rule] += 1
        if value is None or not span[0] - ROUNDED <= value <= span[1] + ROUNDED:
            self._wrong(rule, where, value, f"between {span[0]} and {span[1]}")

    def _true(self, rule: str, where: str, value: Any, expected: Any) -> None:
        """One value that the truth decides."""
        self.verdict.checked[rule] += 1
        if not _same(value, expected):
            self._wrong(rule, where, value, expected)

    def _equal(self, rule: str, where: str, value: Any, expected: Any) -> None:
        """One value that follows from others of the run; two that are absent are no number."""
        self.verdict.consistent[rule] += value is not None or expected is not None
        if not _same(value, expected):
            self._wrong(rule, where, value, expected)

    def _doubt(self, rule: str, where: str, published: Any, truth: str) -> None:
        """A finding only if runs remembered what they are taken to have remembered."""
        self.verdict.unsure.append(Finding(self.run.number, rule, where, str(published), truth))

    def _wrong(self, rule: str, where: str, published: Any, truth: Any) -> None:
        finding = Finding(self.run.number, rule, where, str(published), str(truth))
        self.verdict.wrong.append(finding)


@dataclass(frozen=True, slots=True)
class Counted:
    """What a row adds to sums: for a window also what a broker answered last."""

    lag: int | None
    missing: bool
    uncommitted: bool
    unknown: bool

    @classmethod
    def of(cls, row: Row, in_window: bool) -> Counted:
        counts, read = Counts.of(row), is_read(row)
        lag = counts.lag if read or in_window else None
        apart = counts.uncommitted and (read or in_window)
        unknown = not read or not (counts.lag is not None or counts.uncommitted)
        return cls(lag, lag is None and not apart, apart, unknown)


def total_lag(counted: Iterable[Counted]) -> int | None:
    each = list(counted)
    if any(c.missing for c in each):
        return None
    return sum_known([c.lag for c in each if c.lag is not None])


def sum_known(values: list[int]) -> int | None:
    return sum(values) if values else None


def is_read(row: Row) -> bool:
    return row["unread_reason"] is None


def names_of(row: Row) -> Names:
    return row["consumer_group"], row["topic"], row["partition_id"]


def partition_of(row: Row) -> tuple[str, int]:
    return row["topic"], row["partition_id"]


def group_of(row: Row) -> str:
    group: str = row["consumer_group"]
    return group


def _same(value: Any, expected: Any) -> bool:
    if isinstance(value, float) or isinstance(expected, float):
        both = value is not None and expected is not None
        return value == expected or (both and math.isclose(value, expected, abs_tol=ROUNDED))
    return bool(value == expected)


def count_problems(log: Sequence[str]) -> int:
    """How many problems the log names or counts."""
    named = sum(" not read (" in line for line in log)
    counts = (_COUNT.findall(line.rpartition(_WITH_IT)[2]) for line in log if _WITH_IT in line)
    with_them = sum(int(count.replace(",", "")) for some in counts for count in some)
    return named + with_them + count_unnamed(log)


def count_unnamed(log: Sequence[str]) -> int:
    """How many problems the log counts and does not name."""
    return sum(int(line.split()[1]) for line in log if line.endswith(" more not read"))


def name_some(values: Iterable[Any]) -> str:
    return format_list(sorted(map(str, values)), _NAMED)
