# SPDX-License-Identifier: Apache-2.0
"""Why a group is behind: one cause of each group in WARN or ERR, with the numbers that decide it.

A cause is named where the figures leave no other, else it is `unexplained`: a wrong one costs more
than none. They are compared with those of the last runs in which the group kept up, with those of
its other partitions and members in this run, and with other groups under the same broker.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
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
from kafka_lag.lag.frame import AnyColumn, Frame, locate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.kept_up import add_kept_up
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.previous_rows import PreviousRows, seconds_between
from kafka_lag.lag.rollup import Counts, counts_of
from kafka_lag.lag.sets import Sets

# After so many windows without a reading nothing is named before the next one.
_UNSEEN_WINDOWS = 1.0
# Kafka takes names of 32,000 bytes; nobody reads them whole.
_LONGEST_NAME = 200

_GROUP, _PARTITION = ("consumer_group",), ("topic", "partition_id")
# What the statuses prove takes the place of what rates made likely.
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
    lagging: Mask,
    previous: PreviousRows,
    taken_at: int,
    rules: Rules,
) -> Frame:
    """The groups with `cause`, `cause_since` (ms) and `cause_evidence`, and what later runs compare
    with: `kept_up_at` (ms), `kept_up_members`, `kept_up_produce_rate` (records/s).

    `old`: each group's row of the run before; `topics`: each row's partition; `lagging` rows have
    more to read than is allowed; `previous`: their rows of the run before. A cause is known of
    groups in WARN or ERR, of those that are unusual, and of those with a partition that has no
    leader for a second run. It stays until the group is OK, unless another one is proven; so its
    evidence is of the run that named it. In a run that does not know the status, or that comes long
    after the one before, it is kept.
    """
    at_group = locate(rows, groups, _GROUP)
    groups = add_kept_up(groups, old, rows, at_group, taken_at, rules)
    status, unusual = groups.strings("status"), groups.numbers("unusual")
    leaderless = find_leaderless(rows, taken_at, rules)
    without = Sets(at_group, len(groups)).have(leaderless)
    held_up = groups.numbers("held_up_records").known
    wanted = status.is_in(BAD) | (unusual == 1) | without | held_up
    away = _UNSEEN_WINDOWS * rules.window_ms / 1_000
    unseen = wanted & (seconds_between(groups, old) >= away)
    wanted &= ~unseen
    kept = ~status.known & ~wanted & groups.strings("last_status").is_in(BAD)
    kept |= unseen
    if not (wanted.any() or (kept & old.strings("cause").known).any()):
        return groups.with_columns(**_no_causes(len(groups)))
    found: list[Cause | None] = [None] * len(groups)
    partitions = Partitions(
        rows,
        topics,
        at_group,
        counts,
        lagging,
        leaderless,
        taken_at,
        rules,
        previous,
    )
    survey = survey_partitions(groups, partitions)
    settled = _find_settled(groups, old, partitions, survey)
    chosen = np.flatnonzero(wanted & ~settled)
    cases = list_cases(chosen, groups, partitions, survey)
    for number, case in zip(chosen.tolist(), cases, strict=True):
        found[number] = find_cause(case)
    kept |= wanted & settled
    return groups.with_columns(**_keep_causes(found, groups, old, kept))


def weigh_causes(snapshot: Snapshot, group: str, rules: Rules) -> tuple[Finding, ...]:
    """What each rule finds of one group in a run that was kept: the first that fits is its cause.

    Of `rules` the interval and the window count; partitions that lag by no more than is allowed
    have the age 0. Empty for a group that the run does not have.
    """
    groups, rows = snapshot.groups, snapshot.group_partitions
    chosen = np.flatnonzero(groups.strings("consumer_group").is_in([group]))[:1]
    at_group = locate(rows, groups, _GROUP)
    rows, at_group = rows.where(at_group >= 0), at_group[at_group >= 0]
    at_topic = locate(rows, snapshot.topic_partitions, _PARTITION)
    counts, taken_at = counts_of(rows), snapshot.taken_at
    partitions = Partitions(
        rows=rows,
        topics=snapshot.topic_partitions.lazy_take(at_topic),
        at_group=at_group,
        counts=counts,
        lagging=find_lagging(rows, counts),
        leaderless=find_leaderless(rows, taken_at, rules),
        taken_at=taken_at,
        rules=rules,
    )
    cases = list_cases(chosen, groups, partitions, survey_partitions(groups, partitions))
    return tuple(finding for case in cases for finding in weigh(case))


def find_lagging(rows: Frame, counts: Counts) -> Mask:
    """Rows of a run that was kept with more to read than was allowed, nearly."""
    lagging: Mask = (counts.lag > 0) & ~(counts.age == 0) & ~rows.numbers("held_up_at").known
    return lagging


def _no_causes(length: int) -> dict[str, AnyColumn]:
    return {
        "cause": Strings.unknown(length),
        "cause_since": Column.unknown(length),
        "cause_evidence": Strings.unknown(length),
    }


def _keep_causes(
    found: Sequence[Cause | None], groups: Frame, old: Frame, kept: Mask
) -> dict[str, AnyColumn]:
    """The columns, with a cause of the run before where it still holds."""
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
    """Groups whose last cause was that nothing is read, and that read again."""
    worst, last = groups.strings("worst_status"), old.strings("cause")
    over = last.is_in([contract.STOPPED]) & ~worst.is_in([contract.STOPPED, contract.NO_MEMBER])
    over |= last.is_in([contract.STUCK_RECORD]) & ~worst.is_in([contract.STALLED])
    mask: Mask = over & groups.strings("status").known
    return mask


def _replaces(name: str, last: str) -> bool:
    """Whether a cause takes the place of the one before.

    While a backlog is worked off, what made it is over: no other one is looked for then.
    """
    if name in (last, contract.UNEXPLAINED):
        return False
    return last == contract.UNEXPLAINED or name in _PROVEN


def write_evidence(evidence: Evidence) -> str:
    """As JSON: rates rounded, names cut, times in ms UTC, what is unknown left out."""
    shown = {name: shorten(value) for name, value in evidence.items() if value is not None}
    return json.dumps(shown, ensure_ascii=False)


def shorten(value: Any) -> Any:
    """A number of evidence to four digits, a name cut."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    return value[:_LONGEST_NAME] if isinstance(value, str) else value


def _find_settled(groups: Frame, old: Frame, every: Partitions, survey: Survey) -> Mask:
    """Groups whose last cause stays, as nothing hints at another one that would be proven.

    A hint is what a rule of `_PROVEN` looks at first. Where there is none, the rules would find the
    same cause or one that rates alone make likely, and neither takes the place of the last, unless
    that is over.
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
