# SPDX-License-Identifier: Apache-2.0
"""The cause of each group in trouble, looked for in each run, with the numbers that decide it.

A cause is named if the figures leave no other, else it is `unexplained`: a wrong cause costs more
than none. The figures are compared with those of the last runs in which the group kept up, with its
other partitions and members in this run, and with other groups that read from the same broker.
Causes proven by statuses and readings come first, then those that a comparison of partitions and
members shows, then those that rates make likely.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.cause_case import (
    BAD,
    Case,
    Cause,
    Evidence,
    Partitions,
    list_cases,
)
from kafka_lag.lag.cause_proofs import (
    find_maintenance,
    find_stuck,
    or_maintenance,
    weigh_hung,
    weigh_open_transaction,
    weigh_rebalances,
    weigh_reset,
    weigh_retention_race,
    weigh_settings,
    weigh_slow_broker,
    weigh_stopped,
    weigh_stuck_record,
    weigh_unavailable,
)
from kafka_lag.lag.cause_rates import (
    FEW_REBALANCES,
    find_hot,
    have_members_left,
    is_all_of_one_leader,
    is_more_written,
    weigh_catching_up,
    weigh_hot_partition,
    weigh_rates,
    weigh_slow_members,
    weigh_unusual,
)
from kafka_lag.lag.columns import Column, Rows, Strings
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Columns, Frame
from kafka_lag.lag.log_ends import align_ends
from kafka_lag.lag.model import PreviousRuns
from kafka_lag.lag.previous_rows import seconds_between
from kafka_lag.lag.run import Run
from kafka_lag.lag.sets import Sets
from kafka_lag.lag.status import find_leaderless

# After this many windows without a reading, causes are named only from the next run on.
_UNSEEN_WINDOWS = 1.0
# Names in evidence are cut to this length; Kafka allows 32,000 bytes.
_LONGEST_NAME = 200

_PROOFS: tuple[Callable[[Case], Cause | None], ...] = (
    or_maintenance(weigh_unavailable),
    weigh_reset,
    or_maintenance(weigh_slow_broker),
    or_maintenance(weigh_rebalances),
    weigh_open_transaction,
    weigh_settings,
    weigh_stopped,
    weigh_hung,
    weigh_retention_race,
)
_PROVEN = (
    contract.MAINTENANCE,
    *(contract.UNAVAILABLE, contract.OFFSETS_RESET, contract.SLOW_BROKER, contract.REBALANCES),
    *(contract.OPEN_TRANSACTION, contract.SETTINGS_CHANGED, contract.STOPPED, contract.HUNG),
    *(contract.RETENTION_RACE, contract.STUCK_RECORD),
)
# Another likely cause does not replace these before they are over.
_ENDS_BY_PROOF = (*_PROVEN, contract.TOO_FEW_MEMBERS, contract.MORE_PRODUCED)
# Not causes of their own, so an earlier one is remembered in their evidence.
_NONE_LEFT = (contract.UNEXPLAINED, contract.CATCHING_UP)


@dataclass(frozen=True, slots=True)
class _Named:
    """The cause of a group's row: its name, since when, ms, and its evidence as JSON."""

    name: str | None = None
    since: int | None = None
    text: str | None = None

    @property
    def evidence(self) -> Evidence:
        found: Evidence = json.loads(self.text) if self.text else {}
        return found

    def over(self, now: int) -> tuple[str | None, int | None]:
        """Returns the cause that is over if this one is not named any more, and since when."""
        if self.name is None or self.name in _NONE_LEFT:
            return self.evidence.get("after"), self.evidence.get("over_at")
        return self.name, now


