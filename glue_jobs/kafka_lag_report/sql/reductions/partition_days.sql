-- SPDX-License-Identifier: Apache-2.0
-- A row is a group's partition, with its mean lag over the runs in which it was known, and the
-- leader and the member whose segments hold most of the day's lag; if equal, those seen most often.
-- `stands` is `stalled` or `stopped` if at least half of the lag was seen while the commit was
-- stuck.

WITH owners AS (
    SELECT
        *,
        coalesce(sum(lag_sum) OVER of_leader, 0) AS leader_lag,
        coalesce(sum(reads) OVER of_leader, 0) AS leader_reads,
        coalesce(sum(lag_sum) OVER of_member, 0) AS member_lag,
        coalesce(sum(reads) OVER of_member, 0) AS member_reads
    FROM group_segments
    WINDOW
        of_leader AS (PARTITION BY consumer_group, topic, partition_id, leader),
        of_member AS (
            PARTITION BY consumer_group, topic, partition_id, member_id, client_id, client_host
        )
),
main AS (
    SELECT
        *,
        first(leader) OVER by_leader AS main_leader,
        first(struct(member_id, client_id, client_host)) OVER by_member AS main_member
    FROM owners
    WINDOW
        by_leader AS (
            PARTITION BY consumer_group, topic, partition_id
            ORDER BY leader_lag DESC, leader_reads DESC, leader NULLS LAST
        ),
        by_member AS (
            PARTITION BY consumer_group, topic, partition_id
            ORDER BY member_lag DESC, member_reads DESC,
                member_id NULLS LAST, client_id NULLS LAST, client_host NULLS LAST
        )
),
days AS (
    SELECT
        consumer_group, topic, partition_id,
        sum(lag_sum) AS lag,
        try_divide(double(sum(lag_sum)), sum(lags)) AS mean_lag,
        coalesce(sum(stalled_lag), 0) AS stalled,
        coalesce(sum(stopped_lag), 0) AS stopped,
        first(main_leader) AS leader,
        first(main_member) AS member
    FROM main
    GROUP BY ALL
)
SELECT
    consumer_group, topic, partition_id, mean_lag, leader, member.*,
    CASE
        WHEN stalled + stopped > 0 AND 2 * (stalled + stopped) >= coalesce(lag, 0)
        THEN IF(stopped > stalled, 'stopped', 'stalled')
    END AS stands
FROM days
