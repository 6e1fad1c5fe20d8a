# SPDX-License-Identifier: Apache-2.0
"""The member probe: checks whether one member of a group still moves any of its own partitions.

Liveness probes use it to restart a replica, so a member never counts as stalled without proof.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.errors import StoreError
from kafka_lag.lag.columns import Mask
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.views.latest_run import LatestRun, Snapshots, UnreadableCluster, find_latest_run
from kafka_lag.wording.formatting import format_duration, format_minute, format_name

# A member counts as stalled if it owned its partitions for this long and moved none of them. A new
# owner of a partition that was stuck before gets as long to move it. STALL needs this time, too.
WINDOW_MS = 600_000
_COLUMNS = (
    "consumer_group",
    "topic",
    "topic_id",
    "partition_id",
    "client_id",
    "member_id",
    "owned_at",
    "unread_reason",
    "commit_changed_at",
    "consumer_status",
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a member, with the reason; `is_alive` is None if neither is proven.

    `is_known` is False for a cluster, group or client ID that no run has, or that several members
    share. `taken_at` is the run, ms UTC; None without a run.
    """

    is_alive: bool | None
    reason: str
    taken_at: int | None = None
    is_known: bool = True


def probe_member(
    snapshots: Snapshots, cluster: str, group: str, client_id: str, now_ms: int
) -> Verdict:
    """Returns the verdict on a member by the runs of the last ten minutes.

    It is stalled if records wait on a partition of its own that is STALL, and none of its
    partitions moved while it owned them for the whole window.
    """
    try:
        run = find_latest_run(snapshots, cluster, now_ms)
        if run is None:
            return _unknown(f"There is no cluster {format_name(cluster)}.")
        if isinstance(run, UnreadableCluster):
            return Verdict(None, "The newest runs cannot be read.")
        if run.is_old:
            at = format_minute(run.taken_at)
            return Verdict(None, f"The newest run is of {at}: too old to judge.", run.taken_at)
        return _judge(run, _read_window(snapshots, run), group, client_id)
    except StoreError as error:
        # The text names buckets and folders, which are for the log.
        logging.getLogger(__name__).warning("%s", error)
        return Verdict(None, "The snapshots cannot be read now.")


def _unknown(reason: str) -> Verdict:
    return Verdict(None, reason, is_known=False)


def _read_window(snapshots: Snapshots, run: LatestRun) -> dict[int, Frame]:
    """Returns the partitions of the window's readable runs, and of the run before it, by time."""
    since = run.taken_at - WINDOW_MS - round(run.interval_seconds * 1000)
    times = [at for at in run.recent if since < at <= run.taken_at]
    return snapshots.frames(run.cluster, contract.GROUP_PARTITIONS, times, _COLUMNS)


def _judge(run: LatestRun, frames: dict[int, Frame], group: str, client_id: str) -> Verdict:
    if not run.groups.strings("consumer_group").is_in([group]).any():
        return _unknown(f"There is no group {format_name(group)}.")
    owned = {at: _select_owned(rows, at, group, client_id) for at, rows in frames.items()}
    own = owned.get(run.taken_at)
    if own is None:
        return Verdict(None, "The newest run cannot be read.", run.taken_at)
    members = own.strings("member_id").pruned().categories
    if not members:
        if any(map(len, owned.values())):
            reason = "It owns no partition now, and owned some in the last ten minutes."
            return Verdict(None, reason, run.taken_at)
        return _unknown(f"No member with the client ID {format_name(client_id)} owns a partition.")
    if len(members) > 1:
        return _unknown(
            f"{len(members)} members have the client ID {format_name(client_id)}: give each its "
            "own client.id."
        )
    moved = own.numbers("commit_changed_at") > run.taken_at - WINDOW_MS
    stalled = own.strings("consumer_status").is_in([contract.STALLED])
    if not stalled.any() or moved.any():
        return Verdict(True, "No partition waits, or one of them moves.", run.taken_at)
    if own.strings("unread_reason").known.any():
        return Verdict(None, "Some of its partitions could not be read.", run.taken_at)
    waited = stalled & _is_owned_throughout(run, owned, own)
    if not waited.any():
        return Verdict(None, "It has owned them for less than ten minutes.", run.taken_at)
    return Verdict(False, _describe(own.where(waited), own, run.taken_at), run.taken_at)


def _select_owned(rows: Frame, taken_at: int, group: str, client_id: str) -> Frame:
    """Returns the partitions that members with this client ID own in the run."""
    mask = rows.strings("consumer_group").is_in([group])
    mask &= rows.strings("client_id").is_in([client_id])
    return rows.where(
        mask & rows.strings("member_id").known & (rows.numbers("owned_at") == taken_at)
    )


def _is_owned_throughout(run: LatestRun, owned: dict[int, Frame], own: Frame) -> Mask:
    """Marks partitions that the same member owned in every readable run of the whole window."""
    if min(owned) > run.taken_at - WINDOW_MS:
        return np.zeros(len(own), bool)
    mask: Mask = np.ones(len(own), bool)
    for rows in owned.values():
        mask &= locate(own, rows, ("topic", "topic_id", "partition_id", "member_id")) >= 0
    return mask


def _describe(rows: Frame, own: Frame, taken_at: int) -> str:
    """Returns which partitions wait, and since when none of its own moved."""
    first, *others = rows.to_dicts()
    more = f" and {len(others)} more" if others else ""
    waiting = f"partition {first['partition_id']} of {format_name(first['topic'])}{more}"
    # The time is unknown for a partition that no run saw move.
    moved = [at for at in own.numbers("commit_changed_at").to_list() if at is not None]
    if not moved:
        return f"Records wait on {waiting}, and none of its partitions was ever seen to move."
    still = format_duration((taken_at - max(moved)) / 1000)
    return f"Records wait on {waiting}, and none of its partitions has moved for {still}."
