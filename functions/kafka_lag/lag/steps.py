# SPDX-License-Identifier: Apache-2.0
"""The steps of an evaluation, in order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.append_time import estimate_append_times
from kafka_lag.lag.capacity import add_capacity
from kafka_lag.lag.causes import add_causes
from kafka_lag.lag.columns import Column
from kafka_lag.lag.delays import count_undue, find_delays, find_due_time
from kafka_lag.lag.evaluation import Evaluation, Step, Table
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.group_settings import EARLIEST
from kafka_lag.lag.held import hold_statuses
from kafka_lag.lag.incidents import count_newly_lost, track_incidents
from kafka_lag.lag.kept_up import add_kept_up, add_kept_up_rate
from kafka_lag.lag.left_topics import add_left, find_left
from kafka_lag.lag.movement import add_movement
from kafka_lag.lag.offset_lag import OffsetLag, compute_offset_lag
from kafka_lag.lag.ownership import add_owners
from kafka_lag.lag.positions import is_compacted
from kafka_lag.lag.previous_rows import (
    is_read,
    last_known_lag,
    match_previous,
    match_previous_groups,
    set_where_read,
)
from kafka_lag.lag.rates import add_produce_rate, add_rates
from kafka_lag.lag.rebalances import add_rebalances
from kafka_lag.lag.release_risk import add_release_risk
from kafka_lag.lag.restarts import add_restarts
from kafka_lag.lag.rests import (
    add_rests,
    find_off_by_one,
    forget_rests,
    name_off_by_one,
    skip_markers,
)
from kafka_lag.lag.retention import add_retention
from kafka_lag.lag.rollup import add_uncounted, counts_of, roll_up_groups
from kafka_lag.lag.run import Run
from kafka_lag.lag.sets import Sets
from kafka_lag.lag.share_groups import drop_rests, is_held, is_shared, set_finished
from kafka_lag.lag.skips import add_skips
from kafka_lag.lag.status import add_status, name_unavailable
from kafka_lag.lag.tasks_needed import add_tasks_needed
from kafka_lag.lag.time_lag import add_time_lag, estimate_time_lag, widen_for_short_rests
from kafka_lag.lag.topic_settings import add_changed_settings
from kafka_lag.lag.transactions import (
    add_held_up,
    add_open_transactions,
    add_transactions,
    find_held_up,
    find_transactional,
    name_held_up,
)
from kafka_lag.lag.trend import add_trend
from kafka_lag.lag.unwatched import find_unwatched, mark_unwatched
from kafka_lag.lag.usual_lag import add_unusual


def _add_transactions(e: Evaluation) -> Frame:
    topics = add_transactions(e.topics, e.newest, e.run)
    e.transactional = find_transactional(topics)
    return topics


def _add_rebalances(e: Evaluation) -> Frame:
    e.old_groups = match_previous_groups(e.groups, e.newest)
    return add_rebalances(e.groups, e.old_groups, e.run)


def _join(e: Evaluation) -> Frame:
    """Returns the rows of known groups with their partition's offsets, and joins all tables."""
    at_group = locate(e.rows, e.groups, contract.GROUP_KEY)
    rows, e.at_group = e.rows.where(at_group >= 0), at_group[at_group >= 0]
    e.at_topic = locate(rows, e.topics, contract.PARTITION_KEY)
    rows = _join_offsets(rows, e.of_topic)
    e.previous = match_previous(rows, e.newest)
    return rows


def _join_offsets(rows: Frame, topics: Frame) -> Frame:
    """Returns each row with its partition's leader, topic id and offsets.

    An unread row keeps the offsets and the topic id of its last reading, because its old commit and
    a new end would give a lag that never existed.
    """
    unread, listed = ~is_read(rows), topics.strings("topic").known

    def offset(name: str) -> Column:
        return rows.numbers(name).only(unread).or_else(topics.numbers(name))

    return rows.with_columns(
        topic_id=rows.strings("topic_id").only(unread).or_else(topics.strings("topic_id")),
        leader=topics.numbers("leader").or_else(rows.numbers("leader").only(~listed)),
        start_offset=offset("start_offset"),
        end_offset=offset("end_offset"),
        stable_offset=offset("stable_offset"),
    )


