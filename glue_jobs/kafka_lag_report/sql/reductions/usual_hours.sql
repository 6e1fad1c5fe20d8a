-- SPDX-License-Identifier: Apache-2.0
-- A row is a group, measure, weekday (1 is Monday) and hour with enough days, and its usual value,
-- computed from the `lag_hourly` of the days in `past_hours`. `usual` is the median. `spread`
-- estimates a standard deviation. It is the larger of two: that of the hour, and that of all hours
-- of the group's weekday relative to their usual values, because six days are often close together
-- by chance. `within` is the usual deviation of an hour's runs from its mean; null if no day has
-- it. `part` is the median distance of the weekday's hours from their usual values, relative to
-- these. `highs` has the `week` (its Monday) and the `high` of each day.

WITH measured AS (
    SELECT
        consumer_group,
        hour,
        int(weekday(to_date(dt)) + 1) AS weekday,
        date_trunc('week', to_date(dt)) AS week,
        stack(
            3,
            'time_lag_seconds', time_lag_seconds, time_lag_deviation, time_lag_high,
            'lag', lag, lag_deviation, lag_high,
            'produce_rate', produce_rate, produce_rate_deviation, produce_rate_max
        ) AS (measure, value, within, high)
    FROM past_hours
),
centred AS (
    SELECT
        *,
        median(value) OVER (PARTITION BY consumer_group, measure, weekday, hour) AS usual
    FROM measured
    WHERE value IS NOT NULL
),
parts AS (
    SELECT
        *,
        median(try_divide(abs(value - usual), usual))
            OVER (PARTITION BY consumer_group, measure, weekday) AS part
    FROM centred
),
days AS (
    SELECT
        consumer_group, measure, weekday, hour,
        max(usual) AS usual,
        max(part) AS part,
        median(abs(value - usual)) AS off,
        median(within) AS within,
        collect_list(struct(week, high)) AS highs,
        int(count(value)) AS days
    FROM parts
    GROUP BY consumer_group, measure, weekday, hour
)
SELECT
    consumer_group, hour, weekday, measure, usual,
    -- The factor 1.4826 turns the median deviation of normal values into their standard deviation.
    -- Few values need a larger factor, because their median is too close to them: 1.35 times for
    -- six.
    greatest(1.4826D * off, 2.0D * usual * part) AS spread,
    within, part, highs, days
FROM days
WHERE days >= :least_weeks
