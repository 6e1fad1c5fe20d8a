-- SPDX-License-Identifier: Apache-2.0
-- Consumers: which member or host lags
-- The newest run's lag by the member that owns the partitions; no member is a partition that nobody
-- owns. Partitions that were not read are in partitions_unknown, those without a commit in
-- partitions alone. A cluster without a run in this hour and the last is not listed.
-- Change group and cluster in the first lines. LIKE '%' is all; for one write = 'name', as _ in
-- LIKE is any character.
-- kafka-lag query takes cluster, group, at (now).
WITH asked AS (
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
newest AS (
    SELECT cluster, max(taken_at) AS taken_at
    FROM asked
    GROUP BY cluster
)
SELECT
    asked.cluster,
    asked.consumer_group,
    asked.client_host,
    asked.client_id,
    asked.member_id,
    count(*) AS partitions,
    count(asked.lag) AS partitions_known,
    sum(asked.lag) AS lag,
    round(
        CAST(sum(asked.lag) AS double)
        / nullif(sum(sum(asked.lag)) OVER (PARTITION BY asked.cluster, asked.consumer_group), 0),
        4
    ) AS share_of_group,
    max(asked.time_lag_seconds) AS most_seconds,
    count_if(asked.unread_reason IS NOT NULL) AS partitions_unknown,
    max(asked.taken_at) AS taken_at
FROM asked
INNER JOIN newest ON asked.cluster = newest.cluster AND asked.taken_at = newest.taken_at
GROUP BY
    asked.cluster, asked.consumer_group, asked.client_host, asked.client_id, asked.member_id
ORDER BY lag DESC NULLS LAST, asked.cluster, asked.consumer_group, asked.member_id
