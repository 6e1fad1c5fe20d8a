# SPDX-License-Identifier: Apache-2.0
"""The main job on one machine: real brokers and consumers, the handler on its schedule, Spark.

Starts a Kafka cluster and an AWS stand-in, lets named consumers behave well and badly, calls the
Lambda handler every few seconds, and turns its snapshots into the daily report, whose page stays.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from confluent_kafka import KafkaException
from rich.console import Console
from rich.live import Live

from dev.aws import AwsStandIn
from dev.demo_function import BUCKET, CLUSTER, LocalFunction
from dev.kafka import KafkaCluster, KafkaClusterError
from dev.traffic import Traffic, possible
from kafka_lag.errors import ReporterError
from kafka_lag.snapshots.previous import load_newest
from kafka_lag.snapshots.s3_store import S3Store
from kafka_lag.snapshots.store import FolderStore
from kafka_lag.views.latest_run import Snapshots
from kafka_lag_cli.local_server import LocalServer
from kafka_lag_cli.terminal.group_table import groups_table
from kafka_lag_cli.terminal.text import escape_markup

INTERVAL = 5
# The last demo's pages, which outlive its other files.
PAGES = Path(__file__).parents[1] / ".local" / "demo"
_QUIET_TERMINAL_EVERY = 6
_JAVA_ON_MODULES = "WARNING: Using incubator modules"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the demo; 0 when all of it worked, 1 with a sentence when not."""
    options = _options(argv)
    console = Console()
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    folder = Path(tempfile.mkdtemp(prefix="msk-lag-demo-"))
    try:
        _collect(options.minutes, folder, console)
        return _report(folder, console)
    except KeyboardInterrupt:
        console.print("Interrupted; everything is stopped.")
        return 0
    except (ReporterError, KafkaClusterError, KafkaException) as error:
        console.print(f"[red]{escape_markup(str(error))}[/]", soft_wrap=True)
        return 1
    finally:
        _leave(folder, console, keep=options.keep)


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m dev.demo", description=__doc__)
    parser.add_argument(
        "--minutes", type=_minutes, default=2.0, metavar="M", help="how long to collect (2)"
    )
    parser.add_argument("--keep", action="store_true", help="leave the files in place at the end")
    return parser.parse_args(argv)


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0.0 < minutes <= 24 * 60:
        raise argparse.ArgumentTypeError(f"{text!r} must be minutes, more than 0, at most 1440")
    return minutes


def _collect(minutes: float, folder: Path, console: Console) -> None:
    """Brokers, traffic and the handler, until the time is up; snapshots end in the folder."""
    with ExitStack() as stack:
        with console.status("Starting three brokers and an AWS stand-in …"):
            aws = stack.enter_context(AwsStandIn())
            cluster = stack.enter_context(KafkaCluster())
            function = LocalFunction(cluster, aws, folder, INTERVAL)
            stack.callback(function.close)
        console.print(f"Kafka is up at {cluster.bootstrap('SASL_SSL')} (SASL_SSL, SCRAM-SHA-512).")
        traffic = stack.enter_context(Traffic(cluster))
        groups = possible()
        console.print(f"{len(groups)} groups at work: {', '.join(groups)}.")
        store = S3Store(aws.client("s3"), BUCKET)
        server = LocalServer(Snapshots(store, time.time), time.time)
        console.print(f"A status page, meanwhile: {stack.enter_context(server).url}")
        _watch(function, store, time.monotonic() + minutes * 60, console)
        for name, error in traffic.errors:
            console.print(f"[yellow]traffic {name} ended early: {escape_markup(error)}[/]")
        target = FolderStore(folder)
        for key in store.keys("snapshots/"):
            target.write_once(key, store.read(key))
        metric = function.a_metric()
    console.print(f"{function.calls} runs, the slowest {function.slowest:.2f} s. A metric:")
    console.print(f"  {metric}", markup=False, highlight=False, soft_wrap=True)


def _watch(function: LocalFunction, store: S3Store, end: float, console: Console) -> None:
    """Calls the handler each interval and shows what it has written, read back from S3."""
    with Live(console=console, auto_refresh=False) as live:
        while time.monotonic() < end:
            taken_at = function.call_on_time()
            snapshot = load_newest(store, CLUSTER, taken_at + 1).value
            table = groups_table(snapshot, console.width)
            last = time.monotonic() + INTERVAL >= end
            if console.is_terminal:
                live.update(table, refresh=True)
            elif last or function.calls % _QUIET_TERMINAL_EVERY == 1:
                console.print(table)


def _report(folder: Path, console: Console) -> int:
    """The Spark job for each day that the demo touched, as Glue would start it."""
    days = sorted({path.name.removeprefix("dt=") for path in folder.glob("snapshots/*/*/dt=*")})
    for day in days:
        console.print(f"Spark reads the snapshots of {day}, which takes half a minute …")
        command = [sys.executable, "-m", "kafka_lag_report.daily_report", "--date", day]
        places = ["--input", str(folder), "--output", str(folder)]
        if status := _run_quietly([*command, *places]):
            return status
        for page in folder.glob(f"reports/page/*/dt={day}/report.html"):
            kept = PAGES / f"report-{day}.html"
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(page, kept)
            console.print(f"Open it in a browser: {kept}", soft_wrap=True)
    return 0


def _run_quietly(command: Sequence[str]) -> int:
    """The exit code; what it says on stderr is passed on, but for Java's line on Spark's modules.

    Spark adds that module to each JVM it starts, and no option of either leaves the line out.
    """
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as job:
        for line in job.stderr or ():
            if not line.startswith(_JAVA_ON_MODULES):
                sys.stderr.write(line)
    return job.returncode


def _leave(folder: Path, console: Console, *, keep: bool) -> None:
    if keep:
        console.print(f"Snapshots and reports are in {folder}", soft_wrap=True)
        console.print(
            f"The status page again: uv run kafka-lag serve --state {folder}", soft_wrap=True
        )
        return
    shutil.rmtree(folder, ignore_errors=True)
    console.print("To keep snapshots and reports: make demo KEEP=1")


if __name__ == "__main__":
    raise SystemExit(main())
