# SPDX-License-Identifier: Apache-2.0
"""Mute windows of messages: those in the rows, and those that `kafka-lag mute` wrote."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass

from kafka_lag import contract
from kafka_lag.contract.mute_windows import Mute, MuteWindow, find_mute, join_mutes, read_mute
from kafka_lag.errors import UnusableError
from kafka_lag.lag.frame import Frame
from kafka_lag.notify.changes import LOSS, GroupChange, find_changes
from kafka_lag.notify.conditional_objects import ConditionalObjects

# Whoever deletes a group wants to know that it had lag, and its last row is in one run only.
_NEVER_MUTED = (contract.GONE,)
_OF_LOSS = (LOSS.begun, LOSS.ended)
_LOSS_COLUMNS = ("held_loss_since", "loss_since", "loss_seen_at", "incident_lost")


def windows_key(cluster: str) -> str:
    """Returns the key of the windows that `kafka-lag mute` writes for a cluster."""
    return f"{contract.NOTIFIED_PREFIX}/{cluster}/mutes"


def read_windows(objects: ConditionalObjects, cluster: str) -> tuple[MuteWindow, ...]:
    """Returns the windows of the object. Raises StoreError; UnusableError if it is malformed."""
    stored = objects.read(windows_key(cluster))
    return () if stored is None else decode_windows(stored.data)


def decode_windows(data: bytes) -> tuple[MuteWindow, ...]:
    """Returns the windows that `encode_windows` wrote. Raises UnusableError."""
    try:
        return tuple(MuteWindow.of(each) for each in json.loads(data))
    except (ValueError, TypeError) as error:
        raise UnusableError(f"the object of mute windows is malformed: {error}") from error


def encode_windows(windows: Iterable[MuteWindow]) -> bytes:
    """Returns the object of these windows."""
    return json.dumps([asdict(each) for each in windows]).encode()


@dataclass(frozen=True, slots=True)
class Mutes:
    """The mute windows of a cluster's messages.

    `read_before` returns the groups of the newest readable run before a time, ms UTC.
    """

    windows: tuple[MuteWindow, ...]
    read_before: Callable[[int], Frame | None]

    def find_changes(
        self, cluster: str, taken_at: int, groups: Frame, before: Frame | None
    ) -> list[GroupChange]:
        """Returns the changes to report now.

        A group that is muted has only those that no window mutes. A group whose window has ended
        is compared with its row before the window, so that what is still there is reported.
        """
        changes = find_changes(cluster, taken_at, groups, before)
        now = dict(self._list_muted(groups, taken_at))
        old = {} if before is None else dict(self._list_muted(before))
        there = set(groups.strings("consumer_group").to_list())
        ended = {name: mute for name, mute in old.items() if name in there and name not in now}
        found = [
            change
            for change in changes
            if change.group not in ended
            and (change.group not in now or _is_reported(change, now[change.group]))
        ]
        for group, mute in ended.items():
            found += self._find_left(cluster, taken_at, groups, before, group, mute)
        return found

    def _find_left(
        self,
        cluster: str,
        taken_at: int,
        groups: Frame,
        before: Frame | None,
        group: str,
        mute: Mute,
    ) -> list[GroupChange]:
        """Returns the changes of a group since before its window, without losses reported since."""
        own, at_end = _select(groups, group), None if before is None else _select(before, group)
        began = self._read_unmuted(group, mute)
        if began is not None and len(began) and at_end is not None and not mute.losses:
            known = {name: at_end.columns[name] for name in _LOSS_COLUMNS}
            began = began.with_columns(**known)
        return find_changes(cluster, taken_at, own, began)

    def _read_unmuted(self, group: str, mute: Mute) -> Frame | None:
        """Returns the group's last row before the window and all that were open before it."""
        earlier: Mute | None = mute
        while earlier is not None:
            frame = self.read_before(earlier.since)
            if frame is None:
                return None
            frame, since = _select(frame, group), earlier.since
            earlier = next((each for _, each in self._list_muted(frame)), None)
            if earlier is not None and earlier.since >= since:
                return None
        return frame

    def _list_muted(self, groups: Frame, at: int | None = None) -> Iterator[tuple[str, Mute]]:
        """Yields the groups that are muted in a run, with the open windows as one."""
        muted = groups.strings("muted")
        if not self.windows and not muted.known.any():
            return
        times = groups.numbers("taken_at").to_list()
        names = groups.strings("consumer_group").to_list()
        for name, text, own in zip(names, muted.to_list(), times, strict=True):
            time = own if at is None else at
            found = [read_mute(text)]
            found += [find_mute(self.windows, name, time)] if time is not None else []
            if mute := join_mutes(each for each in found if each):
                yield name, mute


def _is_reported(change: GroupChange, mute: Mute) -> bool:
    """Returns True for a change that the window does not mute."""
    return change.kind in _NEVER_MUTED or (change.kind in _OF_LOSS and not mute.losses)


def _select(groups: Frame, group: str) -> Frame:
    row: Frame = groups.where(groups.strings("consumer_group").is_in([group]))
    return row
