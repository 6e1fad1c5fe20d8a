# SPDX-License-Identifier: Apache-2.0
"""Names as CloudWatch dimension values: legal, reversible, never two alike.

CloudWatch takes printable ASCII, at least one character that is not a blank, no leading ':', at
most 1,024 characters [botocore cloudwatch Dimension]. A legal name without '%' stays as it is.
Otherwise its UTF-8 bytes outside that set, '%', a leading ':' and blanks at either end become %XX,
and the empty name becomes a lone '%'.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from urllib.parse import unquote, unquote_to_bytes

_LONGEST = 1024
_DIGEST = 32
_EMPTY = "%"


# Cached, because tens of thousands of rows a run name a few thousand groups and topics.
@lru_cache(maxsize=8192)
def dimension_value(name: str) -> str:
    """Returns the legal form of a name; if that is too long, its end becomes '%~' and a digest."""
    if name.isascii() and name.isprintable() and "%" not in name and _has_legal_ends(name):
        return name
    legal = _escape(name) or _EMPTY
    if len(legal) <= _LONGEST:
        return legal
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST]
    return f"{legal[: _LONGEST - _DIGEST - 2]}%~{digest}"


def original_name(value: str) -> str:
    """Returns the name that `dimension_value` made legal. Raises ValueError if it was shortened."""
    if "%~" in value:
        raise ValueError("the name was too long to be kept")
    if value == _EMPTY:
        return ""
    raw = unquote_to_bytes(value)
    return raw.decode() if raw else unquote(value)


def _has_legal_ends(name: str) -> bool:
    return 0 < len(name) <= _LONGEST and name[0] not in ": " and name[-1] != " "


def _escape(name: str) -> str:
    """Returns the legal form of the first 1,025 characters; it is not shorter than they are."""
    first, last = len(name) - len(name.lstrip()), len(name.rstrip()) - 1
    return "".join(
        _hex(char)
        if not first <= i <= last or _is_illegal(char) or (i == 0 and char == ":")
        else char
        for i, char in enumerate(name[: _LONGEST + 1])
    )


def _is_illegal(char: str) -> bool:
    return char == "%" or not (char.isascii() and char.isprintable())


def _hex(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode())
