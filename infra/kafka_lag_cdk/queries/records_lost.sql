-- SPDX-License-Identifier: Apache-2.0
-- Retention: what was lost, where and when
-- Records that retention deleted before a group had read them, a row for each commit that they came
-- after, and the first and last run that saw it.
-- Change group, cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _
-- in LIKE is any character.
-- Days older than shared.keep.snapshot_days are not found: put history_ before the table's name
-- (history_group_partitions, which has no hour).
-- kafka-lag query takes cluster, group, day (today), days (8).
WITH request AS (
    SELECT *
    FROM group_partitions
    WHERE dt BETWEEN date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND consumer_group LIKE '%'
)
SELECT
    cluster,
    consumer_group,
    topic,
    partition_id,
    max(records_lost) AS records_lost,
    committed_offset AS first_lost_offset,
    min(taken_at) AS first_seen_at,
    max(taken_at) AS last_seen_at
FROM request
WHERE records_lost > 0
GROUP BY cluster, consumer_group, topic, topic_id, partition_id, committed_offset
ORDER BY first_seen_at DESC, cluster, consumer_group, topic, partition_id
