-- SPDX-License-Identifier: Apache-2.0
-- A row is a member of a group; a null `member_id` stands for the time in which partitions had no
-- owner. If the owner of a partition changed, the partition counts for each owner by its part of
-- the runs, and `consumed` by the records that each run saw. `lag_mean` is null if no lag was known
-- while the member owned partitions. A member is hot by the rule for brokers (broker_hotspots.sql),
-- unless it was the only owner at any time: the owners before and after a restart do not compete.

WITH owned AS (
    SELECT
        consumer_group, topic, partition_id, client_host, client_id, member_id,
        sum(reads) AS reads,
        sum(lags) AS lags,
        sum(lag_sum) AS lag_sum,
        sum(consumed) AS consumed,
        min(first_at) AS since,
        max(last_at) AS until
    FROM group_segments
    GROUP BY ALL
),
parts AS (
    SELECT
        *,
        try_divide(reads, sum(reads) OVER of_partition) AS part,
        try_divide(lag_sum, sum(lags) OVER of_partition) AS lag_part
    FROM owned
    WINDOW of_partition AS (PARTITION BY consumer_group, topic, partition_id)
),
members AS (
    SELECT
        consumer_group, client_host, client_id, member_id,
        sum(part) AS partitions_owned,
        sum(consumed) AS consumed,
        sum(lag_part) AS lag_mean,
        min(since) AS since,
        max(until) AS until
    FROM parts
    GROUP BY ALL
),
shares AS (
    SELECT
        *,
        -- whether another member owned partitions between the first and last run of this one
        coalesce(
            max(until) OVER (
                PARTITION BY consumer_group ORDER BY since
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) >= since,
            false
        ) OR coalesce(
            min(since) OVER (
                PARTITION BY consumer_group ORDER BY since
                ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
            ) <= until,
            false
        ) AS is_beside,
        try_divide(partitions_owned, sum(partitions_owned) OVER of_group) AS partitions_share,
        try_divide(lag_mean, sum(lag_mean) OVER of_group) AS lag_share,
        lag_mean - avg(lag_mean) OVER of_group AS above_mean
    FROM members
    WINDOW of_group AS (PARTITION BY consumer_group)
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
    consumer_group,
    client_host,
    client_id,
    member_id,
    partitions_owned,
    partitions_share,
    consumed,
    lag_mean,
    lag_share,
    lag_to_partitions,
    lag_to_others,
    (coalesce(others <= 1e-9D, false) OR lag_to_others >= :hot_factor)
        AND above_mean >= :lag_excess AND is_beside AS hot
FROM judged
