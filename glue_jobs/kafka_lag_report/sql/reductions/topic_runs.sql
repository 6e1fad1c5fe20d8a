-- SPDX-License-Identifier: Apache-2.0
-- A row is a topic in a run, with the run's weight. `is_skewed` says whether the produce rates of
-- its partitions were skewed.

WITH rates AS (
    SELECT
        topic, taken_at,
        max(produce_rate) AS top,
        avg(produce_rate) AS mean
    FROM topic_partitions
    WHERE unread_reason IS NULL
    GROUP BY ALL
)
SELECT
    topic, taken_at,
    coalesce(weight, :interval_seconds) AS weight,
    top >= :skew_factor * mean AND top - mean >= :rate_excess AS is_skewed
FROM rates
LEFT JOIN runs USING (taken_at)
