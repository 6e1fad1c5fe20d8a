# SPDX-License-Identifier: Apache-2.0
"""The incident of each group.

It begins when something went wrong, and ends when the backlog is worked off. Page, messages and
reports show it; none of them decides it again.
"""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.contract.ids import incident_id
from kafka_lag.lag.columns import Column, Mask, Strings
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Columns, Frame, unknown
from kafka_lag.lag.held import SAME_BEGINNING, TROUBLES, codes_of, find_previous
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.previous_rows import is_read
from kafka_lag.lag.recent import Recent
from kafka_lag.lag.rollup import GROUP_STATUSES
from kafka_lag.lag.run import Run
from kafka_lag.lag.sets import Sets
from kafka_lag.lag.trend import READINGS

# A group that kept up longer ago, and was OK all the same, reads late on purpose.
_LONGEST_ONSET_MS = 24 * 3_600_000
# A backlog is worked off if its oldest record is at most this many intervals old.
_YOUNG_INTERVALS = 2.0
# An incident of a group in OK waits no longer than this for a backlog that has stopped to shrink,
# because some groups always read late.
_STEADY_MS = 30 * 60_000
_SEVERITIES = contract.CONSUMER_STATUS_SEVERITIES


def add_incidents(e: Evaluation) -> Frame:
    """Returns the groups with the columns `incident_*`."""
    return track_incidents(e.groups, e.newest, _count_newly_lost(e), e.run)


def track_incidents(groups: Frame, previous: Snapshot, lost: Column, run: Run) -> Frame:
    """Returns the groups with the columns `incident_*`; all are unknown without an incident.

    A cause that began with the incident gets the incident's time as `cause_since`.

    `lost`: the records of each group that were lost since the previous run. An incident is
    published once a status or a trouble is held. Its id and `since` never change after that. It
    ends in the run that finds the group OK and its backlog worked off: that is `until`, which stays
    for one window, and is unknown again if the group gets worse meanwhile.
    """
    old = find_previous(groups, previous)
    over = old.numbers("incident_until") <= run.taken_at - run.rules.window_ms
    goes_on = old.strings("incident_id").known & ~over
    troubled = find_troubled(groups)
    opens = troubled & ~goes_on & groups.strings("consumer_group").known
    has = opens | goes_on
    if not has.any():
        return groups.with_columns(**_no_incidents(len(groups)))
    old = old.lazy_take(np.where(goes_on, np.arange(len(groups)), -1))
    unwatched = _find_unwatched(groups, troubled)
    since = old.numbers("incident_since").or_else(_find_beginning(groups, run).only(opens))
    skipped = _largest(old.numbers("incident_skipped"), _find_skipped(groups, since))
    status = _find_status(groups, old, skipped)
    calm = (status == 0) & ~troubled
    ends = (calm & _is_worked_off(groups, run)) | unwatched
    until = old.numbers("incident_until").or_else(run.now(len(groups)).only(ends))
    columns: Columns = {
        "incident_id": old.strings("incident_id").or_else(_name(groups, since, opens, run)),
        "incident_since": since,
        "incident_from": _find_from(groups, old, since),
        "incident_until": until.only(calm | unwatched),
        "incident_status": Strings(status, GROUP_STATUSES),
        **_find_worst(groups, old),
        **_find_peaks(groups, old, opens, run),
        "incident_lost": _count_lost(groups, old, lost),
        "incident_skipped": skipped,
        "incident_sla_broken_since": old.numbers("incident_sla_broken_since").or_else(
            groups.numbers(contract.HELD_SLA_BROKEN)
        ),
        "incident_at_risk_since": _find_near_loss(groups, old),
        **_find_cause(groups, old),
    }
    cause_since = groups.numbers("cause_since")
    together = has & _is_same_moment(cause_since, since, run)
    return groups.with_columns(
        cause_since=since.where(together, cause_since),
        **{name: each.only(has) for name, each in columns.items()},
    )


def _is_same_moment(one: Column, other: Column, run: Run) -> Mask:
    apart, most = one - other, SAME_BEGINNING * run.rules.interval_ms
    mask: Mask = (apart <= most) & (apart >= -most)
    return mask


def find_troubled(groups: Frame) -> Mask:
    """Marks groups with a held status that is not OK, or a held trouble."""
    troubled: Mask = codes_of(groups, "held_status") > 0
    for trouble in TROUBLES:
        troubled = troubled | groups.numbers(f"held_{trouble}_since").known
    return troubled


