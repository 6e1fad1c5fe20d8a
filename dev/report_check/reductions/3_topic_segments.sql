-- SPDX-License-Identifier: Apache-2.0
-- Topics whoever consumes them, reduced as the groups' partitions are.

CREATE OR REPLACE TEMP TABLE topic_segments AS
SELECT
    topic, topic_id, partition_id, leader, leader_rack,
    count(*) AS readings,
    max(taken_at) AS last_at,
    count(end_offset) AS ends,
    min_by(end_offset, taken_at) AS end_first,
    max_by(end_offset, taken_at) AS end_last,
    min(taken_at) FILTER (end_offset IS NOT NULL) AS end_first_at,
    max(taken_at) FILTER (end_offset IS NOT NULL) AS end_last_at,
    max_by(retention_ms, taken_at) AS retention_ms,
    max(taken_at) FILTER (retention_ms IS NOT NULL) AS retention_at,
    max_by(retention_ms < 0 OR cleanup_policy NOT LIKE '%delete%', taken_at) AS unlimited,
    max(taken_at) FILTER ((retention_ms < 0 OR cleanup_policy NOT LIKE '%delete%') IS NOT NULL)
        AS unlimited_at
FROM topic_partitions
WHERE unread_reason IS NULL
GROUP BY ALL;

-- Records appended to each partition; one whose end was never known is left out.
CREATE OR REPLACE TEMP TABLE production AS
WITH logs AS (
    SELECT
        topic, topic_id, partition_id,
        CASE WHEN sum(ends) >= 2
            THEN greatest(max_by(end_last, end_last_at) - min_by(end_first, end_first_at), 0)
        END AS produced
    FROM topic_segments
    WHERE ends > 0
    GROUP BY ALL
)
SELECT topic, partition_id, sum(produced)::DOUBLE AS produced
FROM logs
GROUP BY ALL;

CREATE OR REPLACE TEMP TABLE production_runs AS
WITH rates AS (
    SELECT
        topic, taken_at,
        max(produce_rate) * 300 AS produced_max,
        avg(produce_rate) * 300 AS produced_mean
    FROM topic_partitions
    WHERE unread_reason IS NULL AND produce_rate IS NOT NULL
    GROUP BY ALL
)
SELECT rates.*, coalesce(runs.weight, getvariable('usual_gap')) AS weight
FROM rates
LEFT JOIN runs USING (taken_at);

-- How far the offset rose for each owner: each rise belongs to the owner of the run that saw it.
CREATE OR REPLACE TEMP TABLE leader_production AS
WITH rises AS (
    SELECT
        leader, leader_rack,
        end_offset - lag(end_offset IGNORE NULLS) OVER (PARTITION BY topic, topic_id, partition_id ORDER BY taken_at) AS rise
    FROM topic_partitions
    WHERE unread_reason IS NULL
)
SELECT
    leader, leader_rack,
    sum(CASE WHEN rise IS NOT NULL THEN greatest(rise, 0) END) AS credited
FROM rises
GROUP BY ALL;
