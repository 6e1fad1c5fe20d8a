-- SPDX-License-Identifier: Apache-2.0
-- A row is a segment: a group's partition while one broker led it and one member owned it. Rows
-- that were not read repeat values of an earlier run and are left out. Times (`*_at`) are seconds
-- of the UTC day. `margin` and `loss_seconds` are the smallest of the day, each with the first
-- time. `stalled_lag` and `stopped_lag` are the parts of `lag_sum` from runs in which the commit
-- was stuck.

WITH readings AS (
    SELECT
        *,
        unix_seconds(taken_at) % 86400 AS second,
        coalesce(
            retention_margin,
            IF(committed_offset < start_offset, 0, committed_offset - start_offset)
        ) AS margin,
        -- the collector's status for a stuck commit, with or without an owner; after a loss, which
        -- takes precedence in the status, the age of the commit decides
        CASE
            WHEN status IN ('STALL', 'STOP') THEN status
            WHEN records_lost > 0
                AND unix_seconds(taken_at) - unix_seconds(commit_changed_at) >= :still_seconds
                THEN IF(member_id IS NULL, 'STOP', 'STALL')
        END AS standing
    FROM group_partitions
    WHERE unread_reason IS NULL
),
-- One number that sorts by a value, then by time, because Spark aggregates by a number without
-- sorting rows. Margins above 2^45 records count as equal, and so do losses in more than 10^7 s.
ordered AS (
    SELECT
        *,
        IF(margin > 35184372088832, 35184372088832, margin) * 86400 + second AS margin_order,
        bigint(IF(seconds_until_loss > 1e7D, 1e7D, seconds_until_loss) * 1000) * 86400 + second
            AS loss_order
    FROM readings
)
SELECT
    consumer_group, topic, topic_id, partition_id, leader, client_id, client_host, member_id,
    count(*) AS reads,
    min(second) AS first_at,
    max(second) AS last_at,
    count(lag) AS lags,
    sum(lag) AS lag_sum,
    sum(lag) FILTER (WHERE standing = 'STALL') AS stalled_lag,
    sum(lag) FILTER (WHERE standing = 'STOP') AS stopped_lag,
    max(time_lag_seconds) AS time_lag_max,
    max(time_lag_seconds) FILTER (WHERE time_lag_error_seconds IS NOT NULL) AS dated_max,
    max(records_lost) AS records_lost,
    sum(consumed) AS consumed,
    min(margin) AS margin,
    min_by(second, margin_order) AS margin_at,
    min_by(lag, margin_order) AS lag_at_margin,
    min(seconds_until_loss) AS loss_seconds,
    min_by(second, loss_order) AS loss_at,
    max(retention_risk = 'LOST') AS lost,
    max(retention_risk = 'AT_RISK') AS at_risk,
    max(retention_risk = 'SAFE') AS safe,
    min_by(end_offset, second) FILTER (WHERE end_offset IS NOT NULL) AS end_first,
    max_by(end_offset, second) FILTER (WHERE end_offset IS NOT NULL) AS end_last,
    min(second) FILTER (WHERE end_offset IS NOT NULL) AS end_first_at,
    max(second) FILTER (WHERE end_offset IS NOT NULL) AS end_last_at,
    count(end_offset) AS ends,
    min_by(read_offset, second) FILTER (WHERE read_offset IS NOT NULL) AS committed_first,
    max_by(read_offset, second) FILTER (WHERE read_offset IS NOT NULL) AS committed_last,
    min(second) FILTER (WHERE read_offset IS NOT NULL) AS committed_first_at,
    max(second) FILTER (WHERE read_offset IS NOT NULL) AS committed_last_at,
    count(read_offset) AS commits
FROM ordered
GROUP BY ALL
