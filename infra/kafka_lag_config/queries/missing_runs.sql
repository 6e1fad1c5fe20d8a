-- SPDX-License-Identifier: Apache-2.0
-- Reporter: when it did not run
-- Gaps between runs of at least two usual intervals, and the time since the last run where that is
-- three. Nothing is known of any group in a gap. A cluster without any run in the two days is not
-- listed; with one or two it may not be, as they show no usual interval.
-- Change cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _ in
-- LIKE is any character.
-- Days older than shared.keep.snapshot_days are not found: put history_ before the table's name
-- (history_groups, which has no hour).
-- kafka-lag query takes cluster, day (today), days (2).
WITH request AS (
    SELECT *
    FROM groups
    WHERE dt BETWEEN date_format(current_date - INTERVAL '1' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
),
runs AS (
    SELECT DISTINCT cluster, taken_at
    FROM request
),
pairs AS (
    SELECT
        cluster,
        taken_at AS last_before,
        lead(taken_at) OVER (PARTITION BY cluster ORDER BY taken_at) AS first_after
    FROM runs
),
gaps AS (
    SELECT
        cluster,
        last_before,
        first_after,
        date_diff(
            'second', last_before, coalesce(first_after, CAST(current_timestamp AS timestamp))
        ) AS seconds
    FROM pairs
),
usual AS (
    SELECT cluster, approx_percentile(seconds, 0.5) AS seconds
    FROM gaps
    GROUP BY cluster
)
SELECT
    gaps.cluster,
    gaps.last_before,
    gaps.first_after,
    CAST(gaps.seconds AS double) / 60 AS minutes,
    CAST(round(CAST(gaps.seconds AS double) / usual.seconds) AS bigint) - 1 AS runs_missing
FROM gaps
INNER JOIN usual ON gaps.cluster = usual.cluster
WHERE gaps.seconds >= 3 * usual.seconds
    OR (gaps.first_after IS NOT NULL AND gaps.seconds >= 2 * usual.seconds)
ORDER BY gaps.cluster, gaps.last_before DESC
