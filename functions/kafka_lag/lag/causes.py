# SPDX-License-Identifier: Apache-2.0
"""The cause of each group in WARN or ERR, with the numbers that decide it.

A cause is named if the figures leave no other, else it is `unexplained`: a wrong cause costs more
than none. The figures are compared with those of the last runs in which the group kept up, with its
other partitions and members in this run, and with other groups that read from the same broker.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.cause_case import BAD, Cause, Evidence, Finding
from kafka_lag.lag.cause_proofs import REBALANCING, RESET, UNOWNED, is_under_replicated
from kafka_lag.lag.cause_rules import find_cause, weigh
from kafka_lag.lag.cause_survey import (
    Partitions,
    Survey,
    find_leaderless,
    list_cases,
    survey_partitions,
)
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.frame import Columns, Frame, locate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.kept_up import add_kept_up
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.previous_rows import PreviousRows, seconds_between
from kafka_lag.lag.rollup import Counts, counts_of
from kafka_lag.lag.run import Run
from kafka_lag.lag.sets import Sets

# After this many windows without a reading, causes are named only from the next run on.
_UNSEEN_WINDOWS = 1.0
# Names in evidence are cut to this length; Kafka allows 32,000 bytes.
_LONGEST_NAME = 200

# Causes that statuses prove; they replace one that rates made likely.
_PROVEN = frozenset(
    {
        contract.STOPPED,
        contract.STUCK_RECORD,
        contract.REBALANCES,
        contract.SLOW_BROKER,
        contract.UNAVAILABLE,
        contract.OPEN_TRANSACTION,
        contract.OFFSETS_RESET,
    }
)


def add_causes(
    groups: Frame,
    old: Frame,
    rows: Frame,
    topics: Frame,
    counts: Counts,
    previous: PreviousRows,
    run: Run,
) -> Frame:
    """Returns the groups with `cause`, `cause_since` (ms) and `cause_evidence`, and the columns of
    `add_kept_up`.

    `old`: each group's previous row; `topics`: each row's partition; `previous`: the rows'
    previous rows. A cause is known for groups in WARN or ERR, for groups with a broken SLA, for
    unusual ones, for those with a partition that has no leader for a second run, and for those that
    an open transaction holds up.
    It stays until the group is OK, unless another one is proven, so its evidence is of the run that
    named it. It is kept in a run that does not know the status, or that comes long after the
    previous one.
    """
    at_group = locate(rows, groups, contract.GROUP_KEY)
    groups = add_kept_up(groups, old, rows, at_group, run)
    status, unusual = groups.strings("status"), groups.numbers("unusual")
    leaderless = find_leaderless(rows, run)
    without = Sets(at_group, len(groups)).have(leaderless)
    held_up = groups.numbers("held_up_records").known
    broken = groups.numbers(contract.HELD_SLA_BROKEN).known
    wanted = status.is_in(BAD) | (unusual == 1) | without | held_up | broken
    away = _UNSEEN_WINDOWS * run.window_seconds
    unseen = wanted & (seconds_between(groups, old) >= away)
    wanted &= ~unseen
    kept = ~status.known & ~wanted & groups.strings("last_status").is_in(BAD)
    kept |= unseen
    if not (wanted.any() or (kept & old.strings("cause").known).any()):
        return groups.with_columns(**_no_causes(len(groups)))
    found: list[Cause | None] = [None] * len(groups)
    partitions = Partitions(rows, topics, at_group, counts, leaderless, run, previous)
    survey = survey_partitions(groups, partitions)
    settled = _find_settled(groups, old, partitions, survey)
    chosen = np.flatnonzero(wanted & ~settled)
    cases = list_cases(chosen, groups, partitions, survey)
    for number, case in zip(chosen.tolist(), cases, strict=True):
        found[number] = find_cause(case)
    kept |= wanted & settled
    return groups.with_columns(**_keep_causes(found, groups, old, kept))


def weigh_causes(snapshot: Snapshot, group: str, rules: Rules) -> tuple[Finding, ...]:
    """Returns each rule's finding for one group in a stored run; the first that fits is its cause.

    Only the interval and the window of `rules` are used; a lag within the allowed one has age 0.
    The result is empty if the run does not have the group.
    """
    groups, rows = snapshot.groups, snapshot.group_partitions
    chosen = np.flatnonzero(groups.strings("consumer_group").is_in([group]))[:1]
    at_group = locate(rows, groups, contract.GROUP_KEY)
    rows, at_group = rows.where(at_group >= 0), at_group[at_group >= 0]
    at_topic = locate(rows, snapshot.topic_partitions, contract.PARTITION_KEY)
    run = Run(snapshot.taken_at, rules)
    partitions = Partitions(
        rows=rows,
        topics=snapshot.topic_partitions.lazy_take(at_topic),
        at_group=at_group,
        counts=_count_stored(rows),
        leaderless=find_leaderless(rows, run),
        run=run,
    )
    cases = list_cases(chosen, groups, partitions, survey_partitions(groups, partitions))
    return tuple(finding for case in cases for finding in weigh(case))


def _count_stored(rows: Frame) -> Counts:
    """Returns the counts of a stored run; which rows lag by more than was allowed is a guess."""
    counts = counts_of(rows)
    within = (counts.age == 0) | rows.numbers("held_up_at").known
    return replace(counts, surplus=counts.lag * ~within)


def _no_causes(length: int) -> Columns:
    return {
        "cause": Strings.unknown(length),
        "cause_since": Column.unknown(length),
        "cause_evidence": Strings.unknown(length),
    }


def _keep_causes(found: Sequence[Cause | None], groups: Frame, old: Frame, kept: Mask) -> Columns:
    """Returns the cause columns; a previous cause stays if it still holds."""
    names = old.strings("cause").to_list()
    since = old.numbers("cause_since").to_list()
    evidence = old.strings("cause_evidence").to_list()
    over = _find_over(groups, old)
    columns: list[tuple[str | None, int | None, str | None]] = []
    for number, cause in enumerate(found):
        last = names[number], since[number], evidence[number]
        if cause is None:
            columns.append(last if kept[number] else (None, None, None))
        elif last[0] is not None and not over[number] and not _replaces(cause.name, last[0]):
            columns.append(last)
        else:
            columns.append((cause.name, cause.since, write_evidence(cause.evidence)))
    return {
        "cause": Strings.of(name for name, _, _ in columns),
        "cause_since": Column.optional([since for _, since, _ in columns]),
        "cause_evidence": Strings.of(text for _, _, text in columns),
    }


def _find_over(groups: Frame, old: Frame) -> Mask:
    """Marks groups whose previous cause was that nothing is read, and that read again."""
    worst, last = groups.strings("worst_status"), old.strings("cause")
    over = last.is_in([contract.STOPPED]) & ~worst.is_in([contract.STOPPED, contract.NO_MEMBER])
    over |= last.is_in([contract.STUCK_RECORD]) & ~worst.is_in([contract.STALLED])
    mask: Mask = over & groups.strings("status").known
    return mask


def _replaces(name: str, last: str) -> bool:
    """Returns true if cause `name` replaces the previous cause `last`.

    Only a proven cause replaces a named one: while a backlog is worked off, its cause is over.
    """
    if name in (last, contract.UNEXPLAINED):
        return False
    return last == contract.UNEXPLAINED or name in _PROVEN


def write_evidence(evidence: Evidence) -> str:
    """Returns evidence as JSON: rates rounded, names cut, times in ms UTC, no unknown values."""
    shown = {name: shorten(value) for name, value in evidence.items() if value is not None}
    return json.dumps(shown, ensure_ascii=False)


def shorten(value: Any) -> Any:
    """Returns a value of evidence: a float rounded to four digits, a name cut."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    return value[:_LONGEST_NAME] if isinstance(value, str) else value


