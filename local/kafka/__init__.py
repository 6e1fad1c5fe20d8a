# SPDX-License-Identifier: Apache-2.0
"""A real Kafka cluster on this machine, from Maven jars: `with KafkaCluster() as cluster:`."""

from local.kafka.access import Credentials
from local.kafka.cluster import KafkaCluster
from local.kafka.errors import KafkaClusterError
from local.kafka.node.certificates import ClientPair
from local.kafka.node.settings import PROTOCOLS, Protocol

__all__ = [
    "PROTOCOLS",
    "ClientPair",
    "Credentials",
    "KafkaCluster",
    "KafkaClusterError",
    "Protocol",
]
