-- SPDX-License-Identifier: Apache-2.0
-- Groups: which lagged most yesterday
-- The greatest age of an unread record that each group reached, when, and its greatest lag. A run
-- in which the time lag was not known (null) counts in no number but runs_unknown.
-- Change cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _ in
-- LIKE is any character.
-- Days older than shared.keep.snapshot_days are not found: put history_ before the table's name
-- (history_groups, which has no hour).
WITH asked AS (
    SELECT *
    FROM groups
    WHERE dt = date_format(current_date - INTERVAL '1' DAY, '%Y-%m-%d')
        AND cluster LIKE '%'
)
SELECT
    cluster,
    consumer_group,
    max_by(owner, taken_at) AS owner,
    max(time_lag_seconds) AS most_seconds,
    max_by(taken_at, time_lag_seconds) AS most_seconds_at,
    max_by(worst_topic, time_lag_seconds) AS worst_topic_then,
    max_by(worst_partition, time_lag_seconds) AS worst_partition_then,
    approx_percentile(time_lag_seconds, 0.5) AS median_seconds,
    max(lag) AS most_records,
    count(*) AS runs,
    count_if(time_lag_seconds IS NULL) AS runs_unknown
FROM asked
GROUP BY cluster, consumer_group
ORDER BY most_seconds DESC NULLS LAST, cluster, consumer_group
LIMIT 100