def add_causes(e: Evaluation) -> Frame:
    """Returns the groups with `cause`, `cause_since` (ms) and `cause_evidence`.

    A cause is known for groups in WARN or ERR, for groups with a backlog and a broken SLA, for
    unusual ones, for those with a partition that has no leader for a second run, and for those that
    an open transaction holds up. If it is explained, it is known also in runs in OK until the end
    of the incident. It is kept in a run that does not know the status, or that comes long after the
    previous one.
    """
    groups, old, rows, run = e.groups, e.old_groups, e.rows, e.run
    status, unusual = groups.strings("status"), groups.numbers("unusual")
    leaderless = find_leaderless(rows, run)
    without = Sets(e.at_group, len(groups)).have(leaderless)
    held_up = groups.numbers("held_up_records").known
    broken = groups.numbers(contract.HELD_SLA_BROKEN).known & ~(groups.numbers("lag") == 0)
    in_trouble = status.is_in(BAD) | (unusual == 1) | without | held_up | broken
    # Between two bad runs of an incident, and until its backlog is worked off, a group may be OK.
    incident = old.numbers("incident_since").only(~old.numbers("incident_until").known)
    wanted = in_trouble | (status.known & old.strings("cause").known & incident.known)
    away = _UNSEEN_WINDOWS * run.window_seconds
    unseen = wanted & (seconds_between(groups, old) >= away)
    wanted &= ~unseen
    kept = ~status.known & ~wanted & groups.strings("last_status").is_in(BAD)
    kept |= unseen
    names = old.strings("cause").only(wanted | kept).to_list()
    since, texts = old.numbers("cause_since").to_list(), old.strings("cause_evidence").to_list()
    named = [
        _Named(name, since[at], texts[at]) if name else _Named() for at, name in enumerate(names)
    ]
    if wanted.any():
        partitions = Partitions(
            rows=rows,
            topics=e.of_topic,
            at_group=e.at_group,
            counts=e.counts,
            leaderless=leaderless,
            run=run,
            written=_find_written(e.topics, e.previous_runs, run).take(e.at_topic),
            previous=e.previous,
        )
        chosen = np.flatnonzero(wanted)
        last_runs, begun = (each.to_list() for each in (old.numbers("taken_at"), incident))
        cases = list_cases(chosen, groups, partitions, _find_over(named, chosen, run))
        for at, case in zip(chosen.tolist(), cases, strict=True):
            found = _name(case, named[at], run, last_runs[at], begun[at])
            is_named = in_trouble[at] or found.name != contract.UNEXPLAINED
            named[at] = found if is_named else _Named()
    return groups.with_columns(**_make_columns(named))


def _make_columns(named: list[_Named]) -> Columns:
    return {
        "cause": Strings.of(each.name for each in named),
        "cause_since": Column.optional([each.since for each in named]),
        "cause_evidence": Strings.of(each.text for each in named),
    }


def _find_written(topics: Frame, previous_runs: PreviousRuns, run: Run) -> Column:
    """Returns records/s written to each partition in about the last half window."""
    since = run.taken_at - run.rules.window_ms / 2
    at = [place for place, when in enumerate(previous_runs.scheduled) if when <= since][-1:]
    ends = align_ends(topics, tuple(previous_runs.ends[place] for place in at))
    seconds = Column.of(ends.read_at[-1] - ends.read_at[0], ends.usable[0] & ends.usable[-1]) / 1e3
    return Column.of(ends.end[-1] - ends.end[0]).clip(0) / seconds


def _find_over(named: list[_Named], chosen: Rows, run: Run) -> dict[int, float]:
    """Returns for how long, s, an earlier cause has been over, by group."""
    found = {}
    for at in chosen.tolist():
        if named[at].name in _NONE_LEFT and (over_at := named[at].evidence.get("over_at")):
            found[at] = (run.taken_at - over_at) / 1_000
    return found


def _name(case: Case, last: _Named, run: Run, last_run: int | None, incident: int | None) -> _Named:
    """Returns the cause of a group.

    `last` is that of the previous run, at `last_run`, ms. `incident`: since when the group has had
    one, ms, as the previous run published it; the first cause of an incident begins with it.
    """
    main, second = _choose(case, last)
    was_cause = last.name is not None and last.name not in _NONE_LEFT
    is_weaker = last.name in _ENDS_BY_PROOF
    is_weaker = main is None or (is_weaker and main.name not in (*_PROVEN, last.name))
    if was_cause and is_weaker:
        if _STAYS.get(str(last.name), _never)(case):
            # The numbers are those of the last run in which they decided.
            return replace(last, text=write_evidence({"as_of": last_run, **last.evidence}))
        main, second = _choose(replace(case, over_for=0.0), last)
    found = main or _find_unexplained(case)
    after, over_at = last.over(run.taken_at) if found.name in _NONE_LEFT else (None, None)
    also = None if second is None else {"cause": second.name, **second.evidence}
    evidence = {**found.evidence, "after": after, "over_at": over_at, "also": also}
    if found.name == last.name == contract.OFFSETS_RESET:
        # Later runs see neither how far a commit went back, nor that a topic was recreated.
        same = last.evidence.get("reset_at") == evidence["reset_at"]
        evidence = {**last.evidence} if same else evidence
    if found.name == contract.CATCHING_UP and over_at is not None:
        since: int | None = over_at
    elif found.name == last.name:
        since = last.since
    elif last.name in (None, contract.UNEXPLAINED) and case.group["status"] in BAD:
        since = incident or case.since or found.since
    else:
        since = found.since
    if since is not None and incident is not None:
        since = max(since, incident)
    return _Named(found.name, since, write_evidence(evidence))


