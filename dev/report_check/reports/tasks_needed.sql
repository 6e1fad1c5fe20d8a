-- SPDX-License-Identifier: Apache-2.0
-- A row for each group and hour in which its tasks needed are known, and one for the day.

WITH known AS (
    SELECT *, greatest(round(weight), 1)::BIGINT AS seconds
    FROM group_runs
    WHERE is_read AND tasks_needed IS NOT NULL
),
parts AS (
    SELECT *, date_part('hour', taken_at)::INTEGER AS hour FROM known
    UNION ALL
    SELECT *, NULL FROM known
),
-- Every value as often as it has seconds: the list's place at a part of its length, rounded up.
spread AS (
    SELECT
        consumer_group, hour,
        list_sort(flatten(list(list_resize([tasks_needed], seconds, tasks_needed)))) AS needed,
        list_sort(flatten(list(list_resize([members], seconds, members))
            FILTER (members IS NOT NULL))) AS members,
        sum(weight) / 60 AS known_minutes,
        max_by(tasks_needed, taken_at) AS last_tasks_needed,
        max_by(tasks_needed_reason, taken_at) FILTER (tasks_needed_reason IS NOT NULL) AS reason
    FROM parts
    GROUP BY ALL
)
SELECT
    consumer_group,
    hour,
    known_minutes,
    needed[ceil(len(needed) / 4.0)::INTEGER] AS lower_quartile,
    needed[ceil(len(needed) / 2.0)::INTEGER] AS median,
    needed[ceil(len(needed) * 3 / 4.0)::INTEGER] AS upper_quartile,
    needed[len(needed)] AS most,
    members[ceil(len(members) / 2.0)::INTEGER] AS members,
    last_tasks_needed,
    reason AS tasks_needed_reason
FROM spread
