-- SPDX-License-Identifier: Apache-2.0
-- A row is a row of the snapshot `topic_partitions`, with `produced`: the records written to its
-- log since the run before. The history has this column; snapshots do not. The records count for
-- the leader in the row. The column is null in rows that were not read, in the first row of a log,
-- and if an end offset is unknown. An end that went back counts as 0.

WITH known AS (
    SELECT *, IF(unread_reason IS NULL, end_offset, NULL) AS offset FROM topic_partition_rows
),
rises AS (
    SELECT *, offset - last(offset, true) OVER earlier AS rise
    FROM known
    WINDOW earlier AS (
        PARTITION BY topic, partition_id, topic_id ORDER BY taken_at
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
)
SELECT *, IF(rise < 0, 0, rise) AS produced FROM rises
