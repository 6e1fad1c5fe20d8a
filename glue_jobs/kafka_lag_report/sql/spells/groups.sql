-- SPDX-License-Identifier: Apache-2.0
-- A row is a spell of a group: runs in a row that said the same about it, from `first` to `last`,
-- if this may become an incident. A spell ends at a gap of more than `pause_seconds`. `left` is the
-- number of records that a group left unread when it was deleted (`gone`), `seen_until` the last
-- run of the day with this group. `restless` means that too many runs of an hour saw a rebalance:
-- `restless_runs`, or half of the hour's runs if that is less, but three at least. `rebalances`
-- counts those from `restless_since` to `restless_until`, without those of the spell before if it
-- was restless too. `held_since` is the time at which a long transaction began in `held_topic` and
-- `held_partition`; `held_records` waited for its end. `losing` and `skip_reason` are set only for
-- runs without an incident; `lost` and `skipped` count the records.

WITH runs_of_groups AS (
    SELECT
        consumer_group AS group,
        unix_seconds(taken_at) AS at,
        unread_reason AS unread,
        unread_reason IS NULL AS is_read,
        lag,
        coalesce(status_reason = 'gone', false) AS gone,
        -- the number of rebalances: counted by the run, else 1 if it saw a rebalance or its effect
        IF(
            unread_reason IS NULL,
            coalesce(
                rebalances,
                IF(
                    array_contains(from_json(:rebalancing_states, 'array<string>'), group_state)
                        OR owners_changed > 0,
                    1,
                    0
                )
            ),
            NULL
        ) AS rebalanced,
        unread_reason IS NULL
            AND unix_seconds(taken_at) - unix_seconds(open_transaction_since)
                >= :long_transaction_seconds AS is_held,
        open_transaction_topic, open_transaction_partition, open_transaction_since,
        held_up_records,
        coalesce(unread_reason IS NULL AND incident_id IS NULL AND records_lost > 0, false)
            AS losing,
        IF(unread_reason IS NULL, records_lost, NULL) AS lost,
        unread_reason IS NULL AND incident_id IS NULL AND skipped_at = taken_at
            AND skip_reason <> 'gone' AS is_skipping,
        records_skipped, skip_reason AS reason
    FROM group_runs
),
said AS (
    SELECT
        group, at, unread, lag, gone, rebalanced, losing, lost,
        coalesce(rebalanced > 0, false) AS moving,
        -- the transaction that holds the group up, if it has been open for long
        IF(is_held, open_transaction_topic, NULL) AS held_topic,
        IF(is_held, open_transaction_partition, NULL) AS held_partition,
        IF(is_held, unix_seconds(open_transaction_since), NULL) AS held_since,
        IF(is_held, held_up_records, NULL) AS held_records,
        IF(is_skipping, records_skipped, NULL) AS skipped,
        IF(is_skipping, reason, NULL) AS skip_reason
    FROM runs_of_groups
),
-- On most days few groups have any spell.
notable AS (
    SELECT DISTINCT group AS notable
    FROM said
    WHERE unread IS NOT NULL OR gone OR held_since IS NOT NULL OR losing
        OR skip_reason IS NOT NULL OR moving
),
hours AS (
    SELECT
        *,
        -- many runs of the hour before saw a rebalance
        coalesce(sum(int(moving)) OVER last_hour >= least(
            :restless_runs, greatest(3, :restless_seconds / :interval_seconds / 2)
        ), false) AS restless,
        min(IF(moving, at, NULL)) OVER last_hour AS restless_since,
        max(IF(moving, at, NULL)) OVER last_hour AS restless_until,
        sum(rebalanced) OVER last_hour AS rebalanced_in_hour
    FROM said
    LEFT SEMI JOIN notable ON notable = group
    WINDOW last_hour AS (
        PARTITION BY group ORDER BY at RANGE BETWEEN 3600 PRECEDING AND CURRENT ROW
    )
),
counted AS (
    SELECT
        *,
        unread IS NOT NULL OR gone OR held_since IS NOT NULL OR losing
            OR skip_reason IS NOT NULL OR restless AS bad,
        -- count each rebalance once: the first restless run includes the rebalances of its hour
        IF(
            restless,
            IF(
                lag(restless) OVER by_time AND at - lag(at) OVER by_time <= :pause_seconds,
                rebalanced,
                rebalanced_in_hour
            ),
            NULL
        ) AS rebalances,
        last(lag, true) OVER (
            PARTITION BY group ORDER BY at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS lag_before,
        max(at) OVER (PARTITION BY group) AS seen_until,
        coalesce(at - lag(at) OVER by_time > :pause_seconds, true)
            OR NOT unread <=> lag(unread) OVER by_time
            OR gone <> lag(gone) OVER by_time
            OR restless <> lag(restless) OVER by_time
            OR losing <> lag(losing) OVER by_time
            OR NOT skip_reason <=> lag(skip_reason) OVER by_time
            OR NOT held_topic <=> lag(held_topic) OVER by_time
            OR NOT held_partition <=> lag(held_partition) OVER by_time
            OR NOT held_since <=> lag(held_since) OVER by_time AS is_first
    FROM hours
    WINDOW by_time AS (PARTITION BY group ORDER BY at)
),
numbered AS (
    SELECT *, count_if(is_first) OVER (PARTITION BY group ORDER BY at) AS spell FROM counted
)
SELECT
    group,
    timestamp_seconds(min(at)) AS first,
    timestamp_seconds(max(at)) AS last,
    max(unread) AS unread,
    max(gone) AS gone,
    max(restless) AS restless,
    max(losing) AS losing,
    max_by(lag_before, at) AS left,
    timestamp_seconds(max(seen_until)) AS seen_until,
    timestamp_seconds(min(restless_since)) AS restless_since,
    timestamp_seconds(max(restless_until)) AS restless_until,
    int(sum(rebalances)) AS rebalances,
    max(held_topic) AS held_topic,
    max(held_partition) AS held_partition,
    timestamp_seconds(max(held_since)) AS held_since,
    max(held_records) AS held_records,
    max(lost) AS lost,
    max(skipped) AS skipped,
    max(skip_reason) AS skip_reason
FROM numbered
WHERE bad
GROUP BY group, spell
ORDER BY lost DESC, last - first DESC, group, first
LIMIT :most_spells
