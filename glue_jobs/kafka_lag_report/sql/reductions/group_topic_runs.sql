-- SPDX-License-Identifier: Apache-2.0
-- A row is a group's topic in a run, summed over its partitions, with the run's weight. Lag and
-- time lag are null if a partition was not read, because it may be the worst one. `is_age_least`
-- means that one of the ages is a lower bound. `consume_rate` is null for an hour after a loss.

WITH sums AS (
    SELECT
        consumer_group, topic, taken_at,
        bool_and(unread_reason IS NULL) AS is_whole,
        bool_or(unread_reason IS NULL) AS is_seen,
        sum(lag) FILTER (WHERE unread_reason IS NULL) AS lag,
        max(lag) FILTER (WHERE unread_reason IS NULL) AS lag_max,
        count(lag) FILTER (WHERE unread_reason IS NULL) AS lags,
        max(time_lag_seconds) AS time_lag,
        max(time_lag_seconds IS NOT NULL AND time_lag_error_seconds IS NULL) AS is_age_least,
        sum(consume_rate) FILTER (WHERE unread_reason IS NULL) AS consume_rate,
        max(records_lost) FILTER (WHERE unread_reason IS NULL) AS records_lost
    FROM group_partitions
    GROUP BY ALL
)
SELECT
    consumer_group, topic, taken_at,
    -- a run whose object of `groups` is missing weighs an interval
    coalesce(weight, :interval_seconds) AS weight,
    is_seen,
    IF(is_whole, lag, NULL) AS lag,
    IF(is_whole, time_lag, NULL) AS time_lag,
    IF(is_whole, is_age_least, NULL) AS is_age_least,
    IF(
        coalesce(
            unix_seconds(taken_at)
            - max(IF(records_lost > 0, unix_seconds(taken_at), NULL)) OVER so_far
            <= :rate_forgets_seconds,
            false
        ),
        NULL,
        consume_rate
    ) AS consume_rate,
    CASE
        WHEN lags > 0
        THEN lag_max >= :skew_factor * lag / lags AND lag_max - lag / lags >= :lag_excess
    END AS is_skewed
FROM sums
LEFT JOIN runs USING (taken_at)
WINDOW so_far AS (PARTITION BY consumer_group, topic ORDER BY taken_at)
