# SPDX-License-Identifier: Apache-2.0
"""How long one whole run takes: read, lag, EMF and Parquet, on three real brokers.

The runs are made in a process of their own, as a Lambda would, so that its CPU seconds and peak
memory are the collector's alone. Offsets are committed without live members, 0 to 8 records
behind, so that ages are dated as on a cluster in use.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from rich.console import Console
from rich.table import Table

from dev.benchmarks.collector_process import RUNS, read_figures
from dev.kafka import KafkaCluster
from dev.kafka.__main__ import hold
from dev.kafka.readiness import wait_for_topics
from dev.kafka.records import commit_offsets

TOPICS, PARTITIONS, TOPICS_PER_GROUP = 50, 24, 25
GROUP_SIZE = PARTITIONS * TOPICS_PER_GROUP
RECORDS = 8
MINUTE_MS = 60_000
_COMMITS_AT_ONCE = 8
# The most memory of a process, and more for each thousand group-partitions: 300 MB for 200,000
# leave room in a function of 512.
_LEAST_MB, _MB_OF_A_THOUSAND = 140.0, 0.8


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a line per size, of group-partitions; 1 when one takes too much memory."""
    parser = argparse.ArgumentParser(prog="python -m dev.benchmarks.collect", description=__doc__)
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        default=[6_000, 60_000],
        metavar="N",
        help=f"group-partitions, in steps of {GROUP_SIZE} (default: 6000 60000)",
    )
    parser.add_argument("--runs", type=int, default=9, help="counted warm runs (default: 9)")
    parser.add_argument(
        "--hold",
        action="store_true",
        help="then keep the brokers until Ctrl-C, for exporters to be measured on them",
    )
    options = parser.parse_args(argv)
    console = Console()
    table = Table(
        "group-partitions", "groups", "cold s", "warm s", "min", "max", "CPU s", "peak MB"
    )
    with KafkaCluster() as cluster:
        console.print(f"{len(cluster.node_ids)} brokers up; writing topics and commits …")
        create_topics(cluster.admin(), cluster.bootstrap("PLAINTEXT"))
        produce_records(Producer(cluster.client_config()))
        groups, too_large = 0, list[str]()
        for size in sorted(options.sizes):
            wanted = max(1, size // GROUP_SIZE)
            commit_groups(cluster.admin(), range(groups, wanted))
            groups = wanted
            (figures,) = read_figures(cluster, RUNS, runs=options.runs, interval_ms=MINUTE_MS)
            table.add_row(*_row(groups, figures))
            read = groups * GROUP_SIZE
            most = _LEAST_MB + _MB_OF_A_THOUSAND * read / 1_000
            if figures["peak_mb"] > most:
                too_large.append(f"{read:,} group-partitions took more than {most:.0f} MB.")
            console.print(f"{read:,} group-partitions measured")
        console.print(table)
        console.print(f"Medians of {options.runs} warm runs; cold is the first, with connecting.")
        for sentence in too_large:
            console.print(sentence, style="red")
        if options.hold:
            with suppress(KeyboardInterrupt):
                hold(cluster)
    return 1 if too_large else 0


def _row(groups: int, figures: dict[str, Any]) -> list[str]:
    counted = figures["group_partitions"]
    if counted != groups * GROUP_SIZE:
        raise SystemExit(f"{counted} group-partitions were read of {groups * GROUP_SIZE}")
    times = (figures[name] for name in ("cold", "warm", "least", "most", "cpu"))
    return [f"{counted:,}", str(groups), *(f"{t:.3f}" for t in times), f"{figures['peak_mb']:.0f}"]


def create_topics(admin: AdminClient, servers: str) -> None:
    topics = [NewTopic(_topic(number), PARTITIONS, 1) for number in range(TOPICS)]
    for future in admin.create_topics(topics, request_timeout=60).values():
        future.result()
    # Brokers hear of topics after the controller.
    wait_for_topics(servers, [_topic(number) for number in range(TOPICS)])


def produce_records(producer: Producer) -> None:
    """The same number of records to each partition, a minute apart, the last of now."""
    now = int(time.time() * 1000)
    for number in range(RECORDS):
        timestamp = now - (RECORDS - 1 - number) * MINUTE_MS
        for topic in range(TOPICS):
            for partition in range(PARTITIONS):
                producer.produce(
                    _topic(topic), b"a record", partition=partition, timestamp=timestamp
                )
        producer.flush()


def commit_groups(admin: AdminClient, groups: Sequence[int]) -> None:
    for begin in range(0, len(groups), _COMMITS_AT_ONCE):
        positions = {
            f"bench-{group:05}": {
                (_topic((group + number) % TOPICS), partition): RECORDS
                - (group + number + partition) % (RECORDS + 1)
                for number in range(TOPICS_PER_GROUP)
                for partition in range(PARTITIONS)
            }
            for group in groups[begin : begin + _COMMITS_AT_ONCE]
        }
        commit_offsets(admin, positions)


def _topic(number: int) -> str:
    return f"bench-topic-{number:03}"


if __name__ == "__main__":
    raise SystemExit(main())