def _find_unwatched(groups: Frame, troubled: Mask) -> Mask:
    """Marks groups in which only a topic that is no longer watched was bad."""
    reason = groups.strings("status_reason").is_in([contract.TOPIC_UNWATCHED])
    mask: Mask = reason & (~groups.strings("status").known | ~troubled)
    return mask


def _find_beginning(groups: Frame, run: Run) -> Column:
    """Returns the last run in which the group kept up; else the first sign of its trouble.

    A status that began about then begins with the incident, so that both have one time. If
    partitions are unread, no run can see the group keep up.
    """
    seen = groups.numbers("held_since").only(codes_of(groups, "held_status") > 0)
    for trouble in TROUBLES:
        held = groups.numbers(f"held_{trouble}_since").known
        seen = _smallest(seen, groups.numbers(f"{trouble}_since").only(held))
    kept_up = groups.numbers("kept_up_at")
    kept_up = kept_up.only((kept_up < seen) & (kept_up >= seen - _LONGEST_ONSET_MS))
    begun = groups.numbers("worst_status_since").or_else(groups.numbers("open_transaction_since"))
    kept_up = kept_up.only(~(groups.numbers("complete") < 1) | ~begun.known)
    together = begun.only(_is_same_moment(begun, kept_up, run))
    return together.or_else(kept_up).or_else(_smallest(seen, begun)).or_else(run.now(len(groups)))


def _find_from(groups: Frame, old: Frame, since: Column) -> Column:
    """Returns when the incident began by what is known now; no later than it was published."""
    sign = groups.numbers("worst_status_since")
    kept_up = groups.numbers("kept_up_at")
    sign = sign.clip(kept_up).or_else(sign)
    return _smallest(_smallest(since, old.numbers("incident_from")), sign.only(sign < since))


def _name(groups: Frame, since: Column, opens: Mask, run: Run) -> Strings:
    """Returns the ids of incidents that open in this run."""
    rows = np.flatnonzero(opens)
    names = groups.strings("consumer_group").take(rows).to_list()
    ids = (
        incident_id(run.rules.cluster, name, at)
        for name, at in zip(names, since.take(rows).to_list(), strict=True)
    )
    return Strings.unknown(len(groups)).put(rows, Strings.of(ids))


def _find_status(groups: Frame, old: Frame, skipped: Column) -> Column:
    """Returns the status that is reported: the held one, unless it is better and not proven.

    A run that could not read the group proves nothing. Neither does a backlog that went because
    offsets were set ahead, while nobody reads on.
    """
    held, before = codes_of(groups, "held_status"), codes_of(old, "incident_status")
    lag = groups.numbers("lag")
    nobody = (skipped > 0) & (groups.numbers("members") == 0)
    nobody &= (lag > 0) & (lag >= old.numbers("lag"))
    read = is_read(groups) & groups.strings("status").known
    stays = (held < before) & (~read | ((held == 0) & nobody))
    return held.only(~stays).or_else(before).or_else(Column.constant(0, len(groups), np.int32))


def _is_worked_off(groups: Frame, run: Run) -> Mask:
    """Marks groups without a backlog, or with one that has stopped to shrink."""
    age, lag = groups.numbers("time_lag_seconds"), groups.numbers("lag")
    bounded = groups.numbers("time_lag_error_seconds").known
    done = (lag == 0) | (bounded & (age <= _YOUNG_INTERVALS * run.interval_seconds))
    steady = groups.strings("trend").is_in([contract.STEADY, contract.GROWING])
    steady &= groups.numbers("held_since") <= run.taken_at - _STEADY_MS
    ok = is_read(groups) & groups.strings("status").is_in([contract.OK])
    mask: Mask = ok & (done | steady)
    return mask


def _find_skipped(groups: Frame, since: Column) -> Column:
    """Returns records that were skipped for sure since the incident began."""
    sure = ~groups.strings("skip_reason").is_in([contract.READ_OR_SKIPPED])
    return groups.numbers("records_skipped").only(sure & (groups.numbers("skipped_at") >= since))


