# SPDX-License-Identifier: Apache-2.0
"""What Kafka's own tools say: `kafka-consumer-groups` of lags, `kafka-console-consumer` of the
record that a group reads next."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dev.kafka.cluster import quick_start
from dev.kafka.jars import kafka_server, run_program

_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
_ANSWERS_WITHIN_MS = "30000"
# Where no record comes: a log that nobody writes to has shown all by then.
_WAITS_MS = "5000"
_RECORD = re.compile(r"^(?:CreateTime|LogAppendTime):(\d+)\tOffset:(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Row:
    """One partition of a group; `committed` is null where the tool prints a dash."""

    group: str
    topic: str
    partition: int
    committed: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Record:
    """One record and its timestamp, seconds since 1970."""

    offset: int
    stamp: float


@dataclass(frozen=True, slots=True)
class Description:
    """All that `--describe --all-groups` printed, and when, in seconds since 1970."""

    text: str
    at: float

    def rows(self, group: str, topic: str, partition: int | None = None) -> list[Row]:
        """Of one group and topic, cut behind LAG. Names may have spaces."""
        found = []
        for line in self.text.splitlines():
            words = line[len(group) :].split() if line.startswith(group) else []
            if len(words) < 5 or words[0] != topic or not words[1].isdecimal():  # noqa: PLR2004
                continue
            number, committed = int(words[1]), int(words[2]) if words[2].isdecimal() else None
            if partition in (None, number):
                text = " ".join([group, *words[:5]])
                found.append(Row(group, topic, number, committed, text))
        return found


def describe_groups(bootstrap: str) -> Description:
    """Of all groups. Raises KafkaClusterError, also where one broker does not answer."""
    options = ["--describe", "--all-groups", "--timeout", _ANSWERS_WITHIN_MS]
    at = time.time()
    return Description(_run(_GROUPS, bootstrap, options, "describe groups"), at)


def read_record(bootstrap: str, topic: str, partition: int, offset: int) -> Record | None:
    """The record that a consumer of committed records is given there; null: none comes.

    Raises KafkaClusterError.
    """
    options = ["--topic", topic, "--partition", str(partition), "--offset", str(offset)]
    options += ["--isolation-level", "read_committed", "--max-messages", "1"]
    options += ["--timeout-ms", _WAITS_MS]
    for shown in ("timestamp=true", "offset=true", "value=false"):
        options += ["--formatter-property", f"print.{shown}"]
    return record_in(_run(_CONSUMER, bootstrap, options, "read a record"))


def record_in(text: str) -> Record | None:
    """The record that the console consumer printed."""
    found = _RECORD.search(text)
    return Record(int(found[2]), int(found[1]) / 1_000) if found else None


def explain(
    rows: Sequence[Row],
    at: float,
    read: Callable[[Row], Record | None],
    seconds: Callable[[float], str],
) -> list[str]:
    """Each row, with the age of the record that its group reads next."""
    lines = []
    for row in rows:
        record = read(row)
        if record is None:
            lines.append(f"`{row.text}`; it is given no record there")
        else:
            age = seconds(max(0.0, at - record.stamp))
            lines.append(f"`{row.text}`; record {record.offset} is the next, {age} old")
    return lines


def _run(tool: str, bootstrap: str, options: Sequence[str], what: str) -> str:
    server = kafka_server()
    java = ["java", *quick_start(server), "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]
    command = [*java, "-cp", server.class_path, tool, "--bootstrap-server", bootstrap]
    return run_program([*command, *options], what=what)