def _add_lag(e: Evaluation) -> Frame:
    """Returns the rows with their lag; unread rows with `last_lag` and `last_time_lag_seconds`."""
    rows, e.lags = e.rows, _find_lags(e.rows, e.of_group, e.run)
    read = is_read(rows)
    last_read = ~read & rows.numbers("read_at").known
    age, last_age = rows.numbers("time_lag_seconds"), rows.numbers("last_time_lag_seconds")
    return rows.with_columns(
        lag=e.lags.lag.only(read),
        last_lag=e.lags.lag.only(last_read),
        last_time_lag_seconds=age.or_else(last_age).only(last_read),
        delay_seconds=find_delays(rows, e.run.rules),
        retention_margin=e.lags.margin,
    )


def _find_lags(rows: Frame, groups: Frame, run: Run) -> OffsetLag:
    """Returns each row's lag; `groups` holds each row's group.

    The lag of a share group is the one that the broker says, without records deleted since. That of
    another group leaves out records that are finished after its commit.
    """
    names = rows.strings("consumer_group")
    from_start = [name for name in names.categories if run.rules.uncommitted.get(name) == EARLIEST]
    committed = rows.numbers("committed_offset")
    found = compute_offset_lag(
        set_finished(rows, is_shared(groups)).numbers("committed_offset"),
        rows.numbers("start_offset"),
        rows.numbers("end_offset"),
        from_start=names.is_in(from_start) & ~committed.known,
    )
    lag = last_known_lag(rows)
    return replace(
        found,
        lag=lag.where(lag < found.lag, found.lag),
        uncommitted=found.uncommitted & ~committed.known,
    )


def _add_reads_remote(e: Evaluation) -> Frame:
    """Returns the rows with `reads_remote`.

    It is True if the next record is no longer on the leader's own disks, and known only if a group
    lags on a tiered topic.
    """
    local = e.of_topic.numbers("local_start_offset")
    known = local.known & (e.rows.numbers("lag") > 0)
    return set_where_read(e.rows, reads_remote=Column(e.lags.position < local, known))


def _add_rests(e: Evaluation) -> Frame:
    rows = add_rests(e.rows, e.previous.rows, e.transactional, e.run)
    return drop_rests(rows, is_shared(e.of_group))


def _add_losses(e: Evaluation) -> Frame:
    """Returns the rows with `records_lost`: records deleted before they were committed."""
    off_by_one = find_off_by_one(e.rows, e.transactional).astype(np.int64)
    no_lag, resting = _allowed_lag(e.rows, e.run), forget_rests(e.rows, e.transactional)
    e.allowed, e.position = no_lag.clip(off_by_one), skip_markers(resting, _find_position(e))
    committed = e.rows.numbers("committed_offset")
    passed = (skip_markers(resting, committed) - committed).clip(off_by_one)
    # Deleting no more records than the allowed lag is not a loss.
    lost = (e.lags.lost - passed).clip(0) * (e.lags.lost > no_lag).astype(np.int64)
    return e.rows.with_columns(records_lost=lost)


def _find_position(e: Evaluation) -> Column:
    """Returns the offset of each row's next record."""
    shared = is_shared(e.of_group)
    if not shared.any():
        return e.lags.position
    held = shared & is_held(e.rows, e.previous.rows, e.of_topic)
    return _find_lowest_position(e).where(held, e.lags.position)


def _find_lowest_position(e: Evaluation) -> Column:
    """Returns the lowest offset at which each row's next record may lie."""
    shared = is_shared(e.of_group)
    if not shared.any():
        return e.lags.position
    start, committed = e.rows.numbers("start_offset"), e.rows.numbers("committed_offset")
    lowest = start.where(start > committed, committed)
    return lowest.where(shared & committed.known, e.lags.position)


def _allowed_lag(rows: Frame, run: Run) -> Column:
    """Returns how many records count as no lag, by each row's topic; 0 if not configured."""
    topics = rows.strings("topic")
    records = [run.rules.allowed_lag.get(name) or 0 for name in topics.categories]
    return Column.of(np.array(records or [0], np.int64)[topics.codes.fill(0)])


def _add_held_up(e: Evaluation) -> Frame:
    lag, held_up = e.rows.numbers("lag"), find_held_up(e.rows, e.position)
    e.is_marker = (lag > 0) & (e.position >= e.rows.numbers("end_offset"))
    e.unreadable = lag.where((e.is_marker | held_up) & (lag > e.allowed), e.allowed)
    return add_held_up(e.rows, e.previous.rows, held_up, e.run)


