# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.truth.sizes`: what a scrape takes of ours and of programs that read when they are
scraped, by the number of group-partitions: seconds, CPU, memory, requests to the brokers."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from confluent_kafka import Producer
from rich.console import Console

from dev.benchmarks.collect import GROUP_SIZE, commit_groups, create_topics, produce_records
from dev.benchmarks.exporters import Exporter, ExporterError, Figures, measure
from dev.kafka import KafkaCluster, KafkaClusterError
from dev.kafka.cluster import quick_start
from dev.kafka.jars import kafka_server
from dev.kafka.node.settings import HOST
from dev.truth.programs import OURS, RIVALS, Program
from dev.truth.requests import LOG_REQUESTS, RequestLog, requests_of
from dev.truth.running import Running

SIZES = (6_000, 60_000, 200_400)
_STARTS_WITHIN = 240.0
_SCRAPES, _INTERVAL = 6, 15.0
_COUNTED = 30.0
_ANSWERS_WITHIN = 120.0


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table; 1 with a sentence where the run is impossible."""
    options = _parser().parse_args(argv)
    console = Console()
    programs = [OURS, *(each for each in RIVALS if not each.interval and each.executable())]
    try:
        requests = {
            size: _requests(cluster, programs, size)
            for cluster, size in _clusters(options.sizes, [LOG_REQUESTS], console)
        }
        figures = {
            size: _figures(cluster, programs, size)
            for cluster, size in _clusters(options.sizes, [], console)
        }
    except (KafkaClusterError, ExporterError) as error:
        console.print(str(error), style="red", markup=False, soft_wrap=True)
        return 1
    sys.stdout.write(table_of(figures, requests) + "\n")
    return 0


def table_of(
    figures: Mapping[int, Sequence[Figures]], requests: Mapping[int, Mapping[str, float]]
) -> str:
    """In Markdown, a line a size and program."""
    head = (
        "| group-partitions | program | s a scrape | slowest | CPU s a scrape | peak MB "
        "| requests a read |"
    )
    lines = [
        f"| {size:,} | {one.name} | {one.seconds:.2f} | {one.slowest:.2f} "
        f"| {one.cpu_seconds:.2f} | {one.peak_bytes / 2**20:.0f} "
        f"| {requests[size][one.name]:,.0f} |"
        for size, each in figures.items()
        for one in each
    ]
    return "\n".join([head, "|---|---|---|---|---|---|---|", *lines])


def _clusters(
    sizes: Sequence[int], java: Sequence[str], console: Console
) -> Iterator[tuple[KafkaCluster, int]]:
    """One cluster, again and again with more groups."""
    with KafkaCluster(java_options=(*quick_start(kafka_server()), *java)) as cluster:
        create_topics(cluster.admin())
        produce_records(Producer(cluster.client_config()))
        groups = 0
        for size in sorted(sizes):
            wanted = max(1, size // GROUP_SIZE)
            commit_groups(cluster.admin(), range(groups, wanted))
            groups = wanted
            console.print(f"{groups * GROUP_SIZE:,} group-partitions")
            yield cluster, groups * GROUP_SIZE


def _requests(cluster: KafkaCluster, programs: Sequence[Program], size: int) -> Mapping[str, float]:
    """By program: in a scrape, or in a read of one that reads by itself."""
    nodes = [cluster.folder / f"node-{number}" / "broker.log" for number in cluster.node_ids]
    with _all_running(cluster, programs, size) as running:
        log, began, scrapes = RequestLog(nodes), time.time(), 0
        while time.time() < began + _COUNTED:
            scraped = time.time()
            for each in running:
                each.look(_ANSWERS_WITHIN)
            scrapes += 1
            time.sleep(max(0.0, scraped + _INTERVAL - time.time()))
        passed, counts = time.time() - began, log.counts()
        found = {}
        for each in running:
            program = each.program
            reads = passed / program.interval if program.interval else scrapes
            found[program.name] = requests_of(program.client_id, counts).total() / reads
        return found


def _figures(cluster: KafkaCluster, programs: Sequence[Program], size: int) -> list[Figures]:
    with _all_running(cluster, programs, size) as running:
        exporters = [
            Exporter(
                each.program.name,
                f"http://{HOST}:{each.place.port}{each.program.path}",
                each.pid,
            )
            for each in running
        ]
        return measure(exporters, scrapes=_SCRAPES, interval=_INTERVAL, timeout=_ANSWERS_WITHIN)


@contextmanager
def _all_running(
    cluster: KafkaCluster, programs: Sequence[Program], size: int
) -> Iterator[list[Running]]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sizes-")))
        servers = cluster.bootstrap("PLAINTEXT")
        running = [Running(each, servers, folder / each.name) for each in programs]
        for each in running:
            stack.enter_context(each)
            deadline = time.time() + _STARTS_WITHIN
            while len(each.look(_ANSWERS_WITHIN).lags) < size and time.time() < deadline:
                time.sleep(1)
        yield running


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dev.truth.sizes", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    return parser


if __name__ == "__main__":
    sys.exit(main())
