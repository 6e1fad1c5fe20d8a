# SPDX-License-Identifier: Apache-2.0
"""Whether what a run published is right: pure functions of the truth and of the run's outputs.

A number is right when it lies within the truth's interval, widened by the error that is stated
with it. What is absent must be named: by the row's `unread_reason`, or in the log. A number that
follows from others (a sum, a lag) must follow exactly.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dev.faults.truth import LogView, TopicView, TruthView, possible
from kafka_lag import contract

Row: TypeAlias = dict[str, Any]
Names: TypeAlias = tuple[str, str, int]

# Clocks are read in whole ms at both ends.
_ROUNDING_MS = 3
_ROUNDED = 0.0011  # seconds, and shares
_NO_LOSS = contract.NO_LOSS_SECONDS
# Between a row's own clock and the run's, for what counts down while a broker does not respond.
_COUNTDOWN_SECONDS = 5.0
_LATE_MS = 8_000
_SEVERITY = {"OK": 0, "WARN": 1, "STOP": 2, "STALL": 2, "REWIND": 2, "ERR": 2}
_GROUP_WORDS = ("OK", "WARN", "ERR")
_AT_RISK = (contract.LOST, contract.AT_RISK)
_NAMED = 5
# The error of a run whose process was ended in the middle.
KILLED = "killed"


@dataclass(frozen=True, slots=True)
class Run:
    """What one run was asked and what it published; times in ms of the truth's clock.

    `clock_ahead` is how far the collector's clock was from that; `shaken` the farthest that it
    was in this run and the two before. `frames` is empty where the run made no snapshot, and
    `log` holds its warnings. `calm`: two runs passed since the last fault was over.
    """

    number: int
    taken_at: int
    began: int
    ended: int
    seconds: float
    limit: float
    window_ms: int
    metrics: Sequence[Mapping[str, Any]] = ()
    frames: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    log: Sequence[str] = ()
    error: str | None = None
    clock_ahead: int = 0
    shaken: int = 0
    calm: bool = False
    known_groups: frozenset[str] = frozenset()
    partition_levels: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """One number that is wrong, with what it takes to see why."""

    run: int
    rule: str
    where: str
    told: str
    truth: str


@dataclass(slots=True)
class Verdict:
    """What came of one run: numbers judged by kind, the wrong ones, and what is missing and why."""

    checked: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    wrong: list[Finding] = field(default_factory=list)
    late: bool = False


def check_run(truth: TruthView, run: Run, margin: float = 1.0) -> Verdict:
    """Judge one run; `margin` is seconds that it may take beyond its deadline."""
    judge = _Judge(truth, run)
    judge.verdict.late = run.seconds > run.limit + margin
    if run.frames:
        judge.topics()
        judge.partitions()
        judge.groups()
        judge.metrics()
        judge.presence()
    elif run.metrics:
        judge.health()
    judge.success()
    return judge.verdict


class _Judge:
    """One run beside the truth."""

    def __init__(self, truth: TruthView, run: Run) -> None:
        self.truth, self.run = truth, run
        self.verdict = Verdict()
        frames = run.frames
        self.topic_rows = {(r["topic"], r["partition_id"]): r for r in _of(frames, "topic")}
        self.rows: dict[Names, Row] = {}
        self.by_group: dict[str, list[Row]] = defaultdict(list)
        for row in _of(frames, "group_partition"):
            self.rows[row["consumer_group"], row["topic"], row["partition_id"]] = row
            self.by_group[row["consumer_group"]].append(row)
        self.group_rows = {r["consumer_group"]: r for r in _of(frames, "group")}
        self.sets = {_key(line): line for line in run.metrics if len(_key(line)) > 0}
        read = [r["read_at"] for r in self.topic_rows.values() if _read(r) and r["read_at"]]
        self.now = max(read, default=run.ended + run.clock_ahead)

    # What is said of each partition of each topic.

    def topics(self) -> None:
        for (name, partition), row in self.topic_rows.items():
            where = f"{name}-{partition}"
            if not _read(row):
                self.verdict.missing[f"topic row: {row['unread_reason']}"] += 1
                continue
            topic = self._topic(row)
            if topic is None:
                self._wrong("topic id", where, row["topic_id"], "no topic with this id")
                continue
            if partition >= len(topic.logs):
                self._wrong("partitions", where, partition, f"there are {len(topic.logs)}")
                continue
            asked, read = self._asked(row), self._real(row["read_at"])
            since = self.truth.as_of(asked, read, row["leader"])
            log = topic.logs[partition]
            self._within("end_offset", where, row["end_offset"], log.ends(since, read))
            begun = self.truth.as_of(self.run.began, read, row["leader"])
            self._within("start_offset", where, row["start_offset"], log.starts(begun, read))
            if row["retention_ms"] is not None:
                self._equal("retention_ms", where, row["retention_ms"], 7 * 86_400_000)

    # What is said of each group on each partition.

    def partitions(self) -> None:
        for (group, name, partition), row in self.rows.items():
            where = f"{group} on {name}-{partition}"
            if _read(row):
                self._partition(where, group, row)
                continue
            self.verdict.missing[f"row: {row['unread_reason']}"] += 1
            for column in ("lag", "time_lag_seconds", "time_lag_error_seconds", "status"):
                self._equal(f"unread {column}", where, row[column], None)

    def _partition(self, where: str, group: str, row: Row) -> None:
        at = row["topic"], row["partition_id"]
        source = self.topic_rows.get(at)
        if source is None or not _read(source):
            self._wrong("row without its partition", where, "read", "its topic row was not read")
            return
        end, start, committed = row["end_offset"], row["start_offset"], row["committed_offset"]
        self._equal("end of row", where, end, source["end_offset"])
        self._equal("start of row", where, start, source["start_offset"])
        self._committed(where, group, row)
        counts = _counts(committed, start, end)
        self._equal("lag", where, row["lag"], counts.lag)
        self._equal("records_lost", where, row["records_lost"], counts.lost)
        self._equal("retention_margin", where, row["retention_margin"], counts.margin)
        self._lag(where, group, row, source)
        topic = self._topic(source)
        if topic is not None and at[1] < len(topic.logs):
            self._time_lag(where, row, topic.logs[at[1]], counts.position)
            self._bracket(where, row, topic.logs[at[1]], counts.position)
        self._status(where, group, row)
        self._loss(where, row)

    def _committed(self, where: str, group: str, row: Row) -> None:
        told = self._possible(group, row)
        self.verdict.checked["committed_offset"] += 1
        if row["committed_offset"] not in told:
            span = f"one of {_some(told)} between {self.run.began} and {self._real(row['read_at'])}"
            self._wrong("committed_offset", where, row["committed_offset"], span)

    def _possible(self, group: str, row: Row) -> set[int | None]:
        read = self._real(row["read_at"])
        begun = self.truth.as_of(self.run.began, read)
        return possible(self._commits(group, (row["topic"], row["partition_id"])), begun, read)

    def _commits(self, group: str, at: tuple[str, int]) -> Sequence[Any]:
        return self.truth.commits.get(group, {}).get(at, ())

    def _lag(self, where: str, group: str, row: Row, source: Row) -> None:
        """The lag against the truth alone, whatever offsets stand beside it."""
        topic = self._topic(source)
        told = self._possible(group, row)
        offsets = [offset for offset in told if offset is not None]
        at = row["partition_id"]
        if row["lag"] is None or topic is None or at >= len(topic.logs) or len(told) > len(offsets):
            return
        read = self._real(source["read_at"])
        since = self.truth.as_of(self._asked(source), read, source["leader"])
        ends = topic.logs[at].ends(since, read)
        begun = self.truth.as_of(self.run.began, read, source["leader"])
        starts = topic.logs[at].starts(begun, read)
        least = max(0, ends[0] - max(*offsets, starts[1]) if offsets else 0)
        most = max(0, ends[1] - max(min(offsets), starts[0]) if offsets else 0)
        self._within("lag", where, row["lag"], (least, most))

    def _time_lag(self, where: str, row: Row, log: LogView, position: int | None) -> None:
        seconds, error = row["time_lag_seconds"], row["time_lag_error_seconds"]
        if row["lag"] == 0:
            self._equal("time_lag_seconds of nothing", where, seconds, 0.0)
            self._equal("time_lag_method of nothing", where, row["time_lag_method"], "none")
            return
        if seconds is None or position is None:
            self.verdict.missing["age: not known"] += row["lag"] is not None
            if self.run.calm and row["lag"] is not None:
                self._wrong("recovery", where, "no age", "no fault for two runs")
            return
        truth = self._age(log, position, self._real(row["read_at"]))
        method = row["time_lag_method"]
        told = f"{seconds} ± {error} ({method}), read_at {row['read_at']}, offset {position}"
        self._age_within("time_lag_seconds", where, (seconds, error), truth, told)

    def _age_within(
        self,
        rule: str,
        where: str,
        told: tuple[float, float | None],
        truth: tuple[float, float],
        text: str,
    ) -> None:
        seconds, error = told
        self.verdict.checked[rule] += 1
        slack = (_ROUNDING_MS + self.run.shaken) / 1_000
        most, least = truth[1] + slack, truth[0] - slack
        wrong = seconds > most if error is None else not _meet(seconds, error, least, most)
        if wrong or seconds < 0:
            self._wrong(rule, where, text, f"between {truth[0]:.3f} and {truth[1]:.3f}")

    def _age(self, log: LogView, position: int, now: int) -> tuple[float, float]:
        """Least and greatest age, s, of the record at a position."""
        low, high = log.readable(position)
        return max(0, now - high) / 1_000, max(0, now - low) / 1_000

    def _bracket(self, where: str, row: Row, log: LogView, position: int | None) -> None:
        if position is None or row["lag"] == 0 or self.run.shaken:
            return
        low, high = log.readable(position)
        after, before = row["next_record_after"], row["next_record_before"]
        if after is not None:
            self.verdict.checked["next_record_after"] += 1
            if after > high + _ROUNDING_MS:
                self._wrong("next_record_after", where, after, f"readable by {high}")
        if before is not None:
            self.verdict.checked["next_record_before"] += 1
            if before < low - _ROUNDING_MS:
                self._wrong("next_record_before", where, before, f"not sent before {low}")

    def _status(self, where: str, group: str, row: Row) -> None:
        status, reason = row["status"], row["status_reason"]
        self.verdict.checked["status"] += 1
        if row["records_lost"]:
            self._equal("status of lost records", where, (status, reason), ("ERR", "records_lost"))
            return
        if reason == "records_lost":
            self._wrong("status", where, reason, "no record is lost")
        beyond = row["committed_offset"] is not None and row["committed_offset"] > row["end_offset"]
        if reason == "beyond_end" and not beyond:
            self._wrong("status", where, reason, "the commit is not beyond the end")
        if row["lag"] is None:
            self._equal("status without a commit", where, status, None)
        elif row["lag"] == 0 and not beyond:
            self._equal("status of nothing unread", where, status, "OK")
        elif status in ("STOP", "STALL", "REWIND") and not self.run.shaken:
            self._stands(where, group, row)

    def _stands(self, where: str, group: str, row: Row) -> None:
        """STOP and STALL need a commit that stood for longer than the window, REWIND a higher."""
        commits = self._commits(group, (row["topic"], row["partition_id"]))
        offset, status = row["committed_offset"], row["status"]
        if status == "REWIND":
            if not any(c.offset is not None and c.offset > (offset or 0) for c in commits):
                self._wrong("status", where, status, f"never beyond {offset}")
            return
        since = row["commit_changed_at"]
        if since is None or self.run.taken_at - since <= self.run.window_ms:
            self._wrong("status", where, status, f"unmoved since {since} only, by its own row")
            return
        # A run reads after its scheduled time, and some are late.
        begin, end = since - _LATE_MS, since + int(self.run.limit * 1_000) + _LATE_MS
        if offset not in possible(commits, self.truth.as_of(begin, end), end):
            self._wrong("status", where, f"{status} since {since}", f"{offset} was not there yet")

    def _loss(self, where: str, row: Row) -> None:
        seconds, risk = row["seconds_until_loss"], row["retention_risk"]
        if row["records_lost"]:
            self._equal("retention_risk", where, risk, contract.LOST)
        elif row["lag"] == 0:
            self._equal("retention_risk", where, risk, contract.SAFE)
            self._equal("seconds_until_loss", where, seconds, _NO_LOSS)
        elif seconds is not None:
            self._within("seconds_until_loss", where, seconds, (0, _NO_LOSS))

    # What is said of each group.

    def groups(self) -> None:
        for group, row in self.group_rows.items():
            if row["status_reason"] == contract.GONE:
                self._gone(group)
            elif row["unread_reason"] is not None and not self.by_group[group]:
                self.verdict.missing[f"group: {row['unread_reason']}"] += 1
            else:
                self._group(group, row, self.by_group[group])

    def _gone(self, group: str) -> None:
        begun, ended = self.truth.as_of(self.run.began, self.run.ended), self.run.ended
        commits = self.truth.commits.get(group, {})
        surely = [at for at in commits if None not in possible(commits[at], begun, ended)]
        self.verdict.checked["gone"] += 1
        if surely:
            self._wrong("gone", group, "gone", f"it has commits on {_some(surely)}")

    def _group(self, group: str, row: Row, rows: list[Row]) -> None:
        counted = [_Counted.of(each, self._in_window(each)) for each in rows]
        total = _total(counted)
        self._equal("lag of group", group, row["lag"], total)
        largest = max((c.lag for c in counted if c.lag is not None), default=None)
        self._equal("max_lag", group, row["max_lag"], None if total is None else largest)
        lost = [_of_row(each).lost for each in rows]
        known = [each for each in lost if each is not None]
        self._equal("records_lost of group", group, row["records_lost"], _sum(known))
        self._equal("partitions", group, row["partitions"], len(rows))
        self._equal("topics", group, row["topics"], len({each["topic"] for each in rows}))
        unknown = sum(c.unknown for c in counted)
        apart = sum(c.uncommitted for c in counted)
        self._equal("partitions_unknown", group, row["partitions_unknown"], unknown)
        self._equal("partitions_uncommitted", group, row["partitions_uncommitted"], apart)
        self._group_age(group, (row["time_lag_seconds"], row["time_lag_error_seconds"]), rows)
        self._group_status(group, row, rows, counted)
        self._group_loss(group, row, rows)

    def _in_window(self, row: Row) -> bool:
        read_at = row["read_at"]
        return read_at is not None and read_at >= self.run.taken_at - self.run.window_ms

    def _group_age(self, where: str, told: tuple[Any, Any], rows: list[Row]) -> None:
        """An age of several partitions: the oldest's; unread ones grow from where they were."""
        seconds, error = told
        if seconds is None:
            self.verdict.missing["age of a group or topic"] += bool(rows)
            return
        truths = [truth for each in rows if (truth := self._age_of(each)) is not None]
        if not truths:
            return
        least, most = max(least for least, _ in truths), max(most for _, most in truths)
        if error is None:
            # Beside an unread partition it is the estimate of another, whose error is that row's.
            most = max([most, *(_most(each) for each in rows)])
        truth = least, most
        text = f"{seconds} ± {error}"
        self._age_within("time lag of group or topic", where, (seconds, error), truth, text)

    def _age_of(self, row: Row) -> tuple[float, float] | None:
        counts = _of_row(row)
        if counts.lag is None or counts.position is None:
            return None
        if counts.lag == 0:
            return 0.0, 0.0
        source = self.topic_rows.get((row["topic"], row["partition_id"]), row)
        topic = self.truth.topics.get(row["topic_id"] or source["topic_id"])
        if topic is None or row["partition_id"] >= len(topic.logs):
            return None
        now = self._real(row["read_at"] if _read(row) else self.now)
        least, most = self._age(topic.logs[row["partition_id"]], counts.position, now)
        if not _read(row) and row["next_record_after"] is not None:
            # Carried: an estimate within the bracket of when it was read, and so not proven.
            most = max(most, (now - self._real(row["next_record_after"])) / 1_000)
        return least, most

    def _group_status(self, group: str, row: Row, rows: list[Row], counted: list[Any]) -> None:
        self.verdict.checked["status of group"] += 1
        told = [r["status"] or (None if _read(r) else r["last_status"]) for r in rows]
        worst = max((_SEVERITY[each] for each in told if each is not None), default=None)
        behind = any(c.lag and s is None for c, s in zip(counted, told, strict=True))
        seen = any(_read(r) and c.lag is not None for r, c in zip(rows, counted, strict=True))
        expected = None
        if worst is not None and seen and not (behind and worst == 0):
            expected = _GROUP_WORDS[worst]
        if row["status"] != expected:
            self._wrong("status of group", group, row["status"], f"{expected} by {_some(told)}")

    def _group_loss(self, group: str, row: Row, rows: list[Row]) -> None:
        """The least of what is known to be at risk; the default only where all risks are known."""
        seconds = row["seconds_until_loss"]
        self.verdict.checked["seconds_until_loss of group"] += 1
        risky = [r for r in rows if r["retention_risk"] in _AT_RISK]
        risks = [0.0 if r["retention_risk"] == "LOST" else r["seconds_until_loss"] for r in risky]
        fresh = all(self._in_window(r) for r in rows)
        if risks and any(_read(r) for r in risky):
            least = min(each for each in risks if each is not None)
            if seconds is None or not least - _COUNTDOWN_SECONDS <= seconds <= least + _ROUNDED:
                self._wrong("seconds_until_loss of group", group, seconds, f"at risk: {least}")
        elif seconds == _NO_LOSS and fresh:
            blind = [r for r in rows if _of_row(r).lag and r["seconds_until_loss"] is None]
            if blind:
                named = f"{len(blind)} lagging partitions have no known risk"
                self._wrong("seconds_until_loss of group", group, seconds, named)

    # What is published as metrics.

    def metrics(self) -> None:
        for group, row in self.group_rows.items():
            wanted = {
                contract.OFFSET_LAG: row["lag"],
                contract.ESTIMATED_TIME_LAG: row["time_lag_seconds"],
                contract.GROUP_STATUS: contract.GROUP_STATUS_VALUES.get(row["status"] or ""),
                contract.TIME_TO_DATA_LOSS: row["seconds_until_loss"],
            }
            self._set(f"metrics of {group}", (group,), wanted)
        pairs: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for (group, topic, _), row in self.rows.items():
            pairs[group, topic].append(row)
        for (group, topic), rows in pairs.items():
            self._topic_set(group, topic, rows)
        if self.run.partition_levels:
            for (group, topic, partition), row in self.rows.items():
                wanted = {
                    contract.OFFSET_LAG: row["lag"],
                    contract.ESTIMATED_TIME_LAG: row["time_lag_seconds"],
                }
                where = f"metrics of {group} on {topic}-{partition}"
                self._set(where, (group, topic, str(partition)), wanted)
        self.health()

    def _set(self, where: str, key: tuple[str, ...], wanted: Mapping[str, Any]) -> None:
        told = self.sets.get(key, {})
        for name, value in wanted.items():
            self._equal(f"metric {name}", where, told.get(name), value)

    def _topic_set(self, group: str, topic: str, rows: list[Row]) -> None:
        where = f"metrics of {group} on {topic}"
        counted = [_Counted.of(each, self._in_window(each)) for each in rows]
        total = _total(counted)
        largest = max((c.lag for c in counted if c.lag is not None), default=None)
        wanted = {
            contract.OFFSET_LAG: total,
            contract.MAX_OFFSET_LAG: None if total is None else largest,
        }
        told = self.sets.get((group, topic), {})
        self._set(where, (group, topic), wanted)
        age = told.get(contract.ESTIMATED_TIME_LAG)
        ages = [row["time_lag_seconds"] for row in rows if row["time_lag_seconds"] is not None]
        behind = [row for row in rows if _of_row(row).lag is not None]
        if len(ages) == len(behind) == len(rows):
            # Nowhere under what another partition proves.
            if age is None or age < max(ages) - _ROUNDED:
                self._wrong("metric EstimatedTimeLag", where, age, max(ages))
            errors = [row["time_lag_error_seconds"] for row in rows]
            if None not in errors:
                self._group_age(where, (age, max(errors)), rows)
        elif age == 0 and any(not _read(row) and not self._in_window(row) for row in rows):
            self._wrong("metric EstimatedTimeLag", where, age, "unknown beside an unread partition")

    def health(self) -> None:
        told: dict[str, Any] = {}
        for line in self.run.metrics:
            if not _key(line):
                told |= line
        where = "metrics of the cluster"
        if not told and self.run.error == KILLED:
            return
        self._equal("ReadErrors", where, told.get(contract.READ_ERRORS), _problems(self.run.log))
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
            self._equal(f"metric {name}", where, told.get(name), value)

    def success(self) -> None:
        told = any(contract.COLLECTOR_SUCCESS in line for line in self.run.metrics)
        read = sum(int(line.get(contract.GROUPS_READ, 0)) for line in self.run.metrics)
        self.verdict.checked["CollectorSuccess"] += 1
        if told and self.run.error is not None:
            self._wrong("CollectorSuccess", "the run", 1, f"it failed: {self.run.error}")
        if not told and self.run.error is None:
            self._wrong("CollectorSuccess", "the run", None, "it did not fail")
        if told and read == 0 and self.run.known_groups:
            known = len(self.run.known_groups)
            self._wrong("CollectorSuccess", "the run", 1, f"read none of {known} known groups")
        if self.run.calm and self.run.error is not None:
            self._wrong("recovery", "the run", self.run.error, "no fault for two runs")

    # What is not published.

    def presence(self) -> None:
        """Each committed partition has a row; without one, or unread, the reason is named."""
        begun, ended = self.run.began, self.run.ended
        for group, commits in self.truth.commits.items():
            for (name, partition), known in commits.items():
                topic = self.truth.living(name, begun, ended)
                if topic is None or not topic.exists(partition, begun, ended):
                    continue
                if None in possible(known, self.truth.as_of(begun, ended), ended):
                    continue
                self._present(group, name, partition)

    def _present(self, group: str, name: str, partition: int) -> None:
        where, row = f"{group} on {name}-{partition}", self.rows.get((group, name, partition))
        if row is None:
            why = _named(self.run.log, group, name, partition)
            self.verdict.missing[f"no row: {why or 'not named'}"] += 1
            if why is None or self.run.calm:
                self._wrong("missing", where, "no row", why or "and no reason is named")
        elif self.run.calm and not _read(row):
            self._wrong("recovery", where, row["unread_reason"], "no fault for two runs")

    # The ways to be right.

    def _topic(self, row: Row) -> TopicView | None:
        return self.truth.topics.get(row["topic_id"])

    def _asked(self, row: Row) -> int:
        return self._real(row["asked_at"])

    def _real(self, told: int) -> int:
        """A time of the collector's clock, ms, as the truth's."""
        return told - self.run.clock_ahead

    def _within(self, rule: str, where: str, told: Any, span: tuple[float, float]) -> None:
        self.verdict.checked[rule] += 1
        if told is None or not span[0] <= told <= span[1]:
            self._wrong(rule, where, told, f"between {span[0]} and {span[1]}")

    def _equal(self, rule: str, where: str, told: Any, expected: Any) -> None:
        self.verdict.checked[rule] += 1
        if not _same(told, expected):
            self._wrong(rule, where, told, expected)

    def _wrong(self, rule: str, where: str, told: Any, truth: Any) -> None:
        self.verdict.wrong.append(Finding(self.run.number, rule, where, str(told), str(truth)))


