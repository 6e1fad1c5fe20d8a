# SPDX-License-Identifier: Apache-2.0
"""Events by way of EventBridge, ten a request, those it did not take once more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

from botocore.exceptions import BotoCoreError, ClientError

from kafka_lag import contract
from kafka_lag.aws import error_code, is_rejected
from kafka_lag.notify.channels.channel import InTime, Refusal
from kafka_lag.notify.messages.telling import Event, Telling

_MOST = 10
# Some regions still count 256 KB over all entries of a request.
_LARGEST = 250_000
_PAUSES = (0.2, 1.0)

# The name of the telling, and its event.
_Entry: TypeAlias = tuple[str, Event]


class EventBus:
    """One bus, by name or ARN; `pause` waits so many seconds between attempts."""

    name = "event_bus"

    def __init__(self, client: Any, bus: str, pause: Callable[[float], None]) -> None:
        self._client = client
        self._bus = bus
        self._pause = pause

    def send(self, tellings: Sequence[Telling], in_time: InTime) -> dict[str, Refusal]:
        """All events of all tellings; one that is not taken fails its telling, not its others.

        After a request of which nothing was taken the rest is not tried, as it would fare alike.
        """
        late: dict[str, _Late] = {}
        batches = list(_batches(tellings))
        for at, batch in enumerate(batches):
            if not in_time():
                _note(late, batches[at:], None)
                break
            refused, why, doubt = self._put(batch)
            _note(late, [refused], why, doubt=doubt)
            if len(refused) == len(batch):
                _note(late, batches[at + 1 :], why)
                break
        return {
            telling.name: late[telling.name].refusal(telling)
            for telling in tellings
            if telling.name in late
        }

    def _put(self, batch: list[_Entry]) -> tuple[list[_Entry], str, bool]:
        """Those not taken however often they were sent, why, and whether they may be out."""
        refused = batch
        try:
            refused, code = self._refused(refused)
            for pause in _PAUSES:
                if refused:
                    self._pause(pause)
                    refused, code = self._refused(refused)
        except (ClientError, BotoCoreError) as error:
            # the client itself has tried more than once by then
            return refused, self._why(error_code(error)), not is_rejected(error)
        return refused, self._why(code), False

    def _why(self, code: str) -> str:
        return (
            f"EventBridge did not take it for {self._bus} ({code}): check that the bus exists, "
            "and that the function may put events on it"
        )

    def _refused(self, batch: list[_Entry]) -> tuple[list[_Entry], str]:
        """Those of the batch that were not taken, and what EventBridge says of the last."""
        answer = self._client.put_events(Entries=[self._entry(event) for _, event in batch])
        told = [
            (entry, result.get("ErrorCode"))
            for entry, result in zip(batch, answer["Entries"], strict=True)
        ]
        refused = [(entry, code) for entry, code in told if code]
        return [entry for entry, _ in refused], refused[-1][1] if refused else ""

    def _entry(self, event: Event) -> dict[str, Any]:
        return {
            "Source": contract.EVENT_SOURCE,
            "DetailType": contract.EVENT_DETAIL_TYPE,
            "Detail": event.detail,
            "EventBusName": self._bus,
            "Time": datetime.fromtimestamp(event.taken_at / 1000, UTC),
        }


@dataclass(slots=True)
class _Late:
    """What is not out of one telling."""

    why: str | None
    doubt: bool = False
    events: set[str] = field(default_factory=set)

    def refusal(self, telling: Telling) -> Refusal:
        out = frozenset(event.name for event in telling.events) - self.events
        return Refusal(self.why, out, self.doubt)


def _note(
    late: dict[str, _Late], batches: Sequence[list[_Entry]], why: str | None, *, doubt: bool = False
) -> None:
    for name, event in (entry for batch in batches for entry in batch):
        of_telling = late.setdefault(name, _Late(why))
        of_telling.doubt |= doubt
        of_telling.events.add(event.name)


def _batches(tellings: Sequence[Telling]) -> Iterator[list[_Entry]]:
    batch: list[_Entry] = []
    size = 0
    for entry in ((telling.name, event) for telling in tellings for event in telling.events):
        own = len(entry[1].detail.encode()) + 100
        if batch and (len(batch) == _MOST or size + own > _LARGEST):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += own
    if batch:
        yield batch
