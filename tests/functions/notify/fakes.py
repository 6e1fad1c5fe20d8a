# SPDX-License-Identifier: Apache-2.0
"""Fakes of the notifier's edges: guarded objects, runs, a channel, a clock."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from kafka_lag.errors import StoreError, UnusableError
from kafka_lag.lag.frame import Frame
from kafka_lag.notify.channels.channel import InTime, Refusal
from kafka_lag.notify.delivery import Delivery
from kafka_lag.notify.memory.cursor import Cursors
from kafka_lag.notify.memory.objects import Stored
from kafka_lag.notify.messages.telling import Telling
from kafka_lag.notify.notifier import Notifier, Outcome
from kafka_lag.notify.notifiers import Notifiers
from kafka_lag.notify.runs import Runs
from tests.builders import MINUTE, NOON
from tests.fakes import RecordingJournal

CURSOR = "notified/cursors/shop/sns"


class MemoryClaims:
    """Objects in a dict, each write with a tag of its own; a verb in `down` raises StoreError."""

    def __init__(self) -> None:
        self.objects: dict[str, Stored] = {}
        self.down: set[str] = set()
        self._writes = 0

    def read(self, key: str) -> Stored | None:
        self._called("read")
        return self.objects.get(key)

    def put_if_none_match(self, key: str, data: bytes) -> str | None:
        self._called("put_if_none_match")
        return None if key in self.objects else self._put(key, data)

    def put_if_match(self, key: str, data: bytes, etag: str) -> str | None:
        self._called("put_if_match")
        held = self.objects.get(key)
        return self._put(key, data) if held and held.etag == etag else None

    def _put(self, key: str, data: bytes) -> str:
        self._writes += 1
        self.objects[key] = Stored(data, f'"{self._writes}"')
        return self.objects[key].etag

    def _called(self, verb: str) -> None:
        if verb in self.down:
            raise StoreError(f"the store cannot {verb}")


class MemoryRuns:
    """Runs by time; a run that is None cannot be read."""

    def __init__(self, sets: Mapping[int, Frame | None]) -> None:
        self.sets = sets

    def between(self, cluster: str, after: int, until: int) -> Iterator[int]:
        # from a copy: others may write while one is at it
        return (at for at in sorted(self.sets) if after < at <= until)

    def groups(self, cluster: str, taken_at: int) -> Frame:
        found = self.sets.get(taken_at)
        if found is None:
            raise UnusableError(f"there is no run of {taken_at}")
        return found


class Crash(BaseException):
    """The process ended, whatever it was about to do."""


class RecordingChannel:
    """Keeps what is sent; while `refuses` is a reason it takes nothing, for all it knows if it
    `doubts`.

    `before` and `after` are called around each sending and may raise, as a crash would.
    """

    def __init__(self, name: str = "sns") -> None:
        self.name = name
        self.sent: list[Telling] = []
        self.refuses: str | None = None
        self.doubts = False
        self.before: Callable[[], None] = lambda: None
        self.after: Callable[[], None] = lambda: None

    def send(self, tellings: Sequence[Telling], in_time: InTime) -> dict[str, Refusal]:
        self.before()
        if self.refuses:
            names = (telling.name for telling in tellings)
            return dict.fromkeys(names, Refusal(self.refuses, doubt=self.doubts))
        self.sent += tellings
        self.after()
        return {}

    @property
    def names(self) -> list[str]:
        return [telling.name for telling in self.sent]

    @property
    def kinds(self) -> list[tuple[object, object]]:
        """Group and kind of all that was sent, in order."""
        told = (telling.notice.attributes for telling in self.sent)
        return [(each["group"], each["kind"]) for each in told]


class Bench:
    """A notifier over fakes; the clock stands at the newest event's minute unless it is moved."""

    def __init__(
        self,
        sets: Mapping[int, Frame | None] | None = None,
        channels: Iterable[RecordingChannel] | None = None,
        runs: Runs | None = None,
    ) -> None:
        self.sets = dict(sets or {})
        self.runs = runs or MemoryRuns(self.sets)
        self.claims = MemoryClaims()
        self.channels = list(channels or [RecordingChannel()])
        self.channel = self.channels[0]
        self.journal = RecordingJournal()
        self.now = NOON / 1000
        self._processes = 0
        self.notifier = self.another()

    def another(self) -> Notifiers:
        """One more process at the same work."""
        self._processes += 1
        owner = f"process {self._processes}"

        def clock() -> float:
            return self.now

        notifiers = [
            Notifier(
                self.runs,
                Cursors(self.claims, channel.name),
                Delivery(channel, self.claims, clock, owner),
                self.journal,
            )
            for channel in self.channels
        ]
        return Notifiers(notifiers, self.journal, clock)

    def event(self, minute: int, notifier: Notifiers | None = None) -> Outcome:
        """The event of the run so many minutes after noon."""
        self.now = max(self.now, (NOON + minute * MINUTE) / 1000)
        return (notifier or self.notifier).run({"shop": NOON + minute * MINUTE})

    @property
    def cursor(self) -> int | None:
        """The newest run told of; None: there is no cursor."""
        stored = self.claims.objects.get(CURSOR)
        return int(json.loads(stored.data)["taken_at"]) if stored else None
