-- SPDX-License-Identifier: Apache-2.0
-- A row for each group (topic null) and for each of its topics.

WITH observed AS (
    SELECT
        consumer_group, NULL::VARCHAR AS topic, taken_at, weight, is_read,
        CASE WHEN is_read THEN lag END::DOUBLE AS lag,
        CASE WHEN is_read THEN time_lag_seconds END AS time_lag,
        time_lag_error_seconds IS NULL AS is_least,
        CASE WHEN is_read THEN consume_rate END AS consume_rate
    FROM group_runs
    UNION ALL
    SELECT
        consumer_group, topic, taken_at, weight, true,
        CASE WHEN is_whole THEN lag END,
        CASE WHEN is_whole THEN time_lag_seconds END,
        is_least,
        consume_rate
    FROM topic_runs
),
valued AS (
    SELECT consumer_group, topic, 'lag' AS measure, lag AS value, weight FROM observed
    UNION ALL
    SELECT consumer_group, topic, 'time_lag', time_lag, weight FROM observed
),
-- How many of the repeated values lie at or below each.
ranked AS (
    SELECT
        consumer_group, topic, measure, value,
        sum(greatest(round(weight), 1)) OVER (
            PARTITION BY consumer_group, topic, measure ORDER BY value
        ) AS reached,
        sum(greatest(round(weight), 1)) OVER (PARTITION BY consumer_group, topic, measure)
            AS repeated
    FROM valued
    WHERE value IS NOT NULL
),
-- The value at a share of the way from the first to the last of the repeated ones.
percentiles AS (
    SELECT
        consumer_group, topic, measure,
        [0.5::DOUBLE, 0.95, 0.99] AS shares,
        any_value(repeated) - 1 AS last,
        [
            min(value) FILTER (reached > floor(0.5::DOUBLE * (repeated - 1))),
            min(value) FILTER (reached > floor(0.95::DOUBLE * (repeated - 1))),
            min(value) FILTER (reached > floor(0.99::DOUBLE * (repeated - 1)))
        ] AS below,
        [
            min(value) FILTER (reached > ceil(0.5::DOUBLE * (repeated - 1))),
            min(value) FILTER (reached > ceil(0.95::DOUBLE * (repeated - 1))),
            min(value) FILTER (reached > ceil(0.99::DOUBLE * (repeated - 1)))
        ] AS above,
        [
            below[i] + (above[i] - below[i]) * (shares[i] * last - floor(shares[i] * last))
            FOR i IN [1, 2, 3]
        ] AS found
    FROM ranked
    GROUP BY consumer_group, topic, measure
),
seen AS (
    SELECT
        consumer_group, topic,
        max(lag) AS lag_max,
        max(time_lag) AS time_lag_max,
        max(time_lag) > coalesce(max(time_lag) FILTER (NOT is_least), -1) AS time_lag_max_is_least,
        coalesce(sum(weight) FILTER (time_lag IS NOT NULL AND is_least), 0) / 60
            AS time_lag_least_minutes,
        min(taken_at) FILTER (is_read) AS first_seen,
        max(taken_at) FILTER (is_read) AS last_seen,
        coalesce(sum(weight) FILTER (lag IS NOT NULL), 0) / 60 AS known_minutes,
        max(consume_rate) AS best_consume_rate
    FROM observed
    GROUP BY ALL
),
there AS (
    SELECT
        consumer_group, NULL::VARCHAR AS topic,
        min(taken_at) AS first_row, max(taken_at) AS last_row,
        max_by(weight, taken_at) AS last_weight
    FROM group_runs
    WHERE status_reason IS DISTINCT FROM 'gone'
    GROUP BY ALL
    UNION ALL
    SELECT consumer_group, topic, min(taken_at), max(taken_at), max_by(weight, taken_at)
    FROM (
        SELECT consumer_group, topic, taken_at, coalesce(weight, getvariable('usual_gap')) AS weight
        FROM (SELECT DISTINCT consumer_group, topic, taken_at FROM group_partitions)
        LEFT JOIN runs USING (taken_at)
    )
    GROUP BY ALL
),
read_rates AS (
    SELECT
        consumer_group,
        sum(consumed) / nullif(epoch_ms(max(last_at)) - epoch_ms(min(first_at)), 0) * 1000
            AS read_rate
    FROM group_logs
    GROUP BY ALL
    HAVING bool_or(losing)
),
rates AS (
    SELECT
        consumer_group, NULL::VARCHAR AS topic,
        sum(produce_rate * weight) / sum(weight) FILTER (produce_rate IS NOT NULL) AS produce_rate,
        -- of who lost records what it read, not by how much its commits rose
        coalesce(
            any_value(read_rate),
            sum(consume_rate * weight) / sum(weight) FILTER (consume_rate IS NOT NULL)
        ) AS consume_rate
    FROM group_runs
    LEFT JOIN read_rates USING (consumer_group)
    WHERE is_read
    GROUP BY ALL
    UNION ALL
    SELECT
        consumer_group, topic,
        sum(produced) / nullif(epoch_ms(max(last_at)) - epoch_ms(min(first_at)), 0) * 1000,
        sum(consumed) / nullif(epoch_ms(max(last_at)) - epoch_ms(min(first_at)), 0) * 1000
    FROM group_logs
    GROUP BY ALL
),
changes AS (
    SELECT consumer_group, count(*) FILTER (status <> earlier) AS status_changes
    FROM (
        SELECT
            consumer_group, status,
            lag(status) OVER (PARTITION BY consumer_group ORDER BY taken_at) AS earlier
        FROM group_runs
        WHERE is_read AND status IS NOT NULL
    )
    GROUP BY ALL
),
judged AS (
    SELECT
        consumer_group, NULL::VARCHAR AS topic,
        max_by(owner, taken_at) FILTER (is_read) AS owner,
        coalesce(sum(weight) FILTER (is_read AND status = 'OK'), 0) / 60 AS ok_minutes,
        coalesce(sum(weight) FILTER (is_read AND status = 'WARN'), 0) / 60 AS warn_minutes,
        coalesce(sum(weight) FILTER (is_read AND status = 'ERR'), 0) / 60 AS err_minutes,
        coalesce(any_value(changes.status_changes), 0) AS status_changes,
        count(*) FILTER (is_read AND (
            group_state IN ('PreparingRebalance', 'CompletingRebalance', 'Assigning', 'Reconciling')
            OR owners_changed > 0
        )) AS rebalancing_runs,
        sum(rebalances) FILTER (is_read)::BIGINT AS rebalances,
        coalesce(sum(weight) FILTER (is_read AND rebalancing_share >= 0.6), 0) / 60
            AS rebalancing_minutes,
        max_by(sla_seconds, taken_at) FILTER (is_read) AS sla_seconds,
        -- an age of which only a least is known cannot keep a promise
        coalesce(sum(weight) FILTER (
            is_read AND (time_lag_seconds > sla_seconds
                OR time_lag_seconds <= sla_seconds AND time_lag_error_seconds IS NOT NULL)
        ), 0) / 60 AS sla_minutes,
        coalesce(sum(weight) FILTER (
            is_read AND time_lag_seconds <= sla_seconds AND time_lag_error_seconds IS NOT NULL
        ), 0) / 60 AS sla_met_minutes,
        max(records_lost) FILTER (is_read) AS records_lost,
        coalesce(bool_or(status_reason = 'gone'), false) AS gone
    FROM group_runs
    LEFT JOIN changes USING (consumer_group)
    GROUP BY consumer_group
)
SELECT
    seen.consumer_group,
    seen.topic,
    owner,
    lags.found[1] AS lag_p50,
    lags.found[2] AS lag_p95,
    lags.found[3] AS lag_p99,
    lag_max,
    ages.found[1] AS time_lag_p50,
    ages.found[2] AS time_lag_p95,
    ages.found[3] AS time_lag_p99,
    time_lag_max,
    time_lag_max_is_least,
    time_lag_least_minutes,
    first_seen,
    last_seen,
    known_minutes,
    CASE WHEN last_row IS NOT NULL THEN greatest(
        0,
        ((epoch_ms(last_row) - epoch_ms(first_row)) / 1000.0::DOUBLE + last_weight) / 60
            - known_minutes
    ) END AS unknown_minutes,
    produce_rate,
    consume_rate,
    best_consume_rate,
    best_consume_rate / nullif(produce_rate, 0) AS catch_up_capacity,
    ok_minutes,
    warn_minutes,
    err_minutes,
    status_changes,
    rebalancing_runs,
    rebalances,
    rebalancing_minutes,
    sla_seconds,
    sla_minutes,
    sla_met_minutes,
    sla_met_minutes / nullif(sla_minutes, 0) AS sla_compliance,
    records_lost,
    gone
FROM seen
LEFT JOIN percentiles AS lags
    ON lags.measure = 'lag'
    AND lags.consumer_group = seen.consumer_group AND lags.topic IS NOT DISTINCT FROM seen.topic
LEFT JOIN percentiles AS ages
    ON ages.measure = 'time_lag'
    AND ages.consumer_group = seen.consumer_group AND ages.topic IS NOT DISTINCT FROM seen.topic
LEFT JOIN there AS t
    ON t.consumer_group = seen.consumer_group AND t.topic IS NOT DISTINCT FROM seen.topic
LEFT JOIN rates AS r
    ON r.consumer_group = seen.consumer_group AND r.topic IS NOT DISTINCT FROM seen.topic
LEFT JOIN judged AS j
    ON j.consumer_group = seen.consumer_group AND j.topic IS NOT DISTINCT FROM seen.topic
