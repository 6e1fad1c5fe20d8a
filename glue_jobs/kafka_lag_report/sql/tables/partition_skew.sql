-- SPDX-License-Identifier: Apache-2.0
-- A row is a group's topic: how unevenly its partitions share lag (mean of the day) and production
-- (records of the day), for how long, and why the lag is skewed. The columns production_* belong to
-- the topic and repeat for each of its groups; they are null if the topic was never read. `cause`
-- is null unless the lag is skewed.

WITH lag_minutes AS (
    SELECT
        consumer_group, topic,
        sum(IF(is_skewed, weight / 60, 0D)) FILTER (WHERE is_skewed IS NOT NULL)
            AS lag_skewed_minutes
    FROM group_topic_runs
    GROUP BY ALL
),
production_minutes AS (
    SELECT
        topic AS produced_topic,
        sum(IF(is_skewed, weight / 60, 0D)) FILTER (WHERE is_skewed IS NOT NULL)
            AS production_skewed_minutes
    FROM topic_runs
    GROUP BY topic
),
productions AS (
    SELECT
        topic AS produced_topic,
        partitions AS production_partitions,
        mean AS production_mean,
        top AS production_max,
        max_to_mean AS production_max_to_mean,
        top_partition AS production_top_partition,
        top_share AS production_top_share,
        even_share AS production_even_share,
        gini AS production_gini,
        is_skewed AS production_skewed
    FROM spreads
    WHERE measure = 'production'
),
lags AS (
    SELECT
        consumer_group,
        topic,
        partitions AS lag_partitions,
        mean AS lag_mean,
        top AS lag_max,
        max_to_mean AS lag_max_to_mean,
        top_partition AS lag_top_partition,
        top_share AS lag_top_share,
        even_share AS lag_even_share,
        gini AS lag_gini,
        is_skewed AS lag_skewed
    FROM spreads
    WHERE measure = 'lag'
)
SELECT *
FROM lags
JOIN lag_minutes USING (consumer_group, topic)
LEFT JOIN causes USING (consumer_group, topic)
LEFT JOIN (productions LEFT JOIN production_minutes USING (produced_topic))
    ON produced_topic = topic
