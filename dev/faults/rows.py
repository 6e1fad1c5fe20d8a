# SPDX-License-Identifier: Apache-2.0
"""Rows: what brokers answered, what follows from it, and what is not there.

Truth: an end lies between the records acknowledged before the question and those sent before the
answer, a log start likewise by deletions, a commit is one that a coordinator may have answered
with in this time. Lags and sums follow from these exactly, whether or not they were read now. Each
partition with a commit has a row; one that is absent or unread is named, in itself or in the log.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from dev.faults.ages import Ages, risk_of
from dev.faults.judge import (
    NO_LOSS,
    RETENTION_MS,
    ROUNDED,
    ROUNDING_MS,
    Evidence,
    Judge,
    count_unnamed,
    group_of,
    is_read,
    name_some,
    names_of,
    partition_of,
    sum_known,
    total_lag,
)
from dev.faults.run import Counts, Earlier, Names, Row
from dev.faults.statuses import Statuses
from dev.faults.truth import LogView, TopicView
from kafka_lag import contract

# A broker is back at work some runs after the fault on it is over.
_RECOVERS_MS = 10_000

_T, _P, _G = contract.TOPIC_PARTITIONS, contract.GROUP_PARTITIONS, contract.GROUPS


class Rows(Judge):
    """The three datasets of a run."""

    def __init__(self, seen: Evidence) -> None:
        super().__init__(seen)
        self.ages, self.statuses = Ages(seen), Statuses(seen)

    def keys(self) -> None:
        """Rows that stand there twice, or are about nobody."""
        for dataset, name in ((_T, partition_of), (_P, names_of), (_G, group_of)):
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
        begin, end = self.run.began - ROUNDING_MS, self.run.ended + ROUNDING_MS
        for column in ("asked_at", "read_at"):
            if column in row:
                self._within(column, where, self._real(row[column]), (begin, end))

    def topics(self) -> None:
        for (name, partition), row in self.topic_rows.items():
            where = f"{name}-{partition}"
            if not is_read(row):
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
            ends = log.ends(since, read)
            if topic.deleted_sent <= read and self._is_made_anew(topic, partition, read):
                # Ends are asked for by name: the answer may be of the topic made anew.
                ends = 0, ends[1]
            self._within("end_offset", where, row["end_offset"], ends)
            since = self.truth.as_of(self.run.began, read, row["leader"])
            self._within("start_offset", where, row["start_offset"], log.starts(since, read))
            if row["retention_ms"] is not None:
                self._true("retention_ms", where, row["retention_ms"], RETENTION_MS)
            elif self.run.calm:
                self._wrong("recovery", where, "no retention_ms", "no fault for two runs")

    def _is_made_anew(self, topic: TopicView, partition: int, before: int) -> bool:
        """Whether another topic of this name may have been made after it, and before this time."""
        same = (each for each in self.truth.topics.values() if each.name == topic.name)
        made = (each.sent[partition] for each in same if partition < len(each.sent))
        return any(topic.sent[partition] < sent <= before for sent in made)

    def partitions(self) -> None:
        for (group, name, partition), row in self.rows.items():
            where = f"{group} on {name}-{partition}"
            self._uncounted(where, row)
            if is_read(row):
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
        if source is None or not is_read(source):
            self._wrong("row without its partition", where, "read", "its topic row was not read")
            return
        self._when_read(where, row)
        self._equal("end of row", where, row["end_offset"], source["end_offset"])
        self._equal("start of row", where, row["start_offset"], source["start_offset"])
        self._equal("topic id of row", where, row["topic_id"], source["topic_id"])
        self._committed(where, group, row)
        counts = Counts.of(row)
        self._equal("lag", where, row["lag"], counts.lag)
        self._equal("records_lost", where, row["records_lost"], self.ages.lost(row))
        self._equal("retention_margin", where, row["retention_margin"], counts.margin)
        self._lag(where, group, row, source)
        for column in ("last_lag", "last_time_lag_seconds"):
            self._equal(f"{column} of a row that was read", where, row[column], None)
        topic = self._topic(source)
        if topic is not None and at[1] < len(topic.logs):
            self.ages.age(where, row, topic.logs[at[1]], counts.position)
            self.ages.bracket(where, row, topic.logs[at[1]], counts.position)
        self.statuses.status(where, row)
        self.ages.loss(where, row, source)

    def _committed(self, where: str, group: str, row: Row) -> None:
        expected = self._possible(group, row)
        self.verdict.checked["committed_offset"] += 1
        if row["committed_offset"] not in expected:
            read = self._real(row["read_at"])
            span = f"one of {name_some(expected)} between {self.run.began} and {read}"
            self._wrong("committed_offset", where, row["committed_offset"], span)

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
        self._equal("carried records_lost", where, row["records_lost"], self.ages.lost(row))
        self._equal("carried retention_margin", where, row["retention_margin"], counts.margin)
        self._true("carried risk", where, row["retention_risk"], risk_of(row, counts.lag))
        self.ages.bracket(where, row, log, counts.position)

    def _runs_that_read(self, read_at: int) -> list[Earlier]:
        """The runs before that were on at this time of their own clock."""
        limit = int(self.run.limit * 1_000)
        found = [
            each
            for each in self.history.runs
            if each.began - ROUNDING_MS <= read_at - each.clock_ahead <= each.ended + ROUNDING_MS
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
            wrong.append(("committed_offset", row["committed_offset"], f"one of {name_some(held)}"))
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
            oldest = self.ages.carried_age(run, row, log, counts)[1]
            least = RETENTION_MS / 1_000 - oldest if counts.lag else NO_LOSS
            if not least - ROUNDED <= left <= NO_LOSS:
                wrong.append(("seconds_until_loss", left, f"from {least:.3f} to {NO_LOSS}"))
        seconds = row["last_time_lag_seconds"]
        if seconds is not None and counts.position is not None:
            judged.append("last_time_lag_seconds")
            least, most = self.ages.carried_age(run, row, log, counts)
            if not least <= seconds <= most:
                text = f"between {least:.3f} and {most:.3f} at {row['read_at']}"
                wrong.append(("last_time_lag_seconds", seconds, text))
        return judged, wrong

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
            self._wrong("gone", group, "gone", f"it has commits on {name_some(surely)}")

    def _group(self, group: str, row: Row, rows: list[Row]) -> None:
        counted = [self._counted(each) for each in rows]
        total = total_lag(counted)
        self._equal("lag of group", group, row["lag"], total)
        largest = max((c.lag for c in counted if c.lag is not None), default=None)
        self._equal("max_lag", group, row["max_lag"], None if total is None else largest)
        lost = [self.ages.lost(each) for each in rows]
        known = [each for each in lost if each is not None]
        self._equal("records_lost of group", group, row["records_lost"], sum_known(known))
        self._equal("partitions", group, row["partitions"], len(rows))
        self._equal("topics", group, row["topics"], len({each["topic"] for each in rows}))
        unknown = sum(c.unknown for c in counted)
        apart = sum(c.uncommitted for c in counted)
        self._equal("partitions_unknown", group, row["partitions_unknown"], unknown)
        self._equal("partitions_uncommitted", group, row["partitions_uncommitted"], apart)
        age = row["time_lag_seconds"], row["time_lag_error_seconds"]
        self.ages.oldest("time lag of group", group, age[0], rows)
        self.ages.group_error(group, age, rows)
        self.ages.group_age(group, age, rows)
        self.statuses.group_status(group, row, rows, counted)
        seconds = row["seconds_until_loss"]
        self._equal("seconds_until_loss of group", group, seconds, self.ages.group_loss(rows))

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
        more = count_unnamed(self.run.log)
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
        elif self.run.calm and not is_read(row):
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
