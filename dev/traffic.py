# SPDX-License-Identifier: Apache-2.0
"""Groups that behave in named ways on real brokers: `with Traffic(cluster) as traffic:`.

All of them keep up until `go_wrong` is called. Each has a topic `orders-NAME` and a consumer group
NAME. Its events are written in the words of `dev.sim.live.planting`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Self

from dev.kafka import KafkaCluster
from dev.kafka.jars import CONSUMER_PROTOCOL, BrokerFeature
from dev.kafka.readiness import READY_WITHIN, wait_until
from dev.sim.live.planting import TOPIC, Planted, Planting, Scenario, read_scenarios

# Whole segments are deleted, also by age; 1 MiB is the least.
GROUPS: Mapping[str, Scenario] = {
    each.title: each
    for each in read_scenarios("""
healthy | 50 records a second, all read
    topic rates=17,17,17; group members=1 ms=1
slow | the only member reads 8 of 50 records a second
    topic rates=50,; group members=1 ms=1; then; Slow billing 120
stopped | the only member leaves
    topic rates=17,17,17; group members=1 ms=1; then; Leave billing
stuck | a member never gets past one record of a partition, and reads all others
    topic rates=17,17,17; group members=1 ms=1; then; Poison billing 0
skewed | three members with the same pace own a partition each; one gets most records
    topic rates=17,17,17; group members=3 ms=20; then; Produce orders 8,1,1
expiring | retention deletes what is not read yet
    topic rates=50, retention.ms=4000 segment.bytes=1048576 segment.ms=2000
    group members=1 ms=1; then; Slow billing 250
rebalancing | a second member joins for three seconds and leaves for one, for ever
    topic rates=17,17,17; group members=2 ms=1; Flap billing up=90 down=30
idle | one record is unread on a topic to which nobody writes any more
    write 12 10s 1s; commit 11
kip848 | as healthy, by the new protocol
    topic rates=17,17,17; group members=1 ms=1 protocol=consumer
transactional | all records of a transaction are read; the marker behind them stays unread
    write_transaction 10 10s 1s commits; commit 10
""")
}


def needed_by(name: str) -> BrokerFeature | None:
    """Returns what brokers must have for this group."""
    protocols = {group.protocol for group in GROUPS[name].case.groups.values()}
    return CONSUMER_PROTOCOL if "consumer" in protocols else None


def possible() -> list[str]:
    """Returns the names of groups that brokers of this version support."""
    return [name for name in GROUPS if not ((needed := needed_by(name)) and needed.missing)]


class _Shown(Planting):
    def name_of(self, name: str) -> str:
        return f"{name}-{self.prefix}" if name == TOPIC else self.prefix


class Traffic(Planted):
    """A context manager that runs groups, of which each has committed in all partitions then.

    `names` are those of the groups, all possible ones by default. Topics and groups are left
    behind. Everything goes through the listener that needs no login.
    """

    def __init__(self, cluster: KafkaCluster, names: Collection[str] | None = None) -> None:
        chosen = possible() if names is None else names
        super().__init__(cluster, [GROUPS[name] for name in chosen], kind=_Shown)

    def __enter__(self) -> Self:
        super().__enter__()
        wait_until(
            lambda: all(None not in on.read_commits().values() for _, on in self.on),
            what="a commit of each partition",
        )
        return self

    def go_wrong(self) -> None:
        """Begins the troubles that groups are named for."""
        self.change()

    @property
    def errors(self) -> list[tuple[str, str]]:
        """Groups to which something else happened, and what."""
        return self.scene.errors

    def wait_until_ready(self, timeout: float = READY_WITHIN) -> None:
        """Begins the troubles, and waits until retention has overtaken a group."""
        self.go_wrong()
        (on,) = (on for scenario, on in self.on if scenario.title == "expiring")
        wait_until(on.is_overtaken, what="a group behind retention", timeout=timeout)
