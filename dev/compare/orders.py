# SPDX-License-Identifier: Apache-2.0
"""What a probe is to do, and where its input lies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dev.compare.hostile import Hostile
from dev.compare.readings import Runs
from dev.compare.recording import Recording
from dev.compare.simulated import Simulated
from dev.compare.steps import HTTP, REPORTS, TEMPLATES

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
