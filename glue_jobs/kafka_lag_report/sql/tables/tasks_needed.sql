-- SPDX-License-Identifier: Apache-2.0
-- A row is a group and a UTC hour in which the needed tasks are known; a null `hour` is the whole
-- day. A quartile is the smallest number of tasks that was enough for that part of the known time.
-- `members` is the median number of members, weighted like it. A value counts for its whole
-- seconds.

WITH known AS (
    SELECT
        consumer_group, taken_at, weight, tasks_needed, members, tasks_needed_reason,
        greatest(floor(weight + 0.5D), 1) AS seconds,
        explode(array(hour(taken_at), CAST(NULL AS INT))) AS hour
    FROM group_runs
    WHERE unread_reason IS NULL AND tasks_needed IS NOT NULL
),
parts AS (
    SELECT
        *,
        -- the part of the known time in which this number, or fewer, was needed or present
        try_divide(
            sum(seconds) OVER (PARTITION BY consumer_group, hour ORDER BY tasks_needed),
            sum(seconds) OVER (PARTITION BY consumer_group, hour)
        ) AS tasks_part,
        try_divide(
            sum(IF(members IS NULL, NULL, seconds))
                OVER (PARTITION BY consumer_group, hour ORDER BY members),
            sum(IF(members IS NULL, NULL, seconds)) OVER (PARTITION BY consumer_group, hour)
        ) AS members_part
    FROM known
)
SELECT
    consumer_group,
    hour,
    sum(weight) / 60 AS known_minutes,
    min(tasks_needed) FILTER (WHERE tasks_part >= 0.25D) AS lower_quartile,
    min(tasks_needed) FILTER (WHERE tasks_part >= 0.5D) AS median,
    min(tasks_needed) FILTER (WHERE tasks_part >= 0.75D) AS upper_quartile,
    max(tasks_needed) AS most,
    min(members) FILTER (WHERE members_part >= 0.5D) AS members,
    max_by(tasks_needed, taken_at) AS last_tasks_needed,
    max_by(tasks_needed_reason, taken_at) FILTER (WHERE tasks_needed_reason IS NOT NULL)
        AS tasks_needed_reason
FROM parts
GROUP BY ALL
