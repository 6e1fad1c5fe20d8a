# SPDX-License-Identifier: Apache-2.0
"""How long the stages of a run take, for whoever tunes it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timings:
    """Passes each stage's seconds to `write` as it ends, in lines `stage <name>: <seconds> s`."""

    clock: Callable[[], float]
    write: Callable[[str], object]

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what runs inside; a stage that fails is written as well."""
        start = self.clock()
        try:
            yield
        finally:
            self.write(f"stage {name}: {self.clock() - start:.1f} s")
