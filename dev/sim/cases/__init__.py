# SPDX-License-Identifier: Apache-2.0
"""Sets of cases by name: drawn by a seed, or written down, to be staged on brokers as well."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dev.sim.cases.drawn import draw_cases
from dev.sim.cases.mixed import ASIDE, TRIED
from dev.sim.cases.staged import HEALTHY, TROUBLES
from dev.sim.events import Case

# Returns the cases of a set for a seed; cases that are written down are the same for each.
SETS: Mapping[str, Callable[[int], Sequence[Case]]] = {
    "drawn": draw_cases,
    "staged": lambda _: (*TROUBLES, *HEALTHY),
    "mixed": lambda _: TRIED,
    "mixed-aside": lambda _: ASIDE,
}
