-- SPDX-License-Identifier: Apache-2.0
-- A row is a topic, and how many partitions it has; they are numbered from 0 on.

SELECT topic, max(partition_id) + 1 AS size
FROM topic_segments
GROUP BY topic
