# SPDX-License-Identifier: Apache-2.0
"""Measures how long one whole run takes on three real brokers: read, lag, EMF and Parquet.

The groups have no live members and commits that are 0 to 8 records behind, so that ages are dated
as on a cluster in use.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from rich.console import Console
from rich.table import Table

from dev.benchmarks.collector import (
    MB,
    Reached,
    Warnings,
    make_collector,
    read_access,
    read_memory,
    run_in_process,
)
from dev.kafka import KafkaCluster
from dev.kafka.access import wait_for
from dev.kafka.readiness import wait_for_topics
from dev.kafka.records import commit_offsets

TOPICS, PARTITIONS, TOPICS_PER_GROUP = 50, 24, 25
GROUP_SIZE = PARTITIONS * TOPICS_PER_GROUP
RECORDS = 8
MINUTE_MS = 60_000
_WARM_RUNS = 9
_COMMITS_AT_ONCE = 8
# The most memory of a process, and more for each thousand group-partitions: 300 MB for 200,000
# leave room in a function of 512.
_LEAST_MB, _MB_OF_A_THOUSAND = 140.0, 0.8


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a line per size, of group-partitions; 1 when one takes too much memory."""
    parser = argparse.ArgumentParser(prog="python -m dev.benchmarks.collect", description=__doc__)
    sizes = f"group-partitions, in steps of {GROUP_SIZE} (default: 6000 60000)"
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[6_000, 60_000], metavar="N", help=sizes
    )
    options = parser.parse_args(argv)
    console = Console()
    table = Table("group-partitions", "groups", "cold s", "warm s", "MB")
    with KafkaCluster() as cluster:
        console.print(f"{len(cluster.node_ids)} brokers up; writing topics and commits …")
        create_topics(cluster.admin(), cluster.bootstrap("PLAINTEXT"))
        produce_records(Producer(cluster.client_config()))
        groups, too_large = 0, False
        for size in sorted(options.sizes):
            wanted = max(1, size // GROUP_SIZE)
            commit_groups(cluster.admin(), range(groups, wanted))
            groups = wanted
            rows, *times, peak = run_in_process(time_runs, read_access(cluster))
            if rows != groups * GROUP_SIZE:
                raise SystemExit(f"{rows} group-partitions were read of {groups * GROUP_SIZE}")
            large = peak > _LEAST_MB + _MB_OF_A_THOUSAND * rows / 1_000
            too_large |= large
            cells = [f"{rows:,}", str(groups), *(f"{each:.3f}" for each in times), f"{peak:.0f}"]
            table.add_row(*cells, style="red" if large else None)
            console.print(f"{rows:,} group-partitions measured")
        console.print(table)
    console.print(f"Medians of {_WARM_RUNS} warm runs; cold is the first, with connecting.")
    return 1 if too_large else 0


def time_runs(reached: Reached) -> list[float]:
    """Returns rows, the seconds of a cold run, the median of warm ones, and peak MB."""
    with tempfile.TemporaryDirectory(prefix="collector-") as folder:
        collector = make_collector(reached, MINUTE_MS, Path(folder), Warnings())
        seconds, rows = list[float](), 0
        for number in range(1, _WARM_RUNS + 2):
            began = time.perf_counter()
            rows = len(collector.run(number * MINUTE_MS).report.snapshot.group_partitions)
            seconds.append(time.perf_counter() - began)
    return [rows, seconds[0], statistics.median(seconds[1:]), read_memory()[1] / MB]


def create_topics(admin: AdminClient, servers: str) -> None:
    """Creates all topics; returns when each broker knows them."""
    topics = [NewTopic(_topic(number), PARTITIONS, 1) for number in range(TOPICS)]
    wait_for(admin.create_topics(topics, request_timeout=60))
    # Brokers hear of topics after the controller.
    wait_for_topics(servers, [_topic(number) for number in range(TOPICS)])


def produce_records(producer: Producer) -> None:
    """Writes the same number of records to each partition, a minute apart, the last of now."""
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
    """Commits for these groups in all their topics."""
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
