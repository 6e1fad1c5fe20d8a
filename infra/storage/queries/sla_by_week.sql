-- SPDX-License-Identifier: Apache-2.0
-- Service level: share of runs within it, by week
-- For each group that has sla_seconds. A run counts when its time lag is known to be within or
-- beyond; one that may be any older ("at least") proves only that it is beyond. Days that were
-- compacted and snapshots that still exist are one: a run in both counts once.
-- Change group, cluster and dates where asked is. LIKE '%' is all; for one write = 'name', as _ in
-- LIKE is any character.
WITH united AS (
    SELECT
        cluster, dt, taken_at, consumer_group, owner, sla_seconds,
        time_lag_seconds, time_lag_error_seconds
    FROM groups
    UNION
    SELECT
        cluster, dt, taken_at, consumer_group, owner, sla_seconds,
        time_lag_seconds, time_lag_error_seconds
    FROM history_groups
),
asked AS (
    SELECT *
    FROM united
    WHERE dt BETWEEN date_format(date_trunc('week', current_date) - INTERVAL '21' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND consumer_group LIKE '%'
),
judged AS (
    SELECT
        cluster,
        consumer_group,
        owner,
        sla_seconds,
        CAST(date_trunc('week', taken_at) AS date) AS week,
        CASE
            WHEN time_lag_seconds > sla_seconds THEN 0
            WHEN time_lag_error_seconds IS NOT NULL AND time_lag_seconds <= sla_seconds THEN 1
        END AS kept
    FROM asked
    WHERE sla_seconds IS NOT NULL
)
SELECT
    cluster,
    consumer_group,
    owner,
    sla_seconds,
    week,
    round(avg(kept), 5) AS share_within,
    sum(kept) AS runs_within,
    count(kept) AS runs_known,
    count(*) - count(kept) AS runs_unknown
FROM judged
GROUP BY cluster, consumer_group, owner, sla_seconds, week
ORDER BY week DESC, share_within NULLS LAST, cluster, consumer_group