@dataclass(frozen=True, slots=True)
class _Counts:
    """A lag by three offsets, the rules of docs/metrics.md written once more."""

    position: int | None
    lag: int | None
    lost: int | None
    margin: int | None
    uncommitted: bool


def _counts(committed: int | None, start: int | None, end: int | None) -> _Counts:
    if committed is None:
        if start is None or end is None:
            return _Counts(None, None, None, None, uncommitted=False)
        empty = start >= end
        return _Counts(start if empty else None, 0 if empty else None, None, None, not empty)
    position = max(committed, start or 0)
    lag = None if end is None else max(0, end - position)
    if start is None:
        return _Counts(position, lag, None, None, uncommitted=False)
    ahead = committed - start
    return _Counts(position, lag, max(0, -ahead), max(0, ahead), uncommitted=False)


def _of_row(row: Row) -> _Counts:
    return _counts(row["committed_offset"], row["start_offset"], row["end_offset"])


@dataclass(frozen=True, slots=True)
class _Counted:
    """What a row adds to sums: for a window also what a broker told last."""

    lag: int | None
    missing: bool
    uncommitted: bool
    unknown: bool

    @classmethod
    def of(cls, row: Row, in_window: bool) -> _Counted:
        counts, read = _of_row(row), _read(row)
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


