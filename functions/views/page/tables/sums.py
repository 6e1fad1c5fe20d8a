# SPDX-License-Identifier: Apache-2.0
"""Group-partitions summed by topic or by group: unknown where a part is missing."""

from __future__ import annotations

from functions.lag.frame import Frame
from functions.lag.sets import distinct
from functions.views.page.tables.choosing import Row, falling, ordered, records
from functions.views.page.tables.severity import severities

# As many as are of use beside a table of partitions: the worst.
ROWS = 50


def sums(rows: Frame, by: str) -> tuple[list[Row], int]:
    """The worst sets of rows alike in the column `by`, and how many sets there are.

    Of each: name, partitions, lag, the oldest time lag and the error of that partition, severity,
    how many partitions are unread and uncommitted, records lost.
    """
    sets, first = distinct(rows.words(by).codes.values)
    unread = rows.words("unread_reason").known
    lag, ages = rows.numbers("lag"), rows.numbers("time_lag_seconds")
    uncommitted = ~lag.known & ~unread & ~rows.numbers("committed_offset").known
    oldest = sets.first_at_maximum(ages.known, ages.values)
    frame = Frame(
        {
            "name": rows.words(by).take(first),
            "partitions": sets.rows(),
            "lag": sets.total(lag, ~lag.known & ~uncommitted),
            "time_lag_seconds": ages.take(oldest),
            "time_lag_error_seconds": rows.numbers("time_lag_error_seconds").take(oldest),
            "severity": sets.minimum(severities(rows)),
            "unread": sets.rows(unread),
            "uncommitted": sets.rows(uncommitted),
            "records_lost": sets.total(rows.numbers("records_lost")),
        },
        sets.count,
    )
    worst = [falling(frame.numbers(name)) for name in ("time_lag_seconds", "lag")]
    order = ordered([frame.numbers("severity"), *worst])
    return records(frame.take(order[:ROWS])), sets.count
