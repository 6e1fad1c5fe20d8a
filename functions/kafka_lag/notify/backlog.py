# SPDX-License-Identifier: Apache-2.0
"""A group's backlog over runs: how fast it grows or shrinks, what it was at the most, whether it is
worked off, and whether a skip took it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kafka_lag import contract
from kafka_lag.notify.group_rows import Row, count_skipped, identify_members, is_behind, was_read

# A backlog that has not become smaller for so long is not being worked off.
_STEADY_MS = 30 * 60_000
# A speed is known from so many readings of the backlog, and stays within such a factor of itself.
READINGS, _ALIKE = 3, 2.0
# An age that differs by less is the same one, read again.
_SAME_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Backlog:
    """A group's `records` that were unread in the run of `at`, ms UTC.

    `consume_rate`, records/s, and `members` are of that run, None where they are not known or not
    stored: `members` is the same number as long as no member leaves or joins (`identify_members`).
    """

    records: int
    at: int
    consume_rate: float | None = None
    members: int | None = None


@dataclass(frozen=True, slots=True)
class Peak:
    """The largest backlog of an incident, in the runs since it began.

    `records` behind in the run of `at`, ms UTC. `seconds`: the oldest age, which `is_least` where
    that run, of `seconds_at`, knew no more; an older release stored no such time. `lost`: records
    that were lost at once; None where a run did not know.
    """

    records: int
    at: int
    seconds: float | None = None
    is_least: bool = False
    lost: int | None = None
    seconds_at: int | None = None


@dataclass(frozen=True, slots=True)
class Skip:
    """`records` that a group without members was set ahead over, and its backlog in the last run
    `before` and the first one `after`."""

    records: int
    before: Backlog
    after: Backlog


@dataclass(frozen=True, slots=True)
class CatchingUp:
    """A backlog that is worked off: `since` when the group is OK, ms UTC, and the `least` yet."""

    since: int
    least: Backlog


def find_growth(lately: Sequence[Backlog]) -> tuple[float, float] | None:
    """Records/s, least and most, by which the backlog grew from each of the last runs to the next;
    negative where it shrank. None where too few runs saw it."""
    if len(lately) < READINGS:
        return None
    speeds = [
        (other.records - one.records) / ((other.at - one.at) / 1_000)
        for one, other in pairwise(lately[-READINGS:])
    ]
    return min(speeds), max(speeds)


def find_speed(lately: Sequence[Backlog]) -> float | None:
    """Records/s by which the backlog became smaller between the last runs.

    None unless it did from each to the next, about alike: what turned only lately, or goes by
    jumps, has no speed that is known.
    """
    growth = find_growth(lately)
    if growth is None or growth[1] >= 0 or growth[0] < _ALIKE * growth[1]:
        return None
    last = lately[-READINGS:]
    return (last[0].records - last[-1].records) / ((last[-1].at - last[0].at) / 1_000)


def raise_peak(peak: Peak | None, row: Row, at: int) -> Peak:
    """The peak with what the run of `at` saw; its lag is known."""
    lag, age, lost = row["lag"], row["time_lag_seconds"], row["records_lost"]
    is_least = row["time_lag_method"] == contract.METHOD_AT_LEAST
    if peak is None:
        return Peak(lag, at, age, is_least, lost, None if age is None else at)
    if lag > peak.records:
        peak = replace(peak, records=lag, at=at)
    if age is not None and (peak.seconds is None or age > peak.seconds + _SAME_SECONDS):
        peak = replace(peak, seconds=age, is_least=is_least, seconds_at=at)
    most = None if lost is None or peak.lost is None else max(peak.lost, lost)
    return replace(peak, lost=most)


def find_unhealthy_backlog(row: Row, at: int) -> Backlog | None:
    """Return the backlog of a group that is not OK in the run of `at`; null if OK or unread."""
    is_ill = row["status"] not in (contract.OK, None) and row["unread_reason"] is None
    lag = row["lag"]
    if not (is_ill and lag):
        return None
    return Backlog(lag, at, row["consume_rate"], identify_members(row))


def follow_catching_up(catching_up: CatchingUp, row: Row, at: int) -> CatchingUp | None:
    """Return what is still to follow; null once the backlog is gone, or no longer shrinks."""
    lag = row["lag"]
    if lag is None or row["status"] != contract.OK or not was_read(row):
        return catching_up
    if not is_behind(row):
        return None
    if lag < catching_up.least.records:
        return replace(catching_up, least=Backlog(lag, at))
    return None if at - catching_up.least.at >= _STEADY_MS else catching_up


def find_open_skip(
    row: Row, at: int, before: Backlog | None, lately: Sequence[Backlog], known: Skip | None
) -> Skip | None:
    """The skip by which the backlog `before` went that nobody reads on from; None: all may be well.

    Nobody does where the group has no member and its backlog grew with each run since. `known` is
    the skip as an earlier run found it.
    """
    lag = row["lag"]
    if row["members"] != 0 or not lag or before is None:
        return None
    gone = known.before if known else before
    readings = [*(each for each in lately if each.at > gone.at), Backlog(lag, at)]
    if any(one.records > other.records for one, other in pairwise(readings)):
        return None
    skipped = count_skipped(row)
    if known is not None or not skipped:
        return known
    return Skip(skipped, before, readings[0])
