-- SPDX-License-Identifier: Apache-2.0
-- A row is a run with any row in `groups`, with its `weight`: the seconds for which its values are
-- valid. They are valid until the next run, but at most for twice the pause before the run, because
-- nothing is known about the time after that. `interval_seconds` is the median pause of the day,
-- the same in each row.

WITH times AS (
    SELECT DISTINCT taken_at FROM groups
),
pauses AS (
    SELECT
        taken_at,
        (unix_micros(taken_at) - unix_micros(lag(taken_at) OVER by_time)) / 1e6D AS before,
        (unix_micros(lead(taken_at) OVER by_time) - unix_micros(taken_at)) / 1e6D AS after
    FROM times
    WINDOW by_time AS (ORDER BY taken_at)
),
usual AS (
    SELECT *, coalesce(median(before) OVER (), :lone_run_seconds) AS interval_seconds FROM pauses
)
SELECT
    taken_at,
    interval_seconds,
    IF(
        after IS NULL,
        least(interval_seconds, 86400 - unix_micros(taken_at) / 1e6D % 86400),
        least(after, 2 * coalesce(before, interval_seconds))
    ) AS weight
FROM usual
