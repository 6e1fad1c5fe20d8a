# SPDX-License-Identifier: Apache-2.0
"""Behaviours whose consumers stand still, or lose ground in a way that has a name."""

from contextlib import suppress

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

from dev.traffic.stage import TICK, Stage

POISON = 20
_ALL = 1_000
_BETWEEN_TRANSACTIONS = round(5 / TICK)
_BROKER_ANSWERS_WITHIN = 5.0


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
