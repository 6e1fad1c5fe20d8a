-- SPDX-License-Identifier: Apache-2.0
-- A row is a row of the snapshot `group_partitions`, with the offset that its group has read to.
-- It is the commit less what the commit jumped over on that day, so it rises by what was read. It
-- is null beyond the end, which nobody has read. If a partition skips twice, the last skip counts.

SELECT
    *,
    IF(
        coalesce(committed_offset > end_offset, false),
        NULL,
        committed_offset - IF(
            skipped_at >= date_trunc('day', taken_at)
                AND NOT coalesce(
                    array_contains(from_json(:skipped_beyond_end, 'array<string>'), skip_reason),
                    false
                ),
            skipped_to - skipped_from,
            0
        )
    ) AS read_offset
FROM group_partition_rows
