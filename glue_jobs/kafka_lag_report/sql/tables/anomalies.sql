-- SPDX-License-Identifier: Apache-2.0
-- A row is an hour of a group in which one measure is far from the same hour of the same weekday in
-- the weeks before. Medians stay correct while less than half of the weeks are unusual themselves,
-- so a holiday does not become the usual day. A group with a tiny spread is judged by a tenth of
-- the usual value, or by a floor. Hours are in UTC, but people follow local time: for weeks after a
-- clock change a cluster's whole day is one hour earlier or later than usual. If most groups show
-- this, an hour is unusual only if it is also far from the usual value of the hour beside it. The
-- first or last hour then has no such hour and is not judged. A time lag that is only a lower bound
-- (`value_is_least`) is never unusually low.

WITH today AS (
    SELECT
        consumer_group,
        hour,
        coalesce(time_lag_least_minutes > 0, false) AS is_least,
        stack(
            3,
            'time_lag_seconds', time_lag_seconds,
            'lag', lag,
            'produce_rate', produce_rate
        ) AS (measure, value)
    FROM lag_hourly
),
shifted AS (
    SELECT *, explode(array(0, -1, 1)) AS shift FROM today
),
compared AS (
    SELECT
        t.consumer_group, t.hour, t.measure, t.value, t.shift, u.usual, u.spread, u.days,
        t.is_least AND t.measure = 'time_lag_seconds' AS value_is_least,
        (t.value - u.usual)
        / greatest(
            u.spread,
            u.usual * :usual_part,
            element_at(from_json(:floors, 'map<string, double>'), t.measure)
        ) AS deviation
    FROM shifted AS t
    JOIN usual_hours AS u
        ON u.consumer_group = t.consumer_group AND u.measure = t.measure
        AND u.hour = t.hour + t.shift
),
judged AS (
    SELECT
        *,
        abs(deviation) >= :far AS is_far,
        max(IF(shift = 0, abs(deviation) >= :far, NULL))
            OVER (PARTITION BY consumer_group, hour, measure) AS was_far
    FROM compared
),
-- `gain` is the number of a group's unusual hours that a shift explains, less the usual hours that
-- it makes unusual. It is 0 for a group whose hours are all alike.
votes AS (
    SELECT
        consumer_group, shift,
        count_if(was_far AND NOT is_far) AS explained,
        count_if(was_far AND NOT is_far) - count_if(is_far AND NOT was_far) AS gain
    FROM judged
    WHERE shift <> 0
    GROUP BY consumer_group, shift
),
-- A clock change moves whole days: it explains a dozen unusual hours of a cluster at least.
moves AS (
    SELECT shift, count_if(gain > 0) AS groups_for
    FROM votes
    GROUP BY shift
    HAVING sum(explained) >= 12 AND count_if(gain > 0) >= 2 * count_if(gain < 0)
        AND count_if(gain > 0) > 0
),
day AS (
    SELECT coalesce(max_by(shift, struct(groups_for, -shift)), 0) AS shift FROM moves
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
    IF(deviation > 0, 'high', 'low') AS direction,
    days
FROM judged
JOIN day USING (shift)
WHERE is_far AND was_far AND (deviation > 0 OR NOT value_is_least)
