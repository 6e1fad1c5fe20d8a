-- SPDX-License-Identifier: Apache-2.0
-- A row for each member that owned a partition, and one for what nobody owned.

WITH held AS (
    SELECT
        consumer_group, topic, partition_id, client_host, client_id, member_id,
        sum(s.readings) / any_value(d.readings) AS owned,
        sum(s.lag_sum) / any_value(d.lags) AS lag_mean,
        min(s.first_at) AS since,
        max(s.last_at) AS until
    FROM group_segments AS s
    JOIN group_days AS d USING (consumer_group, topic, partition_id)
    GROUP BY ALL
),
consumption AS (
    SELECT consumer_group, client_host, client_id, member_id, credited AS consumed
    FROM member_consumption
),
members AS (
    SELECT
        consumer_group, client_host, client_id, member_id,
        sum(owned) AS partitions_owned,
        sum(lag_mean) AS lag_mean,
        min(since) AS since,
        max(until) AS until,
        hash(client_host, client_id, member_id) AS who
    FROM held
    GROUP BY ALL
),
shares AS (
    SELECT
        m.*,
        c.consumed,
        m.partitions_owned / sum(m.partitions_owned) OVER of_group AS partitions_share,
        m.lag_mean / nullif(sum(m.lag_mean) OVER of_group, 0) AS lag_share,
        m.lag_mean - avg(m.lag_mean) OVER of_group AS above_mean
    FROM members AS m
    JOIN consumption AS c
        ON c.consumer_group = m.consumer_group
        AND c.client_host IS NOT DISTINCT FROM m.client_host
        AND c.client_id IS NOT DISTINCT FROM m.client_id
        AND c.member_id IS NOT DISTINCT FROM m.member_id
    WINDOW of_group AS (PARTITION BY m.consumer_group)
),
compared AS (
    SELECT
        *,
        -- by partition of the others; a sum of doubles may miss all of it by its last digits
        (1 - lag_share) / nullif(1 - partitions_share, 0) AS others,
        others <= 1e-9 AS has_all,
        (lag_share / partitions_share) / nullif(others, 0) AS to_others
    FROM shares
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
    lag_share / partitions_share AS lag_to_partitions,
    CASE WHEN NOT has_all THEN to_others END AS lag_to_others,
    (has_all OR to_others >= 3) AND above_mean >= 100
    AND EXISTS (
        FROM members AS other
        WHERE other.consumer_group = compared.consumer_group
            AND other.who <> compared.who
            AND other.since <= compared.until AND other.until >= compared.since
    ) AS hot
FROM compared
