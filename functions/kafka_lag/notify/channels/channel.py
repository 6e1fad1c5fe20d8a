# SPDX-License-Identifier: Apache-2.0
"""A way out for messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from kafka_lag.notify.messages.telling import Telling

# Whether there is still the time for one request more.
InTime: TypeAlias = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Refusal:
    """What became of a message that is not out; `why` None: there was no time for it.

    `out` names those of its events that are out all the same. In `doubt` it may be out, as nobody
    answered: then it is not sent again at once.
    """

    why: str | None
    out: frozenset[str] = frozenset()
    doubt: bool = False


class Channel(Protocol):
    """All its messages go one way: SNS, EventBridge."""

    @property
    def name(self) -> str:
        """By which its messages are remembered."""

    def send(self, tellings: Sequence[Telling], in_time: InTime) -> Mapping[str, Refusal]:
        """By name, what became of messages that are not out; those that are out are absent.

        Begins no request once it is not `in_time`.
        """
