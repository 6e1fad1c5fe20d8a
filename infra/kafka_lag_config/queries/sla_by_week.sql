-- SPDX-License-Identifier: Apache-2.0
-- Service level: share of time within it, by week
-- From the daily reports: for each group that has sla_seconds, the share of the minutes with a known
-- time lag in which it was within. A week in which the level changed has a row for each.
-- Change group, cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _
-- in LIKE is any character.
-- kafka-lag query takes cluster, group, day (today), days (from the Monday of three weeks before).
WITH request AS (
    SELECT *
    FROM lag_summary
    WHERE dt BETWEEN date_format(date_trunc('week', current_date) - INTERVAL '21' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND consumer_group LIKE '%'
),
days AS (
    SELECT *, CAST(date_trunc('week', CAST(dt AS date)) AS date) AS week
    FROM request
    WHERE topic IS NULL AND sla_seconds IS NOT NULL
)
SELECT
    cluster,
    consumer_group,
    max_by(owner, dt) AS owner,
    sla_seconds,
    week,
    round(sum(sla_met_minutes) / nullif(sum(sla_minutes), 0), 5) AS share_within,
    round(sum(sla_met_minutes), 1) AS minutes_within,
    round(sum(sla_minutes), 1) AS minutes_known,
    count(*) AS days_reported,
    round(min(sla_compliance), 5) AS worst_share,
    min_by(dt, sla_compliance) AS worst_day
FROM days
GROUP BY cluster, consumer_group, sla_seconds, week
ORDER BY week DESC, share_within NULLS LAST, cluster, consumer_group, sla_seconds
