-- SPDX-License-Identifier: Apache-2.0
-- A row is a group's topic with skewed lag, and the cause: which partitions hold the excess over
-- the mean. The first of these causes that explains the excess is taken:
-- - `stalled`, `stopped`: the commit did not move while most of the lag was there; the partitions
--   have an owner, or none.
-- - `production`: partitions that got far more than their share of records (keys).
-- - `broker`: the partitions of one leader; `consumer`: those of one member. Either must hold most
-- of the excess (recall), and most of its partitions must be in excess (precision): a broker that
-- leads five quiet partitions and a late one is not the cause. A broker is not the cause either if
-- no other group lags under it, because it affects all groups. A fitting consumer is then taken.
-- - `unexplained`: no cause fits. If a broker of several partitions fits, it is named anyway,
--   because the partitions have this leader in common. Shares are compared with a tolerance for the
--   last digits of a sum. Partitions with an unknown production are never the cause `production`; a
--   partition without a leader or an owner has neither.

WITH made AS (
    SELECT *, avg(produced) OVER (PARTITION BY topic) AS mean_produced FROM production
),
partitions AS (
    SELECT
        p.*,
        s.is_skewed,
        coalesce(mean_produced > 0 AND produced >= :skew_factor * mean_produced, false)
            AS over_produced,
        IF(s.is_skewed AND p.mean_lag IS NOT NULL, greatest(p.mean_lag - s.mean, 0D), NULL)
            AS excess,
        1e-9D * s.mean AS hardly,
        -- the group lags more under this leader than under all
        IF(
            avg(p.mean_lag) OVER (PARTITION BY p.consumer_group, p.leader)
            - avg(p.mean_lag) OVER (PARTITION BY p.consumer_group) >= :lag_excess,
            p.consumer_group,
            NULL
        ) AS lags_here
    FROM partition_days AS p
    JOIN spreads AS s
        ON s.measure = 'lag' AND s.consumer_group = p.consumer_group AND s.topic = p.topic
    LEFT JOIN made AS m ON m.topic = p.topic AND m.partition_id = p.partition_id
),
beside AS (
    SELECT
        *,
        coalesce(
            min(lags_here) OVER of_leader <> consumer_group
            OR max(lags_here) OVER of_leader <> consumer_group,
            false
        ) AS lags_for_others
    FROM partitions
    WINDOW of_leader AS (PARTITION BY leader)
),
shares AS (
    SELECT
        *,
        try_divide(excess, sum(excess) OVER (PARTITION BY consumer_group, topic)) AS share,
        excess > hardly AS is_late
    FROM beside
    WHERE is_skewed
),
fits AS (
    SELECT
        *,
        count(excess) OVER of_leader AS leader_n,
        sum(share) OVER of_leader AS leader_recall,
        try_divide(count_if(is_late) OVER of_leader, count(excess) OVER of_leader)
            AS leader_precision,
        count(excess) OVER of_member AS member_n,
        sum(share) OVER of_member AS member_recall,
        try_divide(count_if(is_late) OVER of_member, count(excess) OVER of_member)
            AS member_precision
    FROM shares
    WINDOW
        of_leader AS (PARTITION BY consumer_group, topic, leader),
        of_member AS (PARTITION BY consumer_group, topic, member_id, client_id, client_host)
),
scores AS (
    SELECT
        *,
        IF(
            leader_recall >= :most - 1e-9D AND leader_precision >= :most - 1e-9D
                AND leader IS NOT NULL AND excess IS NOT NULL,
            round(leader_recall * leader_precision, 9),
            NULL
        ) AS leader_score,
        IF(
            member_recall >= :most - 1e-9D AND member_precision >= :most - 1e-9D
                AND member_id IS NOT NULL AND excess IS NOT NULL,
            round(member_recall * member_precision, 9),
            NULL
        ) AS member_score
    FROM fits
),
best AS (
    SELECT
        *,
        first(IF(
            leader_score IS NULL,
            NULL,
            struct(leader_score AS score, leader_n AS n, leader, lags_for_others)
        )) OVER (
            PARTITION BY consumer_group, topic
            ORDER BY leader_score DESC NULLS LAST, leader_n DESC, leader
        ) AS broker,
        first(IF(
            member_score IS NULL,
            NULL,
            struct(member_score AS score, member_n AS n, member_id, client_id, client_host)
        )) OVER (
            PARTITION BY consumer_group, topic
            ORDER BY member_score DESC NULLS LAST, member_n DESC, member_id, client_id, client_host
        ) AS consumer,
        sum(IF(over_produced, share, 0D)) OVER of_topic AS over_produced_share,
        sum(IF(stands = 'stalled', share, 0D)) OVER of_topic AS stalled,
        sum(IF(stands = 'stopped', share, 0D)) OVER of_topic AS stopped
    FROM scores
    WINDOW of_topic AS (PARTITION BY consumer_group, topic)
),
first_fit AS (
    SELECT
        *,
        CASE
            WHEN stalled + stopped >= :most - 1e-9D THEN IF(stopped > stalled, 'stopped', 'stalled')
            WHEN over_produced_share >= :most - 1e-9D THEN 'production'
            WHEN broker IS NULL AND consumer IS NULL THEN 'unexplained'
            WHEN broker IS NULL THEN 'consumer'
            WHEN consumer IS NULL THEN 'broker'
            WHEN broker.score <> consumer.score
                THEN IF(broker.score > consumer.score, 'broker', 'consumer')
            WHEN broker.n <> consumer.n THEN IF(broker.n > consumer.n, 'broker', 'consumer')
            WHEN broker.n > 1 THEN 'broker'
            -- one partition alone does not show whether its leader or its owner is slow
            ELSE 'unexplained'
        END AS fit
    FROM best
),
named AS (
    SELECT
        *,
        CASE
            WHEN fit <> 'broker' OR broker.lags_for_others THEN fit
            WHEN consumer IS NOT NULL AND greatest(broker.n, consumer.n) > 1 THEN 'consumer'
            ELSE 'unexplained'
        END AS cause
    FROM first_fit
),
explained AS (
    SELECT
        *,
        cause = 'broker' OR (cause = 'unexplained' AND broker.n > 1) AS is_led,
        is_late AND CASE
            WHEN cause IN ('stalled', 'stopped') THEN stands IS NOT NULL
            WHEN cause = 'production' THEN over_produced
            WHEN cause = 'broker' OR (cause = 'unexplained' AND broker.n > 1)
                THEN leader = broker.leader
            WHEN cause = 'consumer'
                THEN member_id <=> consumer.member_id
                    AND client_id <=> consumer.client_id AND client_host <=> consumer.client_host
            ELSE true
        END AS explains
    FROM named
),
owners AS (
    SELECT
        *,
        CASE
            WHEN cause = 'consumer'
                THEN struct(consumer.member_id, consumer.client_id, consumer.client_host)
            -- the owner of all stalled partitions, if there is only one
            WHEN explains AND cause = 'stalled' THEN struct(member_id, client_id, client_host)
        END AS member
    FROM explained
)
SELECT
    consumer_group, topic,
    max(cause) AS cause,
    sort_array(collect_list(partition_id) FILTER (WHERE explains)) AS cause_partitions,
    max(broker.leader) FILTER (WHERE is_led) AS cause_leader,
    IF(min(member) = max(member), max(member.member_id), NULL) AS cause_member,
    IF(min(member) = max(member), max(member.client_id), NULL) AS cause_client_id,
    IF(min(member) = max(member), max(member.client_host), NULL) AS cause_client_host
FROM owners
GROUP BY consumer_group, topic
