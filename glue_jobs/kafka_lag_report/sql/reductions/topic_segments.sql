-- SPDX-License-Identifier: Apache-2.0
-- A row is a segment: a topic's partition while one broker led it. Rows that were not read are left
-- out. Times (`*_at`) are seconds of the UTC day. The retention is the last known one.

WITH readings AS (
    SELECT
        *,
        unix_seconds(taken_at) % 86400 AS second,
        -- the topic deletes no record for its age
        retention_ms < 0 OR NOT contains(cleanup_policy, 'delete') AS unlimited
    FROM topic_partitions
    WHERE unread_reason IS NULL
)
SELECT
    topic, topic_id, partition_id, leader, leader_rack,
    count(*) AS reads,
    min(second) AS first_at,
    max(second) AS last_at,
    sum(produced) AS produced,
    max_by(retention_ms, second) FILTER (WHERE retention_ms IS NOT NULL) AS retention_ms,
    max(second) FILTER (WHERE retention_ms IS NOT NULL) AS retention_known_at,
    max_by(unlimited, second) FILTER (WHERE unlimited IS NOT NULL) AS retention_unlimited,
    max(second) FILTER (WHERE unlimited IS NOT NULL) AS unlimited_known_at,
    min_by(end_offset, second) FILTER (WHERE end_offset IS NOT NULL) AS end_first,
    max_by(end_offset, second) FILTER (WHERE end_offset IS NOT NULL) AS end_last,
    min(second) FILTER (WHERE end_offset IS NOT NULL) AS end_first_at,
    max(second) FILTER (WHERE end_offset IS NOT NULL) AS end_last_at,
    count(end_offset) AS ends
FROM readings
GROUP BY ALL
