-- SPDX-License-Identifier: Apache-2.0
-- Groups: hours that were not as usual, this week
-- From the daily reports: a group's time lag, lag or produce rate in an hour of the day, far from
-- what the same hour of that weekday was in the six weeks before. A group without three such weeks
-- is not listed. deviation counts in units of the usual spread.
-- Change group, cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _
-- in LIKE is any character.
-- kafka-lag query takes cluster, group, day (today), days (8).
WITH request AS (
    SELECT *
    FROM anomalies
    WHERE dt BETWEEN date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND consumer_group LIKE '%'
)
SELECT
    cluster,
    dt,
    hour,
    consumer_group,
    measure,
    direction,
    round(value, 2) AS value,
    round(usual, 2) AS usual,
    round(deviation, 1) AS deviation,
    days
FROM request
ORDER BY dt DESC, abs(deviation) DESC, cluster, consumer_group, hour, measure
