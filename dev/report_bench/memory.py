# SPDX-License-Identifier: Apache-2.0
"""How much memory a process and all that it started have at most, together."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType

_PAGE = os.sysconf("SC_PAGE_SIZE")
_EVERY_SECONDS = 0.2


class PeakMemory:
    """Looks at a process tree while it is entered; `peak` in bytes.

    `peak` stays None where the system has no /proc. Pages that processes share count in each.
    """

    def __init__(self, pid: int, proc: Path = Path("/proc")) -> None:
        self.peak: int | None = None
        self._pid, self._proc = pid, proc
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            used = tree_memory(self._pid, self._proc)
            if used is not None:
                self.peak = max(self.peak or 0, used)
            if self._ended.wait(_EVERY_SECONDS):
                return


def tree_memory(pid: int, proc: Path = Path("/proc")) -> int | None:
    """Resident bytes of a process and its descendants now; None if there is no such process."""
    parents, resident = {}, {}
    for folder in proc.glob("[0-9]*"):
        try:
            # The name, in parentheses, may hold anything.
            after_name = (folder / "stat").read_text().rpartition(")")[2].split()
            resident[int(folder.name)] = int((folder / "statm").read_text().split()[1]) * _PAGE
        except (OSError, IndexError):
            # It ended meanwhile.
            continue
        parents[int(folder.name)] = int(after_name[1])
    if pid not in resident:
        return None
    family = {pid}
    while new := {one for one, parent in parents.items() if parent in family} - family:
        family |= new
    return sum(resident.get(one, 0) for one in family)
