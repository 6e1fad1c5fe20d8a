# SPDX-License-Identifier: Apache-2.0
"""Two other sets of rules on the same runs, by what their documentation and source say.

Both are asked for groups that are in trouble alone, and what each says is taken for the cause that
it comes nearest to. What names a symptom alone ("lag is growing") is no cause.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dev.causes.score import Named, Namer, find_troubled
from kafka_lag import contract
from kafka_lag.lag.model import Snapshot

Row = Mapping[str, Any]

# Runs over which AWS's tree is taken to see that lag rises, or a state that alternates.
_LATELY = 5
# klag at fc080c7: mcp/Diagnoser, hotpartition/HotPartitionConfig, metrics/velocity.
_LOSS_PERCENT, _WARN_PERCENT = 100.0, 80.0
_TRANSITIONS, _MOST_TRANSITIONS = 3, 10
_STALE_SECONDS = 300
_SIGMAS, _FEWEST_PARTITIONS = 2.0, 3
_REBALANCING = ("PreparingRebalance", "CompletingRebalance")


def _table(snapshot: Snapshot) -> dict[str, tuple[Row, list[Row]]]:
    """Each group's row and those of its partitions."""
    groups, rows, topics = snapshot.groups, snapshot.group_partitions, snapshot.topic_partitions
    logs = {(row["topic"], row["partition_id"]): row for row in _rows(topics)}
    found: dict[str, tuple[Row, list[Row]]] = {
        row["consumer_group"]: (row, []) for row in _rows(groups)
    }
    for row in _rows(rows):
        log = logs[row["topic"], row["partition_id"]]
        added = {name: log[name] for name in ("replicas", "in_sync_replicas", "produce_rate")}
        found[row["consumer_group"]][1].append({**row, **added})
    return found


