# SPDX-License-Identifier: Apache-2.0
"""What Kafka's own tool prints of the groups: `kafka-consumer-groups --describe`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from dev.kafka.cluster import quick_start
from dev.kafka.jars import kafka_server, run_program

_TOOL = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
COMMAND = "kafka-consumer-groups --bootstrap-server ... --describe --all-groups"
_HEADER = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG")


def describe_groups(bootstrap: str) -> str:
    """All that the tool prints of all groups. Raises KafkaClusterError."""
    server = kafka_server()
    java = ["java", *quick_start(server), "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]
    command = [*java, "-cp", server.class_path, _TOOL, "--bootstrap-server", bootstrap]
    return run_program(
        [*command, "--describe", "--all-groups", "--timeout", "30000"], what="describe groups"
    )


def rows_by_group_and_topic(text: str) -> Mapping[tuple[str, str], list[str]]:
    """Its rows, cut behind LAG: `group topic partition committed end lag`.

    Names with spaces make rows that nobody can take apart: these are left out.
    """
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for line in text.splitlines():
        words = line.split()
        if len(words) >= len(_HEADER) and words[2].isdecimal():
            found[words[0], words[1]].append(" ".join(words[: len(_HEADER)]))
    return found
