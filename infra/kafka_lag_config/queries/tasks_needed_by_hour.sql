-- SPDX-License-Identifier: Apache-2.0
-- Tasks: how many groups needed, by hour of the week
-- From the daily reports of seven days, each hour of the week once (UTC, Monday first). A quarter of
-- the time in which it is known no more than lower_quartile was needed, three quarters of it no more
-- than upper_quartile; each is a number that was needed. members: what there were for half of it.
-- last_reason `partitions` or `hot_partition`: more tasks do not help. Hours of which nothing is known
-- are left out.
-- Change group, cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _
-- in LIKE is any character.
-- kafka-lag query takes cluster, group, day (yesterday), days (7).
WITH request AS (
    SELECT *
    FROM tasks_needed
    WHERE dt BETWEEN date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
            AND date_format(current_date - INTERVAL '1' DAY, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND consumer_group LIKE '%'
)
SELECT
    cluster,
    consumer_group,
    day_of_week(CAST(dt AS DATE)) AS weekday,
    hour,
    dt,
    lower_quartile,
    median,
    upper_quartile,
    most,
    members,
    tasks_needed_reason AS last_reason,
    round(known_minutes, 1) AS known_minutes
FROM request
WHERE hour IS NOT NULL
ORDER BY
    cluster,
    consumer_group,
    day_of_week(CAST(dt AS DATE)),
    hour,
    dt
