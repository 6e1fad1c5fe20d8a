-- SPDX-License-Identifier: Apache-2.0
-- A row is a group with an objective on the day, with the minutes of this day alone.
-- Each run is judged by the objective of its own row, and the last one is in the report. `since` is
-- the first run with one; `until` is the run that found the group gone or without one, else the end
-- of the day, or of what there is of one in progress.

WITH judged AS (
    SELECT
        *,
        slo_age_seconds IS NOT NULL AND NOT status_reason <=> 'gone' AS counts,
        -- an age without an error is a least one: broken for certain, or not known
        CASE
            WHEN unread_reason IS NOT NULL THEN NULL
            WHEN time_lag_seconds > slo_age_seconds THEN false
            WHEN time_lag_seconds <= slo_age_seconds AND time_lag_error_seconds IS NOT NULL
                THEN true
        END AS is_kept
    FROM group_runs
),
placed AS (
    SELECT
        *,
        max(IF(counts, taken_at, NULL)) OVER (PARTITION BY consumer_group) AS last_at
    FROM judged
)
SELECT
    consumer_group,
    max_by(slo_age_seconds, taken_at) FILTER (WHERE counts) AS age_seconds,
    max_by(slo_target, taken_at) FILTER (WHERE counts) AS target,
    max_by(slo_days, taken_at) FILTER (WHERE counts) AS days,
    min(taken_at) FILTER (WHERE counts) AS since,
    coalesce(
        -- the first row that says that the objective of the rows before it is over
        min(taken_at) FILTER (WHERE NOT counts AND taken_at > last_at),
        IF(
            :in_progress,
            timestamp_micros(max(unix_micros(taken_at) + bigint(weight * 1000000))),
            timestamp_seconds(:midnight + 86400)
        )
    ) AS until,
    coalesce(sum(weight) FILTER (WHERE counts AND is_kept), 0D) / 60 AS kept_minutes,
    coalesce(sum(weight) FILTER (WHERE counts AND NOT is_kept), 0D) / 60 AS broken_minutes
FROM placed
WHERE last_at IS NOT NULL
GROUP BY consumer_group
