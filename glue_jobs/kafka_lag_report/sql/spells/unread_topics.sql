-- SPDX-License-Identifier: Apache-2.0
-- A row is a spell in which partitions of a group's topic were not read for one reason.
-- `partitions` is the largest number in one run. If `group` is null, it is a spell of one partition
-- of the topic itself, and `leader` the last one that was known before it. `size` is the number of
-- the topic's partitions; null if it is not known.

WITH unread AS (
    SELECT
        consumer_group AS group, topic, CAST(NULL AS INT) AS partition,
        unread_reason AS reason, unix_seconds(taken_at) AS at
    FROM group_partitions
    WHERE unread_reason IS NOT NULL
    UNION ALL
    SELECT NULL, topic, partition_id, unread_reason, unix_seconds(taken_at)
    FROM topic_partitions
    WHERE unread_reason IS NOT NULL
),
runs_of_topics AS (
    SELECT group, topic, partition, reason, at, int(count(*)) AS partitions
    FROM unread
    GROUP BY ALL
),
apart AS (
    SELECT
        *,
        coalesce(
            at - lag(at) OVER (PARTITION BY group, topic, partition, reason ORDER BY at)
            > :pause_seconds,
            true
        ) AS is_first
    FROM runs_of_topics
),
numbered AS (
    SELECT
        *,
        count_if(is_first) OVER (PARTITION BY group, topic, partition, reason ORDER BY at) AS spell
    FROM apart
),
spells AS (
    SELECT
        group, topic, partition, reason,
        timestamp_seconds(min(at)) AS first,
        timestamp_seconds(max(at)) AS last,
        max(partitions) AS partitions
    FROM numbered
    GROUP BY group, topic, partition, reason, spell
    ORDER BY last - first DESC, group, topic, partition, first
    LIMIT :most_spells
),
sizes AS (
    SELECT topic, max(partition_id) + 1 AS size FROM topic_segments GROUP BY topic
)
SELECT s.*, size, max_by(t.leader, t.first) AS leader
FROM spells AS s
LEFT JOIN sizes USING (topic)
LEFT JOIN stints AS t
    ON t.topic = s.topic AND t.partition = s.partition AND t.first < s.first
    AND t.leader IS NOT NULL
GROUP BY ALL
