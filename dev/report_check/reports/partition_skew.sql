-- SPDX-License-Identifier: Apache-2.0
-- A row for each group and topic that was read: how skewed its lag and its production were, and why.

WITH lag_minutes AS (
    SELECT
        consumer_group, topic,
        sum(CASE
            WHEN lag_max >= 1.5 * (lag / lags) AND lag_max - lag / lags >= 100 THEN weight ELSE 0
        END) / 60 AS minutes
    FROM topic_runs
    WHERE lags > 0
    GROUP BY ALL
),
production_minutes AS (
    SELECT
        topic,
        sum(CASE
            WHEN produced_max >= 1.5 * produced_mean AND produced_max - produced_mean >= 100
                THEN weight
            ELSE 0
        END) / 60 AS minutes
    FROM production_runs
    GROUP BY ALL
)
SELECT
    consumer_group,
    topic,
    lag.partitions AS lag_partitions,
    lag.mean AS lag_mean,
    lag.most AS lag_max,
    lag.max_to_mean AS lag_max_to_mean,
    lag.top_partition AS lag_top_partition,
    lag.top_share AS lag_top_share,
    lag.even_share AS lag_even_share,
    lag.gini AS lag_gini,
    lag.skewed AS lag_skewed,
    lag_minutes.minutes AS lag_skewed_minutes,
    made.partitions AS production_partitions,
    made.mean AS production_mean,
    made.most AS production_max,
    made.max_to_mean AS production_max_to_mean,
    made.top_partition AS production_top_partition,
    made.top_share AS production_top_share,
    made.even_share AS production_even_share,
    made.gini AS production_gini,
    made.skewed AS production_skewed,
    production_minutes.minutes AS production_skewed_minutes,
    cause,
    cause_partitions,
    cause_leader,
    cause_member,
    cause_client_id,
    cause_client_host
FROM (FROM spreads WHERE measure = 'lag') AS lag
LEFT JOIN (SELECT * EXCLUDE (consumer_group) FROM spreads WHERE measure = 'production') AS made
    USING (topic)
LEFT JOIN lag_minutes USING (consumer_group, topic)
LEFT JOIN production_minutes USING (topic)
LEFT JOIN causes USING (consumer_group, topic)
