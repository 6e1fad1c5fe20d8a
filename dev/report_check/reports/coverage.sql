-- SPDX-License-Identifier: Apache-2.0
-- A row for each dataset: the runs that were found and read, and those that should have been.

WITH runs_read AS (
    SELECT
        dataset, taken_at,
        (epoch_ms(taken_at) - epoch_ms(lag(taken_at) OVER by_time)) / 1000.0::DOUBLE AS gap
    FROM (SELECT DISTINCT dataset, taken_at FROM objects WHERE is_read)
    WINDOW by_time AS (PARTITION BY dataset ORDER BY taken_at)
),
runs_of AS (
    SELECT
        dataset,
        count(*) AS runs,
        min(taken_at) AS first_run,
        max(taken_at) AS last_run,
        quantile_cont(gap, 0.5) AS interval_seconds,
        max(gap) AS longest_gap
    FROM runs_read
    GROUP BY ALL
),
found AS (
    SELECT
        dataset,
        count(*) AS objects,
        count(*) FILTER (NOT is_read) AS objects_skipped,
        list(name ORDER BY name) FILTER (NOT is_read) AS skipped
    FROM objects
    GROUP BY ALL
),
measured AS (
    SELECT
        *,
        getvariable('day') >= getvariable('today') AS in_progress,
        (epoch_ms(first_run) - epoch_ms(getvariable('day')::TIMESTAMP)) / 1000.0::DOUBLE
            AS until_first,
        (epoch_ms(last_run) - epoch_ms(getvariable('day')::TIMESTAMP)) / 1000.0::DOUBLE
            AS until_last
    FROM (VALUES ('groups'), ('group_partitions'), ('topic_partitions')) AS datasets (dataset)
    LEFT JOIN found USING (dataset)
    LEFT JOIN runs_of USING (dataset)
)
SELECT
    dataset,
    coalesce(runs, 0) AS runs,
    round(
        CASE WHEN in_progress THEN until_last + interval_seconds ELSE 86400 END / interval_seconds
    ) AS expected_runs,
    coalesce(objects, 0) AS objects,
    coalesce(objects_skipped, 0) AS objects_skipped,
    array_to_string(skipped[:10], ', ') AS skipped,
    first_run,
    last_run,
    interval_seconds,
    greatest(
        longest_gap,
        until_first,
        CASE WHEN NOT in_progress THEN 86400 - coalesce(until_last, 0) END
    ) AS longest_gap_seconds,
    in_progress,
    'snapshots' AS source
FROM measured
