-- SPDX-License-Identifier: Apache-2.0
-- Group: run by run around its last incident
-- From half an hour before a group last fell behind to the end of that incident, an hour at least and
-- twelve at most: lag, age, rates, members. Null means that it was not known in that run, which is
-- not 0. An incident begins once a status lasted for `hold` runs.
-- Write the group's name in place of THE-GROUP: as it stands, nothing is found. Change cluster and
-- dates in the first lines. LIKE '%' is all; for one write = 'name', as _ in LIKE is any character.
-- Days older than shared.keep.snapshot_days are not found: put history_ before the table's name
-- (history_groups, which has no hour).
-- kafka-lag query takes cluster, group (required), day (today), days (8).
WITH request AS (
    SELECT *
    FROM groups
    WHERE dt BETWEEN date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND consumer_group = 'THE-GROUP'
),
beginnings AS (
    SELECT cluster, incident_since, max(taken_at) AS last_run
    FROM request
    WHERE incident_since IS NOT NULL AND incident_until IS NULL
    GROUP BY cluster, incident_since
),
last_incident AS (
    SELECT
        cluster,
        max(incident_since) AS since,
        max_by(last_run, incident_since) AS last_run
    FROM beginnings
    GROUP BY cluster
)
SELECT
    request.cluster,
    request.taken_at,
    request.status,
    request.lag,
    request.time_lag_seconds,
    request.time_lag_error_seconds,
    request.produce_rate,
    request.consume_rate,
    request.group_state,
    request.members,
    request.owners_changed,
    request.worst_topic,
    request.worst_partition,
    request.unread_reason
FROM request
INNER JOIN last_incident ON request.cluster = last_incident.cluster
WHERE request.taken_at BETWEEN last_incident.since - INTERVAL '30' MINUTE
    AND least(
        greatest(last_incident.last_run, last_incident.since + INTERVAL '60' MINUTE),
        last_incident.since + INTERVAL '12' HOUR
    )
ORDER BY request.cluster, request.taken_at
