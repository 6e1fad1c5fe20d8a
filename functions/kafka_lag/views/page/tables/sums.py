# SPDX-License-Identifier: Apache-2.0
"""Group-partitions summed by topic or by group: unknown where a part is missing."""

from __future__ import annotations

from kafka_lag.lag.frame import Frame
from kafka_lag.lag.rollup import counts_of, totals
from kafka_lag.lag.sets import distinct
from kafka_lag.views.page.tables.choosing import Row, falling, ordered, records
from kafka_lag.views.page.tables.severity import severities

# As many as are of use beside a table of partitions: the worst.
ROWS = 50


def sums(rows: Frame, by: str) -> tuple[list[Row], int]:
    """The worst sets of rows alike in the column `by`, and how many sets there are.

    Of each: name, partitions, lag, the oldest time lag and the error of that partition (unknown
    where another may be any older), severity, how many partitions are unread and uncommitted,
    records lost. A set of which the user wants every partition ignored has none.
    """
    counts = counts_of(rows)
    every, first = distinct(rows.strings(by).codes.values)
    sets = counts.sets(every)
    oldest = sets.first_at_maximum(counts.age.known, counts.age.values)
    error = rows.numbers("time_lag_error_seconds").take(oldest)
    frame = Frame(
        {
            "name": rows.strings(by).take(first),
            "partitions": sets.rows(),
            **totals(sets, counts),
            "time_lag_error_seconds": error.only(~sets.have(counts.unbounded)),
            "severity": sets.minimum(severities(rows)),
            "unread": sets.rows(rows.strings("unread_reason").known),
            "uncommitted": sets.rows(counts.uncommitted),
            "records_lost": sets.total(rows.numbers("records_lost")),
        },
        sets.count,
    ).where(sets.rows().values > 0)
    worst = [falling(frame.numbers(name)) for name in ("time_lag_seconds", "lag")]
    order = ordered([frame.numbers("severity"), *worst])
    return records(frame.take(order[:ROWS])), len(frame)
