# SPDX-License-Identifier: Apache-2.0
"""The steps of an evaluation, in order.

tests/golden/steps.txt, which a test writes, lists the columns that each step adds, and the steps
whose columns or values it reads.
"""

from __future__ import annotations

from kafka_lag import contract
from kafka_lag.lag.capacity import add_capacity
from kafka_lag.lag.causes import add_causes
from kafka_lag.lag.evaluation import Evaluation, Step, Table
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.held import hold_statuses
from kafka_lag.lag.incidents import add_incidents
from kafka_lag.lag.kept_up import add_kept_up, add_kept_up_rate
from kafka_lag.lag.left_topics import add_left
from kafka_lag.lag.movement import add_movement
from kafka_lag.lag.offset_lag import add_lag, add_losses, add_reads_remote
from kafka_lag.lag.ownership import add_owners
from kafka_lag.lag.previous_rows import is_read, match_previous
from kafka_lag.lag.rates import add_produce_rate, add_rates
from kafka_lag.lag.rebalances import add_rebalances
from kafka_lag.lag.release_risk import add_release_risk
from kafka_lag.lag.restarts import add_restarts
from kafka_lag.lag.rests import add_rests, name_off_by_one
from kafka_lag.lag.retention import add_retention
from kafka_lag.lag.rollup import add_uncounted, roll_up_groups
from kafka_lag.lag.skips import add_skips
from kafka_lag.lag.status import add_status, name_unavailable
from kafka_lag.lag.tasks_needed import add_tasks_needed
from kafka_lag.lag.time_lag import add_time_lag
from kafka_lag.lag.topic_settings import add_changed_settings
from kafka_lag.lag.transactions import (
    add_held_up,
    add_open_transactions,
    add_transactions,
    name_held_up,
)
from kafka_lag.lag.trend import add_trend
from kafka_lag.lag.unwatched import mark_unwatched
from kafka_lag.lag.usual_lag import add_unusual


def _join(e: Evaluation) -> Frame:
    """Returns the rows of known groups, and joins all tables.

    Each row gets its partition's leader, topic id and offsets. An unread row keeps the offsets and
    the topic id of its last reading, because its old commit and a new end would give a lag that
    never existed.
    """
    at_group = locate(e.rows, e.groups, contract.GROUP_KEY)
    rows, e.at_group = e.rows.where(at_group >= 0), at_group[at_group >= 0]
    e.at_topic = locate(rows, e.topics, contract.PARTITION_KEY)
    topics, unread = e.of_topic, ~is_read(rows)
    listed = topics.strings("topic").known
    offsets = {
        name: rows.numbers(name).only(unread).or_else(topics.numbers(name))
        for name in ("start_offset", "end_offset", "stable_offset")
    }
    rows = rows.with_columns(
        topic_id=rows.strings("topic_id").only(unread).or_else(topics.strings("topic_id")),
        leader=topics.numbers("leader").or_else(rows.numbers("leader").only(~listed)),
        **offsets,
    )
    e.previous = match_previous(rows, e.newest)
    return rows


def _name_reasons(e: Evaluation) -> Frame:
    return name_off_by_one(name_unavailable(name_held_up(e), e.run), e.transactional)


def _add_unusual(e: Evaluation) -> Frame:
    usual, beside = e.previous_runs.usual, e.previous_runs.usual_beside
    return add_unusual(e.groups, usual, e.newest.groups, e.run, beside=beside)


STEPS = (
    Step("produce_rate", Table.TOPICS, add_produce_rate),
    Step("transactions", Table.TOPICS, add_transactions),
    Step("rebalances", Table.GROUPS, add_rebalances),
    Step("join", Table.ROWS, _join),
    Step("owners", Table.ROWS, add_owners),
    Step("lag", Table.ROWS, add_lag),
    Step("tiered_storage", Table.ROWS, add_reads_remote),
    Step("rests", Table.ROWS, add_rests),
    Step("losses", Table.ROWS, add_losses),
    Step("held_up", Table.ROWS, add_held_up),
    Step("time_lag", Table.ROWS, add_time_lag, frees=True),
    Step("movement", Table.ROWS, add_movement),
    Step("skips", Table.ROWS, add_skips),
    Step("rates", Table.ROWS, add_rates),
    Step("retention", Table.ROWS, add_retention),
    Step("status", Table.ROWS, add_status, frees=True),
    Step("reasons", Table.ROWS, _name_reasons),
    Step("counts", Table.ROWS, add_uncounted),
    Step("roll_up", Table.GROUPS, roll_up_groups),
    Step("trend", Table.GROUPS, add_trend),
    Step("release_risk", Table.GROUPS, add_release_risk),
    Step("open_transactions", Table.GROUPS, add_open_transactions),
    Step("capacity", Table.GROUPS, add_capacity),
    Step("tasks", Table.GROUPS, add_tasks_needed),
    Step("unwatched_topics", Table.GROUPS, mark_unwatched),
    Step("held", Table.GROUPS, lambda e: hold_statuses(e.groups, e.newest, e.run)),
    Step("unusual_lag", Table.GROUPS, _add_unusual),
    Step("kept_up", Table.GROUPS, add_kept_up),
    Step("kept_up_rate", Table.ROWS, add_kept_up_rate),
    Step("settings", Table.GROUPS, add_changed_settings),
    Step(
        "restarts",
        Table.GROUPS,
        lambda e: add_restarts(e.groups, e.newest.groups, e.topics, e.run),
    ),
    Step("causes", Table.GROUPS, add_causes),
    Step("left_topics", Table.GROUPS, add_left),
    Step("incidents", Table.GROUPS, add_incidents),
)
