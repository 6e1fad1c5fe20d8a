# SPDX-License-Identifier: Apache-2.0
"""What brokers of some versions lack: a test that needs it is skipped there by its name."""

from dataclasses import dataclass

from dev.kafka.jars import kafka_version


@dataclass(frozen=True, slots=True)
class BrokerFeature:
    """A feature of the brokers, and the first version that has it on by default."""

    name: str
    since: tuple[int, ...]

    @property
    def missing(self) -> bool:
        """Whether the brokers that this process starts lack it."""
        return kafka_version() < self.since


# Early access from 3.7, behind settings that keep a cluster from upgrading.
CONSUMER_PROTOCOL = BrokerFeature("the consumer group protocol of KIP-848", (4, 0, 0))
# Before, the newest timestamp of an uncompressed batch came with the offset of its last record.
NEWEST_IN_BATCH = BrokerFeature("the newest record's own offset (KAFKA-16341)", (3, 8, 0))
