-- SPDX-License-Identifier: Apache-2.0
-- A row is a group's partition under one topic id, for all its leaders and owners, with the records
-- produced to it and consumed from it on the day. These are counted from the first to the last
-- offset, so that records that are read again do not count twice. If records were lost, `consumed`
-- adds up what each run saw read, because the commit passed over the lost records. Both are null if
-- their offset was known less than twice.

WITH ends AS (
    SELECT
        consumer_group, topic, topic_id, partition_id,
        min(first_at) AS first_at,
        max(last_at) AS last_at,
        coalesce(max(records_lost) > 0, false) AS is_losing,
        sum(consumed) AS consumed,
        IF(sum(ends) > 1, max_by(end_last, end_last_at) - min_by(end_first, end_first_at), NULL)
            AS end_rise,
        IF(
            sum(commits) > 1,
            max_by(committed_last, committed_last_at) - min_by(committed_first, committed_first_at),
            NULL
        ) AS commit_rise
    FROM group_segments
    GROUP BY ALL
)
SELECT
    consumer_group, topic, topic_id, partition_id, first_at, last_at, is_losing,
    IF(end_rise < 0, 0, end_rise) AS produced,
    CASE WHEN is_losing THEN consumed WHEN commit_rise < 0 THEN 0 ELSE commit_rise END AS consumed
FROM ends
