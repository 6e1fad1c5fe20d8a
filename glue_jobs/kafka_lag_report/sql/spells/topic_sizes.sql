-- SPDX-License-Identifier: Apache-2.0
-- A row is a topic and its number of partitions, which are numbered from 0.

SELECT topic, max(partition_id) + 1 AS size
FROM topic_segments
GROUP BY topic
