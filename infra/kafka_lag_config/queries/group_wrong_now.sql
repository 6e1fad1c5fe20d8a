-- SPDX-License-Identifier: Apache-2.0
-- Group: what is wrong with it now
-- Partitions that the newest run did not see OK, saw lose records or about to, or could not read,
-- the worst first. consumer_status says what the consumer does, whatever was lost; of what could
-- not be read it and last_status are what was known before. Lag alone is
-- not wrong: "Consumers: which member or host lags" shows all of it. Nothing is listed where a
-- cluster had no run in this hour and the last, nor of a group that was never read.
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
    request.taken_at,
    request.cluster,
    request.consumer_group,
    request.topic,
    request.partition_id,
    request.status,
    request.last_status,
    request.consumer_status,
    request.status_reason,
    request.lag,
    request.time_lag_seconds,
    request.retention_risk,
    request.seconds_until_loss,
    request.client_host,
    request.member_id,
    request.leader,
    request.commit_changed_at,
    request.unread_reason
FROM request
INNER JOIN newest ON request.cluster = newest.cluster AND request.taken_at = newest.taken_at
WHERE request.status <> 'OK'
    OR request.consumer_status IS NOT NULL
    OR request.retention_risk IN ('LOST', 'AT_RISK')
    OR request.unread_reason IS NOT NULL
ORDER BY
    CASE
        WHEN request.last_status IN ('STOP', 'STALL', 'REWIND', 'ERR') THEN 0
        WHEN request.retention_risk = 'LOST' THEN 0
        WHEN request.last_status = 'WARN' OR request.retention_risk = 'AT_RISK' THEN 1
        ELSE 2
    END,
    request.time_lag_seconds DESC NULLS LAST,
    request.lag DESC NULLS LAST,
    request.cluster,
    request.consumer_group,
    request.topic,
    request.partition_id
