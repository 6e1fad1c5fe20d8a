-- SPDX-License-Identifier: Apache-2.0
-- Retention: how near to losing records, this week
-- From the daily reports: each partition's worst day, with the fewest records that deletion was
-- away and the least time until it. Nulls are days of which the reports could not know.
-- Change group, cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _
-- in LIKE is any character.
-- kafka-lag query takes cluster, group, day (today), days (8).
WITH request AS (
    SELECT *
    FROM retention_risk
    WHERE dt BETWEEN date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND consumer_group LIKE '%'
)
SELECT
    cluster,
    consumer_group,
    topic,
    partition_id,
    max(records_lost) AS records_lost,
    count_if(retention_risk = 'LOST') AS days_lost,
    count_if(retention_risk = 'AT_RISK') AS days_at_risk,
    min(least_margin) AS least_margin,
    min(least_seconds_until_loss) / 3600 AS least_hours_until_loss,
    min_by(least_seconds_until_loss_at, least_seconds_until_loss) AS least_hours_at
FROM request
WHERE retention_risk IN ('LOST', 'AT_RISK')
GROUP BY cluster, consumer_group, topic, partition_id
ORDER BY records_lost DESC NULLS LAST, least_hours_until_loss NULLS LAST, cluster, consumer_group
