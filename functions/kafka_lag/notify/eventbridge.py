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
from kafka_lag.notify.delivery import HasTime, Unsent
from kafka_lag.notify.messages import StatusEvent, StatusMessage

_ENTRIES = 10
# Some regions still count 256 KB over all entries of a request.
_REQUEST_BYTES = 250_000
_ENTRY_BYTES = 100
_RETRY_PAUSES = (0.2, 1.0)

# The id of the message, and its event.
_Entry: TypeAlias = tuple[str, StatusEvent]


class EventBridgeChannel:
    """One bus, by name or ARN; `pause` waits so many seconds between attempts."""

    name = "event_bus"

    def __init__(self, client: Any, bus: str, pause: Callable[[float], None]) -> None:
        self._client = client
        self._bus = bus
        self._pause = pause

    def send(self, messages: Sequence[StatusMessage], has_time: HasTime) -> dict[str, Unsent]:
        """All events of all messages; one that is not taken fails its message, not its others.

        After a request of which nothing was taken the rest is not tried, as it would fare alike.
        """
        failed: dict[str, _Failed] = {}
        requests = list(_split(messages))
        for at, entries in enumerate(requests):
            if not has_time():
                _record(failed, requests[at:], None)
                break
            rejected, reason, uncertain = self._put(entries)
            _record(failed, [rejected], reason, uncertain=uncertain)
            if len(rejected) == len(entries):
                _record(failed, requests[at + 1 :], reason)
                break
        return {
            message.id: failed[message.id].unsent(message)
            for message in messages
            if message.id in failed
        }

    def _put(self, entries: list[_Entry]) -> tuple[list[_Entry], str, bool]:
        """Return the entries that were always rejected, why, and whether they may still be out."""
        rejected = entries
        try:
            rejected, code = self._put_once(rejected)
            for pause in _RETRY_PAUSES:
                if rejected:
                    self._pause(pause)
                    rejected, code = self._put_once(rejected)
        except (ClientError, BotoCoreError) as error:
            # the client itself has tried more than once by then
            return rejected, self._explain(error_code(error)), not is_rejected(error)
        return rejected, self._explain(code), False

    def _put_once(self, entries: list[_Entry]) -> tuple[list[_Entry], str]:
        """Return the entries that were rejected, and EventBridge's code for the last of them."""
        answer = self._client.put_events(Entries=[self._build_entry(event) for _, event in entries])
        codes = [result.get("ErrorCode") for result in answer["Entries"]]
        rejected = [entry for entry, code in zip(entries, codes, strict=True) if code]
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


@dataclass(slots=True)
class _Failed:
    """Events of one message that are not out."""

    reason: str | None
    uncertain: bool = False
    events: set[str] = field(default_factory=set)

    def unsent(self, message: StatusMessage) -> Unsent:
        sent = frozenset(event.id for event in message.events) - self.events
        return Unsent(self.reason, sent, self.uncertain)


def _record(
    failed: dict[str, _Failed],
    requests: Sequence[list[_Entry]],
    reason: str | None,
    *,
    uncertain: bool = False,
) -> None:
    for message_id, event in (entry for entries in requests for entry in entries):
        of_message = failed.setdefault(message_id, _Failed(reason))
        of_message.uncertain |= uncertain
        of_message.events.add(event.id)


def _split(messages: Sequence[StatusMessage]) -> Iterator[list[_Entry]]:
    """The entries of each request, in order."""
    entries: list[_Entry] = []
    size = 0
    for entry in ((message.id, event) for message in messages for event in message.events):
        own = len(entry[1].detail.encode()) + _ENTRY_BYTES
        if entries and (len(entries) == _ENTRIES or size + own > _REQUEST_BYTES):
            yield entries
            entries, size = [], 0
        entries.append(entry)
        size += own
    if entries:
        yield entries
