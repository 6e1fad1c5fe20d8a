# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.benchmarks.soak_exporter`: `kafka-lag serve` as an exporter for an hour.

A real Prometheus scrapes it with a token. Each minute a topic and a group appear, and older ones
vanish. The password is rotated at 40 % of the time, and a broker restarted at 50 %. Prints the
memory, descriptors and threads of the process and what Prometheus scraped. Exits with 1 when memory
grew by 3 MB or more after the warm-up, when descriptors or threads grew, when fewer than 98 % of
the scrapes succeeded, or when the process did not end well on SIGTERM.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import NewTopic
from rich.console import Console

from dev.benchmarks.soak import Sample, growth, warm_up_of
from dev.kafka import Credentials, KafkaCluster
from dev.kafka.access import create_users
from dev.traffic import Traffic

GROWTH_MB = 3.0
LEAST_UP = 0.98
_SAMPLE_SECONDS, _CHURN_SECONDS, _LIVES_MINUTES = 30.0, 60.0, 5
_ROTATES, _RESTARTS = 0.4, 0.5
_RECORDS, _COMMITTED = 100, 40
_READY_SECONDS, _END_SECONDS = 60.0, 20.0
_TOKEN = "a-token-of-the-soak"  # noqa: S105 - of this run alone


@dataclass(slots=True)
class Churn:
    """A topic and a group of it a minute, the oldest of them removed again."""

    cluster: KafkaCluster
    made: list[str] = field(default_factory=list)

    def step(self, number: int) -> None:
        """One appears, and one vanishes."""
        name = f"orders-brief-{number}"
        admin = self.cluster.admin()
        for future in admin.create_topics([NewTopic(name, 3, 3)]).values():
            future.result(20)
        producer = Producer({"bootstrap.servers": self.cluster.bootstrap("PLAINTEXT")})
        for _ in range(_RECORDS):
            producer.produce(name, b"record", partition=0)
        producer.flush(20)
        commit = ConsumerGroupTopicPartitions(name, [TopicPartition(name, 0, _COMMITTED)])
        for changed in admin.alter_consumer_group_offsets([commit]).values():
            changed.result(20)
        self.made.append(name)
        if len(self.made) > _LIVES_MINUTES:
            old = self.made.pop(0)
            for gone in admin.delete_consumer_groups([old]).values():
                gone.result(20)
            for gone in admin.delete_topics([old]).values():
                gone.result(20)


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak; 1 if something grew or failed."""
    options = _parse(arguments)
    console = Console(soft_wrap=True)
    with (
        tempfile.TemporaryDirectory(prefix="soak-") as temporary,
        KafkaCluster() as cluster,
        Traffic(cluster) as traffic,
    ):
        traffic.wait_until_ready()
        found = _soak(options, cluster, Path(temporary), console)
    for fault in found:
        console.print(fault, style="red", markup=False)
    return 1 if found else 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m dev.benchmarks.soak_exporter", description=__doc__
    )
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (default: 60)")
    parser.add_argument(
        "--interval", type=int, default=15, metavar="SECONDS", help="between runs and scrapes (15)"
    )
    return parser.parse_args(arguments)


def _soak(
    options: argparse.Namespace, cluster: KafkaCluster, folder: Path, console: Console
) -> list[str]:
    seconds = options.minutes * 60
    with _exporter(cluster, folder, options.interval) as (process, address):
        with _prometheus(folder, address, options.interval) as prometheus:
            samples = list(_watch(process, cluster, folder, seconds, console))
            up = _value(prometheus, f"avg_over_time(up[{int(seconds)}s])")
            series = _value(prometheus, "scrape_samples_scraped")
            scrape = _value(
                prometheus, f"quantile_over_time(0.5, scrape_duration_seconds[{int(seconds)}s])"
            )
        process.send_signal(signal.SIGTERM)
        began = time.monotonic()
        code = process.wait(_END_SECONDS)
        console.print(f"SIGTERM: exit code {code} after {time.monotonic() - began:.2f} s")
    runs = len(list(folder.glob("state/snapshots/groups/*/*/*/*.parquet")))
    console.print(
        f"runs {runs}, scrapes answered {up}, series {series}, median scrape {scrape} s",
        markup=False,
    )
    found = [] if code == 0 else [f"it ended with exit code {code}"]
    if up is None or up < LEAST_UP:
        found.append(f"only {up} of the scrapes were answered")
    warm_up = warm_up_of(seconds)
    for name, limit in (("resident_mb", GROWTH_MB), ("descriptors", 1), ("threads", 1)):
        more = growth(samples, warm_up, name)
        console.print(f"growth of {name} after {warm_up / 60:.1f} minutes: {more:+.2f}")
        if more >= limit:
            found.append(f"{name} grew by {more:.2f}")
    return found


def _watch(
    process: subprocess.Popen[bytes],
    cluster: KafkaCluster,
    folder: Path,
    seconds: float,
    console: Console,
) -> Iterator[Sample]:
    began, churn, number = time.monotonic(), Churn(cluster), 0
    rotated = restarted = False
    while (passed := time.monotonic() - began) < seconds and process.poll() is None:
        if passed >= number * _CHURN_SECONDS:
            churn.step(number)
            number += 1
        if not rotated and passed >= _ROTATES * seconds:
            create_users(cluster.admin(), {"monitor": Credentials("monitor", "rotated-password")})
            (folder / "password").write_text("rotated-password\n")
            rotated = True
            console.print("the password was rotated")
        if not restarted and passed >= _RESTARTS * seconds:
            cluster.stop(1)
            cluster.start(1)
            restarted = True
            console.print("a broker was restarted")
        sample = {"seconds": passed, **_figures(process.pid)}
        console.print(
            f"minute {passed / 60:5.1f}  {sample['resident_mb']:7.2f} MB  "
            f"{sample['descriptors']:g} descriptors  {sample['threads']:g} threads"
        )
        yield sample
        time.sleep(max(0.0, _SAMPLE_SECONDS - (time.monotonic() - began - passed)))


def _figures(pid: int) -> Sample:
    status = Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return {
        "resident_mb": int(fields["VmRSS"].split()[0]) * 1024 / 1e6,
        "threads": int(fields["Threads"]),
        "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
    }


@contextmanager
def _exporter(
    cluster: KafkaCluster, folder: Path, interval: int
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    (folder / "password").write_text(cluster.users["monitor"].password + "\n")
    (folder / "token").write_text(_TOKEN + "\n")
    command = [
        *(sys.executable, "-m", "kafka_lag_cli.command", "serve", "--cluster", "soak"),
        *("--bootstrap-servers", cluster.bootstrap(), "--security-protocol", "SASL_SSL"),
        *("--username", "monitor", "--password-file", str(folder / "password")),
        *("--cafile", str(cluster.cafile), "--interval", str(interval)),
        *("--state", str(folder / "state"), "--token-file", str(folder / "token")),
        *("--listen", "0.0.0.0:0"),
    ]
    with (folder / "exporter.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
    try:
        if process.stdout is None:
            raise RuntimeError("the exporter has no pipe")
        port = process.stdout.readline().split()[0].decode().rstrip("/").rpartition(":")[2]
        yield process, f"127.0.0.1:{port}"
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        sys.stdout.write((folder / "exporter.log").read_text()[-3000:])


@contextmanager
def _prometheus(folder: Path, address: str, interval: int) -> Iterator[str]:
    config = {
        "scrape_configs": [
            {
                "job_name": "lag",
                "scrape_interval": f"{interval}s",
                "scrape_timeout": f"{min(interval, 10)}s",
                "authorization": {"credentials_file": str(folder / "token")},
                "static_configs": [{"targets": [address]}],
            }
        ]
    }
    # JSON is YAML.
    (folder / "prometheus.yml").write_text(json.dumps(config))
    here = "127.0.0.1:39090"
    command = [
        *("prometheus", f"--config.file={folder / 'prometheus.yml'}"),
        *(f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address={here}"),
    ]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + _READY_SECONDS
        while not _is_ready(f"http://{here}/-/ready"):
            if time.monotonic() > deadline:
                raise TimeoutError("Prometheus is not ready")
            time.sleep(0.2)
        yield f"http://{here}"
    finally:
        process.terminate()
        process.wait()


def _is_ready(url: str) -> bool:
    try:
        with urlopen(url, timeout=5) as response:  # noqa: S310 - of this machine
            return bool(response.status == 200)  # noqa: PLR2004
    except (URLError, ConnectionError):
        return False


def _value(prometheus: str, query: str) -> float | None:
    url = f"{prometheus}/api/v1/query?query={quote(query)}"
    with urlopen(url, timeout=10) as response:  # noqa: S310 - of this machine
        found: list[dict[str, Any]] = json.load(response)["data"]["result"]
    return float(found[0]["value"][1]) if found else None


if __name__ == "__main__":
    sys.exit(main())
