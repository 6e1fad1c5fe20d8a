-- SPDX-License-Identifier: Apache-2.0
-- Groups: seen first today, and gone
-- `new` are groups that no run before today saw, where the cluster itself was watched before;
-- `gone` are those that the cluster said it no longer has, or that its newest run does not hold.
-- Change cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _ in
-- LIKE is any character.
-- Days older than shared.keep.snapshot_days are not found.
-- kafka-lag query takes cluster, day (today), days (8).
WITH request AS (
    SELECT *
    FROM groups
    WHERE dt BETWEEN date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
),
clusters AS (
    SELECT cluster, min(taken_at) AS first_run, max(taken_at) AS last_run
    FROM request
    GROUP BY cluster
),
seen AS (
    SELECT cluster, consumer_group, min(taken_at) AS first_seen, max(taken_at) AS last_seen
    FROM request
    GROUP BY cluster, consumer_group
),
changes AS (
    SELECT
        seen.cluster,
        seen.consumer_group,
        seen.first_seen,
        seen.last_seen,
        request.last_status,
        CASE
            WHEN request.status_reason = 'gone' OR seen.last_seen < clusters.last_run THEN 'gone'
            WHEN seen.first_seen >= current_date AND clusters.first_run < current_date THEN 'new'
        END AS change
    FROM seen
    INNER JOIN clusters ON seen.cluster = clusters.cluster
    INNER JOIN request
        ON seen.cluster = request.cluster
        AND seen.consumer_group = request.consumer_group
        AND seen.last_seen = request.taken_at
)
SELECT cluster, change, consumer_group, first_seen, last_seen, last_status
FROM changes
WHERE change IS NOT NULL
ORDER BY cluster, change, consumer_group
