# SPDX-License-Identifier: Apache-2.0
"""The interface of a channel: it sends messages and returns which were sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from kafka_lag.errors import ReporterError
from kafka_lag.notify.messages import StatusMessage

# Returns True while there is time for one more request.
HasTime: TypeAlias = Callable[[], bool]


class NotificationError(ReporterError):
    """Some messages were not sent, or may not have been; they are tried again.

    The name is logged as `error_type`.
    """


class OutOfTimeError(NotificationError):
    """The function's time ended before all messages were sent."""

    def __init__(self) -> None:
        super().__init__(
            "The time of one run was not enough for all messages: the next goes on with them."
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """The ids of the messages that were sent.

    `is_all` is True if no message is left. Otherwise `reason` says why; None if the time ran out.
    """

    sent: Set[str]
    is_all: bool = True
    reason: str | None = None


class Channel(Protocol):
    """A channel that sends all its messages one way: SNS, EventBridge."""

    @property
    def name(self) -> str:
        """Returns the name in the keys of its cursors, and in the log."""

    def send(self, messages: Sequence[StatusMessage], sent: Set[str], has_time: HasTime) -> Outcome:
        """Sends the messages, or their events, whose ids are not in `sent`.

        Begins no request once `has_time` returns False.
        """
