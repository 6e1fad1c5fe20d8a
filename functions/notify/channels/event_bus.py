# SPDX-License-Identifier: Apache-2.0
"""Events by way of EventBridge, ten a request, those it did not take once more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from botocore.exceptions import BotoCoreError, ClientError

from functions import contract
from functions.notify.channels.channel import Refusal
from functions.notify.messages.telling import Event, Telling
from functions.refusal import code_of

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

    def send(self, tellings: Sequence[Telling]) -> dict[str, Refusal]:
        """All events of all tellings; one that is not taken fails its telling, not its others.

        After a request of which nothing was taken the rest is not tried, as it would fare alike.
        """
        late: list[_Entry] = []
        codes: dict[str, str] = {}
        batches = list(_batches(tellings))
        for at, batch in enumerate(batches):
            refused, code = self._put(batch)
            untaken = len(refused) == len(batch)
            some = [entry for rest in batches[at:] for entry in rest] if untaken else refused
            late += some
            codes |= dict.fromkeys((name for name, _ in some), code)
            if untaken:
                break
        return {
            telling.name: Refusal(self._why(codes[telling.name]), _taken(telling, late))
            for telling in tellings
            if telling.name in codes
        }

    def _put(self, batch: list[_Entry]) -> tuple[list[_Entry], str]:
        """Those that were not taken however often they were sent, and why."""
        refused, code = batch, ""
        try:
            refused, code = self._refused(refused)
            for pause in _PAUSES:
                if refused:
                    self._pause(pause)
                    refused, code = self._refused(refused)
        except (ClientError, BotoCoreError) as error:
            # the client itself has tried more than once by then
            return refused, code_of(error)
        return refused, code

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


def _taken(telling: Telling, late: Sequence[_Entry]) -> frozenset[str]:
    missing = {event.name for name, event in late if name == telling.name}
    return frozenset(event.name for event in telling.events) - missing


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
