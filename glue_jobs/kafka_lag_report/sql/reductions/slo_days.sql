-- SPDX-License-Identifier: Apache-2.0
-- A row is a group with an SLO on the day, with the minutes of this day only. Each run is judged by
-- the SLO in its own row; the report shows the last one. `since` is the first run with an SLO.
-- `until` is the run that found the group deleted or without an SLO, else the end of the day, or of
-- the last run's validity if the day is in progress.

WITH judged AS (
    SELECT
        *,
        slo_age_seconds IS NOT NULL AND NOT status_reason <=> 'gone' AS counts,
        -- an age without an error is a lower bound: the SLA is broken for certain, or it is unknown
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
        -- the first row that shows that the SLO of the rows before it has ended
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
