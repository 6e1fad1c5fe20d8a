-- SPDX-License-Identifier: Apache-2.0
-- The large dataset, reduced once to its segments and once to topic and run.

CREATE OR REPLACE TEMP TABLE group_segments AS
WITH readings AS (
    SELECT
        *,
        CASE
            WHEN retention_margin IS NOT NULL THEN retention_margin
            WHEN committed_offset > start_offset THEN committed_offset - start_offset
            WHEN committed_offset <= start_offset THEN 0
        END AS margin
    FROM group_partitions
    WHERE unread_reason IS NULL
)
SELECT
    consumer_group, topic, topic_id, partition_id, leader, client_id, client_host, member_id,
    count(*) AS readings,
    count(lag) AS lags,
    sum(lag) AS lag_sum,
    coalesce(sum(lag) FILTER (status = 'STALL'), 0) AS stalled_lag,
    coalesce(sum(lag) FILTER (status = 'STOP'), 0) AS stopped_lag,
    min(taken_at) AS first_at,
    max(taken_at) AS last_at,
    count(end_offset) AS ends,
    min_by(end_offset, taken_at) AS end_first,
    max_by(end_offset, taken_at) AS end_last,
    min(taken_at) FILTER (end_offset IS NOT NULL) AS end_first_at,
    max(taken_at) FILTER (end_offset IS NOT NULL) AS end_last_at,
    count(committed_offset) AS commits,
    min_by(committed_offset, taken_at) AS commit_first,
    max_by(committed_offset, taken_at) AS commit_last,
    min(taken_at) FILTER (committed_offset IS NOT NULL) AS commit_first_at,
    max(taken_at) FILTER (committed_offset IS NOT NULL) AS commit_last_at,
    max(time_lag_seconds) AS time_lag_max,
    max(records_lost) AS records_lost,
    bool_or(retention_risk = 'LOST') AS was_lost,
    bool_or(retention_risk = 'AT_RISK') AS was_at_risk,
    bool_or(retention_risk = 'SAFE') AS was_safe,
    min_by(
        {'margin': margin, 'at': taken_at, 'lag': lag}, (margin, taken_at, lag)
    ) FILTER (margin IS NOT NULL) AS least_margin,
    min_by(
        {'seconds': seconds_until_loss, 'at': taken_at}, (seconds_until_loss, taken_at)
    ) FILTER (seconds_until_loss IS NOT NULL) AS least_seconds
FROM readings
GROUP BY ALL;

-- A partition under one topic id, whoever led or owned it.
CREATE OR REPLACE TEMP TABLE group_logs AS
SELECT
    consumer_group, topic, topic_id, partition_id,
    min(first_at) AS first_at,
    max(last_at) AS last_at,
    CASE WHEN sum(ends) >= 2
        THEN greatest(max_by(end_last, end_last_at) - min_by(end_first, end_first_at), 0)
    END AS produced,
    CASE WHEN sum(commits) >= 2
        THEN greatest(max_by(commit_last, commit_last_at) - min_by(commit_first, commit_first_at), 0)
    END AS consumed
FROM group_segments
GROUP BY ALL;

-- A partition of a group, topic ids merged.
CREATE OR REPLACE TEMP TABLE group_days AS
SELECT
    consumer_group, topic, partition_id,
    sum(readings) AS readings,
    sum(lags) AS lags,
    sum(lag_sum) / sum(lags) AS mean_lag,
    -- at least half of the lag was seen while the commit stood
    CASE
        WHEN sum(stalled_lag) + sum(stopped_lag) = 0 THEN NULL
        WHEN 2 * (sum(stalled_lag) + sum(stopped_lag)) < coalesce(sum(lag_sum), 0) THEN NULL
        WHEN sum(stopped_lag) > sum(stalled_lag) THEN 'stopped'
        ELSE 'stalled'
    END AS stands
FROM group_segments
GROUP BY ALL;

CREATE OR REPLACE TEMP TABLE topic_runs AS
WITH unread AS (
    SELECT DISTINCT consumer_group, topic, taken_at
    FROM group_partitions
    WHERE unread_reason IS NOT NULL
),
readings AS (
    SELECT
        consumer_group, topic, taken_at,
        count(lag) AS lags,
        sum(lag) AS lag,
        max(lag) AS lag_max,
        max(time_lag_seconds) AS time_lag_seconds,
        sum(consume_rate) AS consume_rate
    FROM group_partitions
    WHERE unread_reason IS NULL
    GROUP BY ALL
)
SELECT
    readings.*,
    coalesce(runs.weight, getvariable('usual_gap')) AS weight,
    unread.taken_at IS NULL AS is_whole
FROM readings
LEFT JOIN unread USING (consumer_group, topic, taken_at)
LEFT JOIN runs USING (taken_at);

-- How far the offset rose for each owner: each rise belongs to the owner of the run that saw it.
CREATE OR REPLACE TEMP TABLE member_consumption AS
WITH rises AS (
    SELECT
        consumer_group, client_host, client_id, member_id,
        committed_offset - lag(committed_offset IGNORE NULLS) OVER (PARTITION BY consumer_group, topic, topic_id, partition_id ORDER BY taken_at) AS rise
    FROM group_partitions
    WHERE unread_reason IS NULL
)
SELECT
    consumer_group, client_host, client_id, member_id,
    sum(CASE WHEN rise IS NOT NULL THEN greatest(rise, 0) END) AS credited
FROM rises
GROUP BY ALL;
