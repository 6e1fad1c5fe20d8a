-- SPDX-License-Identifier: Apache-2.0
-- Reporter: what it could not read, and why
-- Partitions of yesterday and today whose rows were carried on because nothing could be read: in
-- how many runs, from when to when. What is not listed was read whenever there was a run.
-- Change group, cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _
-- in LIKE is any character.
-- Days older than shared.keep.snapshot_days are not found: put history_ before the table's name
-- (history_group_partitions, which has no hour).
-- kafka-lag query takes cluster, group, day (today), days (2).
WITH request AS (
    SELECT *
    FROM group_partitions
    WHERE dt BETWEEN date_format(current_date - INTERVAL '1' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND consumer_group LIKE '%'
)
SELECT
    cluster,
    consumer_group,
    topic,
    unread_reason,
    count(DISTINCT partition_id) AS partitions,
    count(DISTINCT taken_at) AS runs,
    min(taken_at) AS first_at,
    max(taken_at) AS last_at
FROM request
WHERE unread_reason IS NOT NULL
GROUP BY cluster, consumer_group, topic, unread_reason
ORDER BY runs DESC, cluster, consumer_group, topic, unread_reason
