-- SPDX-License-Identifier: Apache-2.0
-- Hours that left the usual range of that hour and weekday: `lag_hourly` is today's report,
-- `past_hours` are those that were stored of the same weekday.

WITH today AS (
    UNPIVOT (SELECT consumer_group, hour, time_lag_seconds, lag, produce_rate FROM lag_hourly)
    ON time_lag_seconds, lag, produce_rate INTO NAME measure VALUE value
),
past AS (
    UNPIVOT (SELECT consumer_group, hour, time_lag_seconds, lag, produce_rate FROM past_hours)
    ON time_lag_seconds, lag, produce_rate INTO NAME measure VALUE value
),
centred AS (
    SELECT *, median(value) OVER (PARTITION BY consumer_group, hour, measure) AS usual FROM past
),
of_groups AS (
    SELECT
        consumer_group, measure,
        median(abs(value - usual) / usual) FILTER (usual <> 0) AS part
    FROM centred
    GROUP BY ALL
),
of_hours AS (
    SELECT
        consumer_group, hour, measure,
        any_value(usual) AS usual,
        median(abs(value - usual)) AS off,
        count(*) AS days
    FROM centred
    GROUP BY ALL
    HAVING count(*) >= 3
),
usual AS (
    SELECT
        consumer_group, hour, measure, usual, days,
        greatest(1.4826 * off, 2 * usual * part) AS spread
    FROM of_hours
    JOIN of_groups USING (consumer_group, measure)
),
judged AS (
    SELECT
        *,
        (value - usual) / greatest(
            spread,
            usual / 10,
            CASE measure WHEN 'time_lag_seconds' THEN 10 WHEN 'lag' THEN 20 ELSE 0.2 END
        ) AS deviation
    FROM today
    JOIN usual USING (consumer_group, hour, measure)
)
SELECT
    consumer_group,
    hour,
    measure,
    value,
    usual,
    spread,
    deviation,
    CASE WHEN deviation > 0 THEN 'high' ELSE 'low' END AS direction,
    days
FROM judged
WHERE abs(deviation) >= 5
