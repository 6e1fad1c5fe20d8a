-- SPDX-License-Identifier: Apache-2.0
-- Group: what is wrong with it now
-- Partitions that the newest run did not see OK, saw lose records or about to, or could not read,
-- the worst first; of what it could not read, last_status is what was known before. Lag alone is
-- not wrong: "Consumers: which member or host lags" tells all of it. Nothing is listed where a
-- cluster had no run in this hour and the last, nor of a group that was never read.
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
    asked.taken_at,
    asked.cluster,
    asked.consumer_group,
    asked.topic,
    asked.partition_id,
    asked.status,
    asked.last_status,
    asked.status_reason,
    asked.lag,
    asked.time_lag_seconds,
    asked.retention_risk,
    asked.seconds_until_loss,
    asked.client_host,
    asked.member_id,
    asked.leader,
    asked.commit_changed_at,
    asked.unread_reason
FROM asked
INNER JOIN newest ON asked.cluster = newest.cluster AND asked.taken_at = newest.taken_at
WHERE asked.status <> 'OK'
    OR asked.retention_risk IN ('LOST', 'AT_RISK')
    OR asked.unread_reason IS NOT NULL
ORDER BY
    CASE
        WHEN asked.last_status IN ('STOP', 'STALL', 'REWIND', 'ERR') THEN 0
        WHEN asked.retention_risk = 'LOST' THEN 0
        WHEN asked.last_status = 'WARN' OR asked.retention_risk = 'AT_RISK' THEN 1
        ELSE 2
    END,
    asked.time_lag_seconds DESC NULLS LAST,
    asked.lag DESC NULLS LAST,
    asked.cluster,
    asked.consumer_group,
    asked.topic,
    asked.partition_id