def _count_newly_lost(e: Evaluation) -> Column:
    """Returns each group's records that retention deleted unread since the previous run.

    Records that were lost before and are still ahead of the commit are not a new loss. Records that
    the commit has passed meanwhile may have been lost as well, so it is a lower bound.
    """
    rows, old, lost = e.rows, e.previous.rows, e.rows.numbers("records_lost")
    if not (lost > 0).any():
        # Nearly every run: the previous rows need not be joined.
        return Column.constant(0, len(e.groups))
    advanced = rows.numbers("committed_offset") - old.numbers("committed_offset")
    still_ahead = (old.numbers("records_lost") - advanced).clip(0)
    newly = (lost - still_ahead).clip(0).only(is_read(rows))
    return Sets(e.at_group, len(e.groups)).total(newly)


def _count_lost(groups: Frame, old: Frame, newly: Column) -> Column:
    """Returns how many records retention deleted unread in the incident, at least."""
    before = old.numbers("incident_lost")
    lost = groups.numbers("records_lost").only(is_read(groups))
    return (before + newly).or_else(before).or_else(lost)


def _find_near_loss(groups: Frame, old: Frame) -> Column:
    """Returns since when a loss was near, before there was any."""
    held = groups.numbers(f"held_{contract.TROUBLE_AT_RISK}_since")
    lost = (groups.numbers("records_lost") > 0) | groups.numbers("held_loss_since").known
    lost |= (groups.numbers("seconds_until_loss") <= 0) | (old.numbers("incident_lost") > 0)
    return old.numbers("incident_at_risk_since").or_else(held.only(~lost))


def _find_worst(groups: Frame, old: Frame) -> Columns:
    """Returns what the consumer did at its worst, and since when."""
    now, before = groups.strings("worst_status"), old.strings("incident_worst_status")
    worse = _rank(now) > _rank(before)
    since, before_since = (
        groups.numbers("worst_status_since"),
        old.numbers("incident_worst_status_since"),
    )
    return {
        "incident_worst_status": now.where(worse, before),
        "incident_worst_status_since": since.where(worse, before_since),
    }


def _rank(statuses: Strings) -> Column:
    return Column.of(statuses.numbers_of(lambda each: _SEVERITIES.get(each, 0), np.int32).fill(-1))


def _find_peaks(groups: Frame, old: Frame, opens: Mask, run: Run) -> Columns:
    """Returns the largest lag and time lag, and the run that saw that lag.

    Runs before the incident was published count if their lag is still known.
    """
    read = is_read(groups) & ~old.numbers("incident_until").known
    lag, now = groups.numbers("lag").only(read), run.now(len(groups))
    known = groups.strings("lags_lately").only(opens & lag.known).pruned()
    lately = Recent.of(known, READINGS)
    ago = np.argmax(np.where(lately.present, lately.values, -1.0)[:, ::-1], axis=1)
    first = lately.maximum().rint()
    lag, at = first.or_else(lag), (now - ago * run.rules.interval_ms).only(first.known).or_else(now)
    before = old.numbers("incident_peak_lag")
    larger = lag.known & ~(lag <= before)
    age = groups.numbers("time_lag_seconds").only(read)
    return {
        "incident_peak_lag": lag.where(larger, before),
        "incident_peak_lag_at": at.where(larger, old.numbers("incident_peak_lag_at")),
        "incident_peak_time_lag": _largest(old.numbers("incident_peak_time_lag"), age),
    }


def _find_cause(groups: Frame, old: Frame) -> Columns:
    """Returns the newest cause that was named, and since when."""
    cause = groups.strings("cause")
    named = cause.known & ~cause.is_in([contract.UNEXPLAINED, contract.CATCHING_UP])
    since, before = groups.numbers("cause_since"), old.numbers("incident_cause_since")
    return {
        "incident_cause": cause.where(named, old.strings("incident_cause")),
        "incident_cause_since": since.where(named, before),
    }


def _largest(one: Column, other: Column) -> Column:
    """Returns the larger of two values; if one is unknown, the other."""
    return one.clip(other).or_else(one).or_else(other)


def _smallest(one: Column, other: Column) -> Column:
    """Returns the smaller of two values; if one is unknown, the other."""
    return one.clip(most=other).or_else(one).or_else(other)


def _no_incidents(length: int) -> Columns:
    kinds = contract.COLUMNS[contract.GROUPS].items()
    return {name: unknown(kind, length) for name, kind in kinds if name.startswith("incident_")}
