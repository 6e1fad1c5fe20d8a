-- SPDX-License-Identifier: Apache-2.0
-- A row for each group with an objective: no day before has one, so the window is the day.

WITH judged AS (
    SELECT
        *,
        slo_age_seconds IS NOT NULL AND status_reason IS DISTINCT FROM 'gone' AS counts,
        CASE
            WHEN NOT is_read THEN NULL
            WHEN time_lag_seconds > slo_age_seconds THEN 'broken'
            WHEN time_lag_error_seconds IS NOT NULL AND time_lag_seconds <= slo_age_seconds
                THEN 'kept'
        END AS verdict
    FROM group_runs
),
own AS (
    SELECT
        consumer_group,
        arg_max(slo_age_seconds, taken_at) AS age_seconds,
        arg_max(slo_target, taken_at) AS target,
        arg_max(slo_days, taken_at) AS days,
        min(taken_at) AS since,
        max(taken_at) AS last_at,
        coalesce(sum(weight) FILTER (verdict = 'kept'), 0) / 60 AS kept_minutes,
        coalesce(sum(weight) FILTER (verdict = 'broken'), 0) / 60 AS broken_minutes
    FROM judged
    WHERE counts
    GROUP BY consumer_group
),
ended AS (
    SELECT consumer_group, min(taken_at) AS ended_at
    FROM judged
    JOIN own USING (consumer_group)
    WHERE NOT counts AND taken_at > last_at
    GROUP BY consumer_group
),
watched AS (
    SELECT
        *,
        coalesce(ended_at, (getvariable('day')::DATE + 1)::TIMESTAMP) AS until
    FROM own
    LEFT JOIN ended USING (consumer_group)
),
counted AS (
    SELECT
        *,
        greatest(epoch_ms(until) - epoch_ms(since), 0) / 60000.0::DOUBLE
            - kept_minutes - broken_minutes AS unknown,
        days * 1440 * (100 - target) / 100 AS budget_minutes
    FROM watched
)
SELECT
    consumer_group,
    age_seconds,
    target,
    days,
    since,
    until,
    kept_minutes,
    broken_minutes,
    greatest(unknown, 0.0) AS unknown_minutes,
    kept_minutes AS window_kept_minutes,
    broken_minutes AS window_broken_minutes,
    greatest(unknown, 0.0) AS window_unknown_minutes,
    budget_minutes,
    budget_minutes - broken_minutes AS budget_left_minutes,
    CASE
        WHEN kept_minutes + broken_minutes > 0
            THEN broken_minutes / (kept_minutes + broken_minutes) / ((100 - target) / 100)
    END AS burn_rate
FROM counted
