# SPDX-License-Identifier: Apache-2.0
"""The roll-up of group-partitions to topics and groups, by the columns of their snapshot rows.

Metrics, page and /metrics all use it, so that one run says the same in each. Sums need every part;
the oldest age does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.sets import Sets, distinct


@dataclass(frozen=True, slots=True)
class Counts:
    """What each row counts for: as it was read, or for one window as it was last read.

    `age` in seconds. `missing` rows make the sums of their sets unknown, `uncommitted` ones are
    counted apart, `ignored` ones belong to no set. The age of an `unbounded` row may be any more
    than it says.
    """

    lag: Column
    age: Column
    missing: Mask
    uncommitted: Mask
    ignored: Mask
    unbounded: Mask

    def sets(self, every: Sets) -> Sets:
        """These sets without the rows that are ignored."""
        return every.without(self.ignored)


def counts_of(rows: Frame) -> Counts:
    """Of rows of `group_partitions`, stamped with `taken_at`."""
    why = rows.words("uncounted")
    uncommitted = why.is_in([contract.UNCOMMITTED])
    lag = rows.numbers("lag").or_else(rows.numbers("last_lag"))
    missing = why.is_in([contract.UNKNOWN]) | (~lag.known & ~uncommitted)
    return Counts(
        lag=lag.only(~missing),
        age=_age(rows).only(~missing),
        missing=missing,
        uncommitted=uncommitted,
        ignored=why.is_in([contract.IGNORED]),
        unbounded=~rows.numbers("time_lag_error_seconds").known & ~uncommitted,
    )


def unread_seconds(rows: Frame) -> Column:
    """How long before its run a row was last read; unknown of one that was read in its run."""
    taken_at, read_at = rows.numbers("taken_at"), rows.numbers("read_at")
    known = taken_at.known & read_at.known & rows.words("unread_reason").known
    passed = np.where(known, taken_at.values - read_at.values, 0) / 1_000
    return Column(np.maximum(passed, 0.0), known)


def totals(sets: Sets, counts: Counts) -> dict[str, Column]:
    """lag, max_lag and time_lag_seconds of each set."""
    return {
        "lag": sets.total(counts.lag, counts.missing),
        "max_lag": sets.maximum(counts.lag, counts.missing),
        "time_lag_seconds": _oldest(sets, counts),
    }


def group_topics(rows: Frame) -> Frame:
    """A row per group and topic, with `totals` and the sum of its commits.

    A topic of which the user wants every partition ignored has none.
    """
    groups, topics, counts = rows.words("consumer_group"), rows.words("topic"), counts_of(rows)
    every, first = distinct(groups.codes.values, topics.codes.values)
    sets, committed = counts.sets(every), rows.numbers("committed_offset")
    pairs = Frame.of(
        {
            "consumer_group": groups.take(first),
            "topic": topics.take(first),
            "committed_offset": sets.total(committed, counts.missing),
            **totals(sets, counts),
        }
    )
    return pairs.where(sets.rows().values > 0)


def _age(rows: Frame) -> Column:
    """An age grows while its row is not read; that of a row that lagged by nothing stays 0."""
    last, passed = rows.numbers("last_time_lag_seconds"), unread_seconds(rows).values
    # A record that is dated is unread, though it may have been appended just then.
    behind = (last.values > 0) | rows.numbers("next_record_before").known
    grown = np.where(behind, last.values + passed, last.values)
    return rows.numbers("time_lag_seconds").or_else(Column(grown, last.known))


def _oldest(sets: Sets, counts: Counts) -> Column:
    """The largest age, s; unknown also where it would be 0 beside an unknown one."""
    largest = sets.maximum(counts.age)
    blind = sets.have(~counts.age.known & ~counts.uncommitted)
    return largest.only(~blind | (largest.values > 0))
