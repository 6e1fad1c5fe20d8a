# SPDX-License-Identifier: Apache-2.0
"""What every channel does: takes messages, and says which it did not take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from functions.notify.messages.telling import Telling


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a message is not out or not known to be; `out` names those of its events that are."""

    why: str
    out: frozenset[str] = frozenset()


class Channel(Protocol):
    """One way out."""

    @property
    def name(self) -> str:
        """What claims remember it by."""

    def send(self, tellings: Sequence[Telling]) -> Mapping[str, Refusal]:
        """By name, what became of messages that are not out; those that are out are absent."""
