-- SPDX-License-Identifier: Apache-2.0
-- Incidents: what went wrong this week
-- From the daily reports: each incident with its sentence, when, why and what it cost. One that goes
-- on for days has a row in each of them. still: it was so in the day's last run.
-- Change group, cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _
-- in LIKE is any character. Incidents of brokers, topics and runs have no group.
-- kafka-lag query takes cluster, group, day (today), days (8).
WITH request AS (
    SELECT *
    FROM incidents
    WHERE dt BETWEEN date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND coalesce(consumer_group, '') LIKE '%'
)
SELECT
    dt,
    cluster,
    level,
    kind,
    consumer_group,
    since,
    until,
    still,
    round(minutes, 1) AS minutes,
    records_lost,
    text
FROM request
ORDER BY
    dt DESC,
    CASE level WHEN 'urgent' THEN 0 WHEN 'serious' THEN 1 WHEN 'warned' THEN 2 ELSE 3 END,
    records_lost DESC NULLS LAST,
    minutes DESC NULLS LAST,
    cluster,
    text
