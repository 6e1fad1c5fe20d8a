-- SPDX-License-Identifier: Apache-2.0
-- Retention: how much would have been enough
-- From the daily reports of the week: the age that records had at most when a group read them,
-- beside the retention of their topic, the shortest first. Above 1, share_needed lost records. No
-- retention_hours is one without a limit, or that was not known. records_lost is of all partitions
-- of the topic, on the day with most, and a least: no run sees what is deleted just before a commit.
-- Change group, topic, cluster and dates in the first lines. LIKE '%' is all; for one write =
-- 'name', as _ in LIKE is any character.
-- kafka-lag query takes cluster, group, topic, day (today), days (8).
WITH request AS (
    SELECT *
    FROM retention_risk
    WHERE dt BETWEEN date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND consumer_group LIKE '%'
        AND topic LIKE '%'
),
losses AS (
    SELECT
        *,
        sum(records_lost) OVER (PARTITION BY cluster, consumer_group, topic, dt) AS lost_that_day
    FROM request
)
SELECT
    cluster,
    consumer_group,
    topic,
    round(max(retention_needed_seconds / retention_seconds), 4) AS share_needed,
    round(max(retention_needed_seconds) / 3600, 2) AS needed_hours,
    round(min(retention_seconds) / 3600, 2) AS retention_hours,
    max_by(dt, retention_needed_seconds) AS worst_day,
    max_by(partition_id, retention_needed_seconds) AS worst_partition,
    max(lost_that_day) AS records_lost
FROM losses
WHERE retention_needed_seconds > 0
GROUP BY cluster, consumer_group, topic
ORDER BY share_needed DESC NULLS LAST, needed_hours DESC, cluster, consumer_group, topic
