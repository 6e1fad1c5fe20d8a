-- SPDX-License-Identifier: Apache-2.0
-- Retention: who is losing records, or will soon
-- Partitions that the newest run saw LOST or AT_RISK, LOST first, then the most urgent. A cluster
-- without a run in this hour and the last is not listed, nor is a partition whose risk is not
-- known.
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
    asked.topic,
    asked.partition_id,
    asked.retention_risk,
    asked.seconds_until_loss / 3600 AS hours_until_loss,
    asked.records_lost,
    asked.retention_margin,
    asked.lag,
    asked.time_lag_seconds,
    asked.client_host,
    asked.taken_at,
    asked.unread_reason
FROM asked
INNER JOIN newest ON asked.cluster = newest.cluster AND asked.taken_at = newest.taken_at
WHERE asked.retention_risk IN ('LOST', 'AT_RISK')
ORDER BY
    CASE asked.retention_risk WHEN 'LOST' THEN 0 ELSE 1 END,
    asked.seconds_until_loss NULLS LAST,
    asked.cluster,
    asked.consumer_group,
    asked.topic,
    asked.partition_id
