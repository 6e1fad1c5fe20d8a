-- SPDX-License-Identifier: Apache-2.0
-- A row is an incident of a group: the collector's last values about it, and its cost on this day.
-- It includes runs of its first minutes, before the collector published it; `first` and `last` are
-- the times of its rows, `last_read` is the last run that read the group. `worst_last` is the last
-- run that saw the worst status, and `worst_minutes` says for how long the day's runs saw it;
-- topic, partition and member are those of the worst partition then. `is_empty` means that the
-- group had no members in any of these runs. `cause` was last named at `named_at`, with
-- `cause_evidence`; both are null if that was before the day. `passed` is the number of records
-- that were read or skipped. `seconds_left` is the shortest time to a loss that a run saw,
-- `seconds_left_now` the last one. `dated` is the largest time lag that is not a lower bound.

WITH of_incidents AS (
    SELECT DISTINCT consumer_group AS incident_group FROM group_runs WHERE incident_id IS NOT NULL
),
said AS (
    SELECT
        consumer_group AS group,
        unix_seconds(taken_at) AS at,
        weight,
        unread_reason IS NULL AS is_read,
        unread_reason IS NULL AND skipped_at = taken_at AS is_skipping,
        read_at, owner, status, members,
        incident_id AS published,
        unix_seconds(coalesce(incident_from, incident_since)) AS since,
        unix_seconds(incident_until) AS until,
        incident_worst_status AS worst,
        unix_seconds(incident_worst_status_since) AS worst_since,
        coalesce(unread_reason IS NULL AND worst_status = incident_worst_status, false)
            AS is_worst,
        worst_topic AS topic, worst_partition AS partition, worst_member AS member,
        incident_cause AS cause,
        unread_reason IS NULL AND cause = incident_cause AND cause <> 'unexplained' AS is_named,
        unix_seconds(cause_since) AS cause_since,
        cause_evidence,
        lag, time_lag_seconds, is_age_least, sla_seconds,
        IF(incident_peak_lag_at >= date_trunc('day', taken_at), incident_peak_lag, NULL) AS peak,
        incident_lost AS lost, incident_skipped AS skipped,
        records_rewound, records_skipped, skip_reason,
        incident_at_risk_since IS NOT NULL AS is_at_risk,
        incident_sla_broken_since IS NOT NULL AS is_sla_broken,
        IF(
            unread_reason IS NULL AND seconds_until_loss < :no_loss_seconds,
            seconds_until_loss,
            NULL
        ) AS to_loss
    FROM group_runs
    LEFT SEMI JOIN of_incidents ON incident_group = consumer_group
),
-- sorted by time, newest first, so that the last incident seen so far is the next one in time
followed AS (
    SELECT
        *,
        last(IF(published IS NULL, NULL, struct(published AS id, since)), true)
            OVER (PARTITION BY group ORDER BY at DESC) AS coming
    FROM said
),
placed AS (
    SELECT
        *,
        coalesce(published, IF(coming.since <= at, coming.id, NULL)) AS incident_id,
        is_read AND time_lag_seconds > sla_seconds AS is_sla_missed
    FROM followed
)
SELECT
    group,
    incident_id,
    timestamp_seconds(min(at)) AS first,
    timestamp_seconds(max(at)) AS last,
    timestamp_seconds(min(since)) AS since,
    timestamp_seconds(max_by(until, at)) AS until,
    timestamp_seconds(
        coalesce(max(at) FILTER (WHERE is_read), unix_seconds(max(read_at)))
    ) AS last_read,
    max(owner) AS owner,
    -- these are null in the last row of a deleted group
    max_by(worst, at) FILTER (WHERE worst IS NOT NULL) AS worst,
    timestamp_seconds(max_by(worst_since, at) FILTER (WHERE worst_since IS NOT NULL))
        AS worst_since,
    timestamp_seconds(max(at) FILTER (WHERE is_worst)) AS worst_last,
    coalesce(sum(weight) FILTER (WHERE is_worst), 0D) / 60 AS worst_minutes,
    max_by(topic, at) FILTER (WHERE is_worst) AS topic,
    max_by(partition, at) FILTER (WHERE is_worst) AS partition,
    max_by(member, at) FILTER (WHERE is_worst) AS member,
    min(coalesce(members = 0, false)) FILTER (WHERE is_worst) AS is_empty,
    coalesce(max(is_read AND status = 'ERR'), false) AS is_error,
    max_by(cause, at) FILTER (WHERE cause IS NOT NULL) AS cause,
    timestamp_seconds(max_by(cause_since, at) FILTER (WHERE is_named)) AS cause_since,
    max_by(cause_evidence, at) FILTER (WHERE is_named) AS cause_evidence,
    timestamp_seconds(max(at) FILTER (WHERE is_named)) AS named_at,
    max(greatest(IF(is_read, lag, NULL), peak)) AS lag,
    max(time_lag_seconds) FILTER (WHERE is_read) AS time_lag,
    max(time_lag_seconds) FILTER (WHERE is_read AND NOT is_age_least) AS dated,
    max_by(lost, at) FILTER (WHERE lost IS NOT NULL) AS lost,
    max(records_rewound) FILTER (WHERE is_read) AS rewound,
    max_by(skipped, at) FILTER (WHERE skipped IS NOT NULL) AS skipped,
    max(skip_reason) FILTER (WHERE is_skipping AND skip_reason <> 'read_or_skipped')
        AS skip_reason,
    max(records_skipped) FILTER (WHERE is_skipping AND skip_reason = 'read_or_skipped') AS passed,
    max(is_at_risk) AS is_at_risk,
    min(to_loss) AS seconds_left,
    timestamp_seconds(max_by(at, struct(-to_loss, at)) FILTER (WHERE to_loss IS NOT NULL))
        AS seconds_left_at,
    max_by(to_loss, at) AS seconds_left_now,
    max(is_sla_broken) AS is_sla_broken,
    max(sla_seconds) FILTER (WHERE is_sla_missed) AS sla,
    coalesce(sum(weight) FILTER (WHERE is_sla_missed), 0D) / 60 AS sla_missed
FROM placed
WHERE incident_id IS NOT NULL
GROUP BY group, incident_id
ORDER BY lost DESC, last - first DESC, group, topic, partition, first
LIMIT :most_spells
