-- SPDX-License-Identifier: Apache-2.0
-- Retention: what was lost, where and when
-- Records that retention deleted before a group had read them, a row for each partition: how many,
-- the first and last run that saw it, and how many a second were lost between these two (nothing
-- for a single run, 0 for a loss that is over).
-- Change group, cluster and dates in the first lines. LIKE '%' is all; for one write = 'name', as _
-- in LIKE is any character.
-- Days older than shared.keep.snapshot_days are not found: put history_ before the table's name
-- (history_group_partitions, which has no hour).
-- kafka-lag query takes cluster, group, day (today), days (8).
WITH request AS (
    SELECT *
    FROM group_partitions
    WHERE dt BETWEEN date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
            AND date_format(current_date, '%Y-%m-%d')
        AND cluster LIKE '%'
        AND consumer_group LIKE '%'
),
-- From each commit on, up to which offset records were gone.
gone AS (
    SELECT
        cluster,
        consumer_group,
        topic,
        topic_id,
        partition_id,
        committed_offset,
        committed_offset + max(records_lost) AS gone_to,
        min_by(records_lost, taken_at) AS lost_at_first,
        min(taken_at) AS first_at,
        max(taken_at) AS last_at
    FROM request
    WHERE records_lost > 0
    GROUP BY cluster, consumer_group, topic, topic_id, partition_id, committed_offset
),
-- A commit may move within what was lost already, which is counted once.
apart AS (
    SELECT
        *,
        greatest(
            committed_offset,
            coalesce(
                max(gone_to) OVER (
                    PARTITION BY cluster, consumer_group, topic, topic_id, partition_id
                    ORDER BY committed_offset
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ),
                committed_offset
            )
        ) AS gone_from
    FROM gone
),
losses AS (
    SELECT
        cluster,
        consumer_group,
        topic,
        partition_id,
        sum(greatest(gone_to - gone_from, 0)) AS records_lost,
        min_by(lost_at_first, first_at) AS lost_at_first,
        min(committed_offset) AS first_lost_offset,
        min(first_at) AS first_seen_at,
        max(last_at) AS last_seen_at
    FROM apart
    GROUP BY cluster, consumer_group, topic, topic_id, partition_id
)
SELECT
    cluster,
    consumer_group,
    topic,
    partition_id,
    records_lost,
    round(
        CAST(records_lost - lost_at_first AS double)
        / nullif(date_diff('second', first_seen_at, last_seen_at), 0),
        1
    ) AS lost_per_second,
    first_lost_offset,
    first_seen_at,
    last_seen_at
FROM losses
ORDER BY last_seen_at DESC, records_lost DESC, cluster, consumer_group, topic, partition_id
