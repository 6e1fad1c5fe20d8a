-- SPDX-License-Identifier: Apache-2.0
-- A row is a group with an SLO on the day: the minutes in which it kept or broke the SLA, and the
-- unknown minutes, of the day and of the SLO's window. Earlier days of the window come from their
-- own reports. Unknown minutes are neither kept nor broken, and use up no budget. A group that had
-- an SLO before is expected from midnight on. From the first day of the window with a report of the
-- SLO, a day without one, or with another age, is unknown.

WITH past AS (
    SELECT
        d.consumer_group,
        sum(p.kept_minutes) FILTER (WHERE p.age_seconds = d.age_seconds) AS kept,
        sum(p.broken_minutes) FILTER (WHERE p.age_seconds = d.age_seconds) AS broken,
        -- from the beginning of the SLO on its first day to the beginning of this day
        min_by(
            (unix_micros(p.until) - unix_micros(p.since)) / 6e7D
            + 1440 * (datediff(to_date(timestamp_seconds(:midnight)), to_date(p.dt)) - 1),
            p.dt
        ) AS minutes
    FROM slo_days AS d
    JOIN past_slo AS p ON p.consumer_group = d.consumer_group
    WHERE datediff(to_date(timestamp_seconds(:midnight)), to_date(p.dt)) BETWEEN 1 AND d.days - 1
    GROUP BY d.consumer_group
),
windows AS (
    SELECT
        d.*,
        IF(minutes IS NULL, since, least(since, timestamp_seconds(:midnight))) AS begin,
        coalesce(minutes, 0D) AS before,
        coalesce(kept, 0D) AS kept_before,
        coalesce(broken, 0D) AS broken_before,
        kept_minutes + broken_minutes AS known,
        1 - target / 100 AS spare
    FROM slo_days AS d
    LEFT JOIN past AS p ON p.consumer_group = d.consumer_group
),
counted AS (
    SELECT
        *,
        greatest((unix_micros(until) - unix_micros(begin)) / 6e7D - known, 0D) AS unknown_minutes
    FROM windows
)
SELECT
    consumer_group,
    age_seconds,
    target,
    days,
    begin AS since,
    until,
    kept_minutes,
    broken_minutes,
    unknown_minutes,
    kept_minutes + kept_before AS window_kept_minutes,
    broken_minutes + broken_before AS window_broken_minutes,
    greatest(before - kept_before - broken_before, 0D) + unknown_minutes AS window_unknown_minutes,
    days * 1440 * spare AS budget_minutes,
    days * 1440 * spare - broken_minutes - broken_before AS budget_left_minutes,
    try_divide(try_divide(broken_minutes, known), spare) AS burn_rate
FROM counted
