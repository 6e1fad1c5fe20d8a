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
-- Hours are UTC's: after a clock change a whole day lies an hour beside the usual one.
judged AS (
    SELECT
        today.consumer_group, today.hour, today.measure, value, usual, spread, days, shift,
        today.measure = 'time_lag_seconds' AND lag_hourly.time_lag_least_minutes > 0
            AS value_is_least,
        (value - usual) / greatest(
            spread,
            usual / 10,
            CASE today.measure WHEN 'time_lag_seconds' THEN 10 WHEN 'lag' THEN 20 ELSE 0.2 END
        ) AS deviation
    FROM today
    JOIN lag_hourly USING (consumer_group, hour)
    CROSS JOIN (VALUES (0), (-1), (1)) AS shifts (shift)
    JOIN usual
        ON usual.consumer_group = today.consumer_group AND usual.measure = today.measure
        AND usual.hour = today.hour + shift
),
both_ways AS (
    SELECT
        beside.*,
        abs(judged.deviation) >= 5 AS was_far,
        abs(beside.deviation) >= 5 AS far
    FROM judged
    JOIN judged AS beside USING (consumer_group, hour, measure)
    WHERE judged.shift = 0
),
of_each_group AS (
    SELECT
        consumer_group, shift,
        count(*) FILTER (was_far AND NOT far) AS explained,
        count(*) FILTER (far AND NOT was_far) AS spoilt
    FROM both_ways
    WHERE shift <> 0
    GROUP BY ALL
),
day_moved AS (
    SELECT shift
    FROM of_each_group
    GROUP BY shift
    HAVING sum(explained) >= 12
        AND count(*) FILTER (explained > spoilt) >= 2 * count(*) FILTER (explained < spoilt)
        AND count(*) FILTER (explained > spoilt) > 0
    ORDER BY count(*) FILTER (explained > spoilt) DESC, shift
    LIMIT 1
)
SELECT
    consumer_group,
    hour,
    measure,
    value,
    value_is_least,
    usual,
    spread,
    deviation,
    CASE WHEN deviation > 0 THEN 'high' ELSE 'low' END AS direction,
    days
FROM both_ways
WHERE far AND was_far AND shift = coalesce((SELECT shift FROM day_moved), 0)
    -- an age without an upper bound may be any greater
    AND NOT (value_is_least AND deviation < 0)
