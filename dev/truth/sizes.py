# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.truth.sizes`: what ours and the programs that read when they are scraped take of
seconds, CPU, memory and requests, by the number of group-partitions, and on a small cluster."""

from __future__ import annotations

import argparse
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from rich.console import Console

from dev.benchmarks.collect import (
    GROUP_SIZE,
    PARTITIONS,
    commit_groups,
    create_topics,
    measure_collector,
    produce_records,
)
from dev.benchmarks.exporters import (
    Exporter,
    ExporterError,
    cpu_seconds,
    memory_bytes,
    pace,
    scrape,
    series_in,
)
from dev.benchmarks.memory import MB
from dev.kafka import KafkaCluster, KafkaClusterError
from dev.kafka.access import wait_for
from dev.kafka.cluster import quick_start
from dev.kafka.jars import kafka_server
from dev.kafka.node.settings import HOST
from dev.kafka.readiness import wait_for_topics
from dev.truth.page import NONE, with_sizes
from dev.truth.programs import OURS, RIVALS, Program
from dev.truth.requests import LOG_REQUESTS, RequestLog, requests_of
from dev.truth.running import Running

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (DOCS / "truth.md", DOCS / "benchmarks.md")
# By topic, as docs/exporter.md recommends: by partition an answer of 60,000 is over its limit and
# must be scraped in shards.
_OURS = replace(OURS, path="/metrics?level=topic")
SIZES = (6_000, 60_000, 200_400)
SMALL_GROUPS, SMALL_PARTITIONS = 13, 6
_SMALL_TOPIC = "small"
_INTERVAL = 15.0
# Of one program at one size: counted scrapes, and no further one after so many seconds.
_SCRAPES, _LONGEST = 3, 60.0
_COUNTED, _SMALL_SCRAPES = 30.0, 8
_RUNS = 4
_STARTS_WITHIN, _ANSWERS_WITHIN = 240.0, 120.0

_SECTION = """\
## By size

`python -m dev.truth.sizes` on {date}, three brokers and the programs on two cores. Each program
runs alone on the same brokers and is scraped each 15 s. CPU is of a scrape, or of a read where a
program reads by itself, and all that it does between two of them counts. Ours is there twice:
`serve`, whose scrapes read no broker, by topic as [exporter.md](exporter.md) recommends; and a
run of the collector as in Lambda ({runs} warm ones, by SCRAM over TLS, with metrics and snapshots
made), for which the seconds and the CPU are those of reading the brokers. Requests are counted
by the brokers' own log, on a cluster apart.

{sizes}

A cluster of {groups} groups and {partitions} group-partitions, all programs at once, scraped each
15 s for two minutes behind their first lag:

