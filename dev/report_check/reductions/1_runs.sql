-- SPDX-License-Identifier: Apache-2.0
-- The runs of the day, with the seconds for which each stands, and what most values are read by.

CREATE OR REPLACE TEMP TABLE gaps AS
SELECT
    taken_at,
    (epoch_ms(taken_at) - epoch_ms(lag(taken_at) OVER by_time)) / 1000.0::DOUBLE AS before,
    (epoch_ms(lead(taken_at) OVER by_time) - epoch_ms(taken_at)) / 1000.0::DOUBLE AS after,
    86400.0::DOUBLE - (epoch_ms(taken_at) - epoch_ms(getvariable('day')::TIMESTAMP)) / 1000.0
        AS until_midnight
FROM (SELECT DISTINCT taken_at FROM groups)
WINDOW by_time AS (ORDER BY taken_at);

SET VARIABLE usual_gap = (SELECT coalesce(quantile_cont(before, 0.5), 60.0) FROM gaps);

CREATE OR REPLACE TEMP TABLE runs AS
SELECT
    taken_at,
    CASE
        WHEN before IS NULL AND after IS NULL THEN least(60.0, until_midnight)
        WHEN before IS NULL THEN least(after, 2 * getvariable('usual_gap'))
        WHEN after IS NULL THEN least(getvariable('usual_gap'), until_midnight)
        ELSE least(after, 2 * before)
    END AS weight
FROM gaps;

CREATE OR REPLACE TEMP TABLE group_runs AS
SELECT
    consumer_group, taken_at, weight, unread_reason IS NULL AS is_read,
    owner, sla_seconds, group_state, owners_changed, lag, time_lag_seconds,
    slo_age_seconds, slo_target, slo_days, time_lag_error_seconds, rebalances, rebalancing_share,
    produce_rate, records_lost, status, status_reason, members, tasks_needed, tasks_needed_reason,
    -- a moving average has a loss in it for an hour
    CASE WHEN coalesce(max(records_lost) OVER last_hour, 0) = 0 THEN consume_rate END
        AS consume_rate
FROM groups
JOIN runs USING (taken_at)
WINDOW last_hour AS (
    PARTITION BY consumer_group ORDER BY taken_at
    RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW
);
