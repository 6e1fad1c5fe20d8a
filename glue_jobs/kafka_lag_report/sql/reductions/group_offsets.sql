-- SPDX-License-Identifier: Apache-2.0
-- A row is a row of the snapshot `group_partitions`, with `read_offset`: the commit without the
-- records that the group skipped on that day, so that it rises only by records that were read. It
-- is null if the commit is beyond the end. If a partition skips twice, only the last skip counts.

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
