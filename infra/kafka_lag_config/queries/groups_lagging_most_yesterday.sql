-- SPDX-License-Identifier: Apache-2.0
-- Groups: which lagged most yesterday
-- From the daily report: the greatest age of an unread record that each group reached and what was
-- usual in the day, its greatest lag, its worst topic, and the minutes in which it was not OK.
-- Capacity is its best speed against what comes in: below 1 it cannot catch up. Null is unknown.
-- Change cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _ in
-- LIKE is any character.
-- kafka-lag query takes cluster, day (yesterday).
WITH request AS (
    SELECT *
    FROM lag_summary
    WHERE dt = date_format(current_date - INTERVAL '1' DAY, '%Y-%m-%d')
        AND cluster LIKE '%'
),
topics AS (
    SELECT cluster, dt, consumer_group, max_by(topic, time_lag_max) AS worst_topic
    FROM request
    WHERE topic IS NOT NULL
    GROUP BY cluster, dt, consumer_group
)
SELECT
    request.cluster,
    request.consumer_group,
    request.owner,
    request.time_lag_max AS most_seconds,
    request.time_lag_p95 AS p95_seconds,
    request.time_lag_p50 AS median_seconds,
    request.lag_max AS most_records,
    topics.worst_topic,
    round(request.err_minutes, 1) AS err_minutes,
    round(request.warn_minutes, 1) AS warn_minutes,
    round(request.unknown_minutes, 1) AS unknown_minutes,
    request.rebalances,
    round(request.rebalancing_minutes, 1) AS rebalancing_minutes,
    request.rebalancing_runs,
    round(request.catch_up_capacity, 2) AS capacity,
    request.records_lost
FROM request
LEFT JOIN topics
    ON request.cluster = topics.cluster
    AND request.dt = topics.dt
    AND request.consumer_group = topics.consumer_group
WHERE request.topic IS NULL
ORDER BY most_seconds DESC NULLS LAST, request.cluster, request.consumer_group
LIMIT 100