def _add_time_lag(e: Evaluation) -> Frame:
    rows, lag, old = e.rows, e.rows.numbers("lag"), e.previous.rows
    is_behind, due = lag > e.allowed, find_due_time(rows, _find_read_at(rows))
    before = find_transactional(e.newest.topic_partitions)
    estimates = estimate_append_times(
        rows,
        e.topics,
        e.at_topic,
        e.position.only(is_behind & ~e.is_marker),
        set_finished(forget_rests(old, before), is_shared(e.of_group)),
        e.previous_runs,
        e.run,
        e.look_up,
    )
    e.look_ups, e.contradicted = estimates.look_ups, estimates.contradicted
    e.estimated = estimate_time_lag(rows, lag, e.allowed, e.is_marker, estimates.times, due)
    position = _find_lowest_position(e)
    below = position.only(is_behind & (e.position > position) & due.known)
    e.ages = widen_for_short_rests(
        e.estimated.allow_for_cleaning(is_compacted(e.of_topic)),
        rows,
        e.topics,
        e.at_topic,
        below,
        e.position - below,
        old,
        e.previous_runs,
        e.run,
        is_shared(e.of_group),
        due,
    )
    rows = add_time_lag(rows, e.ages, estimates.times)
    e.undue = count_undue(rows, e.of_topic.numbers("produce_rate"))
    return rows


def _find_read_at(rows: Frame) -> Column:
    """Returns when each row was read, ms; unknown if it was not read in this run."""
    return rows.numbers("read_at").only(is_read(rows))


def _add_rates(e: Evaluation) -> Frame:
    produced = e.of_topic.numbers("produce_rate")
    return add_rates(e.rows, e.previous, produced, e.unreadable, e.undue, e.run)


def _add_retention(e: Evaluation) -> Frame:
    gaps = e.previous.rows.numbers("commit_gap_seconds")
    return add_retention(e.rows, e.of_topic, _find_read_at(e.rows), gaps, e.run)


def _name_reasons(e: Evaluation) -> Frame:
    rows = name_unavailable(name_held_up(e.rows, e.of_topic, e.run), e.run)
    return name_off_by_one(rows, e.transactional)


def _roll_up(e: Evaluation) -> Frame:
    e.counts = counts_of(e.rows, e.undue.where(e.undue > e.unreadable, e.unreadable))
    return roll_up_groups(e.groups, e.rows, e.of_topic, e.counts, e.ages, e.newest, e.run)


def _add_release_risk(e: Evaluation) -> Frame:
    rows, old_rows = e.rows, e.previous.rows
    return add_release_risk(e.groups, e.old_groups, rows, old_rows, e.at_group, e.unreadable, e.run)


def _add_capacity(e: Evaluation) -> Frame:
    return add_capacity(e.groups, e.old_groups, e.rows, e.previous, e.previous_runs, e.run)


def _add_tasks_needed(e: Evaluation) -> Frame:
    return add_tasks_needed(e.groups, e.old_groups, e.rows, e.of_topic, e.counts, e.previous, e.run)


def _mark_unwatched(e: Evaluation) -> Frame:
    e.unwatched = find_unwatched(e.reading, e.newest, e.run)
    return mark_unwatched(e.groups, e.old_groups, e.unwatched)


def _add_unusual(e: Evaluation) -> Frame:
    usual, beside = e.previous_runs.usual, e.previous_runs.usual_beside
    return add_unusual(e.groups, usual, e.newest.groups, e.run, beside=beside)


def _add_kept_up(e: Evaluation) -> Frame:
    groups, e.kept_up_weight = add_kept_up(e.groups, e.old_groups, e.rows, e.at_group, e.run)
    return groups


def _add_kept_up_rate(e: Evaluation) -> Frame:
    rate, weight = e.of_topic.numbers("produce_rate"), e.kept_up_weight[e.at_group]
    return add_kept_up_rate(e.rows, e.previous.rows, rate, weight)


def _add_changed_settings(e: Evaluation) -> Frame:
    before = e.newest.topic_partitions
    return add_changed_settings(e.groups, e.old_groups, e.rows, e.at_group, e.topics, before, e.run)


def _track_incidents(e: Evaluation) -> Frame:
    lost = count_newly_lost(e.rows, e.previous, Sets(e.at_group, len(e.groups)))
    return track_incidents(e.groups, e.newest, lost, e.run)


def _add_causes(e: Evaluation) -> Frame:
    return add_causes(
        e.groups,
        e.old_groups,
        e.rows,
        e.topics,
        e.at_topic,
        e.counts,
        e.previous,
        e.previous_runs,
        e.run,
    )


