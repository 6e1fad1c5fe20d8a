-- SPDX-License-Identifier: Apache-2.0
-- A row is a row of the snapshot `group_partitions`, with `consumed`: the records that its group
-- has read since the run before. The history has this column; snapshots do not. The records count
-- for the owner in the row. The column is null in rows that were not read, in the first row of a
-- log, and if an offset is unknown. Records that were deleted ahead of a commit do not count as
-- read. An offset that went back counts as 0, and records that are read again count again.

WITH known AS (
    SELECT *, IF(unread_reason IS NULL, read_offset, NULL) AS offset FROM group_offsets
),
rises AS (
    SELECT
        *,
        offset - last(offset + coalesce(records_lost, 0), true) OVER earlier AS rise
    FROM known
    WINDOW earlier AS (
        PARTITION BY consumer_group, topic, partition_id, topic_id ORDER BY taken_at
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
)
SELECT *, IF(rise < 0, 0, rise) AS consumed FROM rises
