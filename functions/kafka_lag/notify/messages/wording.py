# SPDX-License-Identifier: Apache-2.0
"""Names, numbers and times as people read them."""

from __future__ import annotations

import math
from datetime import UTC, datetime

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
# Kafka takes names of 32,000 bytes; nobody reads them whole.
LONGEST_NAME = 200
# SNS wants less than 100 characters of ASCII.
LONGEST_SUBJECT = 99


def shown(name: str, longest: int = LONGEST_NAME) -> str:
    """The name on one line: a client may put line breaks and terminal commands into it."""
    text = "".join(letter if letter.isprintable() else "?" for letter in name) or "(no name)"
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def in_subject(name: str, longest: int) -> str:
    """The name in printable ASCII."""
    return shown(name, longest).encode("ascii", "replace").decode()


def span(seconds: float) -> str:
    """Seconds in the unit that says most, rounded down: time left is never told too long."""
    if seconds < 2 * _MINUTE:
        return f"{math.floor(seconds)} s"
    if seconds < 2 * _HOUR:
        return f"{math.floor(seconds / _MINUTE)} min"
    unit, length = ("h", _HOUR) if seconds < 2 * _DAY else ("d", _DAY)
    return f"{math.floor(10 * seconds / length) / 10:g} {unit}"


def moment(ms: int) -> str:
    """A time, ms UTC, to the minute."""
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"


def iso(ms: int) -> str:
    """A time, ms UTC, for machines."""
    text = datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def counted(count: int, one: str) -> str:
    """A number of things: `1 group`, `2 groups`."""
    return f"{count:,} {one if count == 1 else f'{one}s'}"
