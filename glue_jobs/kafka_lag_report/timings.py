# SPDX-License-Identifier: Apache-2.0
"""How long the stages of a run take, for whoever tunes it, and which one began, for who waits."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timings:
    """Passes each stage's seconds to `write` as it ends, in lines `stage <name>: <seconds> s`.

    `begin` has its name as it begins, and the cluster that it is about, if it is about one.
    """

    clock: Callable[[], float]
    write: Callable[[str], object]
    begin: Callable[[str, str | None], object] | None = None

    @contextmanager
    def stage(self, name: str, cluster: str | None = None) -> Iterator[None]:
        """Time what runs inside; a stage that fails is written as well."""
        if self.begin:
            self.begin(name, cluster)
        start = self.clock()
        try:
            yield
        finally:
            self.write(f"stage {name}: {self.clock() - start:.1f} s")
