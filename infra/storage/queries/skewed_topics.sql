-- SPDX-License-Identifier: Apache-2.0
-- Topics: whose partitions are uneven
-- From the daily reports of the week: groups and topics of which one partition has far more lag, or
-- gets far more records, than the mean. Both at once points to the keys of the records; lag alone
-- to a broker or a consumer. The newest day comes first, and in it the worse of a topic's two
-- ratios decides.
-- Change group, cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _
-- in LIKE is any character.
WITH asked AS (
    SELECT *
    FROM partition_skew
    WHERE dt BETWEEN date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND consumer_group LIKE '%'
)
SELECT
    cluster,
    dt,
    consumer_group,
    topic,
    lag_skewed,
    lag_top_partition,
    round(lag_top_share, 4) AS lag_top_share,
    round(lag_max_to_mean, 2) AS lag_max_to_mean,
    production_skewed,
    production_top_partition,
    round(production_top_share, 4) AS production_top_share,
    round(production_max_to_mean, 2) AS production_max_to_mean
FROM asked
WHERE lag_skewed OR production_skewed
ORDER BY
    dt DESC,
    greatest(coalesce(lag_max_to_mean, 0), coalesce(production_max_to_mean, 0)) DESC,
    cluster,
    consumer_group,
    topic