def _of(frames: Mapping[str, Sequence[Row]], name: str) -> Sequence[Row]:
    return frames.get(
        {
            "topic": contract.TOPIC_PARTITIONS,
            "group_partition": contract.GROUP_PARTITIONS,
            "group": contract.GROUPS,
        }[name],
        (),
    )


def _key(line: Mapping[str, Any]) -> tuple[str, ...]:
    """Group, topic and partition of a line of metrics, as far as it is about them."""
    names = (contract.DIMENSION_GROUP, contract.DIMENSION_TOPIC, contract.DIMENSION_PARTITION)
    return tuple(str(line[name]) for name in names if name in line)


def _most(row: Row) -> float:
    """The age that a row says is possible; the row itself is judged by the truth."""
    return (row["time_lag_seconds"] or 0.0) + (row["time_lag_error_seconds"] or 0.0)


def _meet(seconds: float, error: float, least: float, most: float) -> bool:
    return seconds - error <= most and seconds + error >= least


def _same(told: Any, expected: Any) -> bool:
    if isinstance(told, float) or isinstance(expected, float):
        both = told is not None and expected is not None
        return told == expected or (both and math.isclose(told, expected, abs_tol=_ROUNDED))
    return bool(told == expected)


def _problems(log: Sequence[str]) -> int:
    """How many problems the log names or counts."""
    named = sum(" not read (" in line for line in log)
    more = [line.split()[1] for line in log if line.endswith(" more not read")]
    return named + sum(map(int, more))


def _named(log: Sequence[str], group: str, topic: str, partition: int) -> str | None:
    """What the log says of why a row is not there; a broker may be the reason for any."""
    wanted = (
        f"group {group!r} not read",
        f"topic {topic!r} not read",
        f"partition {f'{topic}-{partition}'!r} not read",
        "broker ",
    )
    for line in log:
        if line.startswith(wanted) or line.endswith(" more not read"):
            return line.partition(": ")[0].split(" not read")[0].split(" '")[0]
    return None


def _some(values: Iterable[Any]) -> str:
    listed = sorted(map(str, values))
    more = len(listed) - _NAMED
    return ", ".join(listed[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def summary(findings: Iterable[Finding]) -> Iterator[tuple[str, int, Finding]]:
    """How often each rule was broken, with the first case."""
    by_rule: dict[str, list[Finding]] = defaultdict(list)
    for each in findings:
        by_rule[each.rule].append(each)
    for rule, found in sorted(by_rule.items(), key=lambda pair: -len(pair[1])):
        yield rule, len(found), found[0]
