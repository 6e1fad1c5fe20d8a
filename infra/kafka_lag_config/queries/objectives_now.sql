-- SPDX-License-Identifier: Apache-2.0
-- Objectives: whose budget is used up, or soon will be
-- From the newest daily report of each group within seven days. Minutes are of the window of `days`
-- days that ends with that report; unknown ones are neither kept nor broken. At a burn rate of 1 a
-- window of days as this one uses up the budget exactly; days_left says how long what is left lasts
-- at the rate of the last day, null where nothing was broken.
-- Change group, cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _
-- in LIKE is any character.
-- kafka-lag query takes cluster, group, day (yesterday), days (7).
WITH request AS (
    SELECT *
    FROM slo
    WHERE dt BETWEEN date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
            AND date_format(current_date - INTERVAL '1' DAY, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND consumer_group LIKE '%'
),
newest AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY cluster, consumer_group ORDER BY dt DESC) AS place
    FROM request
)
SELECT
    cluster,
    consumer_group,
    dt,
    age_seconds,
    target,
    days,
    round(window_kept_minutes, 1) AS kept_minutes,
    round(window_broken_minutes, 1) AS broken_minutes,
    round(window_unknown_minutes, 1) AS unknown_minutes,
    round(budget_minutes, 1) AS budget_minutes,
    round(budget_left_minutes, 1) AS left_minutes,
    round(burn_rate, 2) AS burn_rate,
    round(greatest(budget_left_minutes, 0) / nullif(broken_minutes, 0), 1) AS days_left
FROM newest
WHERE place = 1
ORDER BY
    budget_left_minutes / nullif(budget_minutes, 0),
    cluster,
    consumer_group
