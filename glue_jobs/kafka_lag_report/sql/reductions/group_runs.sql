-- SPDX-License-Identifier: Apache-2.0
-- A row is a group in a run, read or not: a third of the columns of `groups`, and the run's weight.
-- `consume_rate` is null for an hour after records were lost: it is a moving average, and a commit
-- that passes over deleted records looks like reading.

SELECT
    consumer_group, taken_at, weight, unread_reason, group_state, owner, members, read_at,
    status, status_reason, worst_status, sla_seconds, lag,
    time_lag_seconds, time_lag_error_seconds,
    -- the age is a lower bound: the record may be older
    time_lag_seconds IS NOT NULL AND time_lag_error_seconds IS NULL AS is_age_least,
    produce_rate,
    IF(
        coalesce(
            unix_seconds(taken_at)
            - max(IF(records_lost > 0, unix_seconds(taken_at), NULL)) OVER so_far
            <= :rate_forgets_seconds,
            false
        ),
        NULL,
        consume_rate
    ) AS consume_rate,
    rebalances, rebalancing_share, owners_changed, tasks_needed, tasks_needed_reason,
    slo_age_seconds, slo_target, slo_days,
    worst_topic, worst_partition, worst_leader, worst_member,
    held_up_records, open_transaction_since, open_transaction_topic, open_transaction_partition,
    records_lost, seconds_until_loss, records_rewound,
    records_skipped, skipped_at, skip_reason,
    cause, cause_since, cause_evidence,
    incident_id, incident_since, incident_from, incident_until,
    incident_worst_status, incident_worst_status_since, incident_cause,
    incident_peak_lag, incident_peak_lag_at, incident_lost, incident_skipped,
    incident_sla_broken_since, incident_at_risk_since
FROM groups
JOIN runs USING (taken_at)
WINDOW so_far AS (PARTITION BY consumer_group ORDER BY taken_at)
