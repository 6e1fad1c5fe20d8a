-- SPDX-License-Identifier: Apache-2.0
-- A row is a stint: runs in a row in which one broker led a partition of one topic id. Only
-- partitions that changed their leader or had none are included. Runs that did not read the
-- partition are left out: a broker that led before and after them counts as the leader meanwhile.

WITH moved AS (
    SELECT topic AS moved_topic, partition_id AS moved_partition
    FROM topic_segments
    GROUP BY ALL
    HAVING count(DISTINCT struct(topic_id, leader)) > 1
    UNION
    SELECT topic, partition_id FROM topic_partitions WHERE unread_reason = 'no_leader'
),
readings AS (
    SELECT
        topic, topic_id, partition_id AS partition, leader, unix_seconds(taken_at) AS at
    FROM topic_partitions
    LEFT SEMI JOIN moved ON moved_topic = topic AND moved_partition = partition_id
    WHERE unread_reason IS NULL
),
changed AS (
    SELECT
        *,
        lag(at) OVER by_time IS NULL
            OR NOT topic_id <=> lag(topic_id) OVER by_time
            OR NOT leader <=> lag(leader) OVER by_time AS is_first
    FROM readings
    WINDOW by_time AS (PARTITION BY topic, partition ORDER BY at)
),
numbered AS (
    SELECT *, count_if(is_first) OVER (PARTITION BY topic, partition ORDER BY at) AS stint
    FROM changed
)
SELECT
    topic, topic_id, partition, leader,
    timestamp_seconds(min(at)) AS first,
    timestamp_seconds(max(at)) AS last
FROM numbered
GROUP BY topic, topic_id, partition, leader, stint
ORDER BY topic, partition, first
LIMIT :most_spells
