-- SPDX-License-Identifier: Apache-2.0
-- Brokers: which were hot this week
-- From the daily reports: on how many days a broker held three times the lag a partition of the
-- others, or all of it, and the means of its shares. No leader is partitions that had none. "Brokers: whose partitions lag"
-- asks the same of now.
-- Change cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _ in
-- LIKE is any character.
-- kafka-lag query takes cluster, day (today), days (8).
WITH request AS (
    SELECT *
    FROM broker_hotspots
    WHERE dt BETWEEN date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
)
SELECT
    cluster,
    leader,
    leader_rack,
    count_if(hot) AS days_hot,
    count(hot) AS days_known,
    round(max(lag_to_partitions), 2) AS worst_ratio,
    max_by(dt, lag_to_partitions) AS worst_day,
    round(avg(lag_share), 4) AS share_of_lag,
    round(avg(produce_share), 4) AS share_of_production,
    round(avg(partitions_share), 4) AS share_of_partitions
FROM request
GROUP BY cluster, leader, leader_rack
ORDER BY days_hot DESC, worst_ratio DESC NULLS LAST, cluster, leader, leader_rack
