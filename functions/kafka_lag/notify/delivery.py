# SPDX-License-Identifier: Apache-2.0
"""What a channel is: it sends messages, and says which are out."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from kafka_lag.errors import ReporterError
from kafka_lag.notify.messages import StatusMessage

# Whether there is still the time for one request more.
HasTime: TypeAlias = Callable[[], bool]


class NotificationError(ReporterError):
    """Messages are not out, or not known to be; they are tried again.

    The name is logged as `error_type`.
    """


class OutOfTimeError(NotificationError):
    """The function's time ends before the messages do."""

    def __init__(self) -> None:
        super().__init__(
            "The time of one run was not enough for all messages: the next goes on with them."
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """The ids that went out, and whether that was all; else why not, None if time was short."""

    sent: Set[str]
    is_all: bool = True
    reason: str | None = None


class Channel(Protocol):
    """All its messages go one way: SNS, EventBridge."""

    @property
    def name(self) -> str:
        """The name in the keys of its cursors, and in the log."""

    def send(self, messages: Sequence[StatusMessage], sent: Set[str], has_time: HasTime) -> Outcome:
        """Sends the messages, or the events in them, whose ids are not among those `sent` before.

        Begins no request once `has_time` is false.
        """
