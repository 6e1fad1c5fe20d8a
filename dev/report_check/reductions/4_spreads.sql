-- SPDX-License-Identifier: Apache-2.0
-- How uneven lag and production are over the partitions of a topic; production has no group.

CREATE OR REPLACE TEMP TABLE spreads AS
WITH measured AS (
    SELECT 'lag' AS measure, consumer_group, topic, partition_id, mean_lag AS value FROM group_days
    UNION ALL
    SELECT 'production', NULL, topic, partition_id, produced FROM production
),
ranked AS (
    SELECT
        *,
        -- a null has the last ranks, and adds nothing to any sum
        row_number() OVER (
            PARTITION BY measure, consumer_group, topic ORDER BY value NULLS LAST
        ) AS rank,
        max(value) OVER (PARTITION BY measure, consumer_group, topic) AS greatest_value
    FROM measured
),
sums AS (
    SELECT
        measure, consumer_group, topic,
        count(value)::INTEGER AS partitions,
        avg(value) AS mean,
        max(value) AS most,
        sum(value) AS total,
        sum(rank * value) AS ranks,
        min(partition_id) FILTER (value = greatest_value) AS first_top
    FROM ranked
    GROUP BY ALL
)
SELECT
    measure, consumer_group, topic, partitions, mean, most,
    -- nothing is spread evenly, and no partition has most of it
    CASE WHEN total = 0 THEN 1.0 ELSE most / mean END AS max_to_mean,
    CASE WHEN total > 0 THEN first_top END AS top_partition,
    CASE WHEN total = 0 THEN 1.0 / partitions ELSE most / total END AS top_share,
    CASE WHEN partitions > 0 THEN 1.0 / partitions END AS even_share,
    CASE WHEN total = 0 THEN 0.0
        ELSE (2 * ranks - (partitions + 1) * total) / (partitions * total)
    END AS gini,
    CASE WHEN total = 0 THEN false ELSE most / mean >= 1.5 AND most - mean >= 100 END AS skewed
FROM sums;
