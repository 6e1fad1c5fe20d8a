# SPDX-License-Identifier: Apache-2.0
"""One run: from a cluster reading and previous runs to the lag report."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lag import contract
from kafka_lag.lag import carry_over
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.left_topics import describe_left
from kafka_lag.lag.model import ClusterReading, LagReport, PreviousRuns, Snapshot
from kafka_lag.lag.previous_rows import PreviousRows, is_read
from kafka_lag.lag.rollup import roll_up_group_topics, roll_up_scaling
from kafka_lag.lag.run import Run
from kafka_lag.lag.steps import STEPS
from kafka_lag.lag.time_index import LookUp, no_look_up

_NAMED = 5


def evaluate(
    reading: ClusterReading,
    previous_runs: PreviousRuns,
    rules: Rules,
    taken_at: int,
    look_up: LookUp = no_look_up,
) -> LagReport:
    """Returns the lag report of one run; `taken_at` is the scheduled time, ms UTC.

    Pure apart from `look_up`: the same inputs and the same answers give the same report.
    """
    evaluation = begin(reading, previous_runs, Run(taken_at, rules), look_up)
    for step in STEPS:
        step.take(evaluation)
    return _report(evaluation)


def begin(
    reading: ClusterReading, previous_runs: PreviousRuns, run: Run, look_up: LookUp
) -> Evaluation:
    """Returns the rows that this run read, and carried ones for those that it could not read."""
    newest = previous_runs.newest
    topics = carry_over.carry_topic_partitions(reading, newest, run)
    groups = carry_over.carry_groups(reading, newest, run)
    rows = carry_over.carry_group_partitions(reading, newest, run, topics)
    return Evaluation(run, reading, previous_runs, look_up, topics, groups, rows)


def _report(e: Evaluation) -> LagReport:
    groups = carry_over.add_deleted_groups(e.groups, e.reading, e.newest, e.run)
    groups = carry_over.add_last_rows(groups, e.unwatched.groups, contract.UNWATCHED)
    frames = (_finish(frame, e.run) for frame in (e.topics, e.rows, groups))
    return LagReport(
        snapshot=Snapshot(e.run.taken_at, *frames),
        group_topics=roll_up_group_topics(e.rows, e.counts),
        scaling=roll_up_scaling(e, groups),
        lags_clamped=int((e.lags.beyond_end & is_read(e.rows)).sum()),
        look_ups=e.look_ups,
        problems=e.reading.problems,
        warnings=(
            *_warnings(e.rows, e.previous, e.contradicted),
            *e.unwatched.sentences(),
            *describe_left(e.left),
        ),
        notes=e.reading.notes,
    )


def _warnings(rows: Frame, previous: PreviousRows, contradicted: int) -> Iterator[str]:
    """Yields sentences about data of previous runs that was not used."""
    topics = sorted(set(rows.strings("topic").only(previous.recreated).pruned().categories))
    for topic in topics[:_NAMED]:
        yield f"topic {topic!r} was recreated or truncated: its history starts again"
    if len(topics) > _NAMED:
        yield f"and {len(topics) - _NAMED} more topics were recreated or truncated"
    if contradicted:
        yield (
            f"{contradicted} earlier readings of log ends were left out because their clocks "
            "contradict each other or this run's"
        )


def _finish(frame: Frame, run: Run) -> Frame:
    """Returns the frame with `taken_at`, in as little memory as possible.

    Unused categories are dropped, because they would pile up from run to run.
    """
    return frame.with_columns(taken_at=run.now(len(frame))).compacted()
