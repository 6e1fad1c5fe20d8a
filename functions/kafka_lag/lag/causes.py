# SPDX-License-Identifier: Apache-2.0
"""Why a group is behind: one cause of each group in WARN or ERR, with the numbers that decide it.

A cause is named where the figures leave no other, else it is `unexplained`: a wrong one costs more
than none. They are compared with those of the last runs in which the group kept up, with those of
its other partitions and members in this run, and with other groups under the same broker.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kafka_lag import contract
from kafka_lag.lag.cause_case import GROUP_COLUMNS, Broker, Case, Cause, Evidence, Finding
from kafka_lag.lag.cause_proofs import REBALANCING, RESET, UNOWNED, is_under_replicated
from kafka_lag.lag.cause_rules import find_cause, weigh
from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.frame import AnyColumn, Frame, locate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.movement import most_observations
from kafka_lag.lag.previous_rows import PreviousRows, is_read, seconds_between
from kafka_lag.lag.rollup import Counts, counts_of
from kafka_lag.lag.sets import Sets, distinct

# A group keeps up in a run whose oldest unread record is younger than so many intervals; or than
# such a part of a window and no older than in the run before: of many it comes and goes.
_KEEPS_UP_INTERVALS, _KEEPS_UP_WINDOWS = 2.0, 0.5
# Half-life of what it is compared with, in windows: a ramp of an hour still stands out against it.
_HALF_LIFE_WINDOWS = 6.0
# A partition is behind whose age is such a part of its group's oldest, and such a part of a window.
_BEHIND_SHARE, _BEHIND_WINDOWS = 0.25, 0.2
# A broker is to blame for this many groups at least, on so many partitions, for such a part of the
# groups under it, and of each group's partitions there.
_LEAST_GROUPS, _LEAST_PARTITIONS, _OF_GROUPS, _OF_PARTITIONS = 2, 3, 0.5, 0.8
# After so many windows without a reading rates are of a time that nobody saw, and after so many
# nothing is named before the next reading.
_RATES_UNSEEN_WINDOWS, _UNSEEN_WINDOWS = 0.5, 1.0
# So many times the usual is the usual from now on of a group that keeps up with it.
_NEW_LEVEL = 3.0
# Kafka takes names of 32,000 bytes; nobody reads them whole.
_LONGEST_NAME = 200

Floats: TypeAlias = npt.NDArray[np.float64]

_GROUP, _PARTITION = ("consumer_group",), ("topic", "partition_id")
_BAD = (contract.WARN, contract.ERR)
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
    groups = _add_kept_up(groups, old, _find_share(groups, rows, at_group, rules), taken_at, rules)
    status, unusual = groups.strings("status"), groups.numbers("unusual")
    leaderless = _find_leaderless(rows, taken_at, rules)
    without = Sets(at_group, len(groups)).have(leaderless)
    held_up = groups.numbers("held_up_records").known
    wanted = status.is_in(_BAD) | (unusual == 1) | without | held_up
    away = _UNSEEN_WINDOWS * rules.window_ms / 1_000
    unseen = wanted & (seconds_between(groups, old) >= away)
    wanted &= ~unseen
    kept = ~status.known & ~wanted & groups.strings("last_status").is_in(_BAD)
    kept |= unseen
    if not (wanted.any() or (kept & old.strings("cause").known).any()):
        return groups.with_columns(**_no_causes(len(groups)))
    found: list[Cause | None] = [None] * len(groups)
    partitions = _Partitions(
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
    survey = _survey(groups, partitions)
    settled = _find_settled(groups, old, partitions, survey)
    chosen = np.flatnonzero(wanted & ~settled)
    cases = _list_cases(chosen, groups, partitions, survey)
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
    partitions = _Partitions(
        rows=rows,
        topics=snapshot.topic_partitions.lazy_take(at_topic),
        at_group=at_group,
        counts=counts,
        lagging=find_lagging(rows, counts),
        leaderless=_find_leaderless(rows, taken_at, rules),
        taken_at=taken_at,
        rules=rules,
    )
    cases = _list_cases(chosen, groups, partitions, _survey(groups, partitions))
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


def _find_share(groups: Frame, rows: Frame, at_group: Rows, rules: Rules) -> Floats:
    """The least share of this run in a group's averages: one in n in its n-th run with a rate, 0
    after half a window. Else the first of all would count for hours."""
    seen = Sets(at_group, len(groups)).maximum(rows.numbers("observations")).fill(2)
    shares: Floats = np.where(
        seen * 2 < most_observations(rules), 1.0 / np.maximum(seen - 1, 1), 0.0
    )
    return shares


def _add_kept_up(
    groups: Frame, old: Frame, least_share: Floats, taken_at: int, rules: Rules
) -> Frame:
    """What the group was like while it kept up.

    Averages over the runs in which it did, as time goes by between two readings. They are forgotten
    of a group that does no more after a long time without a reading: what it reads and what is
    written is of that time as well then.
    """
    age, rate = groups.numbers("time_lag_seconds"), groups.numbers("produce_rate")
    fine = groups.strings("status").is_in([contract.OK]) & is_read(groups)
    young = age <= _KEEPS_UP_INTERVALS * rules.interval_ms / 1_000
    comes_and_goes = age <= _KEEPS_UP_WINDOWS * rules.window_ms / 1_000
    comes_and_goes &= age <= old.numbers("time_lag_seconds")
    fine &= (young | comes_and_goes) & rate.known
    # An age that is a least one proves nothing.
    fine &= groups.numbers("time_lag_error_seconds").known
    # Nor does a small one of a group that has read nothing since it was first seen.
    fine &= (groups.numbers("consume_rate") > 0) | (rate == 0)
    now = Column.of(np.full(len(groups), taken_at, np.int64))
    half_life = _HALF_LIFE_WINDOWS * rules.window_ms / 1_000
    passed = seconds_between(groups, old).fill(0.0)
    weight = 1.0 - np.exp2(-passed / half_life)
    weight = np.maximum(weight, least_share)
    known = fine | (passed < _RATES_UNSEEN_WINDOWS * rules.window_ms / 1_000)
    usual = old.numbers("kept_up_produce_rate")
    weight = np.where(fine & (rate > _NEW_LEVEL * usual), 1.0, weight)
    values = {"kept_up_produce_rate": rate, "kept_up_members": groups.numbers("members")}
    averages: dict[str, AnyColumn] = {}
    for name, value in values.items():
        last, seen = old.numbers(name).only(known), value.only(fine) * 1.0
        averages[name] = (last * (1.0 - weight) + seen * weight).or_else(last).or_else(seen)
    kept_up_at = now.only(fine).or_else(old.numbers("kept_up_at"))
    return groups.with_columns(kept_up_at=kept_up_at, **averages)


def _find_leaderless(rows: Frame, taken_at: int, rules: Rules) -> Mask:
    """Rows that had no leader in this run nor in the one before: an election is over by then."""
    reason = rows.strings("unread_reason").is_in([contract.NO_LEADER])
    if not reason.any():
        return reason
    return reason & (taken_at - rows.numbers("read_at") > 1.5 * rules.interval_ms)


@dataclass(frozen=True, slots=True)
class _Partitions:
    """All group-partitions of a run, a row each: `topics` holds their partitions, `at_group` their
    groups. `leaderless` had no leader in two runs. `previous`: their rows of the run before, None
    where that is not at hand.
    """

    rows: Frame
    topics: Frame
    at_group: Rows
    counts: Counts
    lagging: Mask
    leaderless: Mask
    taken_at: int
    rules: Rules
    previous: PreviousRows | None = None


@dataclass(frozen=True, slots=True)
class _Survey:
    """Partitions that are behind or have records to read, and the brokers to blame by group."""

    sets: Sets
    behind: Mask
    active: Mask
    brokers: Mapping[int, Broker]


def _survey(groups: Frame, every: _Partitions) -> _Survey:
    sets = every.counts.sets(Sets(every.at_group, len(groups)))
    rates = every.topics.numbers("produce_rate")
    least = _BEHIND_WINDOWS * every.rules.window_ms / 1_000
    error = every.rows.numbers("time_lag_error_seconds").fill(0.0)
    # An age that may be next to nothing as well is no proof.
    proven = (every.counts.age - error).clip(0.0)
    age = every.counts.age.where(error <= least, proven)
    behind, active = _find_behind(sets, age, every.lagging, rates, least)
    brokers = _blame_brokers(sets, every.rows, age, active, behind, least)
    return _Survey(sets, behind, active, brokers)


def _find_settled(groups: Frame, old: Frame, every: _Partitions, survey: _Survey) -> Mask:
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


def _list_cases(chosen: Rows, groups: Frame, every: _Partitions, survey: _Survey) -> Iterator[Case]:
    """The groups that were chosen, one after another."""
    sets, behind, active, brokers = survey.sets, survey.behind, survey.active, survey.brokers
    rates = every.topics.numbers("produce_rate")
    age, produced = every.counts.age.fill(0.0), rates.fill(0.0)
    consumed = every.rows.numbers("consume_rate").fill(0.0)
    unchanged = every.taken_at - every.rows.numbers("commit_changed_at")
    still = behind & (unchanged >= every.rules.window_ms / 2)
    owners = every.rows.strings("member_id").codes
    members = np.where(owners.known, owners.values, -1)
    place = np.full(len(groups) + 1, -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    of_row = place[sets.of_row]
    order = np.argsort(of_row, kind="stable")
    bounds = np.searchsorted(of_row[order], np.arange(len(chosen) + 1))
    table = groups.lazy_take(chosen)
    columns = {name: table.columns[name].to_list() for name in GROUP_COLUMNS}
    for number, group in enumerate(chosen.tolist()):
        at = order[bounds[number] : bounds[number + 1]]
        yield Case(
            group={name: values[number] for name, values in columns.items()},
            rows=every.rows.lazy_take(at),
            topics=every.topics.lazy_take(at),
            age=age[at],
            produced=produced[at],
            consumed=consumed[at],
            active=active[at],
            behind=behind[at],
            still=still[at],
            leaderless=every.leaderless[at],
            recreated=None if every.previous is None else every.previous.recreated[at],
            made_anew=None if every.previous is None else every.previous.made_anew[at],
            old=None if every.previous is None else every.previous.rows.lazy_take(at),
            members=members[at],
            window=every.rules.window_ms / 1_000,
            broker=brokers.get(group),
        )


def _find_behind(
    sets: Sets, age: Column, lagging: Mask, produce_rate: Column, least: float
) -> tuple[Mask, Mask]:
    """Rows that are behind by a part of their group's worst, and by `least` seconds; and those with
    records to read."""
    oldest = sets.maximum(age.only(lagging)).fill(0.0)
    limit = np.maximum(np.append(oldest, 0.0) * _BEHIND_SHARE, least)[sets.of_row]
    behind = lagging & (age >= limit)
    active = lagging | (produce_rate > 0)
    return behind, active


def _blame_brokers(
    sets: Sets, rows: Frame, age: Column, active: Mask, behind: Mask, least: float
) -> dict[int, Broker]:
    """By group, the broker that it owes its lag to, where it does.

    It does where all that is behind lies under one broker, and most of what it reads there is, and
    the same is so of most other groups that read there. Beside such groups one that is behind
    elsewhere as well owes it to the broker if it was behind there first, by `least` seconds.
    """
    leader = rows.numbers("leader")
    leaders = leader.values.astype(np.int64)
    counts = active & leader.known & (sets.of_row < sets.count)
    bad = behind & counts
    if not bad.any():
        return {}
    found: dict[int, Broker] = {}
    for broker in np.unique(leaders[bad]).tolist():
        here = counts & (leaders == broker)
        there, ill = sets.rows(here).values, sets.rows(here & bad).values
        elsewhere = sets.rows(bad).values > ill
        others = sets.rows(counts & ~here).values
        blamed = (ill > 0) & ~elsewhere & (others > 0) & (ill >= _OF_PARTITIONS * there)
        groups = np.flatnonzero(blamed)
        if len(groups) < max(_LEAST_GROUPS, _OF_GROUPS * (there > 0).sum()):
            continue
        among = here & bad & np.append(blamed, False)[sets.of_row]
        partitions, _ = distinct(
            rows.strings("topic").codes.values[among].astype(np.int64),
            rows.numbers("partition_id").values[among].astype(np.int64),
        )
        if partitions.count < _LEAST_PARTITIONS:
            continue
        ages = (sets.minimum(age.only(here)), sets.maximum(age.only(counts & ~here)))
        first = elsewhere & (ill == there) & (ages[0] >= ages[1] + least)
        for group in np.flatnonzero(blamed | first).tolist():
            found[group] = Broker(broker, len(groups), partitions.count)
    return found
