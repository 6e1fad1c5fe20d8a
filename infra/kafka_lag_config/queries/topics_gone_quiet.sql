-- SPDX-License-Identifier: Apache-2.0
-- Producers: topics that went quiet
-- Topics that got records in the days asked for and none in the last hour that they were read:
-- since when, and how many they got before. Runs that could not read a partition are left out.
-- Change cluster, topic, dates and the least minutes in the first lines. LIKE '%' is all; for one
-- write = 'name', as _ in LIKE is any character.
-- Days older than shared.keep.snapshot_days are not found: put history_ before the table's name
-- (history_topic_partitions, which has no hour).
-- kafka-lag query takes cluster, topic, day (today), days (2), least_minutes (60).
WITH request AS (
    SELECT *, 60 AS least_minutes
    FROM topic_partitions
    WHERE dt BETWEEN date_format(current_date - INTERVAL '1' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND topic LIKE '%'
),
ends AS (
    SELECT
        cluster,
        topic,
        topic_id,
        partition_id,
        end_offset,
        least_minutes,
        min(taken_at) AS first_at,
        max(taken_at) AS last_at
    FROM request
    WHERE unread_reason IS NULL
    GROUP BY cluster, topic, topic_id, partition_id, end_offset, least_minutes
),
partitions AS (
    SELECT
        cluster,
        topic,
        topic_id,
        least_minutes,
        max(end_offset) - min(end_offset) AS records,
        max(first_at) AS last_append_at,
        max(last_at) AS last_read_at
    FROM ends
    GROUP BY cluster, topic, topic_id, partition_id, least_minutes
),
topics AS (
    SELECT
        cluster,
        topic,
        least_minutes,
        sum(records) AS records,
        max(last_append_at) FILTER (WHERE records > 0) AS last_append_at,
        max(last_read_at) AS last_read_at
    FROM partitions
    GROUP BY cluster, topic, topic_id, least_minutes
)
SELECT
    cluster,
    topic,
    last_append_at,
    date_diff('minute', last_append_at, last_read_at) AS quiet_minutes,
    records
FROM topics
WHERE date_diff('minute', last_append_at, last_read_at) >= least_minutes
ORDER BY last_append_at DESC, cluster, topic
