-- SPDX-License-Identifier: Apache-2.0
-- A row is a group, with a null `topic`, or one of its topics with a partition that was read. The
-- group's own row has the values of its metrics. Only this row has values of the whole group:
-- owner, status, SLA, rebalances, losses. If a group was never read, its minutes and counts are 0,
-- except for the minutes in which its lag was unknown; everything else is null. `unknown_minutes`
-- counts only time in which the group existed. A percentile counts each value for its whole
-- seconds, at least once.

WITH group_values AS (
    SELECT
        consumer_group, taken_at, weight,
        status_reason <=> 'gone' AS is_gone,
        IF(status_reason <=> 'gone', NULL, taken_at) AS row_at,
        -- a run that did not read the group has no other values of it
        IF(unread_reason IS NULL, taken_at, NULL) AS seen_at,
        IF(unread_reason IS NULL, lag, NULL) AS lag,
        IF(unread_reason IS NULL, time_lag_seconds, NULL) AS time_lag,
        IF(unread_reason IS NULL, is_age_least, NULL) AS is_age_least,
        IF(unread_reason IS NULL, consume_rate, NULL) AS consume_rate,
        IF(unread_reason IS NULL, produce_rate, NULL) AS produce_rate,
        IF(unread_reason IS NULL, status, NULL) AS status,
        IF(unread_reason IS NULL, owner, NULL) AS owner,
        IF(unread_reason IS NULL, sla_seconds, NULL) AS sla_seconds,
        IF(unread_reason IS NULL, time_lag_error_seconds, NULL) AS time_lag_error_seconds,
        IF(unread_reason IS NULL, rebalances, NULL) AS rebalances,
        IF(unread_reason IS NULL, rebalancing_share, NULL) AS rebalancing_share,
        IF(unread_reason IS NULL, records_lost, NULL) AS records_lost,
        unread_reason IS NULL
            AND (
                array_contains(from_json(:rebalancing_states, 'array<string>'), group_state)
                OR owners_changed > 0
            ) AS is_rebalancing
    FROM group_runs
),
group_judged AS (
    SELECT
        *,
        -- the last known status; runs without one are skipped
        last(status, true) OVER (
            PARTITION BY consumer_group ORDER BY taken_at
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS status_before,
        -- an age without an error is a lower bound: the SLA is missed for certain, or it is unknown
        CASE
            WHEN time_lag > sla_seconds THEN false
            WHEN time_lag <= sla_seconds AND time_lag_error_seconds IS NOT NULL THEN true
        END AS is_sla_met
    FROM group_values
),
group_days AS (
    SELECT
        consumer_group,
        max_by(owner, taken_at) FILTER (WHERE owner IS NOT NULL) AS owner,
        try_divide(
            sum(produce_rate * weight), sum(weight) FILTER (WHERE produce_rate IS NOT NULL)
        ) AS produce_rate,
        try_divide(
            sum(consume_rate * weight), sum(weight) FILTER (WHERE consume_rate IS NOT NULL)
        ) AS consume_rate,
        coalesce(sum(weight) FILTER (WHERE status = 'OK'), 0D) / 60 AS ok_minutes,
        coalesce(sum(weight) FILTER (WHERE status = 'WARN'), 0D) / 60 AS warn_minutes,
        coalesce(sum(weight) FILTER (WHERE status = 'ERR'), 0D) / 60 AS err_minutes,
        int(count_if(status <> status_before)) AS status_changes,
        int(count_if(is_rebalancing)) AS rebalancing_runs,
        sum(rebalances) AS rebalances,
        coalesce(sum(weight) FILTER (WHERE rebalancing_share >= :mostly_rebalancing), 0D) / 60
            AS rebalancing_minutes,
        max_by(sla_seconds, taken_at) FILTER (WHERE sla_seconds IS NOT NULL) AS sla_seconds,
        coalesce(sum(weight) FILTER (WHERE is_sla_met IS NOT NULL), 0D) / 60 AS sla_minutes,
        coalesce(sum(weight) FILTER (WHERE is_sla_met), 0D) / 60 AS sla_met_minutes,
        max(records_lost) AS records_lost,
        bool_or(is_gone) AS gone
    FROM group_judged
    GROUP BY consumer_group
),
topic_days AS (
    SELECT
        consumer_group, topic,
        try_divide(sum(produced), max(last_at) - min(first_at)) AS produce_rate,
        try_divide(sum(consumed), max(last_at) - min(first_at)) AS consume_rate
    FROM logs
    GROUP BY ALL
),
-- for a group that lost records: the mean rate of records read, instead of the rise of its commits
read_rates AS (
    SELECT
        consumer_group,
        try_divide(sum(consumed), max(last_at) - min(first_at)) AS read_rate
    FROM logs
    GROUP BY consumer_group
    HAVING bool_or(is_losing)
),
observed AS (
    SELECT
        consumer_group, CAST(NULL AS STRING) AS topic, row_at, seen_at, weight,
        lag, time_lag, is_age_least, consume_rate
    FROM group_values
    UNION ALL
    SELECT
        consumer_group, topic, taken_at, IF(is_seen, taken_at, NULL), weight,
        lag, time_lag, is_age_least, consume_rate
    FROM group_topic_runs
),
levels AS (
    SELECT
        consumer_group, topic,
        percentile(lag, array(0.5D, 0.95D, 0.99D), greatest(floor(weight + 0.5D), 1)) AS lags,
        percentile(time_lag, array(0.5D, 0.95D, 0.99D), greatest(floor(weight + 0.5D), 1))
            AS time_lags,
        double(max(lag)) AS lag_max,
        max(time_lag) AS time_lag_max,
        max(time_lag) > coalesce(max(IF(is_age_least, NULL, time_lag)), -1D)
            AS time_lag_max_is_least,
        coalesce(sum(weight) FILTER (WHERE is_age_least), 0D) / 60 AS time_lag_least_minutes,
        coalesce(sum(weight) FILTER (WHERE lag IS NOT NULL), 0D) / 60 AS known_minutes,
        max(consume_rate) AS best_consume_rate,
        min(seen_at) AS first_seen,
        max(seen_at) AS last_seen,
        (
            unix_seconds(max(row_at)) - unix_seconds(min(row_at)) + max_by(weight, row_at)
        ) / 60 AS there_minutes
    FROM observed
    GROUP BY consumer_group, topic
),
days AS (
    SELECT
        l.*,
        IF(l.topic IS NULL, g.produce_rate, t.produce_rate) AS produce_rate,
        IF(l.topic IS NULL, coalesce(read_rate, g.consume_rate), t.consume_rate) AS consume_rate,
        owner,
        ok_minutes, warn_minutes, err_minutes, status_changes,
        rebalancing_runs, rebalances, rebalancing_minutes,
        sla_seconds, sla_minutes, sla_met_minutes, records_lost, gone
    FROM levels AS l
    LEFT JOIN group_days AS g ON l.topic IS NULL AND g.consumer_group = l.consumer_group
    LEFT JOIN read_rates AS r ON l.topic IS NULL AND r.consumer_group = l.consumer_group
    LEFT JOIN topic_days AS t ON t.consumer_group = l.consumer_group AND t.topic = l.topic
    WHERE l.topic IS NULL OR t.topic IS NOT NULL
)
SELECT
    consumer_group,
    topic,
    owner,
    lags[0] AS lag_p50,
    lags[1] AS lag_p95,
    lags[2] AS lag_p99,
    lag_max,
    time_lags[0] AS time_lag_p50,
    time_lags[1] AS time_lag_p95,
    time_lags[2] AS time_lag_p99,
    time_lag_max,
    time_lag_max_is_least,
    time_lag_least_minutes,
    first_seen,
    last_seen,
    known_minutes,
    -- greatest() ignores nulls and would turn an unknown value into 0
    IF(there_minutes IS NULL, NULL, greatest(there_minutes - known_minutes, 0D))
        AS unknown_minutes,
    produce_rate,
    consume_rate,
    best_consume_rate,
    try_divide(best_consume_rate, produce_rate) AS catch_up_capacity,
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
    try_divide(sla_met_minutes, sla_minutes) AS sla_compliance,
    records_lost,
    gone
FROM days
