-- SPDX-License-Identifier: Apache-2.0
-- A row is a leader and rack; a null `leader` stands for the time in which partitions had no
-- leader. If the leader of a partition changed, the partition counts for each leader by its part of
-- the runs, and `produced` by the records that each run saw. Lag is known by leader only: if a
-- leader had several racks, the newest has all its lag. A leader that is named only in partitions
-- of groups has no rack and led no partition. A broker is hot if its lag per partition is large
-- compared with all others (`lag_to_others`; null if the others have no partition or no lag, so
-- that all lag is here), and if it has enough records above the mean, because a share of hardly any
-- lag means nothing.

WITH parts AS (
    SELECT
        *,
        try_divide(reads, sum(reads) OVER (PARTITION BY topic, partition_id)) AS part
    FROM topic_segments
),
lag_parts AS (
    SELECT
        leader,
        try_divide(lag_sum, sum(lags) OVER (PARTITION BY consumer_group, topic, partition_id))
            AS lag_part
    FROM group_segments
),
known AS (
    SELECT
        leader, leader_rack,
        sum(part) AS partitions_led,
        sum(produced) AS produced,
        max(last_at) AS last_at,
        CAST(NULL AS DOUBLE) AS lag_part
    FROM parts
    GROUP BY leader, leader_rack
    UNION ALL
    SELECT leader, NULL, NULL, NULL, NULL, sum(lag_part) FROM lag_parts GROUP BY leader
),
placed AS (
    SELECT
        *,
        -- 1 for a leader's newest rack; the row with its lag is last, because its time is null
        row_number() OVER (
            PARTITION BY leader ORDER BY last_at DESC NULLS LAST, leader_rack NULLS LAST
        ) AS place,
        sum(lag_part) OVER (PARTITION BY leader) AS lag
    FROM known
),
brokers AS (
    SELECT
        leader, leader_rack, produced,
        coalesce(partitions_led, 0D) AS partitions_led,
        -- 0 for a leader whose partitions have no lag; null if no lag is known in the whole cluster
        IF(max(lag) OVER () IS NULL, NULL, IF(place = 1, coalesce(lag, 0D), 0D)) AS lag_mean
    FROM placed
    WHERE place = 1 OR last_at IS NOT NULL
),
shares AS (
    SELECT
        *,
        try_divide(partitions_led, sum(partitions_led) OVER ()) AS partitions_share,
        try_divide(produced, sum(produced) OVER ()) AS produce_share,
        try_divide(lag_mean, sum(lag_mean) OVER ()) AS lag_share,
        lag_mean - avg(lag_mean) OVER () AS above_mean
    FROM brokers
),
compared AS (
    SELECT
        *,
        try_divide(lag_share, partitions_share) AS lag_to_partitions,
        try_divide(1 - lag_share, 1 - partitions_share) AS others
    FROM shares
),
judged AS (
    SELECT
        *,
        -- a sum of doubles may miss a whole share by its last digits
        IF(others > 1e-9D, try_divide(lag_to_partitions, others), NULL) AS lag_to_others
    FROM compared
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
    lag_to_partitions,
    lag_to_others,
    (coalesce(others <= 1e-9D, false) OR lag_to_others >= :hot_factor)
        AND above_mean >= :lag_excess AS hot
FROM judged
