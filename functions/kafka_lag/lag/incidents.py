# SPDX-License-Identifier: Apache-2.0
"""A group's status over time: since when it is so, which status is held, since when it is not OK.

And its troubles, which no status has a word for: since when it loses records, is near to a loss, or
is older than promised.
What must be known of earlier runs stands in the group's row of the previous snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.frame import AnyColumn, Frame, locate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.rollup import BY_RATES, GROUP_STATUSES

# What a consumer does that reads nothing, or the same again.
_STANDING = (contract.STOPPED, contract.STALLED, contract.REWOUND, contract.BEYOND_END)


def track_incidents(groups: Frame, previous: Snapshot, taken_at: int, rules: Rules) -> Frame:
    """The groups with last_status, status_since, held_status, held_since and incident_since, and
    with the columns of all `TROUBLES`.

    Times are of runs, ms UTC. A status is held once it has lasted `rules.hold` runs. A run in which
    the status is unknown does not end it; `worst_status` is kept like `last_status` then. A group
    that had been deleted starts anew, as does one of which nothing was left that is watched. A
    group without a previous row counts as OK so far.
    """
    old = _find_previous(groups, previous)
    status, last = _codes(groups, "status"), _codes(old, "last_status")
    now = Column.of(np.full(len(groups), taken_at, np.int64))
    same = ~status.known | (status == last)
    since = old.numbers("status_since").only(same).or_else(now.only(status.known))
    lasts = taken_at - since >= (rules.hold - 1) * rules.interval_ms
    lasted, earlier = status.only(lasts), _codes(old, "held_status")
    unchanged = ~lasted.known | (lasted == earlier)
    held_since = old.numbers("held_since").only(unchanged).or_else(since.only(lasted.known))
    held_status = lasted.or_else(earlier)
    return groups.with_columns(
        last_status=Strings(status.or_else(last), GROUP_STATUSES),
        **_keep_worst_status(groups, old, now),
        status_since=since,
        held_status=Strings(held_status, GROUP_STATUSES),
        held_since=held_since,
        incident_since=_incident(old, status, held_status, held_since, taken_at - rules.window_ms),
        **_track_troubles(groups, old, taken_at, rules),
    )


def find_loss(groups: Frame) -> Finding:
    """Whether records were deleted before the group committed them."""
    lost = groups.numbers("records_lost")
    return Finding(lost > 0, lost.known)


def find_risk(groups: Frame) -> Finding:
    """Whether retention will delete unread records, or did."""
    left = groups.numbers("seconds_until_loss")
    return Finding(left < contract.NO_LOSS_SECONDS, left.known)


def find_sla_used(groups: Frame) -> Column:
    """The time lag as a share of what is promised; above 1 the promise is broken."""
    return groups.numbers("time_lag_seconds") / groups.numbers("sla_seconds")


def find_broken_sla(groups: Frame) -> Finding:
    """Whether the oldest unread record is older than promised; a group without a promise has none
    to break. An age that is a least one proves only that it is.
    """
    age, promised = groups.numbers("time_lag_seconds"), groups.numbers("sla_seconds")
    broken = age > promised
    bounded = age.known & groups.numbers("time_lag_error_seconds").known
    return Finding(broken, broken | bounded | ~promised.known)


@dataclass(frozen=True, slots=True)
class Finding:
    """Groups that have a trouble, and those of which it is known whether they have it."""

    found: Mask
    known: Mask


# By the name in its columns: `<name>_since`, `<name>_seen_at` and `held_<name>_since`.
TROUBLES: Mapping[str, Callable[[Frame], Finding]] = {
    contract.TROUBLE_LOSS: find_loss,
    contract.TROUBLE_AT_RISK: find_risk,
    contract.TROUBLE_SLA_BROKEN: find_broken_sla,
}


def _track_troubles(groups: Frame, old: Frame, taken_at: int, rules: Rules) -> dict[str, AnyColumn]:
    """The columns of all troubles, ms.

    A trouble ends in a run that does not see it, once none of the last `hold` runs did: what comes
    and goes from run to run is one. It is held once it has lasted `hold` runs, until it ends.
    """
    columns: dict[str, AnyColumn] = {}
    now = Column.of(np.full(len(groups), taken_at, np.int64))
    for name, find in TROUBLES.items():
        finding = find(groups)
        seen_at = now.only(finding.found).or_else(old.numbers(f"{name}_seen_at"))
        absent = finding.known & (taken_at - seen_at >= rules.hold * rules.interval_ms)
        seen_at = seen_at.only(~absent)
        since = old.numbers(f"{name}_since").or_else(now.only(finding.found)).only(seen_at.known)
        lasted = seen_at - since >= (rules.hold - 1) * rules.interval_ms
        held = old.numbers(f"held_{name}_since").known | lasted
        columns |= {
            f"{name}_since": since,
            f"{name}_seen_at": seen_at,
            f"held_{name}_since": since.only(held),
        }
    return columns


def _keep_worst_status(groups: Frame, old: Frame, now: Column) -> dict[str, AnyColumn]:
    """What the consumer does, and since when; as last known where no status is.

    What the rates decide keeps its first beginning: a later one would be estimated anew. It begins
    `now` (ms) where the group is still held to be in ERR for what its consumer did, as its backlog
    is of a stop. A commit is beyond the end since the first run that found it there.
    """
    worst, since = groups.strings("worst_status"), groups.numbers("worst_status_since")
    kept = ~groups.strings("status").known & ~worst.known
    lasts = worst.is_in(BY_RATES) & old.strings("worst_status").is_in(BY_RATES)
    beyond = worst.is_in([contract.BEYOND_END])
    lasts |= beyond & old.strings("worst_status").is_in([contract.BEYOND_END])
    earlier = old.numbers("worst_status_since")
    since = now.where(worst.is_in(BY_RATES) & _was_held_for_its_consumer(old), since)
    return {
        "worst_status": worst.or_else(old.strings("worst_status").only(kept)),
        "worst_status_since": earlier.only(kept | lasts).or_else(since).or_else(now.only(beyond)),
    }


def _was_held_for_its_consumer(old: Frame) -> Mask:
    """Groups that were held to be in ERR for another reason than a loss alone."""
    in_error = old.strings("held_status").is_in([contract.ERR])
    by_loss = old.numbers("loss_since") <= old.numbers("held_since")
    mask: Mask = in_error & (~by_loss | old.strings("worst_status").is_in(_STANDING))
    return mask


def _incident(
    old: Frame, status: Column, held_status: Column, held_since: Column, settled_by: int
) -> Column:
    """Since when the held status is not OK, ms.

    An incident ends in a run that sees OK, once OK was held for a whole window: since `settled_by`
    or longer. A new one before that is the same incident.
    """
    over = (status == held_status) & (held_status == 0) & (held_since <= settled_by)
    return old.numbers("incident_since").only(~over).or_else(held_since.only(held_status > 0))


def _find_previous(groups: Frame, previous: Snapshot) -> Frame:
    groups_before = previous.groups
    reason = groups_before.strings("status_reason")
    ended = reason.is_in(contract.LAST_ROW_REASONS)
    ended |= reason.is_in([contract.TOPIC_UNWATCHED]) & ~groups_before.strings("status").known
    old = groups_before.where(~ended)
    return old.lazy_take(locate(groups, old, ("consumer_group",)))


def _codes(groups: Frame, name: str) -> Column:
    """Statuses as numbers, 0 for OK."""
    return groups.strings(name).codes_in(GROUP_STATUSES)
