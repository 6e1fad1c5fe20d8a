# SPDX-License-Identifier: Apache-2.0
"""How long until the broker deletes a record that its group has not read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Seconds, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.movement import is_still
from kafka_lag.lag.pauses import find_due_pause
from kafka_lag.lag.previous_rows import set_where_read

# Below this growth, in seconds a second, a loss never comes near within the 30 days.
_STANDS = 0.02
# In the last tenth of what may be left, a consumer that keeps its distance is as near to a loss as
# one that stands: it may fall behind by this much at any time.
_LAST_SHARE = 0.1
# A loss farther away than this share of what is kept is no risk, though it is within the horizon.
_RISK_SHARE = 0.5
_DELETE = "delete"


@dataclass(frozen=True, slots=True)
class _Limits:
    """What deletes records of a partition; `known` where its configuration is known.

    `seconds` is the retention time, unknown where there is none. `held` is how long the log reaches
    back at the present speed of production, s; unknown where no size has begun to delete.
    """

    known: Mask
    seconds: Column
    held: Column


@dataclass(frozen=True, slots=True)
class _Stop:
    """Commits that have not moved since the previous run, `stands`, and the seconds until they
    usually move again; unknown where that is not learnt, or should have been by now.

    A loss in less than `soon` seconds may come before the window and another run are over.
    """

    stands: Mask
    resumes: Column
    soon: float

    @classmethod
    def of(cls, rows: Frame, commit_gap: Column, taken_at: int, rules: Rules) -> _Stop:
        since, seen = rows.numbers("commit_changed_at"), rows.numbers("observations")
        unmoved = (taken_at - since) / 1_000
        # Consumers that commit each few minutes pause as well, if not for a window.
        usual = find_due_pause(rows, rules).or_else(commit_gap).clip(commit_gap.fill(0.0))
        resumes = usual - unmoved
        return cls(
            stands=(since < taken_at) | (~since.known & (seen > 1)),
            resumes=resumes.only(resumes >= 0),
            soon=(rules.window_ms + rules.interval_ms) / 1_000,
        )

    def loses(self, left: Column) -> Mask:
        """Where `left`, s, may be gone before a stop shows in an average."""
        mask: Mask = self.stands & (left < self.soon) & ~(self.resumes < left)
        return mask


def add_retention(
    rows: Frame, topics: Frame, now: Column, commit_gap: Column, taken_at: int, rules: Rules
) -> Frame:
    """The rows with `seconds_until_loss` and `retention_risk`, set where they were read now.

    `topics` holds the partition of each row, `now` the time of its reading, ms. `commit_gap`: the
    longest time, s, between two moves of its commit lately.
    `seconds_until_loss` is the lesser of retention by time and by size, within 0 and 30 days. It is
    30 days where neither will delete an unread record, and where nothing is unread. It is unknown
    where lag or configuration is unknown, and where there is a retention time and the age is
    unknown or has no upper bound; but known where a risk is certain all the same.
    `retention_risk` is LOST once records were lost, AT_RISK where time or size is within its bound:
    the horizon, or half of what it keeps if that is less. Else it is SAFE.
    """
    lag, limits, lost = rows.numbers("lag"), _limits(topics), rows.numbers("records_lost")
    # A group whose records are deleted unread moves on with the log start: neither its age nor its
    # distance shows how slow it is.
    losing = lost > 0
    caught = is_still(rows, taken_at, rules) | losing
    stop = _Stop.of(rows, commit_gap, taken_at, rules)
    by_time, blind = _by_time(rows, limits.seconds, now, caught, stop, rules)
    by_size = _by_size(rows, topics, limits.held, caught, stop, rules)
    near = (by_time < _bound(limits.seconds, rules)) | (by_size < _bound(limits.held, rules))
    seconds = np.minimum(by_time, by_size)
    nothing = (lag == 0) | rows.strings("time_lag_method").is_in([contract.METHOD_ALLOWED])
    known = nothing | (lag.known & limits.known & (~blind | near))
    left = Column(np.where(nothing, contract.NO_LOSS_SECONDS, seconds), known)
    soon = known & ~nothing & (near | (seconds <= 0))
    risk = np.select([losing, ~known, soon], [0, 3, 1], default=2)
    words = Strings.of([contract.LOST, contract.AT_RISK, contract.SAFE, None]).take(risk)
    return set_where_read(rows, seconds_until_loss=left, retention_risk=words)


def find_risk_bound(topics: Frame, rules: Rules) -> Seconds:
    """A loss in less than these seconds is a risk, be it by time or by size."""
    limits = _limits(topics)
    return np.minimum(_bound(limits.seconds, rules), _bound(limits.held, rules))


def _bound(kept: Column, rules: Rules) -> Seconds:
    """A loss in less than these seconds is a risk; `kept`: what time or size keeps, s."""
    horizon = rules.risk_horizon_ms / 1_000
    return (kept * _RISK_SHARE).clip(most=horizon).fill(horizon)


def _limits(topics: Frame) -> _Limits:
    """Kafka deletes old records, by time or by size, only where the clean-up policy says so."""
    policy = topics.strings("cleanup_policy")
    deletes = policy.is_in([word for word in policy.categories if _DELETE in word])
    ms, size = topics.numbers("retention_ms"), topics.numbers("retention_bytes")
    start = topics.numbers("start_offset")
    held = (topics.numbers("end_offset") - start) / topics.numbers("produce_rate")
    return _Limits(
        known=policy.known & (~deletes | (ms.known & size.known)),
        seconds=(ms / 1_000).only(deletes & (ms >= 0)),
        held=held.only(deletes & (size >= 0) & (start > 0)),
    )


def _by_time(
    rows: Frame, limit: Column, now: Column, still: Mask, stop: _Stop, rules: Rules
) -> tuple[Seconds, Mask]:
    """Seconds until the next unread record is as old as `limit`; and rows where that may be sooner,
    because their age has no upper bound.

    An age growth that is unknown counts as 1, as if the group stood still: the nearest loss.
    """
    by_record = (now - rows.numbers("next_record_time")) / 1_000
    age = by_record.or_else(rows.numbers("time_lag_seconds"))
    bounded = by_record.known | rows.numbers("time_lag_error_seconds").known
    blind = limit.known & ~(age.known & bounded)
    return _until(limit - age, rows.numbers("age_growth"), limit, still, stop, rules), blind


def _by_size(
    rows: Frame, topics: Frame, held: Column, still: Mask, stop: _Stop, rules: Rules
) -> Seconds:
    """Seconds until what is produced has pushed the log start to the commit.

    A group that has not committed stands at the log start. A consume rate that is unknown counts
    as 0. The start moves by segments, so how fast it comes nearer says nothing.
    """
    produced = topics.numbers("produce_rate")
    margin = Column.of(rows.numbers("retention_margin").fill(0))
    growth = 1 - rows.numbers("consume_rate") / produced
    return _until((margin / produced).only(held.known), growth, held, still, stop, rules)


def _until(
    left: Column, growth: Column, kept: Column, still: Mask, stop: _Stop, rules: Rules
) -> Seconds:
    """Seconds until nothing is left of `left`, of which each second takes `growth` seconds.

    A growth that is unknown counts as 1, and so does any in the last share of what is `kept`, and
    that of a commit that has stopped.
    """
    last = left < kept.clip(most=rules.risk_horizon_ms / 1_000) * _LAST_SHARE
    speed = np.where(still | last | stop.loses(left), 1.0, growth.clip(0.0).fill(1.0))
    return _within_30_days((left / speed).only(speed > _STANDS))


def _within_30_days(seconds: Column) -> Seconds:
    """Seconds within 0 and 30 days; 30 days where unknown, as for a loss that never comes."""
    return seconds.clip(0.0, contract.NO_LOSS_SECONDS).fill(contract.NO_LOSS_SECONDS)
