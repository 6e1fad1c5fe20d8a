# SPDX-License-Identifier: Apache-2.0
"""Fakes of the notifier's inputs and outputs: conditional objects, runs, channels, a clock."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

from kafka_lag.errors import StoreError, UnusableError
from kafka_lag.lag.frame import Frame
from kafka_lag.notify.conditional_objects import StoredObject
from kafka_lag.notify.delivery import HasTime, Outcome
from kafka_lag.notify.messages import Notice, StatusMessage
from kafka_lag.notify.msk_state import ClusterStates
from kafka_lag.notify.notifier import CompleteRuns, Notifier, NotifyResult
from tests.builders import MINUTE, NOON
from tests.fakes import RecordingLogger

CURSOR = "notified/shop/sns"


class MemoryObjects:
    """Objects in a dict, each write with a tag of its own; a verb in `down` raises StoreError."""

    def __init__(self) -> None:
        self.objects: dict[str, StoredObject] = {}
        self.down: set[str] = set()
        self._writes = 0

    def read(self, key: str) -> StoredObject | None:
        self._called("read")
        return self.objects.get(key)

    def put_if_none_match(self, key: str, data: bytes) -> str | None:
        self._called("put_if_none_match")
        return None if key in self.objects else self._put(key, data)

    def put_if_match(self, key: str, data: bytes, etag: str) -> str | None:
        self._called("put_if_match")
        stored = self.objects.get(key)
        return self._put(key, data) if stored and stored.etag == etag else None

    def _put(self, key: str, data: bytes) -> str:
        self._writes += 1
        self.objects[key] = StoredObject(data, f'"{self._writes}"')
        return self.objects[key].etag

    def _called(self, verb: str) -> None:
        if verb in self.down:
            raise StoreError(f"the store cannot {verb}")


class Deleted(MemoryObjects):
    """What is there when we write is deleted when we read."""

    def put_if_none_match(self, key: str, data: bytes) -> str | None:
        return None


class MemoryRuns:
    """Runs by time; a run that is None cannot be read."""

    def __init__(self, sets: Mapping[int, Frame | None]) -> None:
        self.sets = sets

    def between(self, cluster: str, after: int, until: int) -> Iterator[int]:
        # from a copy: others may write while one is at it
        return (at for at in sorted(self.sets) if after < at <= until)

    def up_to(self, cluster: str, taken_at: int) -> Iterator[int]:
        return (at for at in sorted(self.sets, reverse=True) if at <= taken_at)

    def groups(self, cluster: str, taken_at: int) -> Frame:
        found = self.sets.get(taken_at)
        if found is None:
            raise UnusableError(f"there is no run of {taken_at}")
        return found


class Crash(BaseException):
    """The process ended, whatever it was about to do."""


class RecordingChannel:
    """Keeps what is sent; while there is an `error` it takes nothing.

    `before` and `after` are called around each sending and may raise, as a crash would.
    """

    def __init__(self, name: str = "sns") -> None:
        self.name = name
        self.sent: list[StatusMessage] = []
        self.error: str | None = None
        self.before: Callable[[], None] = lambda: None
        self.after: Callable[[], None] = lambda: None

    def send(self, messages: Sequence[StatusMessage], sent: Set[str], has_time: HasTime) -> Outcome:
        self.before()
        if self.error:
            return Outcome(frozenset(), is_all=False, reason=self.error)
        out: set[str] = set()
        for message in messages:
            if message.id in sent:
                continue
            if not has_time():
                return Outcome(out, is_all=False)
            self.sent.append(message)
            out.add(message.id)
            self.after()
        return Outcome(out)

    @property
    def ids(self) -> list[str]:
        return [message.id for message in self.sent]

    @property
    def kinds(self) -> list[tuple[object, object]]:
        """Group and kind of all that was sent, in order."""
        attributes = (message.notice.attributes for message in self.sent)
        return [(each["group"], each["kind"]) for each in attributes]


class Bench:
    """A notifier over fakes; the clock stands at the newest event's minute unless it is moved."""

    def __init__(
        self,
        sets: Mapping[int, Frame | None] | None = None,
        channels: Iterable[RecordingChannel] | None = None,
        runs: CompleteRuns | None = None,
    ) -> None:
        self.sets = dict(sets or {})
        self.runs = runs or MemoryRuns(self.sets)
        self.objects = MemoryObjects()
        self.channels = list(channels or [RecordingChannel()])
        self.channel = self.channels[0]
        self.logger = RecordingLogger()
        self.now = NOON / 1000
        self._processes = 0
        self.notifier = self.another()

    def another(self, states: ClusterStates | None = None) -> Notifier:
        """One more process at the same work."""
        self._processes += 1
        owner = f"process {self._processes}"
        return Notifier(
            self.channels,
            self.runs,
            self.objects,
            self.logger,
            clock=lambda: self.now,
            owner=owner,
            states=states,
        )

    def event(self, minute: int, notifier: Notifier | None = None) -> NotifyResult:
        """The event of the run so many minutes after noon."""
        self.now = max(self.now, (NOON + minute * MINUTE) / 1000)
        return (notifier or self.notifier).notify({"shop": NOON + minute * MINUTE})

    @property
    def cursor(self) -> int | None:
        """The newest run reported; None: there is no cursor."""
        stored = self.objects.objects.get(CURSOR)
        return int(json.loads(stored.data)["taken_at"]) if stored else None


NOTICE = Notice("s", "t", {}, "thread")


def always() -> bool:
    return True
