# SPDX-License-Identifier: Apache-2.0
"""Debian's Prometheus, its targets, and the configuration that our docs give to its users."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

from kafka_lag.snapshots.store import write_snapshot
from kafka_lag.views.latest_run import Snapshots
from tests.builders import MINUTE, NOON, a_snapshot
from tests.fakes import MemoryStore
from tests.programs import find_program

ROOT = Path(__file__).parents[2]
DOC = (ROOT / "docs/exporter.md").read_text()
RULES = (ROOT / "examples/exporter/rules.yml").read_text()
NASTY = 'a"b\\c\n{x="y"} 1 \u00fc\U0001f600'
# What a program on this machine may take, however busy it is.
LONGEST_WAIT = 240.0


def program(name: str) -> str:
    """Where it is; without it a skip, or a failure where CI is set."""
    return find_program(name, package="prometheus")


def snapshots() -> Snapshots:
    store = MemoryStore()
    groups = {"billing": {"orders": [5, 9]}, NASTY: {"orders": [10, 10]}}
    write_snapshot(store, "shop", a_snapshot(groups, {"orders": [(0, 10), (0, 10)]}))
    return Snapshots(store, clock)


def clock() -> float:
    return (NOON + MINUTE) / 1000


def examples(file: str) -> list[str]:
    """Returns what the documentation would have its reader put into such a file."""
    if file == "rules.yml":
        return [RULES]
    found = re.findall(rf"```yaml\n# {re.escape(file)}\n(.*?)```", DOC, re.DOTALL)
    assert found
    return found


def job(name: str, target: str, credentials: Path, **params: str) -> dict[str, Any]:
    return {
        "job_name": name,
        "scrape_interval": "1s",
        "params": {key: [value] for key, value in params.items()},
        "authorization": {"type": "Bearer", "credentials_file": str(credentials)},
        "static_configs": [{"targets": [target]}],
    }


class Prometheus:
    """One that runs on this machine."""

    def __init__(self, url: str) -> None:
        self._url = url

    def get(self, path: str) -> Any:
        with urlopen(f"{self._url}/api/v1/{path}", timeout=LONGEST_WAIT) as response:  # noqa: S310
            return json.load(response)["data"]

    def value(self, query: str) -> float | None:
        found = self.get(f"query?query={quote(query)}")["result"]
        return float(found[0]["value"][1]) if found else None

    def targets(self) -> dict[str, dict[str, Any]]:
        """By job, as soon as each was scraped."""
        ends = time.monotonic() + LONGEST_WAIT
        while time.monotonic() < ends:
            try:
                found = self.get("targets")["activeTargets"]
            except (URLError, ConnectionError):
                found = []
            if found and all(each["health"] != "unknown" for each in found):
                return {each["labels"]["job"]: each for each in found}
            time.sleep(0.1)
        raise TimeoutError("nothing was scraped")


@contextmanager
def running(config: str, folder: Path) -> Iterator[Prometheus]:
    (folder / "prometheus.yml").write_text(config)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        here = f"127.0.0.1:{free.getsockname()[1]}"
    command = [
        program("prometheus"),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={here}",
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield Prometheus(f"http://{here}")
    finally:
        process.terminate()
        process.wait(LONGEST_WAIT)
