# SPDX-License-Identifier: Apache-2.0
"""The mute windows of messages: from the rows, and from `kafka-lag mute`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass

from kafka_lag import contract
from kafka_lag.contract.mute_windows import Mute, MuteWindow, find_mute, join_mutes, read_mute
from kafka_lag.errors import UnusableError
from kafka_lag.lag.frame import Frame
from kafka_lag.notify.changes import LOSS, GroupChange, find_changes
from kafka_lag.notify.conditional_objects import ConditionalObjects

# A deleted group's last row is in one run only, and may say that the group had lag.
_NEVER_MUTED = (contract.GONE,)
_OF_LOSS = (LOSS.begun, LOSS.ended)


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
        windows = tuple(MuteWindow.of(each) for each in json.loads(data))
        for window in windows:
            # A malformed window raises here, before it can cost a message.
            window.mutes("")
            window.find_open(window.at_ms or 0)
    except (ValueError, TypeError, AttributeError, OverflowError, re.error) as error:
        raise UnusableError(f"the object of mute windows is malformed: {error}") from error
    return windows


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

        A muted group has only the changes that no window mutes. A group whose window has ended is
        compared with its row before the window, so that changes that still hold are reported.
        """
        changes = find_changes(cluster, taken_at, groups, before)
        now = dict(self._list_muted(groups, taken_at))
        old = {} if before is None else dict(self._list_muted(before))
        found = [
            change
            for change in changes
            if change.kind in _NEVER_MUTED or not (_is_muted(change, now) or _is_muted(change, old))
        ]
        gone = {change.group for change in changes if change.kind in _NEVER_MUTED}
        there = set(groups.strings("consumer_group").to_list()) - gone
        ended = {
            name: mute
            for name, mute in old.items()
            if name in there and (name not in now or mute.losses > now[name].losses)
        }
        for names, began in self._find_unmuted(ended):
            left = find_changes(cluster, taken_at, _select(groups, names), began)
            found += [each for each in left if _is_muted(each, old) and not _is_muted(each, now)]
        return found

    def _find_unmuted(
        self, muted: Mapping[str, Mute]
    ) -> Iterator[tuple[AbstractSet[str], Frame | None]]:
        """Yields names of groups, and the rows that they had before they were muted.

        If another window was open just before, the rows are from before that one, too. Groups of
        one window are read together. None stands for rows of runs that are gone.
        """
        for mute in dict.fromkeys(muted.values()):
            names = {name for name, each in muted.items() if each == mute}
            frame = self.read_before(mute.since)
            open_then = [] if frame is None else self._list_muted(_select(frame, names))
            earlier = {name: each for name, each in open_then if each.since < mute.since}
            names -= earlier.keys()
            yield names, None if frame is None else _select(frame, names)
            yield from self._find_unmuted(earlier)

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


def _is_muted(change: GroupChange, mutes: Mapping[str, Mute]) -> bool:
    """Returns True for a change of a group that one of the windows mutes."""
    mute = mutes.get(change.group)
    return mute is not None and (mute.losses or change.kind not in _OF_LOSS)


def _select(groups: Frame, names: AbstractSet[str]) -> Frame:
    rows: Frame = groups.where(groups.strings("consumer_group").is_in(sorted(names)))
    return rows
