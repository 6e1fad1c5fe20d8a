# SPDX-License-Identifier: Apache-2.0
"""All behaviours by name: what their clients do, and the state that shows at the brokers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import MappingProxyType

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

from dev.kafka.jars import CONSUMER_PROTOCOL
from dev.traffic.behaviour import Behaviour, GroupView
from dev.traffic.stage import PER_TICK, TICK, Stage

PER_THOUSAND = (667, 166, 167)
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


POISON = 20
_ALL = 1_000
_BETWEEN_TRANSACTIONS = round(5 / TICK)
_BROKER_ANSWERS_WITHIN = 60.0


def stopped(stage: Stage) -> None:
    """Read a little of every partition, commit, leave; records keep coming."""
    consumer = stage.member()
    read: set[int | None] = set()
    while len(read) < len(stage.partitions) and stage.tick():
        stage.produce()
        read |= {message.partition() for message in consumer.consume(_ALL, timeout=0)}
    consumer.close()
    while stage.tick():
        stage.produce()


def stuck(stage: Stage) -> None:
    """Never get past one record of partition 0, as a live member that reads all the others."""
    consumer = stage.member(enable_auto_offset_store=False)
    while stage.tick():
        stage.produce()
        for message in consumer.consume(_ALL, timeout=0):
            if message.partition() == 0 and (message.offset() or 0) >= POISON:
                # To the brokers, trying one record for ever and not asking for the next are alike.
                with suppress(KafkaException):
                    consumer.pause(stage.partitions[:1])
            else:
                _mark_as_read(consumer, message)


def _mark_as_read(consumer: Consumer, message: Message) -> None:
    # Refused when a rebalance has just taken the partition: then its next owner reads it again.
    if message.error() is None:
        with suppress(KafkaException):
            consumer.store_offsets(message)


def idle(stage: Stage) -> None:
    """Leave exactly one record unread on a topic to which nobody writes any more."""
    stage.produce(10)
    stage.flush()
    consumer = stage.consumer()
    (only,) = stage.partitions
    _, end = consumer.get_watermark_offsets(only, timeout=_BROKER_ANSWERS_WITHIN)
    unread = [TopicPartition(only.topic, only.partition, end - 1)]
    consumer.commit(offsets=unread, asynchronous=False)
    consumer.close()
    stage.wait_for_the_end()


def expiring(stage: Stage) -> None:
    """Read from a deep buffer, four records a second, what retention has deleted meanwhile."""
    consumer = stage.member()
    while stage.tick():
        stage.produce()
        consumer.consume(1, timeout=0)


def transactional(stage: Stage) -> None:
    """Commit each record read of a transaction: the marker behind them stays unread for ever."""
    # librdkafka by itself would step over the marker; who commits by record does not.
    consumer = stage.member(enable_auto_offset_store=False)
    producer: Producer | None = None
    ticks = 0
    while stage.tick():
        if ticks % _BETWEEN_TRANSACTIONS == 0:
            producer = _write_transaction(stage, producer)
        ticks += 1
        for message in consumer.consume(_ALL, timeout=0):
            _mark_as_read(consumer, message)


def _write_transaction(stage: Stage, producer: Producer | None) -> Producer | None:
    try:
        if producer is None:
            producer = Producer({**stage.config, "transactional.id": stage.topic})
            producer.init_transactions(_BROKER_ANSWERS_WITHIN)
        producer.begin_transaction()
        for partition in stage.partitions:
            for number in range(10):
                producer.produce(stage.topic, f"{number}", partition=partition.partition)
        producer.commit_transaction(_BROKER_ANSWERS_WITHIN)
    except KafkaException:
        # Brokers may be stopped under the traffic: a new producer fences this one and goes on.
        return None
    return producer


_SMALL, _LARGE = 150, 200  # records; 150 are three seconds' worth


def _keeps_up(view: GroupView, *, members: int) -> bool:
    return view.members == members and bool(view.lags) and sum(view.lags) <= _SMALL


def _is_stuck(view: GroupView) -> bool:
    stands = view.partitions[0].committed == POISON
    return view.members == 1 and stands and view.lags[:1] > [50] and sum(view.lags[1:]) <= _SMALL


def _is_skewed(view: GroupView) -> bool:
    hot, others = view.lags[:1], view.lags[1:]
    return view.members == len(PER_THOUSAND) and hot > [_LARGE] and sum(others) <= _SMALL


def _lost_records(view: GroupView) -> bool:
    return any((each.committed or each.start) < each.start for each in view.partitions)


_LIST = (
    Behaviour(
        "healthy",
        "one member keeps up",
        healthy,
        lambda view: _keeps_up(view, members=1),
    ),
    Behaviour(
        "slow",
        "one member reads a sixth of what is written: lag grows by 40 records a second",
        slow,
        lambda view: view.members == 1 and sum(view.lags) >= _LARGE,
    ),
    Behaviour(
        "stopped",
        "the only member has left, records keep coming",
        stopped,
        lambda view: view.members == 0 and sum(view.lags) >= _LARGE,
    ),
    Behaviour(
        "stuck",
        f"a live member never gets past record {POISON} of partition 0",
        stuck,
        _is_stuck,
    ),
    Behaviour(
        "skewed",
        "of 1,000 records 667, 166, 167 go to the partitions: one of three equal members is late",
        skewed,
        _is_skewed,
    ),
    Behaviour(
        "expiring",
        "retention deletes records before a slow member has committed them",
        expiring,
        _lost_records,
        partitions=1,
        topic_config={
            "retention.ms": "4000",
            "segment.bytes": str(1024 * 1024),
            # Also by age: filling 1 MiB again and again would take 100 times the records.
            "segment.ms": "2000",
        },
    ),
    Behaviour(
        "rebalancing",
        "a second member joins and leaves all the time",
        rebalancing,
        lambda view: view.members > 1,
    ),
    Behaviour(
        "idle",
        "one record is unread on a topic nobody writes to any more, the group has no members",
        idle,
        lambda view: view.members == 0 and view.lags == [1],
        partitions=1,
    ),
    Behaviour(
        "commit-only",
        "keeps up by commits alone: partitions assigned by hand, never a member",
        commit_only,
        lambda view: _keeps_up(view, members=0),
    ),
    Behaviour(
        "kip848",
        "one member of the KIP-848 protocol keeps up",
        kip848,
        lambda view: view.type == "CONSUMER" and _keeps_up(view, members=1),
        needs=CONSUMER_PROTOCOL,
    ),
    Behaviour(
        "transactional",
        "written in transactions: a member that commits each record rests at lag 1 per partition",
        transactional,
        lambda view: view.members == 1 and view.lags == [1, 1, 1],
    ),
)

BEHAVIOURS: Mapping[str, Behaviour] = MappingProxyType({each.name: each for each in _LIST})


def possible() -> list[str]:
    """The names of those that the brokers of this version can take part in."""
    return [each.name for each in _LIST if each.needs is None or not each.needs.missing]


def chosen(wanted: Iterable[str | Behaviour]) -> list[Behaviour]:
    """Look names up, others stand for themselves; raises ValueError with the names there are."""
    return [each if isinstance(each, Behaviour) else _named(each) for each in wanted]


def _named(name: str) -> Behaviour:
    if name not in BEHAVIOURS:
        raise ValueError(f"No behaviour {name!r}; there are {', '.join(BEHAVIOURS)}")
    return BEHAVIOURS[name]
