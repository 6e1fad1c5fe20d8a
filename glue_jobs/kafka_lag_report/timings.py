# SPDX-License-Identifier: Apache-2.0
"""Measures how long the stages of a run take, and reports which stage began."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timings:
    """Passes each stage's seconds to `write` when it ends, in lines `stage <name>: <seconds> s`.

    `begin` is called with the name of a stage when it begins, and with its cluster, or null if it
    is about none.
    """

    clock: Callable[[], float]
    write: Callable[[str], object]
    begin: Callable[[str, str | None], object] | None = None

    @contextmanager
    def stage(self, name: str, cluster: str | None = None) -> Iterator[None]:
        """Measures the time of the block; also reports a stage that fails."""
        if self.begin:
            self.begin(name, cluster)
        start = self.clock()
        try:
            yield
        finally:
            self.write(f"stage {name}: {self.clock() - start:.1f} s")
