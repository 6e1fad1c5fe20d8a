# SPDX-License-Identifier: Apache-2.0
"""What a probe says over a pipe: one step of the input after another, each with its parts.

A step is named by the input, so that two commits say the same steps in the same order whatever
they make of them; a part is bytes under a name: kind, kind/name or kind/name/place. What a commit
decides by itself, such as which tables and stacks there are, is a part and never a step.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO

KINDS = EMF, PARQUET, HTTP, MESSAGES, REPORTS, TEMPLATES = (
    "emf",
    "parquet",
    "http",
    "messages",
    "reports",
    "templates",
)
# A step's own failure is a part as well.
ERROR = "error"
# Begins the names of those parts of a report that are compacted snapshots.
HISTORY = "history-"


@dataclass(frozen=True, slots=True)
class Step:
    """One run, request, report or document, and what a commit made of it."""

    name: str
    parts: Mapping[str, bytes]


def write(stream: IO[bytes], step: Step) -> None:
    """A line that says what comes, then the bytes."""
    sizes = [[name, len(data)] for name, data in step.parts.items()]
    stream.write(json.dumps([step.name, sizes]).encode() + b"\n")
    for data in step.parts.values():
        stream.write(data)


def read(stream: IO[bytes]) -> Iterator[Step]:
    """The steps until the stream ends; one that ends within a step raises EOFError."""
    for line in stream:
        name, sizes = json.loads(line)
        parts = {part: stream.read(size) for part, size in sizes}
        if any(len(parts[part]) != size for part, size in sizes):
            raise EOFError(f"the probe ended within {name}")
        yield Step(name, parts)
