# SPDX-License-Identifier: Apache-2.0
"""What every channel does: takes messages, and says which it did not take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from functions.notify.messages.telling import Telling


class Channel(Protocol):
    """One way out."""

    @property
    def name(self) -> str:
        """What claims remember it by."""

    def send(self, tellings: Sequence[Telling]) -> Mapping[str, str]:
        """By name, why a message is not out or not known to be; those that are out are absent."""
