-- SPDX-License-Identifier: Apache-2.0
-- Groups: runs in each status, by day
-- How many runs (one a minute unless configured otherwise) said OK, WARN and ERR of a group. A run
-- without a known status, as a group's first, is in runs_unknown alone; the daily report's unknown
-- minutes are those without a known lag.
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
    count_if(status = 'OK') AS runs_ok,
    count_if(status = 'WARN') AS runs_warn,
    count_if(status = 'ERR') AS runs_err,
    count_if(status IS NULL) AS runs_unknown
FROM request
GROUP BY cluster, consumer_group, dt
ORDER BY dt DESC, runs_err DESC, runs_warn DESC, cluster, consumer_group
