# SPDX-License-Identifier: Apache-2.0
"""Lines of metrics: each is about a row, once, and says what the row says.

Truth: of a run with a snapshot its rows, which other judges hold to the truth; the sums of a topic
follow from them. A run without one has the truth alone: lags, ages and losses lie within what
commits, ends and deletions allow in its time. Success is told by a run that did not fail.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dev.faults.ages import Ages
from dev.faults.judge import (
    NO_LOSS,
    ROUNDED,
    Evidence,
    Judge,
    count_problems,
    is_read,
    total_lag,
)
from dev.faults.run import KILLED, Key, Row, malformed
from dev.faults.truth import LogView
from kafka_lag import contract

# Names in the key of a line about one partition.
_PARTITION_LEVEL = 3
# Of so many markers and aborted records at most a rest is learnt.
_LONGEST_REST = 10
# Look-ups end at six tenths of a run's time; those at a broker that is slow may after two seconds
# of the five that the campaign gives to a run.
_LOOK_UPS_END = 0.4


class Metrics(Judge):
    """All lines of a run."""

    def __init__(self, seen: Evidence) -> None:
        super().__init__(seen)
        self.ages = Ages(seen)

    def lines(self) -> None:
        """Lines of metrics that cannot be."""
        for where, published, truth in malformed(self.run.metrics, self.run.taken_at):
            self._wrong("line of metrics", where, published, truth)

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
        total = total_lag(counted)
        largest = max((c.lag for c in counted if c.lag is not None), default=None)
        wanted = {
            contract.OFFSET_LAG: total,
            contract.MAX_OFFSET_LAG: None if total is None else largest,
        }
        self._set(where, (group, topic), wanted)
        age = self.sets.get((group, topic), {}).get(contract.ESTIMATED_TIME_LAG)
        self.ages.oldest("metric EstimatedTimeLag", where, age, rows)

    def health(self) -> None:
        published = self.sets.get((), {})
        where = "metrics of the cluster"
        if not published and self.run.error == KILLED:
            return
        errors = published.get(contract.READ_ERRORS)
        self._equal("ReadErrors", where, errors, count_problems(self.run.log))
        took = published.get(contract.COLLECTOR_DURATION)
        self._within("CollectorDuration", where, took, (0, self.run.seconds + ROUNDED))
        if not self.run.frames:
            return
        groups = [r for r in self.group_rows.values() if r["status_reason"] != contract.GONE]
        read = [r for r in groups if r["read_at"] is not None and r["unread_reason"] is None]
        clamped = [
            row
            for row in self.rows.values()
            if is_read(row) and (row["committed_offset"] or 0) > (row["end_offset"] or 0)
        ]
        wanted = {
            contract.GROUPS_READ: len(read),
            contract.PARTITIONS_UNKNOWN: sum(r["partitions_unknown"] or 0 for r in groups),
            contract.PARTITIONS_UNCOMMITTED: sum(r["partitions_uncommitted"] or 0 for r in groups),
            contract.PARTITIONS_UNDATED: sum(map(_is_undated, self.rows.values())),
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

    def metrics_alone(self) -> None:
        """Lags, ages and losses by the truth alone."""
        whole = not count_problems(self.run.log)
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
        where = f"metrics of {' on '.join(key)}, without a snapshot, in {self.run.seconds:.2f} s"
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
            if seconds != NO_LOSS and not (lost and seconds == 0):
                self._wrong("metric TimeToDataLoss", where, seconds, f"{NO_LOSS}, lost: {lost}")

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
                if span and not rest and self._may_be_hidden(group, at[0]):
                    span = replace(span, lag=(0, span.lag[1]), age=(0.0, span.age[1]))
                found += [span] if span else []
        return found

    def _may_be_hidden(self, group: str, topic: str) -> bool:
        """Whether the run may know nothing of the topic: brokers leave out, without an error, what
        an ACL hides, and a run that could not load what was known before misses nothing.
        """
        return self.run.error is not None and (group, topic) not in self.sets

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
        oldest = self.ages.true_age(log, low, self.run.began, self.run.ended)[1]
        # Rows alone would say who rests, and below how many markers.
        next_unread = high + _LONGEST_REST if log.has_markers else high
        youngest = (
            self.ages.true_age(log, next_unread, self.run.began, self.run.ended)[0]
            if least
            else 0.0
        )
        settled = not count_problems(self.run.log) and self._looked_up_in_time()
        limit = self.ages.error_limit(at, log, low, (youngest, oldest), settled=settled)
        less, more = self.ages.shift(oldest)
        return max(0.0, youngest - limit + less), oldest + limit + more

    def _looked_up_in_time(self) -> bool:
        """Whether look-ups surely had all the time they need. A run that had to end them early
        publishes an age whose error only a snapshot would say.
        """
        return self.run.seconds < _LOOK_UPS_END * self.run.limit


@dataclass(frozen=True, slots=True)
class _Span:
    """Least and greatest lag and age, s, of a partition; `lost`: perhaps with records lost.

    `surely`: it was there, with a commit, for all of the run.
    """

    lag: tuple[int, int]
    age: tuple[float, float]
    lost: bool = False
    surely: bool = False


def _is_undated(row: Row) -> bool:
    """Whether the row is OK although it lags and no upper bound of its age is known."""
    is_ok = row["status"] == contract.OK and bool(row["lag"])
    return bool(is_ok and row["time_lag_error_seconds"] is None)


def _rebalancing(state: str | None) -> int | None:
    return None if state is None else int(state in contract.REBALANCING_STATES)
