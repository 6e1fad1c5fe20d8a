-- SPDX-License-Identifier: Apache-2.0
-- A row is a group and a UTC hour in which it was read. Means are weighted by the time for which
-- values are valid, and null if the value was never known. `known_minutes` is the time in which the
-- time lag was known; in `time_lag_least_minutes` of it, only as a lower bound. Deviations are
-- standard deviations of the hour's runs. High values are 95th percentiles, because fewer runs of
-- an hour are not unusual.

SELECT
    consumer_group,
    hour(taken_at) AS hour,
    coalesce(sum(weight) FILTER (WHERE time_lag_seconds IS NOT NULL), 0D) / 60 AS known_minutes,
    try_divide(
        sum(time_lag_seconds * weight), sum(weight) FILTER (WHERE time_lag_seconds IS NOT NULL)
    ) AS time_lag_seconds,
    max(time_lag_seconds) AS time_lag_max,
    coalesce(sum(weight) FILTER (WHERE is_age_least), 0D) / 60 AS time_lag_least_minutes,
    stddev_pop(time_lag_seconds) AS time_lag_deviation,
    percentile(time_lag_seconds, 0.95D) AS time_lag_high,
    try_divide(sum(lag * weight), sum(weight) FILTER (WHERE lag IS NOT NULL)) AS lag,
    stddev_pop(lag) AS lag_deviation,
    percentile(lag, 0.95D) AS lag_high,
    try_divide(
        sum(produce_rate * weight), sum(weight) FILTER (WHERE produce_rate IS NOT NULL)
    ) AS produce_rate,
    stddev_pop(produce_rate) AS produce_rate_deviation,
    max(produce_rate) AS produce_rate_max,
    try_divide(
        sum(consume_rate * weight), sum(weight) FILTER (WHERE consume_rate IS NOT NULL)
    ) AS consume_rate
FROM group_runs
WHERE unread_reason IS NULL
GROUP BY ALL
