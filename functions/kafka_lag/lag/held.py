# SPDX-License-Identifier: Apache-2.0
"""A group's status over time: since when it lasts, and which one is held.

Troubles are tracked apart from the status: since when a group loses records, is near a loss, or has
a time lag above its SLA. All state of earlier runs is in the group's row of the previous snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.frame import Columns, Frame, locate
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.rollup import GROUP_STATUSES
from kafka_lag.lag.run import Run

# Statuses of a consumer that reads nothing, or reads the same records again.
_NOT_READING = (contract.STOPPED, contract.STALLED, contract.REWOUND, contract.BEYOND_END)
# Statuses of a commit that does not move, which is right as long as nothing is written.
_IDLE_AT_FIRST = (contract.STOPPED, contract.STALLED, contract.NO_MEMBER)
# Two moments that are at most this many intervals apart are one beginning: a group keeps up until
# its oldest record is two intervals old.
SAME_BEGINNING = 2.5


def hold_statuses(groups: Frame, previous: Snapshot, run: Run) -> Frame:
    """Returns the groups with last_status, status_since, held_status, held_since, and the columns
    of all `TROUBLES`.

    Times are of runs, ms UTC. A status is held once it has lasted `rules.hold` runs. A run in which
    the status is unknown does not end it, and keeps `worst_status` like `last_status`. A group that
    had been deleted, or had no watched partition left, starts without a history. A group without a
    previous row counts as OK so far.
    """
    old = find_previous(groups, previous)
    status, last = codes_of(groups, "status"), codes_of(old, "last_status")
    now = run.now(len(groups))
    same = ~status.known | (status == last)
    since = old.numbers("status_since").only(same).or_else(now.only(status.known))
    lasts = run.taken_at - since >= (run.rules.hold - 1) * run.rules.interval_ms
    lasted, earlier = status.only(lasts), codes_of(old, "held_status")
    unchanged = ~lasted.known | (lasted == earlier)
    held_since = old.numbers("held_since").only(unchanged).or_else(since.only(lasted.known))
    held_status = lasted.or_else(earlier)
    return groups.with_columns(
        last_status=Strings(status.or_else(last), GROUP_STATUSES),
        **_keep_worst_status(groups, old, run),
        status_since=since,
        held_status=Strings(held_status, GROUP_STATUSES),
        held_since=held_since,
        **_track_troubles(groups, old, run),
    )


def find_loss(groups: Frame) -> Finding:
    """Finds groups whose records were deleted before they were committed."""
    lost = groups.numbers("records_lost")
    return Finding(lost > 0, lost.known)


def find_risk(groups: Frame) -> Finding:
    """Finds groups whose unread records retention will delete, or deleted."""
    left = groups.numbers("seconds_until_loss")
    return Finding(left < contract.NO_LOSS_SECONDS, left.known)


def find_sla_used(groups: Frame) -> Column:
    """Returns the time lag as a share of the SLA; above 1 the SLA is broken."""
    return groups.numbers("time_lag_seconds") / groups.numbers("sla_seconds")


def find_broken_sla(groups: Frame) -> Finding:
    """Finds groups with a time lag above their SLA; a group without an SLA breaks none.

    A time lag without an upper bound can prove a broken SLA, but not a kept one.
    """
    age, limit = groups.numbers("time_lag_seconds"), groups.numbers("sla_seconds")
    broken = age > limit
    bounded = age.known & groups.numbers("time_lag_error_seconds").known
    return Finding(broken, broken | bounded | ~limit.known)


@dataclass(frozen=True, slots=True)
class Finding:
    """Groups that have a trouble, `found`, and groups for which that is `known`."""

    found: Mask
    known: Mask


# The keys are parts of column names: `<name>_since`, `<name>_seen_at` and `held_<name>_since`.
TROUBLES: Mapping[str, Callable[[Frame], Finding]] = {
    contract.TROUBLE_LOSS: find_loss,
    contract.TROUBLE_AT_RISK: find_risk,
    contract.TROUBLE_SLA_BROKEN: find_broken_sla,
}


def _track_troubles(groups: Frame, old: Frame, run: Run) -> Columns:
    """Returns the columns of all troubles, ms.

    A trouble ends once none of the last `hold` runs has seen it, so that one which comes and goes
    from run to run lasts. It is held once it has lasted `hold` runs, until it ends.
    """
    columns: Columns = {}
    now = run.now(len(groups))
    for name, find in TROUBLES.items():
        finding = find(groups)
        seen_at = now.only(finding.found).or_else(old.numbers(f"{name}_seen_at"))
        absent = finding.known & (run.taken_at - seen_at >= run.rules.hold * run.rules.interval_ms)
        seen_at = seen_at.only(~absent)
        since = old.numbers(f"{name}_since").or_else(now.only(finding.found)).only(seen_at.known)
        lasted = seen_at - since >= (run.rules.hold - 1) * run.rules.interval_ms
        held = old.numbers(f"held_{name}_since").known | lasted
        columns |= {
            f"{name}_since": since,
            f"{name}_seen_at": seen_at,
            f"held_{name}_since": since.only(held),
        }
    return columns


def _keep_worst_status(groups: Frame, old: Frame, run: Run) -> Columns:
    """Returns the consumer status and since when; the last known if the status is unknown.

    A status that rates decide keeps its first beginning, because later ones are new estimates; and
    no estimate is earlier than the last run in which the group kept up. It begins in this run if
    the group is still held in ERR for what its consumer did, because its backlog then comes from a
    stop. A commit is beyond the end since the first run that found it so. If a commit did not move
    because nothing was written, its status begins no earlier than the last run in which the group
    kept up.
    """
    now = run.now(len(groups))
    worst, since = groups.strings("worst_status"), groups.numbers("worst_status_since")
    kept = ~groups.strings("status").known & ~worst.known
    lasts = worst.is_in(contract.STATUSES_BY_RATES) & old.strings("worst_status").is_in(
        contract.STATUSES_BY_RATES
    )
    beyond = worst.is_in([contract.BEYOND_END])
    lasts |= beyond & old.strings("worst_status").is_in([contract.BEYOND_END])
    earlier = old.numbers("worst_status_since")
    estimated, kept_up = worst.is_in(contract.STATUSES_BY_RATES), old.numbers("kept_up_at")
    idle = worst.is_in(_IDLE_AT_FIRST) & (since < kept_up - SAME_BEGINNING * run.rules.interval_ms)
    since = since.clip(kept_up.only(estimated | idle)).or_else(since)
    since = now.where(estimated & _was_held_for_its_consumer(old), since)
    return {
        "worst_status": worst.or_else(old.strings("worst_status").only(kept)),
        "worst_status_since": earlier.only(kept | lasts).or_else(since).or_else(now.only(beyond)),
    }


def _was_held_for_its_consumer(old: Frame) -> Mask:
    """Marks groups that were held in ERR for another reason than a loss alone."""
    in_error = old.strings("held_status").is_in([contract.ERR])
    by_loss = old.numbers("loss_since") <= old.numbers("held_since")
    mask: Mask = in_error & (~by_loss | old.strings("worst_status").is_in(_NOT_READING))
    return mask


def find_previous(groups: Frame, previous: Snapshot) -> Frame:
    """Returns each group's previous row; all its columns are unknown if the group had ended."""
    groups_before = previous.groups
    reason = groups_before.strings("status_reason")
    ended = reason.is_in(contract.LAST_ROW_REASONS)
    ended |= reason.is_in([contract.TOPIC_UNWATCHED]) & ~groups_before.strings("status").known
    old = groups_before.where(~ended)
    return old.lazy_take(locate(groups, old, contract.GROUP_KEY))


def codes_of(groups: Frame, name: str) -> Column:
    """Returns statuses as numbers, 0 for OK."""
    return groups.strings(name).codes_in(GROUP_STATUSES)
