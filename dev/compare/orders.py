# SPDX-License-Identifier: Apache-2.0
"""What a probe is to do, where its input lies, and what it says of it over a pipe.

A step is named by the input, so that two commits say the same steps in the same order whatever
they make of them; a part is bytes under a name: kind, kind/name or kind/name/place. What a commit
decides by itself, such as which tables and stacks there are, is a part and never a step.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from dev.compare.hostile import Hostile
from dev.compare.readings import Recording, Runs
from dev.compare.simulated import Simulated

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


RECORDED = Path(__file__).parent / "recorded"


@dataclass(frozen=True, slots=True)
class Orders:
    """`kinds` to say; `days` of the simulated cluster from `seed`; folders of this probe's own.

    `report_days` holds a recording for each cluster that is reported, on the dates `reported`.
    """

    kinds: tuple[str, ...]
    days: float
    seed: int
    folder: str
    report_days: tuple[str, ...]
    reported: tuple[str, str]
    examples: tuple[str, ...]
    context: str

    def to_json(self) -> dict[str, Any]:
        """As a file holds it."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Orders:
        """From such a file."""
        lists = {name: tuple(value) for name, value in document.items() if isinstance(value, list)}
        return cls(**{**document, **lists})


@dataclass(frozen=True, slots=True)
class Input:
    """A cluster's runs, and what is done with them afterwards.

    Of `retained` last runs the objects stay (0: of all). Every so many runs (`notify`) messages are
    sent; `about` is a group and a topic that requests are about, None where none are sent.
    """

    runs: Runs
    retained: int = 0
    notify: int = 1
    about: tuple[str, str] | None = None


def inputs(orders: Orders) -> Iterator[Input]:
    """The clusters that what was ordered needs, in the order of their time: no clock goes back."""
    kinds = set(orders.kinds)
    if kinds - {HTTP, TEMPLATES}:
        for folder in orders.report_days:
            yield Input(Recording(Path(folder)))
    if not kinds - {REPORTS, TEMPLATES}:
        return
    if orders.days > 0:
        simulated = Simulated(orders.days, orders.seed)
        # A cold start needs the end offsets of eight hours.
        yield Input(simulated, retained=600, notify=10, about=("stuck", "slow"))
    yield Input(Hostile(), about=("plain", "plain"))
    yield Input(Recording(RECORDED), about=("slow", "orders-slow"))