{small}
"""


@dataclass(frozen=True, slots=True)
class Taken:
    """By one program at one size; seconds of a scrape or run, CPU of a read."""

    program: str
    seconds: float
    slowest: float
    cpu_seconds: float
    peak_bytes: float


@dataclass(frozen=True, slots=True)
class Small:
    """By one program on a small cluster: seconds from its start until its port is open and until
    it shows all groups, CPU seconds until then and of two minutes after."""

    program: str
    opened: float
    shown: float
    cpu_starting: float
    cpu_seconds: float
    peak_bytes: float


def main(argv: Sequence[str] | None = None) -> int:
    """Prints what is measured as soon as it is; writes the pages where nothing is left out."""
    options = _parser().parse_args(argv)
    # So that a run that is ended ends its programs.
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    console = Console(soft_wrap=True, markup=False, highlight=False)
    rivals = [each for each in RIVALS if not each.interval]
    rivals = [each for each in rivals if each.name in (options.only or [each.name])]
    programs = [_OURS, *(each for each in rivals if each.executable())]
    for each in rivals:
        if each not in programs:
            console.print(f"{each.name} is left out: {each.file} is not below .local/truth.")
    requests: dict[int, Mapping[str, float]] = {}
    taken: dict[int, Sequence[Taken]] = {}
    try:
        with _cluster(LOG_REQUESTS) as cluster:
            small = _measure_small(cluster, programs)
            console.print(table_of_small(small))
            for size in () if options.only else _grow(cluster, options.sizes):
                requests[size] = _count_requests(cluster, programs, size, console)
        with _cluster() as cluster:
            for size in _grow(cluster, options.sizes):
                taken[size] = [
                    *_measure_each(cluster, programs, size, console),
                    _measure_collector(cluster),
                ]
                console.print(table_of({size: taken[size]}, requests))
    except (KafkaClusterError, ExporterError) as error:
        console.print(str(error), style="red")
        return 1
    except KeyboardInterrupt:
        return 1
    whole = tuple(options.sizes) == SIZES and not options.only
    if whole and len(programs) == 1 + len(rivals):
        section = _SECTION.format(
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
            runs=_RUNS,
            groups=SMALL_GROUPS,
            partitions=SMALL_GROUPS * SMALL_PARTITIONS,
            sizes=table_of(taken, requests),
            small=table_of_small(small),
        )
        for page in PAGES:
            page.write_text(with_sizes(page.read_text("utf-8"), section), "utf-8")
            console.print(f"{page} is written.")
    return 0


def table_of(
    taken: Mapping[int, Sequence[Taken]], requests: Mapping[int, Mapping[str, float]]
) -> str:
    """In Markdown, a line a size and program."""
    lines = [
        "| group-partitions | program | s | slowest s | CPU s | peak MB | requests |",
        "|---|---|---|---|---|---|---|",
    ]
    for size, each in taken.items():
        for one in each:
            count = requests.get(size, {}).get(one.program)
            lines.append(
                f"| {size:,} | {one.program} | {one.seconds:.2f} | {one.slowest:.2f} "
                f"| {one.cpu_seconds:.2f} | {one.peak_bytes / MB:.0f} "
                f"| {NONE if count is None else f'{count:,.0f}'} |"
            )
    return "\n".join(lines)


def table_of_small(small: Sequence[Small]) -> str:
    """In Markdown, a line a program."""
    lines = [
        "| program | port open after s | all groups after s | CPU s until then | CPU s of 2 min "
        "| peak MB |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {one.program} | {one.opened:.1f} | {one.shown:.1f} | {one.cpu_starting:.2f} "
        f"| {one.cpu_seconds:.2f} | {one.peak_bytes / MB:.0f} |"
        for one in small
    ]
    return "\n".join(lines)


@contextmanager
def _cluster(*java: str) -> Iterator[KafkaCluster]:
    with KafkaCluster(java_options=(*quick_start(kafka_server()), *java)) as cluster:
        yield cluster


def _grow(cluster: KafkaCluster, sizes: Sequence[int]) -> Iterator[int]:
    """Commits more groups again and again, and yields how many group-partitions there are."""
    create_topics(cluster.admin())
    produce_records(Producer(cluster.client_config()))
    groups = 0
    for size in sorted(sizes):
        wanted = max(1, size // GROUP_SIZE)
        commit_groups(cluster.admin(), range(groups, wanted))
        groups = wanted
        yield groups * GROUP_SIZE


@contextmanager
def _start(cluster: KafkaCluster, program: Program) -> Iterator[tuple[Running, Exporter]]:
    with tempfile.TemporaryDirectory(prefix="sizes-") as folder:
        bootstrap = cluster.bootstrap("PLAINTEXT")
        with Running(program, bootstrap, Path(folder, "program")) as running:
            url = f"http://{HOST}:{running.place.port}{program.path}"
            yield running, Exporter(program.name, url, running.pid)


def _measure_each(
    cluster: KafkaCluster, programs: Sequence[Program], size: int, console: Console
) -> Iterator[Taken]:
    for program in programs:
        try:
            yield _measure(cluster, program, size)
        except ExporterError as error:
            console.print(f"{program.name} at {size:,}: {error}", style="red")


def _measure(cluster: KafkaCluster, program: Program, size: int) -> Taken:
    with _start(cluster, program) as (_, exporter):
        _wait_for_samples(exporter, size // PARTITIONS)
        scrape(exporter, _ANSWERS_WITHIN)
        began, before = time.time(), cpu_seconds(exporter.pid)
        seconds: list[float] = []
        for _ in pace(_SCRAPES, _INTERVAL):
            sent = time.time()
            scrape(exporter, _ANSWERS_WITHIN)
            seconds.append(time.time() - sent)
            if time.time() > began + _LONGEST:
                break
        used = cpu_seconds(exporter.pid) - before
        reads = (time.time() - began) / program.interval if program.interval else len(seconds)
        median = sorted(seconds)[len(seconds) // 2]
        _, peak = memory_bytes(exporter.pid)
        return Taken(program.name, median, max(seconds), used / reads, peak)


def _measure_collector(cluster: KafkaCluster) -> Taken:
    found = measure_collector(cluster, _RUNS)
    peak = found["peak_mb"] * MB
    return Taken("kafka-lag, a run", found["warm"], found["most"], found["cpu"], peak)


def _count_requests(
    cluster: KafkaCluster, programs: Sequence[Program], size: int, console: Console
) -> dict[str, float]:
    """By program: in a scrape, or in a read of one that reads by itself."""
    nodes = [cluster.folder / f"node-{number}" / "broker.log" for number in cluster.node_ids]
    found = {}
    for program in programs:
        try:
            with _start(cluster, program) as (_, exporter):
                _wait_for_samples(exporter, size // PARTITIONS)
                log, began = RequestLog(nodes), time.time()
                if program.interval:
                    time.sleep(_COUNTED)
                else:
                    scrape(exporter, _ANSWERS_WITHIN)
                reads = (time.time() - began) / program.interval if program.interval else 1
                count = requests_of(program.client_id, log.counts()).total()
                found[program.name] = count / reads
        except ExporterError as error:
            console.print(f"{program.name} at {size:,}: {error}", style="red")
    return found


def _measure_small(cluster: KafkaCluster, programs: Sequence[Program]) -> list[Small]:
    _plant_small(cluster.admin(), cluster.bootstrap("PLAINTEXT"))
    found = []
    with ExitStack() as stack:
        exporters = []
        for program in programs:
            running, exporter = stack.enter_context(_start(cluster, program))
            opened = _wait_for_port(running)
            _wait_for_samples(exporter, SMALL_GROUPS)
            shown, used = time.time() - running.started, cpu_seconds(exporter.pid)
            exporters.append(exporter)
            found.append(Small(program.name, opened, shown, used, 0.0, 0.0))
        before = [cpu_seconds(each.pid) for each in exporters]
        for _ in pace(_SMALL_SCRAPES, _INTERVAL):
            for each in exporters:
                scrape(each, _ANSWERS_WITHIN)
        return [
            replace(
                one,
                cpu_seconds=cpu_seconds(exporter.pid) - used,
                peak_bytes=memory_bytes(exporter.pid)[1],
            )
            for one, exporter, used in zip(found, exporters, before, strict=True)
        ]


def _plant_small(admin: AdminClient, bootstrap: str) -> None:
    wait_for(admin.create_topics([NewTopic(_SMALL_TOPIC, SMALL_PARTITIONS)]))
    wait_for_topics(bootstrap, [_SMALL_TOPIC])
    for number in range(SMALL_GROUPS):
        where = [TopicPartition(_SMALL_TOPIC, each, 0) for each in range(SMALL_PARTITIONS)]
        request = [ConsumerGroupTopicPartitions(f"small-{number:02}", where)]
        wait_for(admin.alter_consumer_group_offsets(request))


def _wait_for_port(running: Running) -> float:
    """Seconds from the start until connections are taken. Raises ExporterError."""
    while running.alive and time.time() < running.started + _STARTS_WITHIN:
        with suppress(OSError), socket.create_connection((HOST, running.place.port), 1.0):
            return time.time() - running.started
        time.sleep(0.02)
    raise ExporterError(f"{running.program.name} opens no port")


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
        time.sleep(0.5)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dev.truth.sizes", description=__doc__)
    add = parser.add_argument
    add("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    names = [each.name for each in RIVALS if not each.interval]
    only = f"beside ours these alone, of {', '.join(names)}: counts no requests, writes no page"
    add("--only", nargs="+", choices=names, metavar="NAME", help=only)
    return parser


if __name__ == "__main__":
    sys.exit(main())
