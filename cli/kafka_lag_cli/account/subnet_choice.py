# SPDX-License-Identifier: Apache-2.0
"""The choice of two subnets of a VPC for a collector."""

from __future__ import annotations

from collections.abc import Collection

from kafka_lag_cli.account.vpc_network import Subnet, VpcNetwork, WayOut

# From the best on. Without a way out endpoints are made; with an internet gateway the same, but
# others expect servers there that the internet reaches.
_RANKS: dict[WayOut, int] = {
    "nat": 0,
    "other": 1,
    "none": 2,
    "blackhole": 2,
    "internet gateway": 3,
}
_ZONES = 2


def choose_subnets(network: VpcNetwork, brokers: Collection[str]) -> tuple[Subnet, ...]:
    """Returns two subnets in two zones with the best shared way out, `brokers` before others.

    One where all lie in one zone, none where there are none.
    """
    best: tuple[Subnet, ...] = ()
    for rank in sorted(set(_RANKS.values())):
        zones: dict[str, Subnet] = {}
        good = [subnet for subnet in network.subnets if _RANKS[subnet.way_out] <= rank]
        for subnet in sorted(
            good, key=lambda each: (_RANKS[each.way_out], each.id not in brokers, each.id)
        ):
            zones.setdefault(subnet.zone, subnet)
        best = tuple(zones.values())[:_ZONES]
        if len(best) == _ZONES:
            break
    return tuple(sorted(best, key=lambda each: each.zone))
