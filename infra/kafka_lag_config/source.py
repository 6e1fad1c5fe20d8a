# SPDX-License-Identifier: Apache-2.0
"""The configuration before it has types: JSON or TOML, with `defaults` added to each cluster."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Never

from kafka_lag_config.faults import ConfigurationError, Fault, Place

CLUSTERS, DEFAULTS = "clusters", "defaults"

_TRAILING_COMMA = re.compile(r",\s*[}\]]")
_COMMENT = re.compile(r"\s*(//|/\*|#)")


def load(path: Path) -> Any:
    """Return a file's content: TOML if its name ends in .toml, else JSON.

    Raises ConfigurationError where it is not that, or not there.
    """
    parse, language = (toml_in, "TOML") if path.suffix.lower() == ".toml" else (json_in, "JSON")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigurationError(
            str(path), [f"the file cannot be read ({error.strerror}); begin with one of examples/"]
        ) from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(str(path), [f"it is not {language} in UTF-8 ({error})"]) from None
    return parse(text, str(path))


def json_in(text: str, name: str) -> Any:
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
        found = json.loads(text, object_pairs_hook=once, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        sentence = f"it is not JSON ({error}){_hint(text, error)}"
        raise ConfigurationError(name, [sentence]) from None
    except ValueError as error:
        raise ConfigurationError(name, [f"it is not JSON ({error})"]) from None
    if twice:
        sentence = "the key {} stands twice in one object: keep one"
        raise ConfigurationError(name, [sentence.format(json.dumps(key)) for key in twice])
    return found


def toml_in(text: str, name: str) -> Any:
    """What a text says. Raises ConfigurationError, also for keys that stand twice."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(name, [f"it is not TOML ({error})"]) from None


def merge(defaults: Any, own: Any) -> Any:
    """Return a cluster's values over the defaults; an object of another `type` replaces the
    default.

    Its own keys come first, as among expressions for names the first that fits decides.
    """
    if not (isinstance(defaults, Mapping) and isinstance(own, Mapping)):
        return own
    if defaults.get("type") != own.get("type", defaults.get("type")):
        return own
    merged = {key: merge(defaults.get(key), value) for key, value in own.items()}
    return merged | {key: value for key, value in defaults.items() if key not in own}


def where_written(fault: Fault, clusters: Sequence[Any], defaults: Any) -> Fault:
    """A fault of a merged cluster as one of `defaults`, where that alone makes it."""
    match fault.place:
        case (str(key), int(index), *inner) if key == CLUSTERS:
            place = _begun(tuple(inner), defaults)
            all_of_it = [place, *((*place[:-1], other) for other in fault.beside)]
            known = fault.beside or not fault.joint
            if known and all(
                _holds(defaults, each) and not _holds(clusters[index], each) for each in all_of_it
            ):
                return Fault((DEFAULTS, *inner), fault.sentence)
    return fault


def _begun(place: Place, source: Any) -> Place:
    """Return the item of a list whose key is missing: lists are never merged."""
    while any(isinstance(part, int) for part in place) and not _holds(source, place):
        place = place[:-1]
    return place


def _holds(source: Any, place: Place) -> bool:
    for part in place:
        below = dict(enumerate(source)) if isinstance(source, list) else source
        if not isinstance(below, Mapping) or part not in below:
            return False
        source = below[part]
    return True


def _no_number(constant: str) -> Never:
    raise ValueError(f"{constant} is no number there")


def _hint(text: str, error: json.JSONDecodeError) -> str:
    """Return what to do if parsing stopped at a comment, or after a trailing comma."""
    if _COMMENT.match(text, error.pos):
        return ": take the comment out, as JSON has none; a .toml file may have them"
    # Python 3.13 knows such a comma and stops at it, older ones at what stands behind.
    comma = text.rfind(",", 0, error.pos + ("trailing comma" in error.msg))
    trails = comma >= 0 and _TRAILING_COMMA.match(text, comma)
    return ": take out the comma before the closing bracket" if trails else ""
