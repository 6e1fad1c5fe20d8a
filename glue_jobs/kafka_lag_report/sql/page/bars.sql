-- SPDX-License-Identifier: Apache-2.0
-- A row is a partition of a group's skewed topic that the page draws. If a topic has more than
-- `most_bars` partitions, it has rows for those with the most lag. `total` counts all of them.

WITH ranked AS (
    SELECT
        d.consumer_group, d.topic, d.partition_id, d.leader, d.mean_lag, p.produced,
        row_number() OVER (
            PARTITION BY d.consumer_group, d.topic
            ORDER BY d.mean_lag DESC NULLS LAST, d.partition_id
        ) AS place,
        count(*) OVER (PARTITION BY d.consumer_group, d.topic) AS total
    FROM partition_days AS d
    LEFT JOIN production AS p ON p.topic = d.topic AND p.partition_id = d.partition_id
    WHERE array_contains(
        from_json(:topics, 'array<array<string>>'), array(d.consumer_group, d.topic)
    )
)
SELECT consumer_group, topic, partition_id, leader, mean_lag, produced, total
FROM ranked
WHERE place <= :most_bars
ORDER BY consumer_group, topic, partition_id
