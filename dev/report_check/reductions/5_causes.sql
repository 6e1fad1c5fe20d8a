-- SPDX-License-Identifier: Apache-2.0
-- Who is to blame for each skewed lag. Shares are compared with room for the last bit of a sum.

CREATE OR REPLACE TEMP TABLE causes AS
WITH partitions AS (
    SELECT
        d.consumer_group, d.topic, d.partition_id,
        greatest(d.mean_lag - lag.mean, 0) AS excess,
        d.mean_lag - lag.mean > 1e-9 * lag.mean AS in_excess,
        d.stands,
        coalesce(p.produced >= 1.5 * made.mean AND made.mean > 0, false) AS over_produced
    FROM group_days AS d
    JOIN spreads AS lag
        ON lag.measure = 'lag' AND lag.skewed
        AND lag.consumer_group = d.consumer_group AND lag.topic = d.topic
    LEFT JOIN spreads AS made ON made.measure = 'production' AND made.topic = d.topic
    LEFT JOIN production AS p ON p.topic = d.topic AND p.partition_id = d.partition_id
    WHERE d.mean_lag IS NOT NULL
),
totals AS (
    SELECT
        consumer_group, topic,
        sum(excess) AS excess,
        coalesce(sum(excess) FILTER (over_produced), 0) AS excess_over_produced,
        coalesce(sum(excess) FILTER (stands = 'stalled'), 0) AS excess_stalled,
        coalesce(sum(excess) FILTER (stands = 'stopped'), 0) AS excess_stopped,
        list(partition_id ORDER BY partition_id) FILTER (in_excess AND stands IS NOT NULL)
            AS in_excess_standing,
        list(partition_id ORDER BY partition_id) FILTER (in_excess) AS in_excess,
        list(partition_id ORDER BY partition_id) FILTER (in_excess AND over_produced)
            AS in_excess_over_produced
    FROM partitions
    GROUP BY ALL
),
held AS (
    SELECT
        consumer_group, topic, partition_id, 'broker' AS kind, leader,
        NULL::VARCHAR AS member_id, NULL::VARCHAR AS client_id, NULL::VARCHAR AS client_host,
        coalesce(sum(lag_sum), 0) AS lag_sum,
        sum(readings) AS readings
    FROM group_segments
    GROUP BY ALL
    UNION ALL
    SELECT
        consumer_group, topic, partition_id, 'consumer', NULL,
        member_id, client_id, client_host,
        coalesce(sum(lag_sum), 0),
        sum(readings)
    FROM group_segments
    GROUP BY ALL
),
holders AS (
    SELECT * FROM held
    QUALIFY row_number() OVER (
        PARTITION BY consumer_group, topic, partition_id, kind
        ORDER BY lag_sum DESC, readings DESC,
            leader NULLS LAST, member_id NULLS LAST, client_id NULLS LAST, client_host NULLS LAST
    ) = 1
),
-- By group and leader: whether lag is higher under it than under all leaders.
lags_by_leader AS (
    SELECT consumer_group, h.leader, avg(d.mean_lag) AS mean_lag, count(d.mean_lag) AS partitions
    FROM holders AS h
    JOIN group_days AS d USING (consumer_group, topic, partition_id)
    WHERE h.kind = 'broker'
    GROUP BY ALL
),
lagging AS (
    SELECT
        consumer_group, leader,
        mean_lag - sum(mean_lag * partitions) OVER same / sum(partitions) OVER same >= 100 AS lags
    FROM lags_by_leader
    WINDOW same AS (PARTITION BY consumer_group)
),
candidates AS (
    SELECT
        consumer_group, topic, h.kind, h.leader, h.member_id, h.client_id, h.client_host,
        count(*) AS partitions,
        sum(p.excess) / any_value(t.excess) AS recall,
        count(*) FILTER (p.in_excess) / count(*)::DOUBLE AS precision,
        list(partition_id ORDER BY partition_id) FILTER (p.in_excess) AS in_excess
    FROM holders AS h
    JOIN partitions AS p USING (consumer_group, topic, partition_id)
    JOIN totals AS t USING (consumer_group, topic)
    WHERE CASE h.kind
        WHEN 'broker' THEN h.leader IS NOT NULL
        ELSE h.member_id IS NOT NULL
    END
    GROUP BY ALL
),
-- At most one broker and one consumer hold two thirds of an excess.
blamed AS (
    SELECT *, round(recall * precision, 9) AS fit
    FROM candidates
    WHERE recall >= 2 / 3 - 1e-9 AND precision >= 2 / 3 - 1e-9
),
-- The one owner of all that stands still, if it is one.
standing AS (
    SELECT
        consumer_group, topic,
        count(DISTINCT (h.member_id, h.client_id, h.client_host)) AS owners,
        max(h.member_id) AS member_id,
        max(h.client_id) AS client_id,
        max(h.client_host) AS client_host
    FROM holders AS h
    JOIN partitions AS p USING (consumer_group, topic, partition_id)
    WHERE h.kind = 'consumer' AND p.in_excess AND p.stands IS NOT NULL
    GROUP BY ALL
),
best AS (
    SELECT
        * REPLACE (
            -- one partition alone does not show whether its leader or its owner is slow
            CASE WHEN partitions < 2 AND count(*) OVER same = 2 THEN 'unexplained' ELSE kind END
                AS kind
        )
    FROM blamed
    WINDOW same AS (PARTITION BY consumer_group, topic, fit, partitions)
    QUALIFY row_number() OVER (
        PARTITION BY consumer_group, topic ORDER BY fit DESC, partitions DESC, blamed.kind
    ) = 1
)
SELECT
    consumer_group, topic,
    CASE
        WHEN t.excess_stalled + t.excess_stopped >= (2 / 3 - 1e-9) * t.excess
            THEN CASE WHEN t.excess_stopped > t.excess_stalled THEN 'stopped' ELSE 'stalled' END
        WHEN t.excess_over_produced >= (2 / 3 - 1e-9) * t.excess THEN 'production'
        -- what a broker does to one group it does to others
        WHEN best.kind = 'broker'
            AND coalesce(l.first = t.consumer_group AND l.last = t.consumer_group, true)
            THEN CASE
                WHEN greatest(best.partitions, owner.partitions) > 1 AND owner.kind IS NOT NULL
                THEN 'consumer'
                ELSE 'unexplained'
            END
        ELSE coalesce(best.kind, 'unexplained')
    END AS cause,
    -- of a broker that nobody else lags under only that it leads them all is said
    CASE
        WHEN cause = 'broker' THEN best.leader
        WHEN cause = 'unexplained' AND best.kind = 'broker' AND best.partitions > 1
            THEN best.leader
    END AS cause_leader,
    CASE
        WHEN cause IN ('stalled', 'stopped') THEN t.in_excess_standing
        WHEN cause = 'production' THEN t.in_excess_over_produced
        WHEN cause = 'unexplained' AND cause_leader IS NULL THEN t.in_excess
        WHEN cause = 'consumer' THEN owner.in_excess
        ELSE best.in_excess
    END AS cause_partitions,
    CASE
        WHEN cause = 'consumer' THEN owner.member_id
        WHEN cause = 'stalled' AND owners = 1 THEN standing.member_id
    END AS cause_member,
    CASE
        WHEN cause = 'consumer' THEN owner.client_id
        WHEN cause = 'stalled' AND owners = 1 THEN standing.client_id
    END AS cause_client_id,
    CASE
        WHEN cause = 'consumer' THEN owner.client_host
        WHEN cause = 'stalled' AND owners = 1 THEN standing.client_host
    END AS cause_client_host
FROM totals AS t
LEFT JOIN best USING (consumer_group, topic)
LEFT JOIN blamed AS owner
    ON owner.kind = 'consumer'
    AND owner.consumer_group = t.consumer_group AND owner.topic = t.topic
LEFT JOIN standing USING (consumer_group, topic)
LEFT JOIN (
    SELECT leader, min(consumer_group) AS first, max(consumer_group) AS last
    FROM lagging
    WHERE lags
    GROUP BY ALL
) AS l ON l.leader = best.leader;
