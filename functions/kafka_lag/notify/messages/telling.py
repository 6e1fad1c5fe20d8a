# SPDX-License-Identifier: Apache-2.0
"""One message for people with the events for machines that belong to it: told together, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notice:
    """For people: `subject` is printable ASCII under 100 characters, `text` a few lines.

    `attributes` are what subscribers filter by, a tuple being a list of values; `thread` is shared
    by all notices of an incident.
    """

    subject: str
    text: str
    attributes: Mapping[str, str | tuple[str, ...]]
    thread: str


@dataclass(frozen=True, slots=True)
class Event:
    """For machines: `name` is its message_id, `detail` is JSON, `taken_at` ms UTC."""

    name: str
    detail: str
    taken_at: int


@dataclass(frozen=True, slots=True)
class Telling:
    """`name` is that of its claim."""

    name: str
    notice: Notice
    events: tuple[Event, ...]
