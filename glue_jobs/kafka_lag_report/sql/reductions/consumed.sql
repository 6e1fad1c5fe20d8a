-- SPDX-License-Identifier: Apache-2.0
-- A row is a row of the snapshot `group_partitions`, with the records that its group has read since
-- the run before. The history has this column; snapshots do not. It belongs to whom the row names:
-- the owner of the run in which it was seen. It is null in rows that were not read, in the first
-- row of a log, and where an offset is unknown. Nobody has read what was deleted ahead of a commit.
-- What went back counts as 0, and what is read again counts again.

WITH known AS (
    SELECT *, IF(unread_reason IS NULL, read_offset, NULL) AS offset FROM group_offsets
),
rises AS (
    SELECT
        *,
        offset - last(offset + coalesce(records_lost, 0), true) OVER earlier AS rise
    FROM known
    WINDOW earlier AS (
        PARTITION BY consumer_group, topic, topic_id, partition_id ORDER BY taken_at
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
)
SELECT *, IF(rise < 0, 0, rise) AS consumed FROM rises