def _add_left(e: Evaluation) -> Frame:
    e.left = find_left(e.rows, e.topics, e.groups, e.newest, e.run)
    return add_left(e.groups, e.old_groups, e.left, e.run)


STEPS = (
    Step(
        "produce_rate",
        Table.TOPICS,
        lambda e: add_produce_rate(e.topics, e.newest, e.run),
        adds="produce_rate",
    ),
    Step(
        "transactions",
        Table.TOPICS,
        _add_transactions,
        adds="open_transaction_since transaction_seen_at",
    ),
    Step(
        "rebalances",
        Table.GROUPS,
        _add_rebalances,
        adds="group_epoch members_hash rebalances rebalancing_share",
    ),
    Step(
        "join",
        Table.ROWS,
        _join,
        adds="end_offset leader stable_offset start_offset topic_id",
    ),
    Step(
        "owners",
        Table.ROWS,
        lambda e: add_owners(e.rows, e.of_group, e.newest, e.run),
        needs="join",
        adds="owned_at",
    ),
    Step(
        "lag",
        Table.ROWS,
        _add_lag,
        needs="join",
        adds="delay_seconds lag last_lag last_time_lag_seconds retention_margin",
    ),
    Step(
        "tiered_storage",
        Table.ROWS,
        _add_reads_remote,
        needs="join lag",
        adds="reads_remote",
    ),
    Step(
        "rests",
        Table.ROWS,
        _add_rests,
        needs="transactions join",
        adds="rest_end rest_left_at rest_records rests_seen",
    ),
    Step(
        "losses",
        Table.ROWS,
        _add_losses,
        needs="produce_rate transactions join lag rests",
        adds="records_lost",
    ),
    Step(
        "held_up",
        Table.ROWS,
        _add_held_up,
        needs="join lag losses",
        adds="held_up_at",
    ),
    Step(
        "time_lag",
        Table.ROWS,
        _add_time_lag,
        needs="produce_rate join lag losses held_up",
        adds=(
            "next_record_after next_record_before next_record_time time_lag_error_seconds "
            "time_lag_method time_lag_seconds"
        ),
        frees=True,
    ),
    Step(
        "movement",
        Table.ROWS,
        lambda e: add_movement(e.rows, e.previous, e.run),
        needs="join",
        adds=(
            "batch_records batches_seen commit_changed_at long_pause_age_left long_pause_seconds "
            "long_pauses_seen longest_batch_seconds observations pause_age_left pause_seconds "
            "pauses_seen rewound_at rewound_from shortest_batch_seconds work_between_long_pauses "
            "work_between_pauses work_since_long_pause work_since_pause"
        ),
    ),
    Step(
        "skips",
        Table.ROWS,
        lambda e: add_skips(e.rows, e.previous, e.of_topic, e.of_group, e.of_old_group, e.run),
        needs="rebalances join",
        adds="skip_reason skipped_at skipped_from skipped_to",
    ),
    Step(
        "rates",
        Table.ROWS,
        _add_rates,
        needs="produce_rate join lag held_up time_lag skips",
        adds="age_growth consume_rate drain_seconds",
    ),
    Step(
        "retention",
        Table.ROWS,
        _add_retention,
        needs="produce_rate join lag losses time_lag movement rates",
        adds="retention_risk seconds_until_loss",
    ),
    Step(
        "status",
        Table.ROWS,
        lambda e: add_status(e.rows, e.of_group, e.previous, e.estimated, e.unreadable, e.run),
        needs="join lag held_up time_lag movement skips rates",
        adds=(
            "commit_gap_seconds consumer_status last_status not_catching_up_since progress_from "
            "progress_from_lag status status_reason"
        ),
        frees=True,
    ),
    Step(
        "reasons",
        Table.ROWS,
        _name_reasons,
        needs="transactions join owners held_up movement status",
        adds="consumer_status status status_reason",
    ),
    Step(
        "counts",
        Table.ROWS,
        lambda e: add_uncounted(e.rows, e.lags, e.run),
        needs="lag",
        adds="taken_at uncounted",
    ),
    Step(
        "roll_up",
        Table.GROUPS,
        _roll_up,
        needs=(
            "produce_rate join owners lag losses held_up time_lag movement skips rates retention "
            "status reasons counts"
        ),
        adds=(
            "complete consume_rate drain_seconds lag max_lag muted owner owners_changed partitions "
            "partitions_uncommitted partitions_unknown produce_rate records_lost records_rewound "
            "records_skipped runbook_url seconds_until_loss skip_reason skipped_at sla_seconds "
            "slo_age_seconds slo_days slo_target status status_reason time_lag_error_seconds "
            "time_lag_method time_lag_seconds topics worst_leader worst_member worst_partition "
            "worst_status worst_status_since worst_topic"
        ),
    ),
    Step(
        "trend",
        Table.GROUPS,
        lambda e: add_trend(e.groups, e.old_groups, e.run),
        needs="rebalances roll_up",
        adds="lags_lately trend",
    ),
    Step(
        "release_risk",
        Table.GROUPS,
        _add_release_risk,
        needs="rebalances join lag losses held_up time_lag movement skips roll_up",
        adds="ages_lately release_risk release_since",
    ),
    Step(
        "open_transactions",
        Table.GROUPS,
        lambda e: add_open_transactions(e.groups, e.rows, e.of_topic, e.run),
        needs="transactions join held_up movement counts roll_up",
        adds=(
            "held_up_records open_transaction_partition open_transaction_since "
            "open_transaction_topic status status_reason"
        ),
    ),
    Step(
        "capacity",
        Table.GROUPS,
        _add_capacity,
        needs="rebalances join lag skips roll_up",
        adds=(
            "capacity capacity_high capacity_low capacity_members capacity_samples settled_since "
            "shared_limit_members shared_limit_rate shared_limit_since"
        ),
    ),
    Step(
        "tasks",
        Table.GROUPS,
        _add_tasks_needed,
        needs="produce_rate rebalances join movement status reasons roll_up capacity",
        adds=(
            "hottest_partition hottest_share hottest_topic last_tasks_needed rates_lately "
            "tasks_needed tasks_needed_reason"
        ),
    ),
    Step(
        "unwatched_topics",
        Table.GROUPS,
        _mark_unwatched,
        needs="rebalances roll_up open_transactions",
        adds=(
            "status_reason unwatched_partition unwatched_topic worst_leader worst_member "
            "worst_partition worst_topic"
        ),
    ),
    Step(
        "held",
        Table.GROUPS,
        lambda e: hold_statuses(e.groups, e.newest, e.run),
        needs="roll_up open_transactions",
        adds=(
            "at_risk_seen_at at_risk_since held_at_risk_since held_loss_since held_since "
            "held_sla_broken_since held_status last_status loss_seen_at loss_since "
            "sla_broken_seen_at sla_broken_since status_since worst_status worst_status_since"
        ),
    ),
    Step(
        "unusual_lag",
        Table.GROUPS,
        _add_unusual,
        needs="roll_up",
        adds="unusual unusual_since usual_lag usual_produce_rate usual_time_lag",
    ),
    Step(
        "kept_up",
        Table.GROUPS,
        _add_kept_up,
        needs="rebalances join movement roll_up open_transactions",
        adds="kept_up_at kept_up_members kept_up_produce_rate other_level_since",
    ),
    Step(
        "kept_up_rate",
        Table.ROWS,
        _add_kept_up_rate,
        needs="produce_rate join kept_up",
        adds="kept_up_rate",
    ),
    Step(
        "settings",
        Table.GROUPS,
        _add_changed_settings,
        needs="rebalances join",
        adds="settings_changed",
    ),
    Step(
        "restarts",
        Table.GROUPS,
        lambda e: add_restarts(e.groups, e.newest.groups, e.topics, e.run),
        adds="brokers_restarted",
    ),
    Step(
        "causes",
        Table.GROUPS,
        _add_causes,
        needs=(
            "produce_rate rebalances join losses time_lag movement rates status counts roll_up "
            "trend open_transactions capacity held unusual_lag kept_up kept_up_rate settings "
            "restarts"
        ),
        adds="cause cause_evidence cause_since",
    ),
    Step(
        "left_topics",
        Table.GROUPS,
        _add_left,
        needs="rebalances roll_up",
        adds="records_skipped skip_reason skipped_at",
    ),
    Step(
        "incidents",
        Table.GROUPS,
        _track_incidents,
        needs=(
            "join losses rebalances roll_up trend open_transactions unwatched_topics held kept_up "
            "causes left_topics"
        ),
        adds=(
            "cause_since incident_at_risk_since incident_cause incident_cause_since incident_from "
            "incident_id incident_lost incident_peak_lag incident_peak_lag_at "
            "incident_peak_time_lag incident_since incident_skipped incident_sla_broken_since "
            "incident_status incident_until incident_worst_status incident_worst_status_since"
        ),
    ),
)
