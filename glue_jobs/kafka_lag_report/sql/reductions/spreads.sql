-- SPDX-License-Identifier: Apache-2.0
-- A row is a measure of a topic, `lag` of one of its groups or its `production`, and how unevenly
-- its partitions share it. Partitions without a value are left out.
-- If all values are equal, also a single one or all zero, max_to_mean is 1, gini 0 and share 1/n.
-- Gini is 2 sum(i x_i) / (n sum(x)) - (n + 1) / n, x ascending, i from 1: 0 means even, (n - 1) / n
-- means all in one partition. If the largest values are equal, the lowest partition is the top one,
-- so that repeated runs agree.

WITH measured AS (
    SELECT 'lag' AS measure, consumer_group, topic, partition_id, mean_lag AS x
    FROM partition_days
    UNION ALL
    SELECT 'production', NULL, topic, partition_id, double(produced) FROM production
),
ranked AS (
    SELECT
        *,
        -- a null has the last rank, and adds nothing to any sum
        row_number() OVER (PARTITION BY measure, consumer_group, topic ORDER BY x NULLS LAST)
            AS rank,
        max(x) OVER (PARTITION BY measure, consumer_group, topic) AS greatest_x
    FROM measured
),
sums AS (
    SELECT
        measure, consumer_group, topic,
        count(x) AS n,
        sum(x) AS total,
        max(x) AS top,
        sum(rank * x) AS ranked_total,
        min(partition_id) FILTER (WHERE x = greatest_x) AS top_partition
    FROM ranked
    GROUP BY ALL
)
SELECT
    measure, consumer_group, topic,
    int(n) AS partitions,
    try_divide(total, n) AS mean,
    top,
    IF(n > 0, coalesce(try_divide(top, try_divide(total, n)), 1D), NULL) AS max_to_mean,
    IF(total > 0, top_partition, NULL) AS top_partition,
    IF(n > 0, coalesce(try_divide(top, total), try_divide(1D, n)), NULL) AS top_share,
    try_divide(1D, n) AS even_share,
    IF(
        n > 0,
        -- rounding may leave -1e-17
        greatest(
            coalesce(try_divide(2 * ranked_total, n * total) - try_divide(n + 1, n), 0D), 0D
        ),
        NULL
    ) AS gini,
    CASE
        WHEN n > 0
        THEN top >= :skew_factor * try_divide(total, n)
            AND top - try_divide(total, n) >= :lag_excess
    END AS is_skewed
FROM sums
