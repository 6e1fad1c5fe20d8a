-- SPDX-License-Identifier: Apache-2.0
-- A row is a topic's partition, with the records `produced` to it in the day; null: its end was
-- seen less than twice. It is how far the end rose under each topic id: a recreated topic begins
-- again, and an end that went back (unclean leader election) is not negative production. What was
-- there at the first sight of a topic id does not count.

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
