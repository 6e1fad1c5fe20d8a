-- SPDX-License-Identifier: Apache-2.0
-- A row for each leader and rack: what it led, and what of the lag and production lay there.

WITH led AS (
    SELECT leader, leader_rack, sum(share) AS partitions_led
    FROM (
        SELECT
            leader, leader_rack,
            sum(readings) / sum(sum(readings)) OVER (PARTITION BY topic, partition_id) AS share
        FROM topic_segments
        GROUP BY topic, partition_id, leader, leader_rack
    )
    GROUP BY ALL
),
made AS (
    SELECT leader, leader_rack, credited AS produced FROM leader_production
),
newest_racks AS (
    SELECT leader, leader_rack
    FROM topic_segments
    QUALIFY row_number() OVER (
        PARTITION BY leader ORDER BY last_at DESC, leader_rack NULLS LAST
    ) = 1
),
lags AS (
    SELECT s.leader, sum(s.lag_sum / d.lags) AS lag_mean
    FROM group_segments AS s
    JOIN group_days AS d USING (consumer_group, topic, partition_id)
    GROUP BY ALL
),
placed AS (
    SELECT l.leader, r.leader_rack, l.lag_mean
    FROM lags AS l
    LEFT JOIN newest_racks AS r ON r.leader IS NOT DISTINCT FROM l.leader
),
leaders AS (
    SELECT
        coalesce(led.leader, placed.leader) AS leader,
        coalesce(led.leader_rack, placed.leader_rack) AS leader_rack,
        coalesce(led.partitions_led, 0) AS partitions_led,
        CASE WHEN sum(placed.lag_mean) OVER () IS NOT NULL
            THEN coalesce(placed.lag_mean, 0)
        END AS lag_mean
    FROM led
    FULL JOIN placed
        ON placed.leader IS NOT DISTINCT FROM led.leader
        AND placed.leader_rack IS NOT DISTINCT FROM led.leader_rack
),
shares AS (
    SELECT
        l.*,
        m.produced,
        l.partitions_led / nullif(sum(l.partitions_led) OVER (), 0) AS partitions_share,
        m.produced / nullif(sum(m.produced) OVER (), 0) AS produce_share,
        l.lag_mean / nullif(sum(l.lag_mean) OVER (), 0) AS lag_share,
        l.lag_mean - avg(l.lag_mean) OVER () AS above_mean
    FROM leaders AS l
    LEFT JOIN made AS m
        ON m.leader IS NOT DISTINCT FROM l.leader AND m.leader_rack IS NOT DISTINCT FROM l.leader_rack
),
compared AS (
    SELECT
        *,
        -- by partition of the others; a sum of doubles may miss all of it by its last digits
        (1 - lag_share) / nullif(1 - partitions_share, 0) AS others,
        others <= 1e-9 AS has_all,
        (lag_share / nullif(partitions_share, 0)) / nullif(others, 0) AS to_others
    FROM shares
)
SELECT
    leader,
    leader_rack,
    partitions_led,
    partitions_share,
    produced,
    produce_share,
    lag_mean,
    lag_share,
    lag_share / nullif(partitions_share, 0) AS lag_to_partitions,
    CASE WHEN NOT has_all THEN to_others END AS lag_to_others,
    (has_all OR to_others >= 3) AND above_mean >= 100 AS hot
FROM compared
