-- SPDX-License-Identifier: Apache-2.0
-- Consumers: which member or host lags
-- The newest run's lag by the member that owns the partitions; no member is a partition that nobody
-- owns. Partitions that were not read are in partitions_unknown, those without a commit in
-- partitions alone. A cluster without a run in this hour and the last is not listed.
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
newest AS (
    SELECT cluster, max(taken_at) AS taken_at
    FROM request
    GROUP BY cluster
)
SELECT
    request.cluster,
    request.consumer_group,
    request.client_host,
    request.client_id,
    request.member_id,
    count(*) AS partitions,
    count(request.lag) AS partitions_known,
    sum(request.lag) AS lag,
    round(
        CAST(sum(request.lag) AS double)
        / nullif(sum(sum(request.lag)) OVER (PARTITION BY request.cluster, request.consumer_group), 0),
        4
    ) AS share_of_group,
    max(request.time_lag_seconds) AS most_seconds,
    count_if(request.unread_reason IS NOT NULL) AS partitions_unknown,
    max(request.taken_at) AS taken_at
FROM request
INNER JOIN newest ON request.cluster = newest.cluster AND request.taken_at = newest.taken_at
GROUP BY
    request.cluster, request.consumer_group, request.client_host, request.client_id, request.member_id
ORDER BY lag DESC NULLS LAST, request.cluster, request.consumer_group, request.member_id
