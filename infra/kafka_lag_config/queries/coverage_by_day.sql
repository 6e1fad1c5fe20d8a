-- SPDX-License-Identifier: Apache-2.0
-- Reporter: how much of each group it saw, by day
-- The share of a group's committed partitions that was read, its mean over the day's runs, and how
-- many runs read all of them, some, or none. Without a commit there is nothing to be read of.
-- Change group, cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _
-- in LIKE is any character.
-- Days older than shared.keep.snapshot_days are not found: put history_ before the table's name
-- (history_groups, which has no hour).
-- kafka-lag query takes cluster, group, day (today), days (8).
WITH request AS (
    SELECT *
    FROM groups
    WHERE dt BETWEEN date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND consumer_group LIKE '%'
)
SELECT
    cluster,
    consumer_group,
    dt,
    count(*) AS runs,
    count_if(complete = 1) AS runs_whole,
    count_if(complete > 0 AND complete < 1) AS runs_in_part,
    count_if(complete = 0) AS runs_unread,
    count_if(complete IS NULL) AS runs_without_commit,
    round(avg(complete), 4) AS mean_share
FROM request
GROUP BY cluster, consumer_group, dt
ORDER BY mean_share NULLS LAST, dt DESC, cluster, consumer_group
