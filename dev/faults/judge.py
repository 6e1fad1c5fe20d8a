# SPDX-License-Identifier: Apache-2.0
"""Judges one run by what the clients know: acknowledged records, commits, deletions.

The truth is an interval, because things happen between a request and its answer. A published value
is wrong if it lies outside that interval, even when widened by the stated error. What a rule of the
collector adds (which status, how exact an age is) is not judged, with two exceptions: a commit that
moved within the window is not STOP or STALL, and in a calm run nothing is unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any

from dev.faults.ages import ROUNDING_MS, Ages
from dev.faults.run import Earlier, History, Row, Run, Verdict
from dev.faults.truth import LogView, TopicView, TruthView, possible
from kafka_lag import contract
from kafka_lag.wording.formatting import format_list

_T, _P, _G = contract.TOPIC_PARTITIONS, contract.GROUP_PARTITIONS, contract.GROUPS
_STANDING = (contract.STOP, contract.STALL)
# A broker is back at work at most this long after the fault on it is over.
_RECOVERS_MS = 10_000
_NAMED = 5


def judge_run(
    truth: TruthView, run: Run, history: History | None = None, margin: float = 1.0
) -> Verdict:
    """Returns the verdict on a run; it is late `margin` seconds after its deadline."""
    judge = _Judge(truth, run, history or History())
    judge.verdict.late = run.seconds > run.limit + margin
    if run.leaked:
        judge.note("secret", "the run", "a password in what it published", "none")
    if run.frames:
        judge.topics()
        judge.rows()
        judge.groups()
        judge.presence()
    judge.metrics()
    if run.calm and run.error is not None:
        judge.note("recovery", "the run", run.error, "no fault for two runs")
    return judge.verdict


class _Judge(Ages):
    """The rows and metrics of one run beside the truth."""

    def __init__(self, truth: TruthView, run: Run, history: History) -> None:
        super().__init__(truth, run, history)
        self._topic_rows = {(r["topic"], r["partition_id"]): r for r in run.rows_of(_T)}
        self._by_group: dict[str, list[Row]] = defaultdict(list)
        for row in run.rows_of(_P):
            self._by_group[row["consumer_group"]].append(row)

    def topics(self) -> None:
        """Holds the ends and starts of logs to acknowledged records and deletions."""
        for (name, partition), row in self._topic_rows.items():
            where = f"{name}-{partition}"
            if not is_read(row):
                self.verdict.missing[f"topic row: {row['unread_reason']}"] += 1
                continue
            topic = self.truth.topics.get(row["topic_id"])
            if topic is None or topic.name != name or partition >= len(topic.logs):
                self.note("topic id", where, row["topic_id"], "no such partition")
                continue
            ends, starts = self._offsets(row, topic)
            self.within("end_offset", where, row["end_offset"], ends)
            self.within("start_offset", where, row["start_offset"], starts)
            if row["retention_ms"] is None and self.run.calm:
                self.note("recovery", where, "no retention_ms", "no fault for two runs")

    def _offsets(self, row: Row, topic: TopicView) -> tuple[tuple[int, int], tuple[int, int]]:
        """Returns the ends and the starts that a read topic row may have."""
        log, partition = topic.logs[row["partition_id"]], row["partition_id"]
        begin, read = self.real(row["asked_at"]), self.real(row["read_at"])
        ends = log.ends(self.truth.as_of(begin, read, row["leader"]), read)
        since = self.truth.as_of(self.run.began, read, row["leader"])
        made = (
            each.sent[partition]
            for each in self.truth.topics.values()
            if each.name == topic.name and partition < len(each.sent)
        )
        if topic.deleted_sent <= read and any(topic.sent[partition] < m <= read for m in made):
            # Ends are asked for by name: the answer may be of the recreated topic.
            ends = 0, ends[1]
        return ends, log.starts(since, read)

    def rows(self) -> None:
        """Holds commits, lags, ages, losses and statuses of partitions to the truth."""
        for row in self.run.rows_of(_P):
            where = f"{row['consumer_group']} on {row['topic']}-{row['partition_id']}"
            topic = self.truth.topics.get(row["topic_id"])
            known = topic is not None and row["partition_id"] < len(topic.logs)
            if not is_read(row):
                self.verdict.missing[f"row: {row['unread_reason']}"] += 1
                for name in ("lag", "time_lag_seconds", "status"):
                    if row[name] is not None:
                        self.note(f"unread {name}", where, row[name], None)
                if row["read_at"] is None:
                    continue
            if topic is None or not known:
                self.note("topic id", where, row["topic_id"], "no such partition")
            elif is_read(row):
                self._read_row(where, row, topic)
            else:
                self._carried_row(where, row, topic.logs[row["partition_id"]])

    def _read_row(self, where: str, row: Row, topic: TopicView) -> None:
        source = self._topic_rows.get((row["topic"], row["partition_id"]))
        if source is None or not is_read(source):
            self.note("row without its partition", where, "read", "its topic row was not read")
            return
        log = topic.logs[row["partition_id"]]
        held = self._held(row, self.run.began, self.real(row["read_at"]))
        self._one_of("committed_offset", where, row["committed_offset"], held)
        lags = find_lag(held, *self._offsets(source, topic))
        if row["lag"] is not None and lags is not None:
            self.within("lag", where, row["lag"], lags)
        elif row["lag"] is None and row["committed_offset"] is not None:
            self.note("lag", where, None, "the commit and the end were read")
        self.age(where, row, log)
        self.loss(where, row, log)
        self._status(where, row, log)

    def _carried_row(self, where: str, row: Row, log: LogView) -> None:
        """Holds the values of an unread row to the truth of the run that read it."""
        runs = [
            each
            for each in self.history.runs
            if each.began - ROUNDING_MS
            <= row["read_at"] - each.clock_ahead
            <= each.ended + ROUNDING_MS
        ]
        oldest = min((each.began for each in self.history.runs), default=self.run.began)
        if not runs and row["read_at"] > oldest:
            self.note("read_at of an unread row", where, row["read_at"], "no run was on then")
        # By clocks that jumped several runs may have read it.
        wrong = [list(self._carried_from(each, row, log)) for each in runs]
        self.verdict.checked["carried row"] += bool(runs)
        for rule, published, truth in min(wrong, key=len, default=()):
            self.note(f"carried {rule}", where, published, truth)

    def _carried_from(
        self, run: Earlier, row: Row, log: LogView
    ) -> Iterator[tuple[str, Any, object]]:
        held = self._held(row, run.began, row["read_at"] - run.clock_ahead)
        if row["committed_offset"] not in held:
            yield "committed_offset", row["committed_offset"], f"one of {_list(held)}"
        ends = log.ends(self.truth.as_of(run.began, run.ended), run.ended)
        end = row["end_offset"]
        if end is not None and not ends[0] <= end <= ends[1]:
            yield "end_offset", end, ends
        seconds, span = row["last_time_lag_seconds"], self.carried_age(run, row, log)
        if seconds is not None and not span[0] <= seconds <= span[1]:
            yield "last_time_lag_seconds", seconds, span

    def _held(self, row: Row, begin: int, end: int) -> set[int | None]:
        """Returns the offsets that a coordinator may have answered with in this time."""
        at = row["topic"], row["partition_id"]
        return self._commits(row["consumer_group"], at, begin, end)

    def _commits(self, group: str, at: tuple[str, int], begin: int, end: int) -> set[int | None]:
        commits = self.truth.commits.get(group, {}).get(at, ())
        return possible(commits, self.truth.commits_as_of(group, begin, end), end)

    def _status(self, where: str, row: Row, log: LogView) -> None:
        status, commit = row["status"], row["committed_offset"]
        beyond = commit is not None and commit > row["end_offset"]
        least, most = self.lost(row, log)
        self.verdict.checked["status"] += 1
        if least and status != contract.ERR:
            self.note("status", where, status, f"{least} records are lost")
        elif row["status_reason"] == contract.RECORDS_LOST and not most:
            self.note("status", where, row["status_reason"], "no record is lost")
        elif row["lag"] is None and status is not None:
            self.note("status", where, status, "there is no lag")
        elif row["lag"] == 0 and not beyond and not most and status != contract.OK:
            self.note("status", where, status, "nothing is unread")
        elif status in _STANDING:
            since = self._first_committed(row)
            if since is not None and not self._may_have_stood(since):
                self.note("status", where, status, f"the commit moved at {since}")
            elif not self.may_be_older(row, log, self.run.window_ms / 1_000):
                self.note("status", where, status, "the next record is younger than the window")

    def _first_committed(self, row: Row) -> int | None:
        """Returns when the group first committed this offset after another one, ms; else null."""
        at = row["topic"], row["partition_id"]
        commits = self.truth.commits.get(row["consumer_group"], {}).get(at, ())
        same = [each.sent for each in commits if each.offset == row["committed_offset"]]
        before = any(each.sent < same[0] for each in commits) if same else False
        return same[0] if before else None

    def _may_have_stood(self, since: int) -> bool:
        """Returns true if a run scheduled more than a window ago may have seen a commit of this
        time, ms. Such a run may have begun late.
        """
        limit = self.run.taken_at - self.run.window_ms
        return any(each.taken_at < limit and each.ended >= since for each in self.history.runs)

    def groups(self) -> None:
        """Holds groups that are said to be gone, or that never were, to their commits."""
        for row in self.run.rows_of(_G):
            group = row["consumer_group"]
            if group not in self.truth.commits:
                self.note("row", group, "a row", "no such group ever committed")
            elif row["status_reason"] == contract.GONE:
                self._gone(group)
            elif row["unread_reason"] is not None and not self._by_group[group]:
                self.verdict.missing[f"group: {row['unread_reason']}"] += 1

    def _gone(self, group: str) -> None:
        begin, end = self.run.began, self.run.ended
        commits = self.truth.commits.get(group, {})
        surely = [at for at in commits if None not in self._commits(group, at, begin, end)]
        self.verdict.checked["gone"] += 1
        if surely:
            self.note("gone", group, "gone", f"it has commits on {_list(surely)}")

    def presence(self) -> None:
        """Finds committed partitions without a row, or unread, for which no reason is named."""
        begin, end = self.run.began, self.run.ended
        unnamed: list[tuple[str, str, int]] = []
        for group, commits in self.truth.commits.items():
            rows = {(row["topic"], row["partition_id"]): row for row in self._by_group[group]}
            for at in commits:
                topic = self.truth.living(at[0], begin, end)
                if topic is None or not topic.exists(at[1], begin, end):
                    continue
                if None in self._commits(group, at, begin, end):
                    continue
                where, row = f"{group} on {at[0]}-{at[1]}", rows.get(at)
                if row is None:
                    why = self._reason(group, *at)
                    self.verdict.missing[f"no row: {why or 'not named'}"] += 1
                    if self.run.calm:
                        self.note("missing", where, "no row", why or "and no reason is named")
                    elif why is None:
                        unnamed.append((group, *at))
                elif self.run.calm and not is_read(row):
                    self.note("recovery", where, row["unread_reason"], "no fault for two runs")
        # Each problem that the log only counts is one of a group or of a partition.
        more = sum(int(n.split()[1]) for n in self.run.log if n.endswith(" more not read"))
        groups, partitions = {g for g, _, _ in unnamed}, {(t, p) for _, t, p in unnamed}
        if min(len(groups), len(partitions)) > more:
            for group, name, partition in unnamed:
                where = f"{group} on {name}-{partition}"
                self.note("missing", where, "no row", f"not named, and {more} more not read")

    def _reason(self, group: str, topic: str, partition: int) -> str | None:
        """Returns what the log blames for a missing row: a name, or a broker that it needs."""
        wanted = (
            f"group {group!r} not read",
            f"topic {topic!r} not read",
            f"partition {f'{topic}-{partition}'!r} not read",
        )
        for line in self.run.log:
            if line.startswith(wanted):
                return line.partition(" ")[0]
            if line.startswith("broker ") and self._needs(topic, partition, line.split("'")[1]):
                return "broker"
        return None

    def _needs(self, topic: str, partition: int, broker: str) -> bool:
        """Returns true if the broker led the partition or was under a fault, since it may then
        have coordinated the group.
        """
        begin, at = self.run.began - _RECOVERS_MS, (topic, partition)
        if not broker.isdigit():
            nodes = {each.broker for each in self.truth.troubles}
            return any(self.truth.troubled(node, begin, self.run.ended) for node in nodes)
        leaders = [each.leaders[at] for each in self.history.runs[-1:] if at in each.leaders]
        leaders += [self._topic_rows[at]["leader"]] if at in self._topic_rows else []
        troubled = self.truth.troubled(int(broker), begin, self.run.ended)
        return troubled or int(broker) in leaders

    def metrics(self) -> None:
        """Holds the published lag of groups to the truth if no snapshot was stored."""
        whole = not any(" not read" in line for line in self.run.log)
        for key, values in self.sets.items():
            lag = values.get(contract.OFFSET_LAG)
            if len(key) == 1 and lag is not None and not self.run.frames:
                span = self._lag_alone(key[0], whole=whole)
                self.within("metric OffsetLag", f"metrics of {key[0]}", lag, span)

    def _lag_alone(self, group: str, *, whole: bool) -> tuple[int, int]:
        """Returns the least and greatest lag of a group that the truth allows for this run.

        Partitions that were not read count as they were, for a window. A run that could not load
        what was known before does not miss topics that are hidden from it.
        """
        begin, end = self.run.began, self.run.ended
        begin -= 0 if whole else self.run.window_ms + int(self.run.limit * 1_000)
        least = most = 0
        for name, partition in self.truth.commits.get(group, {}):
            held = self._commits(group, (name, partition), begin, end)
            lags = []
            for topic in self.truth.topics.values():
                there = topic.name == name and partition < len(topic.logs)
                if there and topic.sent[partition] <= end and topic.deleted_acked >= begin:
                    log, since = topic.logs[partition], self.truth.as_of(begin, end)
                    offsets = held - {None} or {0}
                    lags.append(find_lag(offsets, log.ends(since, end), log.starts(since, end)))
            known = [each for each in lags if each is not None]
            hidden = self.run.error is not None and (group, name) not in self.sets
            surely = whole and not hidden and None not in held and len(known) == 1
            least += known[0][0] if surely else 0
            most += max((each[1] for each in known), default=0)
        return least, most

    def _one_of(self, rule: str, where: str, value: Any, expected: set[int | None]) -> None:
        self.verdict.checked[rule] += 1
        if value not in expected:
            self.note(rule, where, value, f"one of {_list(expected)}")


def find_lag(
    commits: AbstractSet[int | None], ends: tuple[int, int], starts: tuple[int, int]
) -> tuple[int, int] | None:
    """Returns the least and greatest lag between these commits, ends and log starts; null if there
    may be no commit.
    """
    offsets = [each for each in commits if each is not None]
    if len(offsets) < len(commits) or not offsets:
        return None
    least = ends[0] - max(*offsets, starts[1])
    return max(0, least), max(0, ends[1] - max(min(offsets), starts[0]))


def is_read(row: Row) -> bool:
    """Returns true if the run read the row."""
    return row["unread_reason"] is None


def _list(values: Any) -> str:
    return format_list(sorted(map(str, values)), _NAMED)
