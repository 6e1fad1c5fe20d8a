# SPDX-License-Identifier: Apache-2.0
"""Time until the broker deletes a record that its group has not read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Seconds, Strings
from kafka_lag.lag.delays import find_oldest_age
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.movement import is_still
from kafka_lag.lag.pauses import find_due_pause
from kafka_lag.lag.previous_rows import find_read_at, set_where_read
from kafka_lag.lag.run import Run

# Seconds a second; with less growth no loss comes within 30 days.
_LEAST_GROWTH = 0.02
# In the last tenth of the possible time left, a consumer that keeps its distance is as near to a
# loss as one that has stopped, because it may fall behind by this much at any time.
_LAST_SHARE = 0.1
# A loss farther away than this share of the retained time is not a risk, even within the horizon.
_RISK_SHARE = 0.5
_DELETE = "delete"


@dataclass(frozen=True, slots=True)
class _Limits:
    """The limits by which records of a partition are deleted; `known` if its settings are known.

    `seconds` is the retention time, unknown if there is none. `held` is how many seconds of records
    the log holds at the present produce rate; unknown unless deletion by size has begun.
    """

    known: Mask
    seconds: Column
    held: Column


@dataclass(frozen=True, slots=True)
class _Stop:
    """Commits that have not moved since the previous run.

    `is_still` marks them. `resumes`: seconds until they usually move again; unknown if that is not
    learnt, or should have happened by now. `soon`: the window and one more run, s.
    """

    is_still: Mask
    resumes: Column
    soon: float

    @classmethod
    def of(cls, rows: Frame, commit_gap: Column, run: Run) -> _Stop:
        since, seen = rows.numbers("commit_changed_at"), rows.numbers("observations")
        unmoved = run.seconds_since(since)
        # Consumers that commit every few minutes pause as well, though for less than a window.
        usual = find_due_pause(rows, run).or_else(commit_gap).clip(commit_gap.fill(0.0))
        resumes = usual - unmoved
        return cls(
            is_still=(since < run.taken_at) | (~since.known & (seen > 1)),
            resumes=resumes.only(resumes >= 0),
            soon=(run.rules.window_ms + run.rules.interval_ms) / 1_000,
        )

    def loses(self, left: Column) -> Mask:
        """Marks rows whose `left`, s, may be used up before a stop shows in averages."""
        mask: Mask = self.is_still & (left < self.soon) & ~(self.resumes < left)
        return mask


def add_retention(e: Evaluation) -> Frame:
    """Returns the rows with `seconds_until_loss` and `retention_risk`; unread rows are unchanged.

    `seconds_until_loss` is the lesser of retention by time and by size, from 0 to 30 days. It is 30
    days if neither will delete an unread record, and if nothing is unread. It is unknown if the lag
    or the topic's settings are unknown, or if there is a retention time and the age is unknown or
    has no upper bound; but it is known if a risk is certain nevertheless.
    `retention_risk` is LOST once records were lost, AT_RISK if time or size is within its bound:
    the horizon, or half of the retained time if that is less. Else it is SAFE.
    """
    rows, topics, run, now = e.rows, e.of_topic, e.run, find_read_at(e.rows)
    lag, limits, lost = rows.numbers("lag"), _find_limits(topics), rows.numbers("records_lost")
    # A group whose unread records are deleted moves on with the log start, so neither its age nor
    # its distance shows how slow it is.
    losing = lost > 0
    caught = is_still(rows, run) | losing
    stop = _Stop.of(rows, e.previous.rows.numbers("commit_gap_seconds"), run)
    by_time, blind = _estimate_by_time(rows, limits.seconds, now, caught, stop, run)
    by_size = _estimate_by_size(rows, topics, limits.held, caught, stop, run)
    near = (by_time < _find_bound(limits.seconds, run)) | (by_size < _find_bound(limits.held, run))
    seconds = np.minimum(by_time, by_size)
    nothing = (lag == 0) | rows.strings("time_lag_method").is_in([contract.METHOD_ALLOWED])
    known = nothing | (lag.known & limits.known & (~blind | near))
    left = Column(np.where(nothing, contract.NO_LOSS_SECONDS, seconds), known)
    soon = known & ~nothing & (near | (seconds <= 0))
    risk = np.select([losing, ~known, soon], [0, 3, 1], default=2)
    words = Strings.of([contract.LOST, contract.AT_RISK, contract.SAFE, None]).take(risk)
    return set_where_read(rows, seconds_until_loss=left, retention_risk=words)


def find_risk_bound(topics: Frame, run: Run) -> Seconds:
    """Returns the seconds below which a loss, by time or by size, is a risk."""
    limits = _find_limits(topics)
    return np.minimum(_find_bound(limits.seconds, run), _find_bound(limits.held, run))


def _find_bound(kept: Column, run: Run) -> Seconds:
    """Returns the seconds below which a loss is a risk; `kept`: how long records are kept, s."""
    horizon = run.rules.risk_horizon_ms / 1_000
    return (kept * _RISK_SHARE).clip(most=horizon).fill(horizon)


def _find_limits(topics: Frame) -> _Limits:
    """Returns the limits; Kafka deletes by time or size only if the clean-up policy says so."""
    policy = topics.strings("cleanup_policy")
    deletes = policy.are(lambda word: _DELETE in word)
    ms, size = topics.numbers("retention_ms"), topics.numbers("retention_bytes")
    start = topics.numbers("start_offset")
    held = (topics.numbers("end_offset") - start) / topics.numbers("produce_rate")
    return _Limits(
        known=policy.known & (~deletes | (ms.known & size.known)),
        seconds=(ms / 1_000).only(deletes & (ms >= 0)),
        held=held.only(deletes & (size >= 0) & (start > 0)),
    )


def _estimate_by_time(
    rows: Frame, limit: Column, now: Column, still: Mask, stop: _Stop, run: Run
) -> tuple[Seconds, Mask]:
    """Returns the seconds until the next unread record is as old as `limit`, and a mask.

    The mask marks rows for which that may be sooner, because their age is unknown or has no upper
    bound. An unknown age growth counts as 1, as if the group did not read, which gives the nearest
    loss.
    """
    by_record = (now - rows.numbers("next_record_time")) / 1_000
    age = by_record.or_else(find_oldest_age(rows))
    bounded = by_record.known | rows.numbers("time_lag_error_seconds").known
    blind = limit.known & ~(age.known & bounded)
    return _estimate_until_used_up(
        limit - age, rows.numbers("age_growth"), limit, still, stop, run
    ), blind


def _estimate_by_size(
    rows: Frame, topics: Frame, held: Column, still: Mask, stop: _Stop, run: Run
) -> Seconds:
    """Returns the seconds until new records have pushed the log start to the commit.

    A group that has not committed counts as being at the log start. An unknown consume rate counts
    as 0. The start moves by whole segments, so its speed cannot be used.
    """
    produced = topics.numbers("produce_rate")
    margin = Column.of(rows.numbers("retention_margin").fill(0))
    growth = 1 - rows.numbers("consume_rate") / produced
    return _estimate_until_used_up(
        (margin / produced).only(held.known), growth, held, still, stop, run
    )


def _estimate_until_used_up(
    left: Column, growth: Column, kept: Column, still: Mask, stop: _Stop, run: Run
) -> Seconds:
    """Returns the seconds until `left`, s, is used up, if each second takes `growth` seconds of it.

    The growth counts as 1 if it is unknown, if `left` is in the last share of `kept`, and if the
    commit has stopped.
    """
    last = left < kept.clip(most=run.rules.risk_horizon_ms / 1_000) * _LAST_SHARE
    speed = np.where(still | last | stop.loses(left), 1.0, growth.clip(0.0).fill(1.0))
    return _within_30_days((left / speed).only(speed > _LEAST_GROWTH))


def _within_30_days(seconds: Column) -> Seconds:
    """Returns the seconds limited to 0 to 30 days; unknown, which means no loss, is 30 days."""
    return seconds.clip(0.0, contract.NO_LOSS_SECONDS).fill(contract.NO_LOSS_SECONDS)
