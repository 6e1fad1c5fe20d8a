# SPDX-License-Identifier: Apache-2.0
"""Ports of MSK's brokers, by how they are logged into."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from kafka_lag_config.faults import Fault

# The port of each way in on MSK [MSK developer guide, port information].
PORTS = {"scram": 9096, "iam": 9098, "tls": 9094, "none": 9094, "plaintext": 9092}
# How far above a way's port that of public addresses is [MSK developer guide, port information].
_PUBLIC = 100

# MSK's private connectivity gives each broker a port of its own in this range [MSK developer guide,
# "MSK multi-VPC private connectivity in a single Region"].
_PRIVATE_LINK = range(14_001, 14_101)

# A broker of MSK by its own name; a balancer's, of amazonaws.com too, has whatever port it has.
_OF_MSK = re.compile(
    r"\.kafka(-serverless)?\.[a-z0-9-]+\.amazonaws\.com(\.cn)?:(?P<port>\d+)\Z", re.IGNORECASE
)


def port_ranges(ports: Collection[int]) -> tuple[tuple[int, int], ...]:
    """Ports as first and last of ranges; of MSK's private connectivity all brokers to come."""
    linked = set(ports).intersection(_PRIVATE_LINK)
    ranges = {(port, port) for port in set(ports) - linked}
    if linked:
        ranges.add((_PRIVATE_LINK[0], _PRIVATE_LINK[-1]))
    return tuple(sorted(ranges))


def ports_of_other_logins(servers: Sequence[str], way_in: str) -> Iterator[Fault]:
    """Servers with a port on which MSK expects another login than `way_in`.

    Those of its private connectivity are any.
    """
    own = _msk_ports(way_in)
    for index, server in enumerate(servers):
        if (of_msk := _OF_MSK.search(server)) is None:
            continue
        port = int(of_msk["port"])
        others = [way for way in PORTS if port in _msk_ports(way)]
        if others and port not in own:
            right = own[0] if port in PORTS.values() else own[-1]
            yield Fault(
                ("bootstrap_servers", index),
                f"{port} is MSK's port for {' and '.join(others)}; for {way_in} it is {right}",
                joint=True,
            )


def _msk_ports(way_in: str) -> tuple[int, ...]:
    """MSK's port for a way in, and that at public addresses, where it has it."""
    port = PORTS[way_in]
    return (port,) if way_in == "plaintext" else (port, port + _PUBLIC)
