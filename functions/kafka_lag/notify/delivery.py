# SPDX-License-Identifier: Apache-2.0
"""Delivery of messages by one channel: each is claimed, sent and marked as sent.

None is lost, and one is repeated only where a process ends, or the store fails, between sending it
and marking it, or where nobody answered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from kafka_lag.errors import ReporterError, StoreError
from kafka_lag.notify.claims import Claim, Claims, NotClaimed
from kafka_lag.notify.messages import StatusMessage

# Claimed and sent together: a crash repeats no more than these.
_BATCH = 10

# Whether there is still the time for one request more.
HasTime: TypeAlias = Callable[[], bool]


class NotificationError(ReporterError):
    """Messages are not out, or not known to be; they stay claimed and are tried again.

    The name is logged as `error_type`.
    """


class OutOfTimeError(NotificationError):
    """The function's time ends before the messages do."""

    def __init__(self) -> None:
        super().__init__(
            "The time of one run was not enough for all messages: the next goes on with them."
        )


@dataclass(frozen=True, slots=True)
class Unsent:
    """A message that is not out; `reason` None: there was no time for it.

    `sent_events` are those of its events that are out all the same. Where it is `uncertain` it may
    be out, as nobody answered: then it is not sent again at once.
    """

    reason: str | None
    sent_events: frozenset[str] = frozenset()
    uncertain: bool = False


class Channel(Protocol):
    """All its messages go one way: SNS, EventBridge."""

    @property
    def name(self) -> str:
        """The name in the keys of its cursors and claims, and in the log."""

    def send(self, messages: Sequence[StatusMessage], has_time: HasTime) -> Mapping[str, Unsent]:
        """Messages that are not out, by id; those that are out are absent.

        Begins no request once `has_time` is false.
        """


@dataclass(slots=True)
class _Batch:
    """The claimed messages among a few, without events that an earlier attempt sent.

    `elsewhere` are other processes' at the moment; `error` is why the rest was not claimed.
    """

    messages: list[StatusMessage] = field(default_factory=list)
    claims: dict[str, Claim] = field(default_factory=dict)
    elsewhere: int = 0
    error: ReporterError | None = None


class Delivery:
    """Sends messages by one channel."""

    def __init__(self, channel: Channel, claims: Claims) -> None:
        self._channel = channel
        self._claims = claims

    def deliver(self, cluster: str, messages: Sequence[StatusMessage], has_time: HasTime) -> int:
        """Sends what nobody has sent; how many messages that were.

        Raises NotificationError when the channel did not take a message: one that is not out for
        certain is free for the next run, one that may be out is nobody's for two minutes. Raises it
        as well when another run has claimed one and not sent it yet, after all others. Raises
        OutOfTimeError where the time ends before the messages do, and StoreError where claims
        cannot be written.
        """
        sent = elsewhere = 0
        for start in range(0, len(messages), _BATCH):
            batch = self._claim(cluster, messages[start : start + _BATCH], has_time)
            # what is ours goes out, whatever became of the next claim
            self._send(batch, has_time)
            if batch.error:
                raise batch.error
            sent += len(batch.messages)
            elsewhere += batch.elsewhere
        if elsewhere:
            raise NotificationError(
                f"Messages not known to be out: {elsewhere}. Another run is sending them, or "
                "failed to; if so they are taken over, two minutes after it began."
            )
        return sent

    def _claim(self, cluster: str, messages: Sequence[StatusMessage], has_time: HasTime) -> _Batch:
        batch = _Batch()
        for message in messages:
            if not has_time():
                batch.error = OutOfTimeError()
                break
            try:
                claim = self._claims.claim(cluster, message.id)
            except StoreError as error:
                batch.error = error
                break
            if isinstance(claim, Claim):
                events = (event for event in message.events if event.id not in claim.sent_events)
                batch.messages.append(replace(message, events=tuple(events)))
                batch.claims[message.id] = claim
            elif claim is NotClaimed.SENDING:
                batch.elsewhere += 1
        return batch

    def _send(self, batch: _Batch, has_time: HasTime) -> None:
        if not batch.messages:
            return
        unsent = self._channel.send(batch.messages, has_time)
        errors = [self._mark(claim, unsent.get(id_)) for id_, claim in batch.claims.items()]
        reasons = [each.reason for each in unsent.values() if each.reason]
        if reasons:
            raise NotificationError(
                f"Not all messages are out: {'; '.join(dict.fromkeys(reasons))}. Nothing is lost: "
                "they are tried again, those that may be out two minutes later."
            )
        if unsent:
            raise OutOfTimeError
        for error in filter(None, errors):
            raise error

    def _mark(self, claim: Claim, unsent: Unsent | None) -> StoreError | None:
        """Why it could not be written: the next claim's mark may still be."""
        try:
            if unsent is None:
                self._claims.mark_sent(claim)
            elif unsent.uncertain:
                self._claims.mark_uncertain(claim, unsent.sent_events)
            else:
                self._claims.release(claim, unsent.sent_events)
        except StoreError as error:
            return error
        return None
