-- SPDX-License-Identifier: Apache-2.0
-- Retention: who is losing records, or will soon
-- Partitions that the newest run saw LOST or AT_RISK, LOST first, then the most urgent. A cluster
-- without a run in this hour and the last is not listed, nor is a partition whose risk is not
-- known.
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
    request.topic,
    request.partition_id,
    request.retention_risk,
    request.seconds_until_loss / 3600 AS hours_until_loss,
    request.records_lost,
    request.retention_margin,
    request.lag,
    request.time_lag_seconds,
    request.client_host,
    request.taken_at,
    request.unread_reason
FROM request
INNER JOIN newest ON request.cluster = newest.cluster AND request.taken_at = newest.taken_at
WHERE request.retention_risk IN ('LOST', 'AT_RISK')
ORDER BY
    CASE request.retention_risk WHEN 'LOST' THEN 0 ELSE 1 END,
    request.seconds_until_loss NULLS LAST,
    request.cluster,
    request.consumer_group,
    request.topic,
    request.partition_id
