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
        END AS margin,
        CASE
            WHEN status IN ('STALL', 'STOP') THEN status
            WHEN records_lost > 0 AND floor(epoch(taken_at)) - floor(epoch(commit_changed_at)) >= 600
                THEN CASE WHEN member_id IS NULL THEN 'STOP' ELSE 'STALL' END
        END AS standing
    FROM group_partitions
    WHERE unread_reason IS NULL
)
SELECT
    consumer_group, topic, topic_id, partition_id, leader, client_id, client_host, member_id,
    count(*) AS readings,
    count(lag) AS lags,
    sum(lag) AS lag_sum,
    coalesce(sum(lag) FILTER (standing = 'STALL'), 0) AS stalled_lag,
    coalesce(sum(lag) FILTER (standing = 'STOP'), 0) AS stopped_lag,
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
    max(time_lag_seconds) FILTER (time_lag_error_seconds IS NOT NULL) AS dated_max,
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

-- How far each commit rose from run to run, without what was deleted ahead of it before.
CREATE OR REPLACE TEMP TABLE rises AS
SELECT
    consumer_group, topic, topic_id, partition_id, client_host, client_id, member_id,
    committed_offset - lag(committed_offset IGNORE NULLS) OVER by_run
        - lag(CASE WHEN committed_offset IS NOT NULL THEN coalesce(records_lost, 0) END IGNORE NULLS)
            OVER by_run AS rise
FROM group_partitions
WHERE unread_reason IS NULL
WINDOW by_run AS (PARTITION BY consumer_group, topic, topic_id, partition_id ORDER BY taken_at);

CREATE OR REPLACE TEMP TABLE log_reads AS
SELECT
    consumer_group, topic, topic_id, partition_id,
    sum(greatest(rise, 0)) FILTER (rise IS NOT NULL) AS read
FROM rises
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
    CASE
        WHEN max(records_lost) > 0 THEN any_value(read)
        WHEN sum(commits) >= 2
        THEN greatest(max_by(commit_last, commit_last_at) - min_by(commit_first, commit_first_at), 0)
    END AS consumed,
    coalesce(max(records_lost) > 0, false) AS losing
FROM (
    SELECT s.*, r.read
    FROM group_segments AS s
    LEFT JOIN log_reads AS r
        ON r.consumer_group = s.consumer_group AND r.topic = s.topic
        AND r.topic_id IS NOT DISTINCT FROM s.topic_id AND r.partition_id = s.partition_id
)
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
        coalesce(bool_or(time_lag_seconds IS NOT NULL AND time_lag_error_seconds IS NULL), false)
            AS is_least,
        sum(consume_rate) AS rate,
        max(records_lost) AS records_lost
    FROM group_partitions
    WHERE unread_reason IS NULL
    GROUP BY ALL
)
SELECT
    readings.*,
    CASE WHEN coalesce(max(records_lost) OVER last_hour, 0) = 0 THEN rate END AS consume_rate,
    coalesce(runs.weight, getvariable('usual_gap')) AS weight,
    unread.taken_at IS NULL AS is_whole
FROM readings
LEFT JOIN unread USING (consumer_group, topic, taken_at)
LEFT JOIN runs USING (taken_at)
WINDOW last_hour AS (
    PARTITION BY consumer_group, topic ORDER BY taken_at
    RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW
);

-- How far the offset rose for each owner: each rise belongs to the owner of the run that saw it.
CREATE OR REPLACE TEMP TABLE member_consumption AS
SELECT
    consumer_group, client_host, client_id, member_id,
    sum(CASE WHEN rise IS NOT NULL THEN greatest(rise, 0) END) AS credited
FROM rises
GROUP BY ALL;
