# SPDX-License-Identifier: Apache-2.0
"""A real Kafka cluster on this machine, from Maven jars: `with KafkaCluster() as cluster:`."""

from dev.kafka.access import Credentials
from dev.kafka.cluster import KafkaCluster
from dev.kafka.jars import CONSUMER_PROTOCOL, NEWEST_IN_BATCH, BrokerFeature
from dev.kafka.node import PROTOCOLS, ClientPair, KafkaClusterError, Protocol

__all__ = [
    "CONSUMER_PROTOCOL",
    "NEWEST_IN_BATCH",
    "PROTOCOLS",
    "BrokerFeature",
    "ClientPair",
    "Credentials",
    "KafkaCluster",
    "KafkaClusterError",
    "Protocol",
]
