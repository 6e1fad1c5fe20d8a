# SPDX-License-Identifier: Apache-2.0
"""Whether what a run published is right: pure functions of the truth and of the runs' outputs.

A number is right when it lies within the truth's interval, widened by the error that is stated
with it, and that error is no larger than what the run could see explains. What is absent must be
named: by the row's `unread_reason`, or in the log. A number that follows from others of the run
(a sum, a lag) must follow exactly, whether or not it was read now.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dev.faults.movement import Movement
from dev.faults.run import (
    KILLED,
    Counts,
    Earlier,
    Finding,
    History,
    Key,
    Names,
    Reading,
    Row,
    Run,
    Verdict,
    by_key,
    malformed,
)
from dev.faults.truth import LogView, TopicView, TruthView, possible
from kafka_lag import contract
from kafka_lag.formatting import format_list

WIDE = "time_lag_error_seconds"

# Clocks are read in whole ms at both ends.
_ROUNDING_MS = 3
_ROUNDED = 0.0011  # seconds, and shares
_NO_LOSS = contract.NO_LOSS_SECONDS
# Of all topics of the campaign, and the collector's defaults.
_RETENTION_MS = 7 * 86_400_000
_RISK_BOUND = min(86_400.0, _RETENTION_MS / 2_000)
_STANDING_GROWTH = 0.02
# An age must be so exact where nothing is in the way: two runs apart, or what look-ups leave.
_INTERVALS, _TOLERANCE, _SHARE = 2, 0.1, 0.001
# Where the index names no earlier record, one that could not be read may be so much older, s.
_HELD_BACK = 30.0
# Intervals for which the ends of a log are remembered, ever fewer of them.
_DATED_WITHIN = 500
_SEVERITY = {"OK": 0, "WARN": 1, "STOP": 2, "STALL": 2, "REWIND": 2, "ERR": 2}
_GROUP_WORDS = ("OK", "WARN", "ERR")
_STANDING = (contract.STOP, contract.STALL)
# Of each status its reasons; no topic of a campaign is ever left for so long as to be inactive.
_REASONS: Mapping[str | None, tuple[str | None, ...]] = {
    None: (None, contract.NO_MEMBER),
    contract.OK: (None, contract.PAUSING),
    contract.WARN: (contract.NO_MEMBER, contract.SLOW, contract.FALLING_BEHIND),
    contract.STOP: (None,),
    contract.STALL: (None,),
    contract.REWIND: (None,),
    contract.ERR: (contract.RECORDS_LOST, contract.BEYOND_END),
}
_NAMED = 5
# Names in the key of a line about one partition.
_PARTITION_LEVEL = 3
# A broker is back at work some runs after the fault on it is over.
_RECOVERS_MS = 10_000
_STEPS = (0.1, 0.5, 1.0, 2.0, 5.0, 30.0)

_T, _P, _G = contract.TOPIC_PARTITIONS, contract.GROUP_PARTITIONS, contract.GROUPS
# What is held to the truth or to values that are; all other columns and metrics are not judged.
JUDGED_COLUMNS: Mapping[str, frozenset[str]] = {
    _T: frozenset(
        (
            "taken_at",
            "asked_at",
            "read_at",
            "topic",
            "topic_id",
            "partition_id",
            "start_offset",
            "end_offset",
            "retention_ms",
        )
    ),
    _P: frozenset(
        (
            "taken_at",
            "read_at",
            "consumer_group",
            "topic",
            "topic_id",
            "partition_id",
            "committed_offset",
            "start_offset",
            "end_offset",
            "lag",
            "last_lag",
            "records_lost",
            "retention_margin",
            "next_record_after",
            "next_record_before",
            "time_lag_seconds",
            "time_lag_error_seconds",
            "last_time_lag_seconds",
            "commit_changed_at",
            "seconds_until_loss",
            "retention_risk",
            "status",
            "status_reason",
            "uncounted",
        )
    ),
    _G: frozenset(
        (
            "taken_at",
            "consumer_group",
            "topics",
            "partitions",
            "partitions_unknown",
            "partitions_uncommitted",
            "lag",
            "max_lag",
            "records_lost",
            "time_lag_seconds",
            "time_lag_error_seconds",
            "seconds_until_loss",
            "status",
        )
    ),
}
JUDGED_METRICS = frozenset(
    (
        contract.OFFSET_LAG,
        contract.MAX_OFFSET_LAG,
        contract.ESTIMATED_TIME_LAG,
        contract.GROUP_STATUS,
        contract.TIME_TO_DATA_LOSS,
        contract.ESTIMATED_DRAIN_TIME,
        contract.MEMBERS,
        contract.REBALANCING,
        contract.PRODUCE_RATE,
        contract.CONSUME_RATE,
        contract.COLLECTOR_SUCCESS,
        contract.COLLECTOR_DURATION,
        contract.GROUPS_READ,
        contract.PARTITIONS_UNKNOWN,
        contract.PARTITIONS_UNCOMMITTED,
        contract.READ_ERRORS,
        contract.LAGS_CLAMPED,
        contract.METRICS_OMITTED,
    )
)


def not_judged() -> Iterator[str]:
    """Columns and metrics that may be wrong without being found."""
    for dataset, columns in contract.COLUMNS.items():
        yield f"{dataset}: {', '.join(c for c in columns if c not in JUDGED_COLUMNS[dataset])}"
    metrics = [name for name in contract.METRIC_UNITS if name not in JUDGED_METRICS]
    yield f"metrics: {', '.join(metrics)}"


def check_run(
    truth: TruthView, run: Run, margin: float = 1.0, history: History | None = None
) -> Verdict:
    """Judge one run by the truth and the runs before it.

    `margin` is seconds that it may take beyond its deadline.
    """
    judge = _Judge(truth, run, history or History())
    judge.verdict.late = run.seconds > run.limit + margin
    judge.lines()
    if run.frames:
        judge.keys()
        judge.topics()
        judge.partitions()
        judge.groups()
        judge.metrics()
        judge.presence()
    elif run.metrics:
        judge.metrics_alone()
        judge.health()
    judge.success()
    return judge.verdict


class _Judge:
    """One run beside the truth."""

    def __init__(self, truth: TruthView, run: Run, history: History) -> None:
        self.truth, self.run, self.history = truth, run, history
        self.verdict = Verdict()
        self.topic_rows = {(r["topic"], r["partition_id"]): r for r in run.rows_of(_T)}
        self.rows: dict[Names, Row] = {}
        self.by_group: dict[str, list[Row]] = defaultdict(list)
        for row in run.rows_of(_P):
            self.rows[_names(row)] = row
            self.by_group[row["consumer_group"]].append(row)
        self.group_rows = {r["consumer_group"]: r for r in run.rows_of(_G)}
        self.sets = by_key(run.metrics)
        read = [r["read_at"] for r in self.topic_rows.values() if _read(r) and r["read_at"]]
        self.now = max(read, default=run.ended + run.clock_ahead)

    # What no output may hold, whatever it is about.

    def lines(self) -> None:
        """Lines of metrics that cannot be."""
        for where, published, truth in malformed(self.run.metrics, self.run.taken_at):
            self._wrong("line of metrics", where, published, truth)

    def keys(self) -> None:
        """Rows that stand there twice, or are about nobody."""
        for dataset, name in ((_T, _partition_of), (_P, _names), (_G, _group_of)):
            rows = self.run.rows_of(dataset)
            for key, count in Counter(map(name, rows)).items():
                if count > 1:
                    self._wrong("row", f"{dataset} {key}", f"{count} times", "once")
            for row in rows:
                where = f"{dataset} {name(row)}"
                self._equal("taken_at", where, row["taken_at"], self.run.taken_at)
        for group in {*self.group_rows, *self.by_group}:
            if group not in self.truth.commits:
                self._wrong("row", group, "a row", "no such group ever committed")
            if group not in self.group_rows:
                self._wrong("row", group, "rows of partitions", "no row of the group")

    def _when_read(self, where: str, row: Row) -> None:
        """A row is read in its run; its clock is the collector's."""
        begin, end = self.run.began - _ROUNDING_MS, self.run.ended + _ROUNDING_MS
        for column in ("asked_at", "read_at"):
            if column in row:
                self._within(column, where, self._real(row[column]), (begin, end))

    # What is published of each partition of each topic.

    def topics(self) -> None:
        for (name, partition), row in self.topic_rows.items():
            where = f"{name}-{partition}"
            if not _read(row):
                self.verdict.missing[f"topic row: {row['unread_reason']}"] += 1
                continue
            topic = self._topic(row)
            if topic is None or topic.name != name:
                self._wrong("topic id", where, row["topic_id"], "no topic with this name and id")
                continue
            if partition >= len(topic.logs):
                self._wrong("partitions", where, partition, f"there are {len(topic.logs)}")
                continue
            self._when_read(where, row)
            begin, read = self._real(row["asked_at"]), self._real(row["read_at"])
            since = self.truth.as_of(begin, read, row["leader"])
            log = topic.logs[partition]
            self._within("end_offset", where, row["end_offset"], log.ends(since, read))
            since = self.truth.as_of(self.run.began, read, row["leader"])
            self._within("start_offset", where, row["start_offset"], log.starts(since, read))
            if row["retention_ms"] is not None:
                self._true("retention_ms", where, row["retention_ms"], _RETENTION_MS)
            elif self.run.calm:
                self._wrong("recovery", where, "no retention_ms", "no fault for two runs")

    # What is published of each group on each partition.

    def partitions(self) -> None:
        for (group, name, partition), row in self.rows.items():
            where = f"{group} on {name}-{partition}"
            self._uncounted(where, row)
            if _read(row):
                self._partition(where, group, row)
                continue
            self.verdict.missing[f"row: {row['unread_reason']}"] += 1
            for column in ("lag", "time_lag_seconds", "time_lag_error_seconds", "status"):
                if row[column] is not None:
                    self._wrong(f"unread {column}", where, row[column], None)
            if row["read_at"] is not None:
                self._carried(where, group, row)

    def _uncounted(self, where: str, row: Row) -> None:
        counted = self._counted(row)
        why = contract.UNKNOWN if counted.missing else None
        why = contract.UNCOMMITTED if counted.uncommitted else why
        self._equal("uncounted", where, row["uncounted"], why)

    def _partition(self, where: str, group: str, row: Row) -> None:
        at = row["topic"], row["partition_id"]
        source = self.topic_rows.get(at)
        if source is None or not _read(source):
            self._wrong("row without its partition", where, "read", "its topic row was not read")
            return
        self._when_read(where, row)
        self._equal("end of row", where, row["end_offset"], source["end_offset"])
        self._equal("start of row", where, row["start_offset"], source["start_offset"])
        self._equal("topic id of row", where, row["topic_id"], source["topic_id"])
        self._committed(where, group, row)
        counts = Counts.of(row)
        self._equal("lag", where, row["lag"], counts.lag)
        self._equal("records_lost", where, row["records_lost"], counts.lost)
        self._equal("retention_margin", where, row["retention_margin"], counts.margin)
        self._lag(where, group, row, source)
        for column in ("last_lag", "last_time_lag_seconds"):
            self._equal(f"{column} of a row that was read", where, row[column], None)
        topic = self._topic(source)
        if topic is not None and at[1] < len(topic.logs):
            self._time_lag(where, row, topic.logs[at[1]], counts.position)
            self._bracket(where, row, topic.logs[at[1]], counts.position)
        self._status(where, row)
        self._loss(where, row, source)

    def _committed(self, where: str, group: str, row: Row) -> None:
        expected = self._possible(group, row)
        self.verdict.checked["committed_offset"] += 1
        if row["committed_offset"] not in expected:
            read = self._real(row["read_at"])
            span = f"one of {_some(expected)} between {self.run.began} and {read}"
            self._wrong("committed_offset", where, row["committed_offset"], span)

    def _possible(self, group: str, row: Row) -> set[int | None]:
        read = self._real(row["read_at"])
        return self._held(group, (row["topic"], row["partition_id"]), self.run.began, read)

    def _held(self, group: str, at: tuple[str, int], begin: int, end: int) -> set[int | None]:
        """Offsets that a coordinator may have answered with in this time."""
        commits = self.truth.commits.get(group, {}).get(at, ())
        return possible(commits, self.truth.commits_as_of(group, begin, end), end)

    def _lag(self, where: str, group: str, row: Row, source: Row) -> None:
        """The lag against the truth alone, whatever offsets stand beside it."""
        topic, expected = self._topic(source), self._possible(group, row)
        offsets = [offset for offset in expected if offset is not None]
        at = row["partition_id"]
        known = topic is not None and at < len(topic.logs) and len(offsets) == len(expected)
        if row["lag"] is None or topic is None or not known:
            return
        read = self._real(source["read_at"])
        since = self.truth.as_of(self._real(source["asked_at"]), read, source["leader"])
        ends = topic.logs[at].ends(since, read)
        since = self.truth.as_of(self.run.began, read, source["leader"])
        starts = topic.logs[at].starts(since, read)
        least = max(0, ends[0] - max(*offsets, starts[1]) if offsets else 0)
        most = max(0, ends[1] - max(min(offsets), starts[0]) if offsets else 0)
        self._within("lag by the truth", where, row["lag"], (least, most))

    # Ages.

    def _time_lag(self, where: str, row: Row, log: LogView, position: int | None) -> None:
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
        truth = self._age(log, position, self._real(row["read_at"]), self._real(self.now))
        method = row["time_lag_method"]
        text = f"{seconds} ± {error} ({method}), read_at {row['read_at']}, offset {position}"
        across = method != contract.METHOD_RECORD_TIME
        self._age_within("time_lag_seconds", where, (seconds, error), truth, text, across=across)
        self.verdict.ages[_exactness(error)] += 1
        at, settled = _partition_of(row), self.run.calm
        limit = self._error_limit(at, log, position, truth, settled=settled)
        doubted = self.history.slight_jumps(log.readable(position)[0])
        bounded = self.run.calm and not doubted
        self._exact_enough(where, text, error, limit, bounded=bounded)
        if (error is None) != (row["next_record_after"] is None):
            self._wrong("time_lag_error_seconds", where, text, row["next_record_after"])

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

    def _error_limit(
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
        less, more = self._shift(truth[1])
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

    def _shift(self, age: float, *, across: bool = True) -> tuple[float, float]:
        """By how much clocks that jumped make an age, s, less and more than it is, s, rounded.

        `across`: dates that earlier runs' clocks had a part in. A run's own dates are right by its
        own clock, and those of the brokers are wrong by as much as it is; but what a clock that
        was a little wrong said of the record holds them, as nothing contradicts it.
        """
        ahead = self.run.clock_ahead
        known = self.history.slight_jumps(self._real(self.now) - int(1_000 * age))
        known += self.run.clocks_before if across else ()
        shifts = [0, ahead, *(ahead - before for before in known)]
        return (min(shifts) - _ROUNDING_MS) / 1_000, (max(shifts) + _ROUNDING_MS) / 1_000

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
        less, more = self._shift(truth[1], across=across)
        least, most = truth[0] + less, truth[1] + more
        wrong = seconds > most if error is None else not _meet(seconds, error, least, most)
        # A clock that went back makes an age 0, not less.
        if (wrong and not (seconds == 0 and most < 0)) or seconds < 0:
            self._wrong(rule, where, text, f"between {truth[0]:.3f} and {truth[1]:.3f}")

    def _age(self, log: LogView, position: int, begin: int, end: int) -> tuple[float, float]:
        """Least and greatest age, s, of the record at a position in this time."""
        low, high = log.readable(position)
        return max(0, begin - high) / 1_000, max(0, end - low) / 1_000

    def _bracket(self, where: str, row: Row, log: LogView, position: int | None) -> None:
        if position is None or row["lag"] == 0 or (not _read(row) and row["last_lag"] == 0):
            return
        low, high = log.readable(position)
        clocks = (0, self.run.clock_ahead, *self.run.clocks_before)
        clocks += self.history.slight_jumps(low)
        after, before = row["next_record_after"], row["next_record_before"]
        if after is not None:
            self.verdict.checked["next_record_after"] += 1
            if after > high + _ROUNDING_MS + max(clocks):
                self._wrong("next_record_after", where, after, f"readable by {high}")
        if before is not None:
            self.verdict.checked["next_record_before"] += 1
            if before < low - _ROUNDING_MS + min(clocks):
                self._wrong("next_record_before", where, before, f"not sent before {low}")
        if None not in (row["time_lag_seconds"], row["time_lag_error_seconds"]):
            self._stated(where, row)

    def _stated(self, where: str, row: Row) -> None:
        """The error that is stated is that of the bracket."""
        seconds, error = row["time_lag_seconds"], row["time_lag_error_seconds"]
        after, before = row["next_record_after"], row["next_record_before"]
        if after is None or before is None:
            self._wrong("bracket", where, (after, before), f"within {seconds} ± {error}")
            return
        oldest, youngest = (max(0, row["read_at"] - time) / 1_000 for time in (after, before))
        expected = max(oldest - seconds, seconds - youngest, 0.0)
        self._equal("error of the bracket", where, error, expected)

    # What is carried of rows that were not read.

    def _carried(self, where: str, group: str, row: Row) -> None:
        """What an unread row adds to sums was right when the row was read."""
        runs = self._runs_that_read(row["read_at"])
        if not runs:
            self._wrong("read_at of unread row", where, row["read_at"], "no run was on then")
            return
        topic, partition = self._topic(row), row["partition_id"]
        if topic is None or partition >= len(topic.logs):
            self._wrong("topic id of unread row", where, row["topic_id"], "no such partition")
            return
        log, counts = topic.logs[partition], Counts.of(row)
        verdicts = [self._carried_from(each, group, row, log, counts) for each in runs]
        self.verdict.checked["carried values"] += len(verdicts[0][0])
        # Where clocks jumped, several runs may have read it by their own clocks.
        for rule, published, truth in min((wrong for _, wrong in verdicts), key=len):
            self._wrong(f"carried {rule}", where, published, truth)
        if row["last_lag"] is not None or counts.lag is not None:
            self._equal("carried last_lag", where, row["last_lag"], counts.lag)
        self._equal("carried records_lost", where, row["records_lost"], counts.lost)
        self._equal("carried retention_margin", where, row["retention_margin"], counts.margin)
        self._true("carried risk", where, row["retention_risk"], _risk(row, counts.lag))
        self._bracket(where, row, log, counts.position)

    def _runs_that_read(self, read_at: int) -> list[Earlier]:
        """The runs before that were on at this time of their own clock."""
        limit = int(self.run.limit * 1_000)
        found = [
            each
            for each in self.history.runs
            if each.began - _ROUNDING_MS <= read_at - each.clock_ahead <= each.ended + _ROUNDING_MS
        ]
        oldest = min((each.began for each in self.history.runs), default=None)
        if found or (oldest is not None and read_at > oldest):
            return found
        return [Earlier(read_at, read_at - limit, read_at + limit, whole=True, stored=True)]

    def _carried_from(
        self, run: Earlier, group: str, row: Row, log: LogView, counts: Counts
    ) -> tuple[list[str], list[tuple[str, Any, str]]]:
        """What was judged by one run that may have read the row, and what is wrong then."""
        judged, wrong = [], []
        read, ended = row["read_at"] - run.clock_ahead, run.ended
        held = self._held(group, (row["topic"], row["partition_id"]), run.began, read)
        judged.append("committed_offset")
        if row["committed_offset"] not in held:
            wrong.append(("committed_offset", row["committed_offset"], f"one of {_some(held)}"))
        since = self.truth.as_of(run.began, ended)
        for name, span in (
            ("end_offset", log.ends(since, ended)),
            ("start_offset", log.starts(since, self.run.ended)),
        ):
            if row[name] is not None:
                judged.append(name)
                if not span[0] <= row[name] <= span[1]:
                    wrong.append((name, row[name], f"between {span[0]} and {span[1]}"))
        left = row["seconds_until_loss"]
        if left is not None and counts.position is not None:
            judged.append("seconds_until_loss")
            # Whatever the growth was, 1 at most: no nearer than what was left.
            oldest = self._carried_age(run, row, log, counts)[1]
            least = _RETENTION_MS / 1_000 - oldest if counts.lag else _NO_LOSS
            if not least - _ROUNDED <= left <= _NO_LOSS:
                wrong.append(("seconds_until_loss", left, f"from {least:.3f} to {_NO_LOSS}"))
        seconds = row["last_time_lag_seconds"]
        if seconds is not None and counts.position is not None:
            judged.append("last_time_lag_seconds")
            least, most = self._carried_age(run, row, log, counts)
            if not least <= seconds <= most:
                text = f"between {least:.3f} and {most:.3f} at {row['read_at']}"
                wrong.append(("last_time_lag_seconds", seconds, text))
        return judged, wrong

    def _carried_age(
        self, run: Earlier, row: Row, log: LogView, counts: Counts
    ) -> tuple[float, float]:
        if counts.lag == 0 or counts.position is None:
            return 0.0, 0.0
        truth = self._age(log, counts.position, row["read_at"] - run.clock_ahead, run.ended)
        after, before = row["next_record_after"], row["next_record_before"]
        clocks = (0, *self.run.clocks_before, *(each.clock_ahead for each in self.history.runs))
        shifts = [run.clock_ahead - each for each in clocks] if any(clocks) else [0]
        least, most = truth[0] + min(0, *shifts) / 1_000, truth[1] + max(0, *shifts) / 1_000
        width = 0 if after is None or before is None else before - after
        error = width / 1_000 + _ROUNDED + _ROUNDING_MS / 1_000
        # Without an upper bound it is at least so old.
        return 0.0 if after is None else least - error, most + error

    # Statuses.

    def _status(self, where: str, row: Row) -> None:
        status, reason = row["status"], row["status_reason"]
        if reason not in _REASONS.get(status, ()):
            self._wrong("status", where, f"{status} {reason}", "no such status or reason")
        if row["records_lost"]:
            self._true("status of lost records", where, (status, reason), ("ERR", "records_lost"))
            return
        if reason == "records_lost":
            self._wrong("status", where, reason, "no record is lost")
        beyond = row["committed_offset"] is not None and row["committed_offset"] > row["end_offset"]
        if reason == "beyond_end" and not beyond:
            self._wrong("status", where, reason, "the commit is not beyond the end")
        if row["lag"] is None:
            if status is not None:
                self._wrong("status without a commit", where, status, None)
        elif row["lag"] == 0 and not beyond:
            self._true("status of nothing unread", where, status, "OK")
        elif not beyond:
            self._moving(where, row)

    def _moving(self, where: str, row: Row) -> None:
        """STOP and STALL need a commit that lay still for longer than the window, REWIND a higher
        one; and each is there where it must be, but for pauses that recur.
        """
        status, pausing = row["status"], row["status_reason"] == contract.PAUSING
        window = self.run.window_ms / 1_000
        moves = Movement(self.truth, self.run, _names(row), row, self.history.runs)
        self.verdict.checked["status"] += 1
        why = moves.changed_wrongly()
        if why is not None:
            self._wrong("commit_changed_at", where, row["commit_changed_at"], why)
        if status in _STANDING and not moves.may_stand():
            self._wrong("status", where, f"{status} since {row['commit_changed_at']}", "it moved")
        if status == contract.STALL and row["consumer_group"] in self.truth.memberless:
            self._wrong("status", where, status, "the group never had a member")
        if status == contract.REWIND and not moves.may_be_rewound():
            self._wrong("status", where, status, "it did not go back within the window")
        if status in (*_STANDING, contract.WARN) and not self._oldest_proven(row) > window:
            self._wrong("status", where, status, f"nothing proves an age over {window}")
        if pausing and not moves.may_pause():
            self._doubt("status", where, "pausing", "no such pauses came before")
        if status is None and moves.surely_judged():
            self._doubt("status", where, status, "this is not its first reading")
        if status is not None and status != contract.REWIND:
            if moves.surely_rewound():
                self._doubt("status", where, status, "it went back within the window")
            elif status not in _STANDING and not pausing and self._oldest_proven(row) > window:
                self.verdict.checked["status of a standing commit"] += 1
                if moves.surely_stands():
                    self._doubt("status", where, status, "it lies still for longer than the window")

    def _oldest_proven(self, row: Row) -> float:
        """The age, s, that the row proves, by what is judged as its bracket."""
        before, seconds = row["next_record_before"], row["time_lag_seconds"]
        known = before is not None and seconds is not None
        return (row["read_at"] - before) / 1_000 if known else 0.0

    # Losses.

    def _loss(self, where: str, row: Row, source: Row) -> None:
        seconds, risk = row["seconds_until_loss"], row["retention_risk"]
        self._true("retention_risk", where, risk, _risk(row, row["lag"]))
        if row["lag"] == 0:
            self._true("seconds_until_loss", where, seconds, _NO_LOSS)
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
        truth = self._age(log, position, self._real(row["read_at"]), self._real(self.now))
        at, settled = _partition_of(row), self.run.calm
        limit = self._error_limit(at, log, position, truth, settled=settled)
        less, more = self._shift(truth[1])
        most_left = _RETENTION_MS / 1_000 - (truth[0] + less - limit)
        least_left = _RETENTION_MS / 1_000 - (truth[1] + more + limit)
        growth = row["age_growth"]
        if row["records_lost"] or growth is None or self._lies_still(row):
            growth = 1.0
        if growth <= _STANDING_GROWTH:
            return _NO_LOSS, _NO_LOSS
        return min(least_left / growth, _NO_LOSS), min(most_left / growth, _NO_LOSS)

    def _lies_still(self, row: Row) -> bool:
        since, window = row["commit_changed_at"], self.run.window_ms
        if since is None:
            return bool(row["observations"] >= max(2, window // self.run.interval_ms))
        return bool(self.run.taken_at - since > window)

    # What is published of each group.

    def groups(self) -> None:
        for group, row in self.group_rows.items():
            if row["status_reason"] == contract.GONE:
                self._gone(group)
            elif row["unread_reason"] is not None and not self.by_group[group]:
                self.verdict.missing[f"group: {row['unread_reason']}"] += 1
            else:
                self._group(group, row, self.by_group[group])

    def _gone(self, group: str) -> None:
        begin, end = self.run.began, self.run.ended
        commits = self.truth.commits.get(group, {})
        surely = [at for at in commits if None not in self._held(group, at, begin, end)]
        self.verdict.checked["gone"] += 1
        if surely:
            self._wrong("gone", group, "gone", f"it has commits on {_some(surely)}")

    def _group(self, group: str, row: Row, rows: list[Row]) -> None:
        counted = [self._counted(each) for each in rows]
        total = _total(counted)
        self._equal("lag of group", group, row["lag"], total)
        largest = max((c.lag for c in counted if c.lag is not None), default=None)
        self._equal("max_lag", group, row["max_lag"], None if total is None else largest)
        lost = [Counts.of(each).lost for each in rows]
        known = [each for each in lost if each is not None]
        self._equal("records_lost of group", group, row["records_lost"], _sum(known))
        self._equal("partitions", group, row["partitions"], len(rows))
        self._equal("topics", group, row["topics"], len({each["topic"] for each in rows}))
        unknown = sum(c.unknown for c in counted)
        apart = sum(c.uncommitted for c in counted)
        self._equal("partitions_unknown", group, row["partitions_unknown"], unknown)
        self._equal("partitions_uncommitted", group, row["partitions_uncommitted"], apart)
        age = row["time_lag_seconds"], row["time_lag_error_seconds"]
        self._oldest("time lag of group", group, age[0], rows)
        self._group_error(group, age, rows)
        self._group_age(group, age, rows)
        self._group_status(group, row, rows, counted)
        seconds = row["seconds_until_loss"]
        self._equal("seconds_until_loss of group", group, seconds, self._group_loss(rows))

    def _counted(self, row: Row) -> _Counted:
        return _Counted.of(row, self._in_window(row))

    def _in_window(self, row: Row) -> bool:
        read_at = row["read_at"]
        return read_at is not None and read_at >= self.run.taken_at - self.run.window_ms

    def _unread_seconds(self, row: Row) -> float:
        return 0.0 if _read(row) else max(0.0, (self.run.taken_at - row["read_at"]) / 1_000)

    def _oldest(self, rule: str, where: str, seconds: Any, rows: list[Row]) -> None:
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

    def _known_age(self, row: Row, counted: _Counted) -> float | None:
        """A row's age; of one that was not read the last one, grown since if anything was unread"""
        if counted.missing:
            return None
        last: float | None = row["time_lag_seconds" if _read(row) else "last_time_lag_seconds"]
        if last is None or _read(row):
            return last
        behind = last > 0 or row["next_record_before"] is not None
        return last + self._unread_seconds(row) if behind else last

    def _group_error(self, where: str, age: tuple[Any, Any], rows: list[Row]) -> None:
        """A group's error is bounded by those of its rows, and unknown where one of them is."""
        seconds, error = age
        if seconds is None:
            return
        apart = [each for each in rows if not self._counted(each).uncommitted]
        errors = [each["time_lag_error_seconds"] for each in apart]
        if None in errors:
            self._equal("error of group", where, error, None)
        elif error is None or not 0 <= error <= max(errors, default=0.0) + _ROUNDED:
            self._wrong("error of group", where, error, f"up to {max(errors, default=0.0)}")

    def _group_age(self, where: str, published: tuple[Any, Any], rows: list[Row]) -> None:
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
        begin = self._real(row["read_at"] if _read(row) else self.now)
        log, now = topic.logs[row["partition_id"]], self._real(self.now)
        least, most = self._age(log, counts.position, begin, now)
        if not _read(row) and row["next_record_after"] is not None:
            # Carried: an estimate within the bracket of when it was read, and so not proven.
            most = max(most, (now - self._real(row["next_record_after"])) / 1_000)
        return least, most

    def _group_status(self, group: str, row: Row, rows: list[Row], counted: list[Any]) -> None:
        statuses = [r["status"] or (None if _read(r) else r["last_status"]) for r in rows]
        known = [_SEVERITY[each] for each in statuses if each in _SEVERITY]
        worst = max(known, default=None)
        behind = any(c.lag and s is None for c, s in zip(counted, statuses, strict=True))
        seen = any(_read(r) and c.lag is not None for r, c in zip(rows, counted, strict=True))
        expected = None
        if worst is not None and seen and not (behind and worst == 0):
            expected = _GROUP_WORDS[worst]
        self._equal("status of group", group, row["status"], expected)

    def _group_loss(self, rows: list[Row]) -> float | None:
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
                comes = not _read(row) and row["seconds_until_loss"] < _NO_LOSS
                if risk == contract.AT_RISK or (comes and left < _RISK_BOUND):
                    risks.append(left)
        if risks:
            return min(risks)
        return _NO_LOSS if known and all(known) else None

    # What is published as metrics.

    def metrics(self) -> None:
        judged: set[Key] = {()}
        with_rows = {group for group, _, _ in self.rows}
        for group, row in self.group_rows.items():
            wanted = {
                contract.OFFSET_LAG: row["lag"],
                contract.ESTIMATED_TIME_LAG: row["time_lag_seconds"],
                contract.GROUP_STATUS: contract.GROUP_STATUS_VALUES.get(row["status"] or ""),
                contract.TIME_TO_DATA_LOSS: row["seconds_until_loss"],
                contract.ESTIMATED_DRAIN_TIME: row["drain_seconds"],
                contract.MEMBERS: row["members"],
                contract.REBALANCING: _rebalancing(row["group_state"]),
                contract.PRODUCE_RATE: row["produce_rate"],
                contract.CONSUME_RATE: row["consume_rate"],
            }
            # A group without a partition gets no metrics, whatever is known of its members.
            if group not in with_rows:
                wanted = dict.fromkeys(wanted)
            self._set(f"metrics of {group}", (group,), wanted)
            judged.add((group,))
        pairs: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for (group, topic, _), row in self.rows.items():
            pairs[group, topic].append(row)
        for (group, topic), rows in pairs.items():
            self._topic_set(group, topic, rows)
            judged.add((group, topic))
        if self.run.partition_levels:
            for (group, topic, partition), row in self.rows.items():
                wanted = {
                    contract.OFFSET_LAG: row["lag"],
                    contract.ESTIMATED_TIME_LAG: row["time_lag_seconds"],
                }
                where = f"metrics of {group} on {topic}-{partition}"
                self._set(where, (group, topic, str(partition)), wanted)
                judged.add((group, topic, str(partition)))
        for key in self.sets.keys() - judged:
            self._wrong("line of metrics", " ".join(key), "a line", "no row is about it")
        self.health()

    def _set(self, where: str, key: Key, wanted: Mapping[str, Any]) -> None:
        published = self.sets.get(key, {})
        for name, value in wanted.items():
            self._equal(f"metric {name}", where, published.get(name), value)

    def _topic_set(self, group: str, topic: str, rows: list[Row]) -> None:
        where = f"metrics of {group} on {topic}"
        counted = [self._counted(each) for each in rows]
        total = _total(counted)
        largest = max((c.lag for c in counted if c.lag is not None), default=None)
        wanted = {
            contract.OFFSET_LAG: total,
            contract.MAX_OFFSET_LAG: None if total is None else largest,
        }
        self._set(where, (group, topic), wanted)
        age = self.sets.get((group, topic), {}).get(contract.ESTIMATED_TIME_LAG)
        self._oldest("metric EstimatedTimeLag", where, age, rows)

    def health(self) -> None:
        published = self.sets.get((), {})
        where = "metrics of the cluster"
        if not published and self.run.error == KILLED:
            return
        errors = published.get(contract.READ_ERRORS)
        self._equal("ReadErrors", where, errors, _problems(self.run.log))
        took = published.get(contract.COLLECTOR_DURATION)
        self._within("CollectorDuration", where, took, (0, self.run.seconds + _ROUNDED))
        if not self.run.frames:
            return
        groups = [r for r in self.group_rows.values() if r["status_reason"] != contract.GONE]
        read = [r for r in groups if r["read_at"] is not None and r["unread_reason"] is None]
        clamped = [
            row
            for row in self.rows.values()
            if _read(row) and (row["committed_offset"] or 0) > (row["end_offset"] or 0)
        ]
        wanted = {
            contract.GROUPS_READ: len(read),
            contract.PARTITIONS_UNKNOWN: sum(r["partitions_unknown"] or 0 for r in groups),
            contract.PARTITIONS_UNCOMMITTED: sum(r["partitions_uncommitted"] or 0 for r in groups),
            contract.LAGS_CLAMPED: len(clamped),
            contract.METRICS_OMITTED: 0,
        }
        for name, value in wanted.items():
            self._equal(f"metric {name}", where, published.get(name), value)

    def success(self) -> None:
        published = self.sets.get((), {})
        success, read = (
            published.get(contract.COLLECTOR_SUCCESS),
            published.get(contract.GROUPS_READ, 0),
        )
        self.verdict.checked["CollectorSuccess"] += 1
        if success is not None and self.run.error is not None:
            self._wrong("CollectorSuccess", "the run", success, f"it failed: {self.run.error}")
        if success != 1 and self.run.error is None:
            self._wrong("CollectorSuccess", "the run", success, "it did not fail")
        if success and read == 0 and self.run.known_groups:
            known = len(self.run.known_groups)
            self._wrong("CollectorSuccess", "the run", 1, f"read none of {known} known groups")
        if self.run.calm and self.run.error is not None:
            self._wrong("recovery", "the run", self.run.error, "no fault for two runs")

    # Metrics of a run that left no snapshot.

    def metrics_alone(self) -> None:
        """Lags, ages and losses by the truth alone."""
        whole = not _problems(self.run.log)
        for key, published in self.sets.items():
            if key:
                self._alone(key, published, whole=whole)
        if whole:
            for group in self.truth.commits:
                spans = self._spans((group,), whole=True)
                surely = spans and all(each.surely for each in spans)
                if surely and contract.OFFSET_LAG not in self.sets.get((group,), {}):
                    self._wrong("metric OffsetLag", f"metrics of {group}", None, "all was read")

    def _alone(self, key: Key, published: Mapping[str, Any], *, whole: bool) -> None:
        where = f"metrics of {' on '.join(key)}, without a snapshot"
        spans = self._spans(key, whole=whole) or self._empty(key)
        if not spans:
            self._wrong("line of metrics", where, "a line", "there was no commit")
            return
        least, most = sum(each.lag[0] for each in spans), sum(each.lag[1] for each in spans)
        if contract.OFFSET_LAG in published:
            self._within("metric OffsetLag", where, published[contract.OFFSET_LAG], (least, most))
        if contract.MAX_OFFSET_LAG in published:
            largest = max(each.lag[0] for each in spans), max(each.lag[1] for each in spans)
            name = f"metric {contract.MAX_OFFSET_LAG}"
            self._within(name, where, published[contract.MAX_OFFSET_LAG], largest)
        if contract.ESTIMATED_TIME_LAG in published:
            dated = whole and self._all_dated(key)
            least_age = max(each.age[0] for each in spans) if dated else 0.0
            age = least_age, max(each.age[1] for each in spans)
            seconds = published[contract.ESTIMATED_TIME_LAG]
            self._within("metric EstimatedTimeLag", where, seconds, age)
        if contract.GROUP_STATUS in published:
            status = published[contract.GROUP_STATUS]
            if status not in contract.GROUP_STATUS_VALUES.values():
                self._wrong("metric GroupStatus", where, status, "0, 1 or 2")
        if contract.TIME_TO_DATA_LOSS in published:
            seconds, lost = published[contract.TIME_TO_DATA_LOSS], any(e.lost for e in spans)
            self.verdict.checked["metric TimeToDataLoss"] += 1
            if seconds != _NO_LOSS and not (lost and seconds == 0):
                self._wrong("metric TimeToDataLoss", where, seconds, f"{_NO_LOSS}, lost: {lost}")

    def _all_dated(self, key: Key) -> bool:
        """Whether every partition has an age; else only the oldest known is published."""
        return all(
            contract.ESTIMATED_TIME_LAG in values
            for each, values in self.sets.items()
            if len(each) == _PARTITION_LEVEL and each[: len(key)] == key
        )

    def _spans(self, key: Key, *, whole: bool) -> list[_Span]:
        """What may be published of each partition that the group may have a commit on."""
        group, *rest = key
        found = []
        for at in self.truth.commits.get(group, {}):
            if [at[0], str(at[1])][: len(rest)] == rest:
                span = self._span(group, at, whole=whole)
                found += [span] if span else []
        return found

    def _empty(self, key: Key) -> list[_Span]:
        """What a partition without a commit adds, of a topic on which the group has others."""
        begin, group, *rest = self.run.began - self.run.window_ms, *key
        commits = self.truth.commits.get(group, {})
        known = any(
            topic.name == rest[0] and topic.deleted_acked >= begin and int(number) < len(topic.logs)
            for topic in self.truth.topics.values()
            for number in rest[1:]
            if any(name == topic.name for name, _ in commits)
        )
        return [_Span((0, 0), (0.0, 0.0))] if known else []

    def _span(self, group: str, at: tuple[str, int], *, whole: bool) -> _Span | None:
        """Unread partitions count as they were, for a window."""
        begin, end = self.run.began, self.run.ended
        begin -= 0 if whole else self.run.window_ms + int(self.run.limit * 1_000)
        held = self._held(group, at, begin, end)
        offsets = [offset for offset in held if offset is not None]
        logs = [
            topic.logs[at[1]]
            for topic in self.truth.topics.values()
            if topic.name == at[0] and at[1] < len(topic.logs)
            if topic.sent[at[1]] <= end and topic.deleted_acked >= begin
        ]
        if not offsets or not logs:
            return None
        surely = len(offsets) == len(held) and any(
            topic.name == at[0] and topic.exists(at[1], begin, end)
            for topic in self.truth.topics.values()
        )
        lags, ages, lost = [(0, 0)], [(0.0, 0.0)], False
        for log in logs:
            since = self.truth.as_of(begin, end)
            ends, starts = log.ends(since, end), log.starts(since, end)
            low, high = max(min(offsets), starts[0]), max(*offsets, starts[1])
            least, most = max(0, ends[0] - high), max(0, ends[1] - low)
            lost = lost or starts[1] > min(offsets)
            lags.append((least, most))
            ages.append(self._age_alone(at, log, (low, high), least, most))
        if surely and len(logs) == 1:
            return _Span(lags[1], ages[1], lost=lost, surely=True)
        return _Span((0, max(m for _, m in lags)), (0.0, max(m for _, m in ages)), lost=lost)

    def _age_alone(
        self, at: tuple[str, int], log: LogView, positions: tuple[int, int], least: int, most: int
    ) -> tuple[float, float]:
        """Least and greatest age of a partition, s, by what look-ups leave of an error."""
        if not most:
            return 0.0, 0.0
        low, high = positions
        oldest = self._age(log, low, self.run.began, self.run.ended)[1]
        youngest = self._age(log, high, self.run.began, self.run.ended)[0] if least else 0.0
        settled = not _problems(self.run.log)
        limit = self._error_limit(at, log, low, (youngest, oldest), settled=settled)
        less, more = self._shift(oldest)
        return max(0.0, youngest - limit + less), oldest + limit + more

    # What is not published.

    def presence(self) -> None:
        """Each committed partition has a row; without one, or unread, the reason is named."""
        begin, end = self.run.began, self.run.ended
        unnamed: list[tuple[str, str, int]] = []
        for group, commits in self.truth.commits.items():
            for name, partition in commits:
                topic = self.truth.living(name, begin, end)
                if topic is None or not topic.exists(partition, begin, end):
                    continue
                if None in self._held(group, (name, partition), begin, end):
                    continue
                unnamed += self._present(group, name, partition)
        more = _more(self.run.log)
        groups, partitions = {g for g, _, _ in unnamed}, {(t, p) for _, t, p in unnamed}
        # Each problem that is only counted is one of a group or of a partition.
        if min(len(groups), len(partitions)) > more:
            for group, name, partition in unnamed:
                where = f"{group} on {name}-{partition}"
                self._wrong("missing", where, "no row", f"not named, and {more} more not read")

    def _present(self, group: str, name: str, partition: int) -> list[Names]:
        """Finds rows that are not there; returns this one where no reason is named for it."""
        where, row = f"{group} on {name}-{partition}", self.rows.get((group, name, partition))
        if row is None:
            why = self._named(group, name, partition)
            self.verdict.missing[f"no row: {why or 'not named'}"] += 1
            if self.run.calm:
                self._wrong("missing", where, "no row", why or "and no reason is named")
            elif why is None:
                return [(group, name, partition)]
        elif self.run.calm and not _read(row):
            self._wrong("recovery", where, row["unread_reason"], "no fault for two runs")
        return []

    def _named(self, group: str, topic: str, partition: int) -> str | None:
        """What the log says of why a row is not there: itself, or a broker that it depends on."""
        wanted = (
            f"group {group!r} not read",
            f"topic {topic!r} not read",
            f"partition {f'{topic}-{partition}'!r} not read",
        )
        for line in self.run.log:
            if line.startswith(wanted):
                return line.partition(" ")[0]
            if line.startswith("broker ") and self._depends(topic, partition, line.split("'")[1]):
                return "broker"
        return None

    def _depends(self, topic: str, partition: int, broker: str) -> bool:
        """Whether the broker led the partition, or may have coordinated the group: one under a
        fault, as no other one fails to answer.
        """
        begin, at = self.run.began - _RECOVERS_MS, (topic, partition)
        if not broker.isdigit():
            nodes = {each.broker for each in self.truth.troubles}
            return any(self.truth.troubled(node, begin, self.run.ended) for node in nodes)
        leaders = [each.leaders[at] for each in self.history.runs[-1:] if at in each.leaders]
        leaders += [self.topic_rows[at]["leader"]] if at in self.topic_rows else []
        troubled = self.truth.troubled(int(broker), begin, self.run.ended)
        return troubled or int(broker) in leaders

    # The ways to be right.

    def _topic(self, row: Row) -> TopicView | None:
        return self.truth.topics.get(row["topic_id"])

    def _real(self, time: int) -> int:
        """A time of the collector's clock, ms, as the truth's."""
        return time - self.run.clock_ahead

    def _within(self, rule: str, where: str, value: Any, span: tuple[float, float]) -> None:
        self.verdict.checked[rule] += 1
        if value is None or not span[0] - _ROUNDED <= value <= span[1] + _ROUNDED:
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
class _Span:
    """Least and greatest lag and age, s, of a partition; `lost`: perhaps with records lost.

    `surely`: it was there, with a commit, for all of the run.
    """

    lag: tuple[int, int]
    age: tuple[float, float]
    lost: bool = False
    surely: bool = False


@dataclass(frozen=True, slots=True)
class _Counted:
    """What a row adds to sums: for a window also what a broker answered last."""

    lag: int | None
    missing: bool
    uncommitted: bool
    unknown: bool

    @classmethod
    def of(cls, row: Row, in_window: bool) -> _Counted:
        counts, read = Counts.of(row), _read(row)
        lag = counts.lag if read or in_window else None
        apart = counts.uncommitted and (read or in_window)
        unknown = not read or not (counts.lag is not None or counts.uncommitted)
        return cls(lag, lag is None and not apart, apart, unknown)


def _total(counted: Iterable[_Counted]) -> int | None:
    each = list(counted)
    if any(c.missing for c in each):
        return None
    return _sum([c.lag for c in each if c.lag is not None])


def _sum(values: list[int]) -> int | None:
    return sum(values) if values else None


def _read(row: Row) -> bool:
    return row["unread_reason"] is None


def _names(row: Row) -> Names:
    return row["consumer_group"], row["topic"], row["partition_id"]


def _rebalancing(state: str | None) -> int | None:
    return None if state is None else int(state in contract.REBALANCING_STATES)


def _risk(row: Row, lag: int | None) -> str | None:
    """The risk of losing records that goes with the time that is left."""
    seconds = row["seconds_until_loss"]
    if row["records_lost"]:
        return contract.LOST
    if lag == 0:
        return contract.SAFE
    if seconds is None:
        return None
    return contract.AT_RISK if seconds < _RISK_BOUND else contract.SAFE


def _partition_of(row: Row) -> tuple[str, int]:
    return row["topic"], row["partition_id"]


def _group_of(row: Row) -> str:
    group: str = row["consumer_group"]
    return group


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


def _same(value: Any, expected: Any) -> bool:
    if isinstance(value, float) or isinstance(expected, float):
        both = value is not None and expected is not None
        return value == expected or (both and math.isclose(value, expected, abs_tol=_ROUNDED))
    return bool(value == expected)


def _problems(log: Sequence[str]) -> int:
    """How many problems the log names or counts."""
    return sum(" not read (" in line for line in log) + _more(log)


def _more(log: Sequence[str]) -> int:
    """How many problems the log counts and does not name."""
    return sum(int(line.split()[1]) for line in log if line.endswith(" more not read"))


def _some(values: Iterable[Any]) -> str:
    return format_list(sorted(map(str, values)), _NAMED)


def summary(findings: Iterable[Finding]) -> Iterator[tuple[str, int, Finding]]:
    """How often each rule was broken, with the first case."""
    by_rule: dict[str, list[Finding]] = defaultdict(list)
    for each in findings:
        by_rule[each.rule].append(each)
    for rule, found in sorted(by_rule.items(), key=lambda pair: -len(pair[1])):
        yield rule, len(found), found[0]
