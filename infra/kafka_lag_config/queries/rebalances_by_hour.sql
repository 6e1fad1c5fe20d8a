-- SPDX-License-Identifier: Apache-2.0
-- Groups: rebalances, hour by hour
-- How many runs of yesterday found a group rebalancing, by its state or by partitions with another
-- owner than the run before, as the daily report counts them; how many found such partitions, and
-- how many those were. `rebalances` counts each that is known of: of classic groups one a run.
-- runs_restless are those in which it rebalanced all the time: six tenths of the last runs and more
-- saw one. Runs without a state are in runs_unknown too. Hours with none of all are left out.
-- Change group, cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _
-- in LIKE is any character.
-- Days older than shared.keep.snapshot_days are not found: put history_ before the table's name
-- (history_groups, which has no hour).
-- kafka-lag query takes cluster, group, day (yesterday).
WITH request AS (
    SELECT *
    FROM groups
    WHERE dt = date_format(current_date - INTERVAL '1' DAY, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND consumer_group LIKE '%'
)
SELECT
    cluster,
    consumer_group,
    dt,
    date_format(taken_at, '%H') AS hour,
    count_if(
        group_state IN ('PreparingRebalance', 'CompletingRebalance', 'Assigning', 'Reconciling')
        OR owners_changed > 0
    ) AS runs_rebalancing,
    sum(rebalances) AS rebalances,
    count_if(rebalancing_share >= 0.6) AS runs_restless,
    count_if(owners_changed > 0) AS runs_with_moves,
    sum(owners_changed) AS partitions_moved,
    count_if(group_state IS NULL) AS runs_unknown
FROM request
GROUP BY cluster, consumer_group, dt, date_format(taken_at, '%H')
HAVING count_if(
    group_state IN ('PreparingRebalance', 'CompletingRebalance', 'Assigning', 'Reconciling')
    OR owners_changed > 0
    OR rebalances > 0
    OR group_state IS NULL
) > 0 OR count(owners_changed) = 0
ORDER BY rebalances DESC NULLS LAST, partitions_moved DESC NULLS LAST, runs_rebalancing DESC, cluster, consumer_group, hour
