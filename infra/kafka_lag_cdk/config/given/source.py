# SPDX-License-Identifier: Apache-2.0
"""JSON as people write it by hand: what Python would let pass or tell badly is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Never

from kafka_lag_cdk.config.faults import ConfigurationError

_TRAILING_COMMA = re.compile(r",\s*[}\]]")


def json_of(path: Path) -> Any:
    """What a file holds. Raises ConfigurationError where that is not JSON, or not there."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            str(path), [f"the file cannot be read ({error.strerror}); begin with one of examples/"]
        ) from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(str(path), [f"it is not JSON in UTF-8 ({error})"]) from None
    return json_in(text, str(path))


def json_in(text: str, source: str) -> Any:
    """What a text says. Raises ConfigurationError, also for keys that stand twice."""
    twice: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                twice.append(key)
            found[key] = value
        return found

    try:
        given = json.loads(text, object_pairs_hook=once, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        told = f"it is not JSON ({error}){_hint(text, error)}"
        raise ConfigurationError(source, [told]) from None
    except ValueError as error:
        raise ConfigurationError(source, [f"it is not JSON ({error})"]) from None
    if twice:
        told = "the key {} stands twice in one object: keep one"
        raise ConfigurationError(source, [told.format(json.dumps(key)) for key in twice])
    return given


def _no_number(constant: str) -> Never:
    raise ValueError(f"{constant} is no number there")


def _hint(text: str, error: json.JSONDecodeError) -> str:
    """What to do where parsing stopped behind a comma that nothing follows, else nothing."""
    # Python 3.13 knows such a comma and stops at it, older ones at what stands behind.
    comma = text.rfind(",", 0, error.pos + ("trailing comma" in error.msg))
    trails = comma >= 0 and _TRAILING_COMMA.match(text, comma)
    return ": take out the comma before the closing bracket" if trails else ""
