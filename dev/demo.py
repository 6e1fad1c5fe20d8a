# SPDX-License-Identifier: Apache-2.0
"""Shows the system on one machine: real brokers and consumers, scheduled runs, and Spark.

Starts a Kafka cluster with named groups. Watches them with `kafka-lag watch`, while all keep up and
then while most have the trouble that they are named for. Prints causes, the messages that a
deployment would send, and the daily report, whose page stays.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

from confluent_kafka import KafkaException
from rich.console import Console

from dev.kafka import KafkaCluster, KafkaClusterError
from dev.kafka.readiness import wait_until
from dev.traffic import Traffic
from kafka_lag.errors import ReporterError
from kafka_lag.notify.changes import find_changes
from kafka_lag.notify.messages import Notice, build_messages
from kafka_lag.notify.notifier import StoredRuns
from kafka_lag.snapshots.store import FolderStore
from kafka_lag.views.latest_run import Snapshots
from kafka_lag_cli.local_server import LocalServer
from kafka_lag_cli.terminal.text import escape_markup

CLUSTER = "demo"
GROUPS = ("healthy", "slow", "stopped", "stuck", "skewed", "expiring", "rebalancing")
# Seconds between runs. A window of ten minutes and three runs until something is reported would
# show every group as OK for longer than the demo lasts.
INTERVAL, RULES = 5, ("window=20s", "hold=2")
# The share of the time after which groups get into trouble: causes compare with what was before.
_HEALTHY_SHARE = 0.25
# The last demo's pages, which outlive its other files.
PAGES = Path(__file__).parents[1] / ".local" / "demo"
_COMMAND = Path(sys.executable).with_name("kafka-lag")
_ENDS_WITHIN = 60.0
_METRIC = "kafka_lag_group_"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the demo; 0 when all of it worked, 1 with a sentence when not."""
    options = _options(argv)
    console = Console()
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    folder = Path(tempfile.mkdtemp(prefix="msk-lag-demo-"))
    try:
        code = _watch(options.minutes, folder, console) or _explain(folder, console)
        return code or _report(folder, console)
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
        "--minutes", type=_minutes, default=1.5, metavar="M", help="how long to watch (1.5)"
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


def _watch(minutes: float, folder: Path, console: Console) -> int:
    """Brokers, traffic and the command, until the time is up; returns its exit code."""
    console.print("Starting three brokers …")
    with KafkaCluster() as cluster, Traffic(cluster, GROUPS) as traffic:
        servers = cluster.bootstrap("PLAINTEXT")
        console.print(f"{len(GROUPS)} groups at work: {', '.join(GROUPS)}.")
        snapshots = Snapshots(FolderStore(folder), time.time)
        with LocalServer(snapshots, time.time) as server:
            words = ["watch", "-b", servers, "--cluster", CLUSTER, "--state", str(folder)]
            words += ["--interval", str(INTERVAL), *(f"--set={rule}" for rule in RULES)]
            console.print(f"kafka-lag {' '.join(words)}", soft_wrap=True, highlight=False)
            console.print(f"A status page, meanwhile: {server.url}")
            code = _run_for(minutes, words, folder, traffic)
            with urlopen(f"{server.url}/metrics") as answer:  # noqa: S310 - it is http
                lines: list[str] = answer.read().decode().splitlines()
        for name, error in traffic.errors:
            console.print(f"[yellow]traffic {name} ended early: {escape_markup(error)}[/]")
    metric = next((line for line in lines if line.startswith(_METRIC)), "none yet")
    console.print(f"{server.url}/metrics had {len(lines)} lines, such as:")
    console.print(f"  {metric}", markup=False, highlight=False, soft_wrap=True)
    return code


def _run_for(minutes: float, words: Sequence[str], folder: Path, traffic: Traffic) -> int:
    """Runs the command for so long after its first run, and returns its exit code."""
    healthy = minutes * 60 * _HEALTHY_SHARE
    with subprocess.Popen([_COMMAND, *words]) as command:
        try:
            wait_until(
                lambda: command.poll() is not None or any(folder.glob("snapshots/groups/*")),
                what="the first run",
            )
            with suppress(subprocess.TimeoutExpired):
                command.wait(healthy)
            traffic.go_wrong()
            with suppress(subprocess.TimeoutExpired):
                command.wait(minutes * 60 - healthy)
        finally:
            command.send_signal(signal.SIGINT)
        try:
            return command.wait(_ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            command.kill()
            return 1


def _explain(folder: Path, console: Console) -> int:
    """Prints causes and messages; returns the command's exit code."""
    for words in (["--all"], ["skewed"]):
        if code := _run("why", *words, "--state", str(folder), console=console):
            return code
    notices = list(_list_notices(folder))
    console.print(f"A deployment would have sent {len(notices)} messages:")
    for notice in notices:
        console.print(f"  {notice.subject}", markup=False, highlight=False, soft_wrap=True)
    if notices:
        console.print("The last one:")
        console.print(notices[-1].text, markup=False, highlight=False, soft_wrap=True)
    return 0


def _list_notices(folder: Path) -> Iterator[Notice]:
    """Yields the messages about all runs, the oldest first."""
    runs, before = StoredRuns(FolderStore(folder)), None
    now = round(time.time() * 1_000)
    for at in runs.between(CLUSTER, 0, now):
        groups = runs.groups(CLUSTER, at)
        changes = find_changes(CLUSTER, at, groups, before)
        yield from (message.notice for message in build_messages(changes, len(groups)))
        before = groups


def _run(*words: str, console: Console) -> int:
    console.print(f"\nkafka-lag {' '.join(words)}", soft_wrap=True, highlight=False)
    return subprocess.run([_COMMAND, *words], check=False).returncode


def _report(folder: Path, console: Console) -> int:
    """Reports each day that the demo touched; returns the command's exit code."""
    days = sorted({path.name.removeprefix("dt=") for path in folder.glob("snapshots/*/*/dt=*")})
    for day in days:
        if code := _run("report", "--state", str(folder), "--date", day, console=console):
            return code
        for page in folder.glob(f"reports/page/*/dt={day}/report.html"):
            kept = PAGES / f"report-{day}.html"
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(page, kept)
            console.print(f"Open it in a browser: {kept}", soft_wrap=True)
    return 0


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
