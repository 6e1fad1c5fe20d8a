# SPDX-License-Identifier: Apache-2.0
"""TCP proxies between the collector and each broker: they cut, stall, slow down and damage."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Self

from dev.kafka import KafkaCluster, KafkaClusterError, Protocol
from dev.kafka.node import HOST, free_ports

_CHUNK = 65_536
_STARTS_WITHIN = 60.0


class Proxy:
    """One broker's listener as clients see it; its faults may be changed any time.

    While `stalled`, all bytes stay in the proxy. `delay` is the seconds that each piece of an
    answer waits. `damage` is how many of the next pieces of answers get one byte changed. A client
    notices this only with TLS, because Kafka's protocol has no checksum.
    """

    def __init__(self, upstream: str, *, seed: int) -> None:
        host, _, port = upstream.rpartition(":")
        self._upstream = host, int(port)
        self._random = random.Random(seed)  # noqa: S311 - faults, not secrets
        (self.port,) = free_ports(1)
        self.stalled = False
        self.delay = 0.0
        self.damage = 0
        self.cuts = 0
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def address(self) -> str:
        """Returns host:port for clients."""
        return f"{HOST}:{self.port}"

    async def serve(self) -> asyncio.Server:
        """Listens, in the running loop."""
        return await asyncio.start_server(self._accept, HOST, self.port)

    def cut(self) -> None:
        """Closes every connection at once; called in the loop."""
        self.cuts += bool(self._writers)
        for writer in self._writers:
            writer.transport.abort()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection(*self._upstream)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, back}
        self._writers |= ends
        try:
            await asyncio.gather(
                self._pump(reader, back, _as_sent), self._pump(there, writer, self._treat)
            )
        finally:
            self._writers -= ends
            for end in ends:
                end.transport.abort()

    async def _pump(
        self,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        treat: Callable[[bytes], Awaitable[bytes]],
    ) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while data := await source.read(_CHUNK):
                while self.stalled:
                    await asyncio.sleep(0.02)
                sink.write(await treat(data))
                await sink.drain()
        # Whichever side ends, both do.
        sink.transport.abort()

    async def _treat(self, data: bytes) -> bytes:
        """Returns a piece of an answer as clients get it."""
        if self.delay:
            await asyncio.sleep(self.delay)
        if not self.damage:
            return data
        self.damage -= 1
        at = self._random.randrange(len(data))
        return data[:at] + bytes([data[at] ^ self._random.randrange(1, 256)]) + data[at + 1 :]


async def _as_sent(data: bytes) -> bytes:
    return data


class Proxies:
    """A context manager for proxies in a thread of their own, by broker."""

    def __init__(self, proxies: dict[int, Proxy]) -> None:
        self._proxies = proxies
        self._serving = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve()), daemon=True, name="proxies"
        )

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._serving.wait(_STARTS_WITHIN):
            raise KafkaClusterError("The proxies do not listen")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_STARTS_WITHIN)

    def __getitem__(self, broker: int) -> Proxy:
        return self._proxies[broker]

    def cut(self, broker: int) -> None:
        """Closes all connections to one broker."""
        self._loop.call_soon_threadsafe(self._proxies[broker].cut)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        servers = [await proxy.serve() for proxy in self._proxies.values()]
        self._serving.set()
        await self._stop.wait()
        for server in servers:
            server.close()
        for proxy in self._proxies.values():
            proxy.cut()


@contextmanager
def start_behind_proxies(
    cluster: KafkaCluster, protocol: Protocol, seed: int = 0
) -> Iterator[Proxies]:
    """Starts a cluster whose listener of this protocol is a proxy for each broker."""
    proxies = {
        node: Proxy(cluster.broker_address(node, protocol), seed=seed + node)
        for node in cluster.node_ids
    }
    for node, proxy in proxies.items():
        cluster.advertise(node, protocol, proxy.address)
    with Proxies(proxies) as running, cluster:
        yield running
