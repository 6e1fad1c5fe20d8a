# SPDX-License-Identifier: Apache-2.0
"""What every channel does: takes messages, and says which it did not take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from botocore.exceptions import ClientError

from functions.notify.messages.telling import Telling


class Channel(Protocol):
    """One way out."""

    @property
    def name(self) -> str:
        """What claims remember it by."""

    def send(self, tellings: Sequence[Telling]) -> Mapping[str, str]:
        """By name, why a message is not out or not known to be; those that are out are absent."""


def code_of(error: Exception) -> str:
    """What AWS calls the error, without what the request held."""
    if isinstance(error, ClientError):
        return str(error.response["Error"]["Code"])
    return type(error).__name__