def _find_settled(groups: Frame, old: Frame, every: Partitions, survey: Survey) -> Mask:
    """Marks groups whose previous cause stays, because nothing hints at another proven one.

    A hint is the condition that a rule for a cause in `_PROVEN` checks first. Without a hint, the
    rules would find the same cause or one that rates make likely, and neither replaces the previous
    cause unless that is over.
    """
    last, worst = old.strings("cause"), groups.strings("worst_status")
    named = last.known & ~last.is_in([contract.UNEXPLAINED])
    if not named.any():
        return named
    stalled = every.rows.strings("consumer_status").is_in([contract.STALLED])
    ill = every.leaderless | is_under_replicated(every.topics)
    blamed = np.zeros(len(groups), bool)
    blamed[list(survey.brokers)] = True
    hints = {
        contract.UNAVAILABLE: survey.sets.have(ill),
        contract.OFFSETS_RESET: worst.is_in(RESET),
        contract.REBALANCES: groups.numbers("rebalancing_share") >= REBALANCING,
        contract.OPEN_TRANSACTION: groups.numbers("held_up_records").known,
        contract.STOPPED: worst.is_in(UNOWNED),
        contract.SLOW_BROKER: blamed,
        contract.STUCK_RECORD: survey.sets.have(stalled),
    }
    hinted = np.zeros(len(groups), bool)
    for cause, hint in hints.items():
        hinted |= hint & ~last.is_in([cause])
    settled: Mask = named & ~hinted & ~_find_over(groups, old)
    return settled
