# SPDX-License-Identifier: Apache-2.0
"""What a scrape of Prometheus exporters takes: ours and others in turn, in one run.

Any exporters that run on this machine, best all against one cluster: `python -m dev.kafka` starts
one. CPU is of the whole run by the number of scrapes, so that what a process does between scrapes
counts as well; the first scrape of each is not counted. Rounds begin at even distances, however
long they take: else a process would do more on its own beside a slow one.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dev.benchmarks.memory import MB, read_memory

_TICKS = os.sysconf("SC_CLK_TCK")
# utime and stime among the fields of /proc/PID/stat that follow the name in parentheses.
_UTIME, _STIME = 11, 12
_HEADERS = {"Accept": "text/plain", "Accept-Encoding": "gzip"}


class ExporterError(Exception):
    """An exporter that does not answer, or a process that is not there."""


@dataclass(frozen=True, slots=True)
class Exporter:
    """A running process and where it is scraped."""

    name: str
    url: str
    pid: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one exporter: medians and the whole run's CPU by scrapes, in seconds; bytes; series."""

    name: str
    scrapes: int
    seconds: float
    slowest: float
    cpu_seconds: float
    resident_bytes: int
    peak_bytes: int
    series: int


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a line an exporter; 1 when one does not answer."""
    options = _parser().parse_args(argv)
    exporters = [*options.ours, *options.peer]
    try:
        figures = measure(exporters, scrapes=options.scrapes, interval=options.interval)
    except ExporterError as error:
        Console(stderr=True).print(str(error), style="red", markup=False, soft_wrap=True)
        return 1
    if options.json:
        sys.stdout.write(json.dumps([asdict(each) for each in figures], indent=1) + "\n")
    else:
        Console().print(table_of(figures))
    return 0


def measure(
    exporters: Sequence[Exporter], *, scrapes: int, interval: float = 0.0, timeout: float = 60.0
) -> list[Figures]:
    """Scrapes all in turn, `scrapes` times, a round each `interval` seconds.

    Each round begins with another exporter. Raises ExporterError.
    """
    seconds: dict[Exporter, list[float]] = {each: [] for each in exporters}
    series = {each: series_in(scrape(each, timeout)) for each in exporters}
    before = {each: cpu_seconds(each.pid) for each in exporters}
    for number in pace(scrapes, interval):
        first = number % len(exporters)
        for each in (*exporters[first:], *exporters[:first]):
            began = time.perf_counter()
            body = scrape(each, timeout)
            seconds[each].append(time.perf_counter() - began)
            series[each] = series_in(body)
    found = []
    for each in exporters:
        used = cpu_seconds(each.pid) - before[each]
        resident, peak = memory_bytes(each.pid)
        found.append(
            Figures(
                name=each.name,
                scrapes=scrapes,
                seconds=statistics.median(seconds[each]),
                slowest=max(seconds[each]),
                cpu_seconds=used / scrapes,
                resident_bytes=resident,
                peak_bytes=peak,
                series=series[each],
            )
        )
    return found


def pace(
    rounds: int,
    interval: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[int]:
    """The number of each round when it is time for it: at the end of its interval, or at once where
    earlier ones took longer than theirs.
    """
    began = clock()
    for number in range(rounds):
        sleep(max(0.0, began + (number + 1) * interval - clock()))
        yield number


def series_in(body: bytes) -> int:
    """How many samples an answer in Prometheus' text format has."""
    lines = (line.strip() for line in body.splitlines())
    return sum(bool(line) and not line.startswith(b"#") for line in lines)


def cpu_seconds(pid: int) -> float:
    """Of a process so far, all its threads, user and system. Raises ExporterError."""
    with _explain(pid):
        text = Path("/proc", str(pid), "stat").read_text()
    # The name, in parentheses, may hold anything.
    fields = text.rpartition(")")[2].split()
    return (int(fields[_UTIME]) + int(fields[_STIME])) / _TICKS


def memory_bytes(pid: int) -> tuple[int, int]:
    """Resident now, and at most so far. Raises ExporterError."""
    with _explain(pid):
        return read_memory(pid)


def table_of(figures: Iterable[Figures]) -> Table:
    """A line an exporter."""
    table = Table("exporter")
    for name in ("s a scrape", "slowest", "CPU s a scrape", "MB", "peak MB", "series", "scrapes"):
        table.add_column(name, justify="right")
    for each in figures:
        table.add_row(
            escape(each.name),
            f"{each.seconds:.3f}",
            f"{each.slowest:.3f}",
            f"{each.cpu_seconds:.3f}",
            f"{each.resident_bytes / MB:.0f}",
            f"{each.peak_bytes / MB:.0f}",
            f"{each.series:,}",
            str(each.scrapes),
        )
    return table


def exporter_of(text: str) -> Exporter:
    """`NAME=URL,PID`. Raises ArgumentTypeError."""
    name, _, rest = text.partition("=")
    url, _, pid = rest.rpartition(",")
    if not name or urlsplit(url).scheme not in ("http", "https") or not pid.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=URL,PID with a URL of http")
    return Exporter(name, url, int(pid))


def scrape(exporter: Exporter, timeout: float) -> bytes:
    """What it answers, unpacked. Raises ExporterError."""
    request = Request(exporter.url, headers=_HEADERS)  # noqa: S310 - exporter_of checks the scheme
    try:
        with urlopen(request, timeout=timeout) as response:  # noqa: S310 - as above
            body: bytes = response.read()
            packed = response.headers.get("Content-Encoding") == "gzip"
            return gzip.decompress(body) if packed else body
    except (OSError, HTTPException, EOFError) as error:
        raise ExporterError(f"{exporter.name} at {exporter.url}: {error}") from error


@contextmanager
def _explain(pid: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ExporterError(f"process {pid}: {error.strerror}") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dev.benchmarks.exporters",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    for name, required in (("--ours", False), ("--peer", True)):
        add(
            name,
            type=exporter_of,
            action="append",
            default=[],
            required=required,
            metavar="NAME=URL,PID",
            help="an exporter that runs: where it is scraped, and its process; may be repeated",
        )
    add("--scrapes", type=_count, default=20, metavar="N", help="counted scrapes of each (20)")
    add("--interval", type=float, default=1.0, metavar="S", help="seconds from round to round (1)")
    add("--json", action="store_true", help="JSON instead of a table")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
