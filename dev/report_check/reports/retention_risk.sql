-- SPDX-License-Identifier: Apache-2.0
-- A row for each group and partition that was read: the worst of its day.

WITH rates AS (
    SELECT
        consumer_group, topic, partition_id,
        sum(produced) * 1000.0::DOUBLE
            / nullif(epoch_ms(max(last_at)) - epoch_ms(min(first_at)), 0) AS rate
    FROM group_logs
    GROUP BY ALL
),
retention AS (
    SELECT
        topic, partition_id,
        -- -1 is unlimited
        nullif(max_by(retention_ms, retention_at), -1) / 1000.0::DOUBLE AS seconds,
        max_by(unlimited, unlimited_at) AS unlimited
    FROM topic_segments
    GROUP BY ALL
),
worst AS (
    SELECT
        consumer_group, topic, partition_id,
        max(records_lost) AS records_lost,
        CASE
            WHEN max(records_lost) > 0 OR bool_or(was_lost) THEN 'LOST'
            WHEN bool_or(was_at_risk) THEN 'AT_RISK'
            WHEN bool_or(was_safe) THEN 'SAFE'
        END AS retention_risk,
        min_by(least_margin, (least_margin.margin, least_margin.at, least_margin.lag))
            FILTER (least_margin IS NOT NULL) AS margin,
        min_by(least_seconds, (least_seconds.seconds, least_seconds.at))
            FILTER (least_seconds IS NOT NULL) AS loss,
        max(time_lag_max) AS oldest,
        max(dated_max) AS oldest_dated
    FROM group_segments
    GROUP BY ALL
)
SELECT
    consumer_group,
    topic,
    partition_id,
    retention_risk,
    records_lost,
    margin.margin AS least_margin,
    margin.at AS least_margin_at,
    margin.lag AS lag_at_least_margin,
    loss.seconds AS least_seconds_until_loss,
    loss.at AS least_seconds_until_loss_at,
    retention.seconds AS retention_seconds,
    CASE
        WHEN oldest_dated IS NULL OR oldest > oldest_dated THEN NULL
        WHEN records_lost > 0 THEN oldest + records_lost / nullif(rate, 0)
        ELSE oldest
    END AS retention_needed_seconds,
    retention.unlimited AS retention_unlimited
FROM worst
JOIN rates USING (consumer_group, topic, partition_id)
LEFT JOIN retention USING (topic, partition_id)
