-- SPDX-License-Identifier: Apache-2.0
-- Topics: whose partitions are uneven
-- From the daily reports of the week: groups and topics of which one partition has far more lag, or
-- gets far more records, than the mean, and why the lag is uneven: a commit that stood (stalled,
-- stopped), the keys of the records (production), a broker, a consumer, or unexplained, with the
-- partitions that explain it. The newest day comes first, and in it the worse of a topic's two ratios decides.
-- Change group, cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _
-- in LIKE is any character.
-- kafka-lag query takes cluster, group, day (today), days (8).
WITH request AS (
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
    cause,
    cause_partitions,
    cause_leader,
    cause_client_id,
    cause_client_host,
    lag_skewed,
    round(lag_skewed_minutes, 1) AS lag_skewed_minutes,
    lag_top_partition,
    round(lag_top_share, 4) AS lag_top_share,
    round(lag_max_to_mean, 2) AS lag_max_to_mean,
    production_skewed,
    production_top_partition,
    round(production_top_share, 4) AS production_top_share,
    round(production_max_to_mean, 2) AS production_max_to_mean
FROM request
WHERE lag_skewed OR production_skewed
ORDER BY
    dt DESC,
    greatest(coalesce(lag_max_to_mean, 0), coalesce(production_max_to_mean, 0)) DESC,
    cluster,
    consumer_group,
    topic
