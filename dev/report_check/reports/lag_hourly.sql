-- SPDX-License-Identifier: Apache-2.0
-- A row for each group and hour in which it was read: means over the seconds that values stood.

SELECT
    consumer_group,
    hour(taken_at) AS hour,
    coalesce(sum(weight) FILTER (time_lag_seconds IS NOT NULL), 0) / 60 AS known_minutes,
    sum(time_lag_seconds * weight) / sum(weight) FILTER (time_lag_seconds IS NOT NULL)
        AS time_lag_seconds,
    max(time_lag_seconds) AS time_lag_max,
    coalesce(sum(weight) FILTER (
        time_lag_seconds IS NOT NULL AND time_lag_error_seconds IS NULL
    ), 0) / 60 AS time_lag_least_minutes,
    stddev_pop(time_lag_seconds) AS time_lag_deviation,
    quantile_cont(time_lag_seconds, 0.95) AS time_lag_high,
    sum(lag * weight) / sum(weight) FILTER (lag IS NOT NULL) AS lag,
    stddev_pop(lag) AS lag_deviation,
    quantile_cont(lag, 0.95) AS lag_high,
    sum(produce_rate * weight) / sum(weight) FILTER (produce_rate IS NOT NULL) AS produce_rate,
    stddev_pop(produce_rate) AS produce_rate_deviation,
    max(produce_rate) AS produce_rate_max,
    sum(consume_rate * weight) / sum(weight) FILTER (consume_rate IS NOT NULL) AS consume_rate
FROM group_runs
WHERE is_read
GROUP BY ALL
