# SPDX-License-Identifier: Apache-2.0
"""Sends events to EventBridge, ten in a request; rejected ones are tried again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from datetime import UTC, datetime
from typing import Any

from kafka_lag import contract
from kafka_lag.aws import AWS_ERRORS, error_code
from kafka_lag.notify.delivery import HasTime, Outcome
from kafka_lag.notify.messages import StatusEvent, StatusMessage

_ENTRIES = 10
# Some regions still count 256 KB over all entries of a request.
_REQUEST_BYTES = 250_000
_ENTRY_BYTES = 100
_RETRY_PAUSES = (0.2, 1.0)


class EventBridgeChannel:
    """One bus, by name or ARN; `pause` waits between attempts, for the seconds that it gets."""

    name = "event_bus"

    def __init__(self, client: Any, bus: str, pause: Callable[[float], None]) -> None:
        self._client = client
        self._bus = bus
        self._pause = pause

    def send(self, messages: Sequence[StatusMessage], sent: Set[str], has_time: HasTime) -> Outcome:
        """Puts all events of all messages; a rejected one does not stop the others.

        After a request that is rejected as a whole the rest is not tried, because it would fail,
        too.
        """
        events = [each for message in messages for each in message.events if each.id not in sent]
        out: set[str] = set()
        failed: str | None = None
        for request in _split(events):
            if not has_time():
                return Outcome(out, is_all=False, reason=failed)
            rejected, reason = self._put(request)
            out |= {event.id for event in request} - {event.id for event in rejected}
            if rejected:
                failed = reason
            if len(rejected) == len(request):
                break
        return Outcome(out, is_all=failed is None, reason=failed)

    def _put(self, events: list[StatusEvent]) -> tuple[list[StatusEvent], str]:
        """Returns the events that were rejected in every attempt, and why."""
        rejected, code = events, ""
        try:
            rejected, code = self._put_once(rejected)
            for pause in _RETRY_PAUSES:
                if rejected:
                    self._pause(pause)
                    rejected, code = self._put_once(rejected)
        except AWS_ERRORS as error:
            # The client itself has already tried more than once.
            code = error_code(error)
        return rejected, self._explain(code)

    def _put_once(self, events: list[StatusEvent]) -> tuple[list[StatusEvent], str]:
        """Returns the rejected events, and EventBridge's code for the last of them."""
        answer = self._client.put_events(Entries=[self._build_entry(event) for event in events])
        codes = [result.get("ErrorCode") for result in answer["Entries"]]
        rejected = [event for event, code in zip(events, codes, strict=True) if code]
        return rejected, next(filter(None, reversed(codes)), "")

    def _build_entry(self, event: StatusEvent) -> dict[str, Any]:
        return {
            "Source": contract.EVENT_SOURCE,
            "DetailType": contract.EVENT_DETAIL_TYPE,
            "Detail": event.detail,
            "EventBusName": self._bus,
            "Time": datetime.fromtimestamp(event.taken_at / 1000, UTC),
        }

    def _explain(self, code: str) -> str:
        return (
            f"EventBridge did not take it for {self._bus} ({code}): check that the bus exists, "
            "and that the function may put events on it"
        )


def _split(events: Sequence[StatusEvent]) -> Iterator[list[StatusEvent]]:
    """Yields the events of each request, in order."""
    request: list[StatusEvent] = []
    size = 0
    for event in events:
        own = len(event.detail.encode()) + _ENTRY_BYTES
        if request and (len(request) == _ENTRIES or size + own > _REQUEST_BYTES):
            yield request
            request, size = [], 0
        request.append(event)
        size += own
    if request:
        yield request