def _find_unexplained(case: Case) -> Cause:
    """Returns `unexplained`, with the broker that alone leads all that is behind, if it is known:
    it may be slow, but a single group does not prove it."""
    several = case.behind.sum() > 1 and case.fine.any()
    broker = case.value(case.worst, "leader") if several and is_all_of_one_leader(case) else None
    return Cause(contract.UNEXPLAINED, case.since, {**case.list_rates(), "broker": broker})


def _choose(case: Case, last: _Named) -> tuple[Cause | None, Cause | None]:
    """Returns the cause that fits first, and one that is there beside it.

    The `last` one stays if it still fits, unless another is proven or the group catches up.
    """
    found: list[Cause] = []
    for each in _weigh(case):
        found.append(each)
        if each.name in _PROVEN:
            break
    if not found:
        return None, None
    main = found[0]
    if main.name not in (*_PROVEN, contract.CATCHING_UP):
        main = next((each for each in found if each.name == last.name), main)
    if main.name in _PROVEN or main.name == contract.CATCHING_UP:
        return main, None
    beside: tuple[str, ...] = (contract.STUCK_RECORD,)
    if main.name == contract.HOT_PARTITION:
        beside += (contract.SLOW_MEMBER, contract.SLOW_MEMBERS)
    return main, next((each for each in found if each.name in beside), None)


def _weigh(case: Case) -> Iterator[Cause]:
    """Yields the causes that fit, in order; nothing if the group has no partition in this run.

    A cause may come more than once, from several rules.
    """
    if len(case.rows):
        yield from (each for each in _apply_rules(case) if each is not None)


def _apply_rules(case: Case) -> Iterator[Cause | None]:
    for rule in _PROOFS:
        yield rule(case)
    stuck = find_stuck(case)
    # A stuck record explains its partition alone; others may be behind for another reason.
    rest, record = case.without(stuck), weigh_stuck_record(case, stuck)
    is_beside = bool(stuck.any() and rest.behind.any())
    rest = rest if is_beside else case
    if not is_beside:
        yield record
    yield weigh_catching_up(rest)
    hot, waits = find_hot(rest)
    others = rest.without(hot | waits)
    if hot.any() and others.behind.any() and weigh_slow_members(others) is None:
        hot, others = np.zeros_like(hot), rest
    yield weigh_hot_partition(rest, hot)
    yield from weigh_rates(others)
    if is_beside:
        yield record
    if case.group["status"] not in BAD:
        yield weigh_unusual(case)


def _never(_: Case) -> bool:
    return False


def _is_behind_still(case: Case) -> bool:
    return bool(case.behind.any()) and not case.drains


def _reads_again(case: Case) -> bool:
    return bool((case.rows.numbers("rewound_from").known & case.behind).any())


def _rebalances(case: Case) -> bool:
    return (case.group["rebalancing_share"] or 0.0) >= FEW_REBALANCES


def _loses(case: Case) -> bool:
    return case.group["loss_since"] is not None


# Whether a cause that no rule proves in this run goes on; others are over.
_STAYS: Mapping[str, Callable[[Case], bool]] = {
    contract.REBALANCES: _rebalances,
    contract.MAINTENANCE: lambda case: _rebalances(case) and find_maintenance(case) is not None,
    contract.OFFSETS_RESET: _reads_again,
    contract.OPEN_TRANSACTION: lambda case: case.group["held_up_records"] is not None,
    contract.RETENTION_RACE: _loses,
    contract.MORE_PRODUCED: lambda case: _is_behind_still(case) and is_more_written(case),
    contract.TOO_FEW_MEMBERS: lambda case: _is_behind_still(case) and have_members_left(case),
    **dict.fromkeys(
        (
            *(contract.SLOW_BROKER, contract.CAPACITY_FELL, contract.HOT_PARTITION),
            *(contract.SLOW_MEMBER, contract.SLOW_MEMBERS),
        ),
        _is_behind_still,
    ),
}


def write_evidence(evidence: Evidence) -> str:
    """Returns evidence as JSON: rates rounded, names cut, times in ms UTC, no unknown values."""
    shown = {name: shorten(value) for name, value in evidence.items() if value is not None}
    return json.dumps(shown, ensure_ascii=False)


def shorten(value: Any) -> Any:
    """Returns a value of evidence: a float rounded to six digits, a name cut."""
    if isinstance(value, Mapping):
        return {name: shorten(each) for name, each in value.items() if each is not None}
    if isinstance(value, float):
        return float(f"{value:.6g}")
    return value[:_LONGEST_NAME] if isinstance(value, str) else value
