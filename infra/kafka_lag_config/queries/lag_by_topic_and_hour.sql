-- SPDX-License-Identifier: Apache-2.0
-- Topics: lag over the day, hour by hour
-- Each group's lag on each topic yesterday: the mean and the greatest of the hour's runs. A run
-- that could not read all partitions of a topic knows no sum, and is in runs_unknown alone.
-- Change group, topic, cluster and dates in the first lines. LIKE '%' is all; for one write =
-- 'name', as _ in LIKE is any character.
-- Days older than shared.keep.snapshot_days are not found: put history_ before the table's name
-- (history_group_partitions, which has no hour).
-- kafka-lag query takes cluster, group, topic, day (yesterday).
WITH request AS (
    SELECT *
    FROM group_partitions
    WHERE dt = date_format(current_date - INTERVAL '1' DAY, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND consumer_group LIKE '%'
        AND topic LIKE '%'
),
runs AS (
    SELECT
        cluster,
        consumer_group,
        topic,
        dt,
        date_format(taken_at, '%H') AS hour,
        taken_at,
        CASE WHEN count_if(unread_reason IS NOT NULL) = 0 THEN sum(lag) END AS lag,
        max(time_lag_seconds) AS time_lag_seconds
    FROM request
    GROUP BY cluster, consumer_group, topic, dt, taken_at
)
SELECT
    cluster,
    consumer_group,
    topic,
    dt,
    hour,
    round(avg(lag), 1) AS mean_records,
    max(lag) AS most_records,
    max(time_lag_seconds) AS most_seconds,
    count(*) - count(lag) AS runs_unknown
FROM runs
GROUP BY cluster, consumer_group, topic, dt, hour
ORDER BY cluster, consumer_group, topic, dt, hour
