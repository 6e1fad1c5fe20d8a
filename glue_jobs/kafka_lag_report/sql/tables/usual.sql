-- SPDX-License-Identifier: Apache-2.0
-- A row is a group, weekday and hour with its usual values, for the collector, which compares
-- single runs. Runs vary more than the means of hours, so the spread includes the spread of runs
-- within an hour, and more weeks must be known. If the hours of a group vary from week to week, or
-- if runs of two weeks were far from usual, the hour of the week says little: the spread is then so
-- large that only more than twice the highest value of all hours is unusual.

WITH single_runs AS (
    SELECT
        consumer_group, hour, weekday, measure, usual, part, highs,
        -- records written in single runs vary more than `produce_rate`, a moving average
        sqrt(pow(spread, 2) + pow(
            IF(measure = 'produce_rate', :single_run, 1D) * coalesce(within, 0D), 2
        )) AS spread
    FROM usual_hours
    -- reports of older releases lack the deviation of the rates of runs
    WHERE days >= :least_weeks_of_runs AND (measure <> 'produce_rate' OR within IS NOT NULL)
),
scaled AS (
    SELECT
        *,
        greatest(
            spread,
            usual * :usual_part,
            element_at(from_json(:floors, 'map<string, double>'), measure)
        ) AS scale
    FROM single_runs
),
highs AS (
    SELECT consumer_group, measure, usual, scale, inline(highs) FROM scaled
),
weeks AS (
    SELECT
        consumer_group, measure, week,
        max(high) AS most,
        max((high - usual) / scale) AS off
    FROM highs
    GROUP BY consumer_group, measure, week
),
highest AS (
    SELECT
        consumer_group, measure,
        max(most) AS most,
        get(sort_array(collect_list(off), false), 1) AS off_twice
    FROM weeks
    GROUP BY consumer_group, measure
),
scatters AS (
    SELECT consumer_group, measure, median(part) AS scatter
    FROM single_runs
    GROUP BY consumer_group, measure
),
widened AS (
    SELECT
        weekday, hour, consumer_group, measure, round(usual, 1) AS usual,
        round(IF(
            (scatter >= :irregular_part OR off_twice >= :nearly_far) AND most IS NOT NULL,
            greatest((2D * most - usual) / :far, 0D),
            spread
        ), 1) AS spread
    FROM single_runs
    JOIN highest USING (consumer_group, measure)
    JOIN scatters USING (consumer_group, measure)
)
SELECT
    weekday,
    hour,
    consumer_group,
    max(usual) FILTER (WHERE measure = 'lag') AS usual_lag,
    max(spread) FILTER (WHERE measure = 'lag') AS lag_spread,
    max(usual) FILTER (WHERE measure = 'time_lag_seconds') AS usual_time_lag,
    max(spread) FILTER (WHERE measure = 'time_lag_seconds') AS time_lag_spread,
    max(usual) FILTER (WHERE measure = 'produce_rate') AS usual_produce_rate,
    max(spread) FILTER (WHERE measure = 'produce_rate') AS produce_rate_spread
FROM widened
GROUP BY weekday, hour, consumer_group
