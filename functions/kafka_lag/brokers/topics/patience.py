# SPDX-License-Identifier: Apache-2.0
"""How much a broker is asked of its time index, told by how long the answers before took."""

from __future__ import annotations

from collections import defaultdict

# Partitions a request: more of them were no faster, and fewer are lost with one request.
MANY = 100
# A first try, and what is asked of a broker that was slow.
FEW = 10

# Seconds that a look-up may take: a hundred times what one in memory does, and more than one that
# goes to a disk, while one that reads remote (tiered) storage takes hundreds of milliseconds.
_FAIR = 0.02
# Seconds above that until no more is asked: a garbage collection does not make a broker slow.
GRACE = 2.0


class Patience:
    """Which brokers may still be asked between one reading and the next.

    Time beyond what is fair adds up and is made good by quick answers, so that a broker costs a
    run a few seconds at most, however many look-ups were fast before.
    """

    def __init__(self) -> None:
        self._left_alone: set[int] = set()
        self._debt: dict[int, float] = defaultdict(float)
        self._answered: dict[int, float] = {}

    def most(self, node: int) -> int:
        """How many look-ups the next request may hold, 0 for a broker that is left alone."""
        if node in self._left_alone:
            return 0
        return FEW if self._debt[node] else MANY

    def took(self, node: int, look_ups: int, asked: float, answered: float) -> None:
        """Takes note of an answer to so many look-ups; times in seconds of one clock."""
        # A broker works off one connection's requests one after the other.
        seconds = answered - max(asked, self._answered.get(node, asked))
        self._answered[node] = answered
        self._debt[node] = max(0.0, self._debt[node] + seconds - look_ups * _FAIR)
        if self._debt[node] > GRACE:
            self.leave(node)

    def leave(self, *nodes: int) -> None:
        """Asks nothing more of these."""
        self._left_alone.update(nodes)
