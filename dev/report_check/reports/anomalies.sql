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
        (value - usual) / greatest(
            spread,
            usual / 10,
            CASE today.measure WHEN 'time_lag_seconds' THEN 10 WHEN 'lag' THEN 20 ELSE 0.2 END
        ) AS deviation
    FROM today
    CROSS JOIN (VALUES (0), (-1), (1)) AS shifts (shift)
    JOIN usual
        ON usual.consumer_group = today.consumer_group AND usual.measure = today.measure
        AND usual.hour = today.hour + shift
),
flags AS (
    SELECT
        count(*) AS far,
        count(*) FILTER (abs(sooner.deviation) < 5) AS earlier,
        count(*) FILTER (abs(afterwards.deviation) < 5) AS later
    FROM judged
    LEFT JOIN judged AS sooner
        ON sooner.consumer_group = judged.consumer_group AND sooner.measure = judged.measure
        AND sooner.hour = judged.hour AND sooner.shift = -1
    LEFT JOIN judged AS afterwards
        ON afterwards.consumer_group = judged.consumer_group
        AND afterwards.measure = judged.measure
        AND afterwards.hour = judged.hour AND afterwards.shift = 1
    WHERE judged.shift = 0 AND abs(judged.deviation) >= 5
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
    AND shift = (
        SELECT CASE
            WHEN far < 12 OR 3 * greatest(earlier, later) < 2 * far THEN 0
            WHEN earlier >= later THEN -1
            ELSE 1
        END
        FROM flags
    )
