-- SPDX-License-Identifier: Apache-2.0
-- Brokers: whose partitions lag
-- Each broker's share of all lag in this hour and the last, beside its share of the partitions that
-- groups read. A ratio well above 1 is a broker that holds its readers up. Readings without a known
-- lag are in readings_unknown alone.
-- Change group and cluster in the first lines. LIKE '%' is all; for one write = 'name', as _ in
-- LIKE is any character.
-- kafka-lag query takes cluster, group, at (now).
WITH request AS (
    SELECT *
    FROM group_partitions
    WHERE dt >= date_format(current_timestamp - INTERVAL '1' HOUR, '%Y-%m-%d')
        AND hour IN (
            date_format(current_timestamp - INTERVAL '1' HOUR, '%H'),
            date_format(current_timestamp, '%H')
        )
        AND taken_at >= CAST(current_timestamp - INTERVAL '2' HOUR AS timestamp)
        AND cluster LIKE '%'
        AND consumer_group LIKE '%'
),
brokers AS (
    SELECT
        cluster,
        leader,
        sum(lag) AS lag,
        count(lag) AS readings,
        count_if(unread_reason IS NOT NULL) AS readings_unknown
    FROM request
    GROUP BY cluster, leader
),
shares AS (
    SELECT
        cluster,
        leader,
        readings_unknown,
        CAST(lag AS double) / nullif(sum(lag) OVER (PARTITION BY cluster), 0) AS of_lag,
        CAST(readings AS double)
        / nullif(sum(readings) OVER (PARTITION BY cluster), 0) AS of_partitions
    FROM brokers
)
SELECT
    cluster,
    leader,
    round(of_lag, 4) AS share_of_lag,
    round(of_partitions, 4) AS share_of_partitions,
    round(of_lag / nullif(of_partitions, 0), 2) AS ratio,
    readings_unknown
FROM shares
ORDER BY cluster, ratio DESC NULLS LAST, leader
