-- SPDX-License-Identifier: Apache-2.0
-- A row is a topic's partition, with the records `produced` to it on the day; null if its end was
-- seen less than twice. The end's rise is added up over the topic ids, because a recreated topic
-- begins again. An end that went back (unclean leader election) counts as 0. Records that were
-- there when a topic id was first seen do not count.

WITH logs AS (
    SELECT
        topic, topic_id, partition_id,
        IF(sum(ends) > 1, max_by(end_last, end_last_at) - min_by(end_first, end_first_at), NULL)
            AS rise
    FROM topic_segments
    GROUP BY ALL
)
SELECT topic, partition_id, sum(IF(rise < 0, 0, rise)) AS produced
FROM logs
GROUP BY ALL