def _rows(frame: Any) -> list[Row]:
    columns = {name: column.to_list() for name, column in frame.columns.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def name_by_tree() -> Namer:
    """AWS's tree for lag on MSK: the pattern of the lag first, then brokers, keys or clients.

    It wants brokers' metrics, which no run has: where all groups lag they are taken to be ill.
    """
    past: deque[Mapping[str, tuple[Row, list[Row]]]] = deque(maxlen=_LATELY + 1)

    def name(snapshot: Snapshot) -> Named:
        past.append(_table(snapshot))
        return {group: _walk_tree(group, past) for group in find_troubled(snapshot)}

    return name


def _walk_tree(group: str, past: Sequence[Mapping[str, tuple[Row, list[Row]]]]) -> str:
    row, rows = past[-1][group]
    rising = [each for each in rows if _is_rising(each, group, past)]
    groups = [
        name for name in past[-1] if any(_is_rising(e, name, past) for e in past[-1][name][1])
    ]
    states = {table[group][0]["group_state"] for table in past if group in table}
    under = [r for r in rising if len(r["in_sync_replicas"] or ()) < len(r["replicas"] or ())]
    if states & set(_REBALANCING) and len(states) > 1:
        return contract.REBALANCES
    if rising and len(under) == len(rising):
        return contract.UNAVAILABLE
    if rising and len(rising) == len(rows) and len(groups) == len(past[-1]) and len(groups) > 1:
        return contract.SLOW_BROKER
    if rising and len(rising) < len(rows):
        return _blame_keys_or_member(rising, rows)
    if row["members"] is not None and row["members"] < len(rows):
        return contract.TOO_FEW_MEMBERS
    return contract.CAPACITY_FELL if rising else contract.UNEXPLAINED


def _blame_keys_or_member(rising: Sequence[Row], rows: Sequence[Row]) -> str:
    """Hot keys, unless all these partitions have one consumer, which has others as well or more."""
    owners = {each["member_id"] for each in rising}
    rates = [each["produce_rate"] or 0.0 for each in rows]
    hot = max(each["produce_rate"] or 0.0 for each in rising) > 2 * float(np.median(rates))
    if len(owners) == 1 and None not in owners and len(rising) > 1 and not hot:
        return contract.SLOW_MEMBER
    return contract.HOT_PARTITION


def _is_rising(row: Row, group: str, past: Sequence[Mapping[str, tuple[Row, list[Row]]]]) -> bool:
    """Whether there is more to read than some runs ago, by more than a minute's records."""
    if group not in past[0] or row["lag"] is None:
        return False
    for each in past[0][group][1]:
        if (each["topic"], each["partition_id"]) == (row["topic"], row["partition_id"]):
            return bool(row["lag"] > (each["lag"] or 0) + 60 * (row["produce_rate"] or 0.0) * 0.5)
    return False


def name_by_klag() -> Namer:
    """klag's rules for one group, by their limits; of its findings the first of the worst."""
    states: dict[str, deque[str]] = {}
    sums: dict[tuple[str, str], tuple[int, int]] = {}

    def name(snapshot: Snapshot) -> Named:
        troubled, named = find_troubled(snapshot), {}
        for group, (row, rows) in _table(snapshot).items():
            seen = states.setdefault(group, deque(maxlen=_MOST_TRANSITIONS + 1))
            if row["group_state"] and (not seen or seen[-1] != row["group_state"]):
                seen.append(row["group_state"])
            stale = _find_staleness(group, rows, snapshot.taken_at, sums)
            if group in troubled:
                named[group] = _diagnose(row, rows, len(seen) - 1, stale)
        return named

    return name


def _find_staleness(
    group: str, rows: Sequence[Row], at: int, sums: dict[tuple[str, str], tuple[int, int]]
) -> float:
    """Seconds since the sum of a topic's commits last changed, the longest."""
    longest = 0.0
    for topic in {row["topic"] for row in rows}:
        total = sum(row["committed_offset"] or 0 for row in rows if row["topic"] == topic)
        last = sums.get((group, topic))
        if last is None or last[0] != total:
            sums[group, topic] = last = (total, at)
        longest = max(longest, (at - last[1]) / 1_000)
    return longest


def _diagnose(row: Row, rows: Sequence[Row], transitions: int, stale: float) -> str:
    """Findings in its order, with 2 critical, 1 warning, 0 information."""
    findings: list[tuple[int, str]] = []
    state, lag = row["group_state"], sum(each["lag"] or 0 for each in rows)
    if state == "Dead":
        findings.append((2, contract.STOPPED))
    elif state == "Empty":
        findings.append((1, contract.STOPPED))
    elif state in _REBALANCING:
        findings.append((0, contract.REBALANCES))
    if transitions >= _TRANSITIONS:
        findings.append((1, contract.REBALANCES))
    percent = max((_find_retention_percent(each) for each in rows), default=0.0)
    if percent >= _LOSS_PERCENT:
        findings.append((2, contract.RETENTION_RACE))
    elif percent >= _WARN_PERCENT:
        findings.append((1, contract.RETENTION_RACE))
    # "Lag growing", a warning that stands before the next two, is a symptom.
    if _is_hot(rows):
        findings.append((1, contract.HOT_PARTITION))
    if lag > 0 and stale >= _STALE_SECONDS:
        findings.append((1, contract.STUCK_RECORD))
    if not findings:
        return contract.UNEXPLAINED
    worst = max(severity for severity, _ in findings)
    return next(cause for severity, cause in findings if severity == worst)


def _find_retention_percent(row: Row) -> float:
    start, end, committed = row["start_offset"], row["end_offset"], row["committed_offset"]
    if None in (start, end, committed) or end <= start:
        return 0.0
    if committed < start:
        return 100.0
    return float(100.0 * max(end - committed, 0) / (end - start))


def _is_hot(rows: Sequence[Row]) -> bool:
    for topic in {row["topic"] for row in rows}:
        lags = np.array([row["lag"] or 0 for row in rows if row["topic"] == topic], float)
        if len(lags) >= _FEWEST_PARTITIONS and (lags > lags.mean() + _SIGMAS * lags.std()).any():
            return True
    return False
