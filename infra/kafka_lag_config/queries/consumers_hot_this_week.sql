-- SPDX-License-Identifier: Apache-2.0
-- Consumers: which were hot this week
-- From the daily reports: clients that on some day held three times the lag a partition of their
-- group's others, or all. A client is its host and id, as a member's is another after each restart.
-- "Consumers: which member or host lags" asks the same of now.
-- Change group, cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _
-- in LIKE is any character.
-- kafka-lag query takes cluster, group, day (today), days (8).
WITH request AS (
    SELECT *
    FROM consumer_hotspots
    WHERE dt BETWEEN date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND consumer_group LIKE '%'
)
SELECT
    cluster,
    consumer_group,
    client_host,
    client_id,
    count(DISTINCT dt) FILTER (WHERE hot) AS days_hot,
    count(DISTINCT dt) AS days_seen,
    count(DISTINCT member_id) AS members,
    round(max(lag_to_partitions), 2) AS worst_ratio,
    max_by(dt, lag_to_partitions) AS worst_day,
    round(max(lag_mean), 1) AS most_lag
FROM request
GROUP BY cluster, consumer_group, client_host, client_id
HAVING count_if(hot) > 0
ORDER BY days_hot DESC, worst_ratio DESC, cluster, consumer_group, client_host, client_id
