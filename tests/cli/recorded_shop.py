# SPDX-License-Identifier: Apache-2.0
"""A shop of three groups, recorded for 26 minutes, about which commands answer questions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dev.sim.run import run_minutes
from dev.sim.world import GroupState, TopicState, World
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.store import FolderStore, write_snapshot

CLUSTER = "shop"
# The minute in which two groups fall ill, and how many there are.
TROUBLE, MINUTES = 6, 26
HOSTILE = "evil\x1b[31m\nname"


def write_shop(folder: Path) -> None:
    """Writes each run's snapshot below a folder."""
    for snapshot in _planted():
        write_snapshot(FolderStore(folder), CLUSTER, snapshot)


def _planted() -> Iterator[Snapshot]:
    """`billing` stands still at one record, of whose partition another broker takes the lead later;
    `audit` reads the same topic, loses all its members, and a group with a hostile name is well."""
    topic = TopicState("orders", np.full(6, 10.0), noise=0.0)
    other = TopicState("mails", np.full(2, 5.0), noise=0.0)
    billing = GroupState("billing", topic, {"m-0": 45.0, "m-1": 45.0})
    audit = GroupState("audit", topic, {"a-0": 90.0})
    mailer = GroupState(HOSTILE, other, {"x-0": 45.0})
    cluster = World([topic, other], [billing, audit, mailer], np.random.default_rng(7))

    def change(_: World, minute: int) -> None:
        if minute == TROUBLE:
            billing.stuck[3] = float(topic.end[3])
            audit.speed = {}
        if minute == TROUBLE + 15:
            topic.move_leaders()

    yield from run_minutes(cluster, MINUTES, change)
