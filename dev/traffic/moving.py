# SPDX-License-Identifier: Apache-2.0
"""Behaviours whose consumers move on, fast enough or not."""

from confluent_kafka import Consumer

from dev.traffic.stage import PER_TICK, TICK, Stage

PER_THOUSAND = (667, 166, 167)
_ALL = 1_000
_STAYS, _AWAY = round(3 / TICK), round(1 / TICK)


def healthy(stage: Stage) -> None:
    """Read all there is, at once."""
    _keep_up(stage, stage.member())


def kip848(stage: Stage) -> None:
    """Keep up as a member by the protocol of KIP-848, whose assignments the brokers make."""
    _keep_up(stage, stage.member(group_protocol="consumer"))


def commit_only(stage: Stage) -> None:
    """Keep up with partitions assigned by hand: the group has commits and never a member."""
    consumer = stage.consumer()
    consumer.assign(stage.partitions)
    _keep_up(stage, consumer)


def slow(stage: Stage) -> None:
    """Read a sixth of what is written."""
    consumer = stage.member()
    while stage.tick():
        stage.produce()
        consumer.consume(PER_TICK // 6, timeout=0)


def skewed(stage: Stage) -> None:
    """Write mostly to partition 0, read by three members with the same pace, one partition each."""
    members = [stage.member() for _ in PER_THOUSAND]
    written = 1_000
    stage.produce_to(skewed_partition(index) for index in range(written))
    while stage.tick():
        stage.produce_to(skewed_partition(written + index) for index in range(PER_TICK))
        written += PER_TICK
        for member in members:
            member.consume(PER_TICK // 2, timeout=0)


def skewed_partition(index: int) -> int:
    """Spread each thousand records 667, 166, 167 over the partitions, evenly over time."""
    hot = PER_THOUSAND[0]
    before, after = (at % 1_000 * hot // 1_000 for at in (index, index + 1))
    if after != before:
        return 0
    return 2 if (index % 1_000 - before) % 2 == 0 else 1


def rebalancing(stage: Stage) -> None:
    """Keep up while a second member joins for three seconds and leaves for one, for ever."""
    # Long heartbeats: the first member hears late of each change, so the group waits for it.
    steady, fickle = (
        stage.member(session_timeout_ms=6_000, heartbeat_interval_ms=2_000) for _ in range(2)
    )
    ticks = 0
    while stage.tick():
        stage.produce()
        ticks = (ticks + 1) % (_STAYS + _AWAY)
        if ticks == 0:
            fickle.subscribe([stage.topic])
        elif ticks == _STAYS:
            fickle.unsubscribe()
        steady.consume(_ALL, timeout=0)
        fickle.consume(_ALL, timeout=0)


def _keep_up(stage: Stage, consumer: Consumer) -> None:
    while stage.tick():
        stage.produce()
        consumer.consume(_ALL, timeout=0)
