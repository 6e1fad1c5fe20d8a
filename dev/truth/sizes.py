# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.truth.sizes`: what a scrape takes of ours and of programs that read when they are
scraped, by the number of group-partitions: seconds, CPU, memory, requests to the brokers."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from confluent_kafka import Producer
from rich.console import Console

from dev.benchmarks.collect import (
    GROUP_SIZE,
    PARTITIONS,
    commit_groups,
    create_topics,
    produce_records,
)
from dev.benchmarks.exporters import (
    Exporter,
    ExporterError,
    Figures,
    measure,
    scrape,
    series_in,
)
from dev.kafka import KafkaCluster, KafkaClusterError
from dev.kafka.cluster import quick_start
from dev.kafka.jars import kafka_server
from dev.kafka.node.settings import HOST
from dev.truth.programs import OURS, RIVALS, Program
from dev.truth.requests import LOG_REQUESTS, RequestLog, requests_of
from dev.truth.running import Running

# By topic, as docs/exporter.md recommends: by partition an answer of 60,000 is over its limit and
# must be scraped in shards.
_OURS = replace(OURS, path="/metrics?level=topic")
SIZES = (6_000, 60_000, 200_400)
_STARTS_WITHIN = 240.0
_SCRAPES, _INTERVAL = 4, 15.0
_COUNTED = 29.0
_ANSWERS_WITHIN = 120.0


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a table a size, as soon as it is measured; 1 where the run is impossible."""
    options = _parser().parse_args(argv)
    # So that a run that is ended ends its programs.
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    console = Console()
    programs = [_OURS, *(each for each in RIVALS if not each.interval and each.executable())]
    try:
        requests = {
            size: _requests(cluster, programs, size)
            for cluster, size in _clusters(options.sizes, [LOG_REQUESTS], console)
        }
        for cluster, size in _clusters(options.sizes, [], console):
            figures = {size: _figures(cluster, programs, size)}
            sys.stdout.write(table_of(figures, requests) + "\n")
            sys.stdout.flush()
    except (KafkaClusterError, ExporterError) as error:
        console.print(str(error), style="red", markup=False, soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        return 1
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
    with _all_running(cluster, programs, size) as exporters:
        log, began, scrapes = RequestLog(nodes), time.time(), 0
        while time.time() < began + _COUNTED:
            scraped = time.time()
            for each in exporters:
                scrape(each, _ANSWERS_WITHIN)
            scrapes += 1
            time.sleep(max(0.0, scraped + _INTERVAL - time.time()))
        passed, counts = time.time() - began, log.counts()
        found = {}
        for program in programs:
            reads = passed / program.interval if program.interval else scrapes
            found[program.name] = requests_of(program.client_id, counts).total() / reads
        return found


def _figures(cluster: KafkaCluster, programs: Sequence[Program], size: int) -> list[Figures]:
    with _all_running(cluster, programs, size) as exporters:
        return measure(exporters, scrapes=_SCRAPES, interval=_INTERVAL, timeout=_ANSWERS_WITHIN)


@contextmanager
def _all_running(
    cluster: KafkaCluster, programs: Sequence[Program], size: int
) -> Iterator[list[Exporter]]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sizes-")))
        servers = cluster.bootstrap("PLAINTEXT")
        exporters = []
        for program in programs:
            running = stack.enter_context(Running(program, servers, folder / program.name))
            url = f"http://{HOST}:{running.place.port}{program.path}"
            exporters.append(Exporter(program.name, url, running.pid))
            _wait_for_samples(exporters[-1], size // PARTITIONS)
        yield exporters


def _wait_for_samples(exporter: Exporter, count: int) -> None:
    """At least one a group and topic. Raises ExporterError."""
    deadline = time.time() + _STARTS_WITHIN
    while True:
        try:
            if series_in(scrape(exporter, _ANSWERS_WITHIN)) >= count:
                return
        except ExporterError:
            if time.time() > deadline:
                raise
        if time.time() > deadline:
            raise ExporterError(f"{exporter.name} does not show all groups")
        time.sleep(1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dev.truth.sizes", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    return parser


if __name__ == "__main__":
    sys.exit(main())
