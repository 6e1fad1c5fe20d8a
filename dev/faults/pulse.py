# SPDX-License-Identifier: Apache-2.0
"""Whether brokers answer in time when nobody disturbs them: on a busy machine they may not."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Mapping, Sequence
from typing import BinaryIO, Self

from dev.faults.truth import Truth, now_ms

# A run gives a broker some 1.1 s for all that it asks.
_SLOW_MS = 300
_EVERY = 0.1
_GIVES_UP = 10.0
_API_VERSIONS = struct.pack(">ihhih", 10, 18, 0, 1, -1)


class Pulse:
    """Asks each broker for its API versions ten times a second, and not through the proxies.

    What takes longer than `slow_ms` is recorded as a trouble of that broker, `slow` times in all.
    """

    def __init__(
        self, truth: Truth, addresses: Mapping[int, str], *, slow_ms: int = _SLOW_MS
    ) -> None:
        self._truth, self._slow_ms = truth, slow_ms
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._slow: list[tuple[int, int]] = []
        self._threads = [
            threading.Thread(target=self._watch, args=each, daemon=True, name=f"pulse of {each[0]}")
            for each in addresses.items()
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(_GIVES_UP)

    @property
    def slow(self) -> Sequence[tuple[int, int]]:
        """From when to when, ms, a broker did not answer."""
        with self._lock:
            return [*self._slow]

    def was_slow(self, begin: int, end: int) -> bool:
        """Whether any broker was, at any moment of this time."""
        return any(first <= end and last >= begin for first, last in self.slow)

    def _watch(self, node: int, address: str) -> None:
        host, _, port = address.rpartition(":")
        while not self._stop.wait(_EVERY):
            try:
                with socket.create_connection((host, int(port)), _GIVES_UP) as connection:
                    answers = connection.makefile("rb")
                    while not self._stop.wait(_EVERY):
                        self._beat(node, connection, answers)
            except (OSError, struct.error):
                # It is down, which only a fault of the campaign does to it.
                continue

    def _beat(self, node: int, connection: socket.socket, answers: BinaryIO) -> None:
        sent = now_ms()
        connection.sendall(_API_VERSIONS)
        try:
            # A closed connection ends in fewer than four bytes of the next answer's length.
            answers.read(*struct.unpack(">i", answers.read(4)))
        finally:
            answered = now_ms()
            if answered - sent > self._slow_ms:
                with self._lock:
                    self._slow.append((sent, answered))
                self._truth.was_troubled(node, sent, answered)
