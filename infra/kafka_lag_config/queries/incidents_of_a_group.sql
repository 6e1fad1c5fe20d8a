-- SPDX-License-Identifier: Apache-2.0
-- Group: when did it start to fall behind
-- Each incident of one group, the newest first: when it last kept up, when the record was written
-- that it should have read next as the incident was published, and the last run that was not OK. An incident begins
-- once a status lasted for `hold` runs: "Groups: runs in each status, by day" counts shorter ones.
-- Write the group's name in place of THE-GROUP: as it stands, nothing is found. Change cluster and
-- dates in the first lines. LIKE '%' is all; for one write = 'name', as _ in LIKE is any character.
-- Days older than shared.keep.snapshot_days are not found: put history_ before the table's name
-- (history_groups, which has no hour).
-- kafka-lag query takes cluster, group (required), day (today), days (8).
WITH request AS (
    SELECT *
    FROM groups
    WHERE dt BETWEEN date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND consumer_group = 'THE-GROUP'
)
SELECT
    cluster,
    consumer_group,
    incident_since,
    min_by(
        date_add('second', -CAST(round(time_lag_seconds) AS bigint), read_at), taken_at
    ) AS oldest_unread_then,
    max(taken_at) FILTER (WHERE status <> 'OK') AS last_not_ok,
    max(time_lag_seconds) AS most_seconds,
    max(lag) AS most_records,
    max_by(worst_topic, time_lag_seconds) AS worst_topic,
    max_by(worst_partition, time_lag_seconds) AS worst_partition,
    count_if(status IS NULL) AS runs_unknown
FROM request
WHERE incident_since IS NOT NULL
GROUP BY cluster, consumer_group, incident_since
ORDER BY incident_since DESC, cluster
