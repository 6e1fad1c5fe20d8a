# SPDX-License-Identifier: Apache-2.0
"""Real brokers, traffic and a collector each minute, its alarms live and then replayed.

    python -m dev.live_alarms --minutes 60

Consumers go away and come back, a group is deleted, a broker is frozen, and the collector leaves
runs out. What it publishes goes to the model of CloudWatch minute by minute; afterwards `kafka-lag
replay` reads the snapshots. Ends with 1 where a state or a page differs, or where the heartbeat or
every other alarm stayed off.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from dev.documents import make_cluster
from dev.kafka import KafkaCluster, KafkaClusterError
from dev.live_alarms.timelines import (
    LiveAlarms,
    deployed_properties,
    find_differences,
    find_spans,
    replay_spans,
    replay_timelines,
)
from dev.live_alarms.traffic import ALARMS, Plan
from dev.traffic import Traffic
from kafka_lag.brokers.access import Credentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.source import KafkaSource, quiet_library
from kafka_lag.collector import Collector
from kafka_lag.errors import ReporterError
from kafka_lag.settings import settings_of
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metric_sets import ConfiguredSink
from kafka_lag.snapshots.store import FolderStore
from kafka_lag_cdk.alarm_rules import HEARTBEAT
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.simulation.evaluation import ALARM
from kafka_lag_cli.replay.alarms import metrics_watched
from kafka_lag_cli.replay.recorded import read_recorded
from kafka_lag_cli.state.groups_over_time import MINUTE_MS

_MINUTE = MINUTE_MS // 1000
_FROZEN_BROKER = 3
_SHOWN = 20


class _Warnings:
    """Warnings of the runs, counted."""

    def __init__(self) -> None:
        self.count = 0

    def warning(self, message: str, /) -> None:  # noqa: ARG002 - a logger's signature
        self.count += 1


class _Collecting:
    """The collector of a document, run once a minute; it keeps what it logs until it is taken."""

    def __init__(self, cluster: KafkaCluster, document: Cluster, folder: Path) -> None:
        self.warnings = _Warnings()
        self.failed = 0
        self._lines = io.StringIO()
        brokers = {"bootstrap_servers": cluster.bootstrap("SASL_SSL").split(",")}
        settings = settings_of({**document.document(), **brokers, "cafile": str(cluster.cafile)})
        user = cluster.users["monitor"]
        login = FixedCredentials(Credentials(user.username, user.password))
        self._collector = Collector(
            settings,
            KafkaSource(settings.access, login),
            FolderStore(folder),
            [ConfiguredSink(EmfSink(self._lines, settings.namespace), settings.levels)],
            self.warnings,
        )

    def run(self, taken_at: int) -> list[str]:
        """The lines that a run for this time has written, whatever failed in it."""
        try:
            self._collector.run(taken_at)
        except ReporterError as error:
            self.failed += 1
            sys.stderr.write(f"{error}\n")
        lines = self._lines.getvalue().splitlines()
        self._lines.seek(0)
        self._lines.truncate()
        return lines


def make_document() -> Cluster:
    """The cluster as a deployment's document has it."""
    return make_cluster(
        "live",
        auth={
            "type": "scram",
            "secret_arn": "arn:aws:secretsmanager:eu-west-1:111122223333:secret:AmazonMSK_m-a1b2c3",
            "kms_key_arn": "arn:aws:kms:eu-west-1:111122223333:key/"
            "0a1b2c3d-aaaa-bbbb-cccc-444455556666",
        },
        **ALARMS,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the time and compares; 1 where the two sides are not the same."""
    parser = argparse.ArgumentParser(prog="python -m dev.live_alarms", description=__doc__)
    parser.add_argument("--minutes", type=int, default=60, help="how long (default: 60)")
    parser.add_argument(
        "--folder", type=Path, help="an empty one that keeps the snapshots and published lines"
    )
    options = parser.parse_args(arguments)
    console = Console(soft_wrap=True, highlight=False)
    quiet_library()
    try:
        with _folder(options.folder) as folder, KafkaCluster() as cluster:
            return _run(Plan(options.minutes), cluster, folder, console)
    except KafkaClusterError as error:
        Console(stderr=True).print(str(error), style="red", markup=False, soft_wrap=True)
        return 1


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="live-alarms-") as folder:
        yield Path(folder)


def _run(plan: Plan, cluster: KafkaCluster, folder: Path, console: Console) -> int:
    document = make_document()
    collecting = _Collecting(cluster, document, folder)
    begin = (int(time.time()) // _MINUTE + 2) * _MINUTE
    live = LiveAlarms(deployed_properties(document), begin * 1000)
    clock = time.monotonic() + begin - time.time()
    runs = 0
    with Traffic(cluster, plan.behaviours(clock)) as traffic:
        frozen = False
        for minute in range(plan.minutes):
            time.sleep(max(0.0, begin + minute * _MINUTE - time.time()))
            # Just before a run: within seconds others lead what a frozen broker led.
            if plan.is_frozen(minute) != frozen:
                frozen = not frozen
                (cluster.pause if frozen else cluster.resume)(_FROZEN_BROKER)
            lines: list[str] = []
            if plan.runs(minute):
                lines = collecting.run((begin + minute * _MINUTE) * 1000)
                runs += 1
            live.look(minute, lines)
            with (folder / "published.log").open("a") as log:
                log.writelines(f"{line}\n" for line in lines)
            on = sorted(
                f"{rule} of {group}" if group else rule
                for (rule, group), timeline in live.timelines.items()
                if timeline[-1] == ALARM
            )
            console.print(f"{minute:>3}  {len(lines):>4} lines  {', '.join(on) or '-'}")
        if frozen:
            cluster.resume(_FROZEN_BROKER)
        for name, error in traffic.errors.items():
            console.print(f"traffic {name} ended early: {error}", markup=False)
    console.print(
        f"{runs} runs in {plan.minutes} minutes, {collecting.failed} failed, "
        f"{collecting.warnings.count} warnings."
    )
    until = (begin + plan.minutes * _MINUTE) * 1000 - 1
    return _compare(live, document, folder, (begin * 1000, until), console)


def _compare(
    live: LiveAlarms, document: Cluster, folder: Path, times: tuple[int, int], console: Console
) -> int:
    recorded = read_recorded(
        FolderStore(folder),
        document.name,
        metrics_watched(document),
        *times,
        lambda _: lambda _: None,
    )
    replayed = replay_timelines(recorded, document)
    differences = list(find_differences(live.timelines, replayed))
    spans = find_spans(live.timelines)
    pages = replay_spans(recorded, document)
    differences += [
        f"{rule} of {group} was on in {spans.get((rule, group))} live and in "
        f"{pages.get((rule, group))} replayed"
        for rule, group in sorted({*spans, *pages}, key=str)
        if spans.get((rule, group)) != pages.get((rule, group))
    ]
    counts = Counter(state for timeline in live.timelines.values() for state in timeline)
    console.print(
        f"{len(live.timelines)} timelines live, {len(replayed)} replayed and the heartbeat's; "
        f"states: {', '.join(f'{state} {count:,}' for state, count in counts.most_common())}."
    )
    by_rule = Counter({rule: 0 for rule, _ in live.timelines})
    for (rule, _), found in spans.items():
        by_rule[rule] += len(found)
    console.print("Pages: " + ", ".join(f"{rule} {count}" for rule, count in by_rule.items()))
    console.print(f"{len(differences)} differences.")
    for each in differences[:_SHOWN]:
        console.print(each, markup=False)
    return 1 if differences or not spans or (HEARTBEAT.name, None) not in spans else 0
