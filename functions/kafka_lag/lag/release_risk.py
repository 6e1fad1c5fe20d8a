# SPDX-License-Identifier: Apache-2.0
"""Release risk: how many partitions a group reads worse since its members began to change.

It is for alarms that roll a deployment back, so it must be known within a few runs, where a status
needs a window. A release begins when members change after a window without a change. The last five
runs are compared with the hour before it. A group that was late, or that skipped records, when its
release began is not judged.

While members are replaced one by one, each change stops all of them for a while. So partitions may
stand or fall behind as long as old members go, and some are left.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.cause_case import BAD
from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.previous_rows import is_read, seconds_between
from kafka_lag.lag.recent import Recent
from kafka_lag.lag.run import Run
from kafka_lag.lag.sets import Sets

_HOUR_SECONDS = 3_600.0
# Runs that are judged, and that share a value of `ages_lately`.
_RUNS = 5
# An hour of these values, and the newest two, which may hold runs that are judged.
_NEWEST, _SLOTS = 2, 14
# A partition of which less than this share is read of what was written while its group kept up is
# read less than before. It makes headway if its age shrinks by the rest of the time that passes.
_READS_SHARE = 0.9
# A group whose oldest record is so many intervals older than any in the hour before is late: one in
# sixty runs is the oldest by chance.
_LATE_INTERVALS = 0.25
# Members are being replaced if an old one was seen to be gone in so many of the last runs. The
# group may wait for an assignment in some of them, which shows no members.
_REPLACING_RUNS = 3


def add_release_risk(e: Evaluation) -> Frame:
    """Returns the groups with `release_risk`, `release_*` and `ages_lately`.

    `ages_lately` are the group's oldest time lags, s, one for each five runs. `release_since` is
    the run, ms, that saw the first change of members in the last hour, unknown if the group was bad
    by then. `release_usual_age` is the oldest time lag, s, of the hour before it.
    `release_members`: see `_follow_members`. `release_risk` is the number of partitions that, since
    then, stand or fall behind farther than in the hour before, or in the last five runs went back
    or skipped records; 0 without a release. It is unknown in a group's first ten runs, which leave
    nothing to compare with, and for groups whose members are not known.
    """
    groups, old, rows, run = e.groups, e.old_groups, e.rows, e.run
    ages = _follow_ages(groups, old, run)
    oldest = ages.without(_NEWEST).maximum()
    moves = is_read(groups) & (groups.strings("group_type") != old.strings("group_type"))
    changes = (groups.numbers("rebalances") > 0) | moves
    begins = run.seconds_since(old.numbers("settled_since")) >= run.window_seconds
    begins &= changes
    since = _find_beginning(old, begins, oldest, run)
    usual = oldest.where(begins, old.numbers("release_usual_age")).only(since.known)
    limit = (usual + run.interval_seconds).take(e.at_group)
    last = old.strings("release_members").only(since.known)
    members, replaces = _follow_members(e, last, begins & since.known)
    worse = _is_worse(rows, e.previous.rows, e.unreadable)
    worse &= rows.numbers("time_lag_seconds") > limit
    worse &= ~replaces[e.at_group]
    begun = since.take(e.at_group)
    worse |= _is_set_back(rows, e.previous.rows, limit, begun, run) | _has_skipped(rows, begun, run)
    count = Sets(e.at_group, len(groups)).rows(worse & since.known[e.at_group])
    known = oldest.known & (groups.numbers("rebalances").known | moves) & is_read(groups)
    return groups.with_columns(
        ages_lately=ages.to_lists(),
        release_since=since,
        release_usual_age=usual,
        release_members=members,
        release_risk=count.only(known),
    )


def _follow_members(e: Evaluation, last: Strings, begins: Mask) -> tuple[Strings, Mask]:
    """Returns `release_members`, and marks groups whose members are being replaced.

    `last`: what it was in the previous run. It is JSON: the members from before the release that
    are `left`, and `gone_at`, the last run, ms, that saw another one gone. It is unknown without a
    release, and once none is left.
    """
    groups, run, replaces = e.groups, e.run, np.zeros(len(e.groups), bool)
    followed = np.flatnonzero(begins | last.known)
    if not len(followed):
        return last.pruned(), replaces
    waits = groups.strings("group_state").is_in(contract.REBALANCING_STATES) | ~is_read(groups)
    states = last.to_list()
    # Rows by group, so that a group looks at its own rows alone.
    order = np.argsort(e.at_group, kind="stable")
    bounds = np.searchsorted(e.at_group[order], np.arange(len(groups) + 1))
    for at in followed:
        own = order[bounds[at] : bounds[at + 1]]
        state: dict[str, Any] = {"left": [], "gone_at": None}
        if begins[at]:
            state["left"] = _list_members(e.previous.rows, own)
        else:
            state = json.loads(str(states[at]))
        there = state["left"] if waits[at] else _list_members(e.rows, own)
        left = [member for member in state["left"] if member in there]
        gone_at = run.taken_at if len(left) < len(state["left"]) else state["gone_at"]
        if left and gone_at is not None:
            replaces[at] = run.taken_at - gone_at < _REPLACING_RUNS * run.rules.interval_ms
        states[at] = json.dumps({"left": left, "gone_at": gone_at}) if left else None
    return Strings.of(states), replaces


def _list_members(rows: Frame, own: Rows) -> list[str]:
    members = rows.strings("member_id").take(own).to_list()
    return sorted({member for member in members if member is not None})


def _follow_ages(groups: Frame, old: Frame, run: Run) -> Recent:
    """Returns the oldest time lags with this run's; values are of times that five runs take."""
    slot_ms = _RUNS * run.rules.interval_ms
    before, age = Recent.of(old.strings("ages_lately"), _SLOTS), groups.numbers("time_lag_seconds")
    then = old.numbers("taken_at").fill(run.taken_at) // slot_ms
    begun = np.where(before.count == 0, 1, run.taken_at // slot_ms - then)
    grown = before.appended(age, begun)
    values = grown.values.copy()
    values[:, -1] = np.maximum(values[:, -1], age.fill(0.0))
    return Recent(values, grown.count)


def _find_beginning(old: Frame, begins: Mask, usual: Column, run: Run) -> Column:
    late = usual + _LATE_INTERVALS * run.interval_seconds
    bad = old.strings("status").is_in(BAD) | ~(old.numbers("time_lag_seconds") <= late)
    bad |= run.seconds_since(old.numbers("skipped_at")) <= _HOUR_SECONDS
    last = old.numbers("release_since")
    last = last.only(run.seconds_since(last) <= _HOUR_SECONDS)
    return run.now(len(old)).only(~bad).where(begins, last)


def _is_worse(rows: Frame, old: Frame, unreadable: Column) -> Mask:
    """Marks rows that make no headway on what waits, since they were set back or read less."""
    seconds = seconds_between(rows, old)
    read = rows.numbers("committed_offset") - old.numbers("committed_offset")
    less = read < _READS_SHARE * old.numbers("kept_up_rate") * seconds
    slower = (read == 0) | less | rows.numbers("rewound_from").known
    gained = old.numbers("time_lag_seconds") - rows.numbers("time_lag_seconds")
    waits = is_read(rows) & (rows.numbers("lag") > unreadable)
    worse: Mask = waits & slower & (gained < (1.0 - _READS_SHARE) * seconds)
    return worse


def _is_set_back(rows: Frame, old: Frame, seconds: Column, since: Column, run: Run) -> Mask:
    """Marks rows whose commit went back lately by more than is written in so many seconds."""
    back = rows.numbers("rewound_from") - rows.numbers("committed_offset")
    far: Mask = back > old.numbers("kept_up_rate") * seconds
    return far & _is_recent(rows.numbers("rewound_at"), since, run)


def _has_skipped(rows: Frame, since: Column, run: Run) -> Mask:
    skipped = _is_recent(rows.numbers("skipped_at"), since, run)
    return skipped & ~rows.strings("skip_reason").is_in([contract.READ_OR_SKIPPED])


def _is_recent(at: Column, since: Column, run: Run) -> Mask:
    """Marks times in the last five runs, unless they are before the release."""
    recent: Mask = (run.seconds_since(at) < _RUNS * run.interval_seconds) & (at >= since)
    return recent
