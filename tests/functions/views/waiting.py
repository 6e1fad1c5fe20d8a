# SPDX-License-Identifier: Apache-2.0
"""A store that reports whether it is read at once, without a clock."""

from __future__ import annotations

from threading import Barrier

from tests.fakes import MemoryStore

_TIMEOUT_SECONDS = 240


class WaitingStore(MemoryStore):
    """Once it is to wait, it gives nothing until so many read at the same time, and else fails."""

    _together: Barrier | None = None

    def wait_for(self, readers: int) -> None:
        self._together = Barrier(readers, timeout=_TIMEOUT_SECONDS)

    def read(self, key: str) -> bytes:
        if self._together is not None:
            self._together.wait()
        return super().read(key)
