-- SPDX-License-Identifier: Apache-2.0
-- A row is a group's partition; each value is the worst of the day, or null if it was never known.
-- `retention_risk` is LOST if any run saw lost records, else the worst value of the snapshots, else
-- null, because a margin in records alone does not say how long it lasts. `least_margin` is in
-- records, and harmless if `lag_at_least_margin` is 0, because no unread record could be lost.

WITH logs AS (
    SELECT
        consumer_group, topic, topic_id, partition_id,
        max(records_lost) AS records_lost,
        max(time_lag_max) AS time_lag_max,
        max(dated_max) AS dated_max,
        max(lost) AS lost,
        max(at_risk) AS at_risk,
        max(safe) AS safe,
        min(first_at) AS first_at,
        max(last_at) AS last_at,
        -- structs compare by their first field first: the smallest value, at the earliest time
        min(IF(margin IS NULL, NULL, struct(margin, margin_at, lag_at_margin))) AS least,
        min(IF(loss_seconds IS NULL, NULL, struct(loss_seconds, loss_at))) AS soonest,
        IF(sum(ends) > 1, max_by(end_last, end_last_at) - min_by(end_first, end_first_at), NULL)
            AS rise
    FROM group_segments
    GROUP BY ALL
),
days AS (
    SELECT
        consumer_group, topic, partition_id,
        max(records_lost) AS records_lost,
        max(time_lag_max) AS time_lag_max,
        max(dated_max) AS dated_max,
        max(lost) AS lost,
        max(at_risk) AS at_risk,
        max(safe) AS safe,
        max(last_at) - min(first_at) AS seconds,
        min(least) AS least,
        min(soonest) AS soonest,
        sum(IF(rise < 0, 0, rise)) AS rise
    FROM logs
    GROUP BY ALL
),
retention AS (
    SELECT
        topic, partition_id,
        max_by(retention_ms, retention_known_at) AS retention_ms,
        max_by(retention_unlimited, unlimited_known_at) AS retention_unlimited
    FROM topic_segments
    GROUP BY ALL
)
SELECT
    consumer_group,
    topic,
    partition_id,
    CASE
        WHEN records_lost > 0 OR lost THEN 'LOST'
        WHEN at_risk THEN 'AT_RISK'
        WHEN safe THEN 'SAFE'
    END AS retention_risk,
    records_lost,
    least.margin AS least_margin,
    timestamp_seconds(least.margin_at + :midnight) AS least_margin_at,
    least.lag_at_margin AS lag_at_least_margin,
    soonest.loss_seconds AS least_seconds_until_loss,
    timestamp_seconds(soonest.loss_at + :midnight) AS least_seconds_until_loss_at,
    IF(retention_ms >= 0, retention_ms / 1000, NULL) AS retention_seconds,
    -- The age of the oldest unread record: the log had to be kept for that long. Lost records were
    -- older than that, by the time that it took to produce them. The value is null if the age is
    -- only a lower bound.
    IF(
        time_lag_max <= dated_max,
        time_lag_max
        + IF(records_lost > 0, try_divide(records_lost, try_divide(rise, seconds)), 0D),
        NULL
    ) AS retention_needed_seconds,
    retention_unlimited
FROM days
LEFT JOIN retention USING (topic, partition_id)
