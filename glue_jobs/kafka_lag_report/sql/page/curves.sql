-- SPDX-License-Identifier: Apache-2.0
-- A row is a slot of a group's curve, with the largest time lag (`lag`, seconds), the partition
-- that was worst then, and the statuses of the runs, by minute of the day.

WITH placed AS (
    SELECT
        *,
        int(floor((unix_seconds(taken_at) - :midnight) / 60D)) AS minute,
        int(floor((unix_seconds(taken_at) - :midnight - :start * 60D) / (:slot * 60D))) AS slot,
        IF(unread_reason IS NULL, time_lag_seconds, NULL) AS time_lag,
        IF(unread_reason IS NULL AND status IN ('OK', 'WARN', 'ERR'), status, NULL) AS word
    FROM group_runs
    WHERE array_contains(from_json(:groups, 'array<string>'), consumer_group)
)
SELECT
    consumer_group,
    slot,
    max(time_lag) AS lag,
    max_by(
        struct(
            minute, is_age_least AS is_least, worst_topic AS topic,
            worst_partition AS partition, worst_leader AS leader, worst_member AS member
        ),
        time_lag
    ) AS worst,
    collect_list(struct(minute, word)) AS words
FROM placed
WHERE minute BETWEEN :start AND :end - 1
GROUP BY consumer_group, slot
