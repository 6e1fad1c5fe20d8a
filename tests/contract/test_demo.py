# SPDX-License-Identifier: Apache-2.0
"""The demo from start to end."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# Far more than it takes: it may stand beside other tests, and fetch Kafka first.
_SECONDS = 1_500
pytestmark = [
    pytest.mark.kafka,
    pytest.mark.spark,
    pytest.mark.thorough,
    pytest.mark.timeout(_SECONDS + 60),
]

ROOT = Path(__file__).parents[2]


@pytest.fixture(name="demo", scope="module")
def _demo() -> Iterator[subprocess.CompletedProcess[str]]:
    command = [sys.executable, "-m", "dev.demo", "--keep"]
    environment = {**os.environ, "COLUMNS": "120"}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environment,
        timeout=_SECONDS,
    )
    yield done
    for place in _kept(done):
        shutil.rmtree(place)


def _kept(demo: subprocess.CompletedProcess[str]) -> list[Path]:
    return [Path(p) for p in re.findall(r"Snapshots and reports are in (\S+)", demo.stdout)]


def test_the_demo_ends_well(demo: subprocess.CompletedProcess[str]) -> None:
    said = demo.stdout + demo.stderr
    assert (demo.returncode, said.count("Traceback")) == (0, 0), said


@pytest.mark.parametrize(
    "line",
    [
        r" *healthy +OK ",
        r" *stopped +ERR stopped ",
        r" *stuck +ERR stalled .* stuck record ",
        r" *expiring +ERR .* lost",
        "  Kafka lag ERR: stuck on demo",
    ],
)
def test_groups_show_the_trouble_that_they_are_named_for(
    demo: subprocess.CompletedProcess[str], line: str
) -> None:
    assert re.search(rf"^{line}", demo.stdout, re.MULTILINE)


@pytest.mark.parametrize("words", ["Kafka lag of ", "First report: ", "Page of "])
def test_the_message_of_the_day_is_printed(
    demo: subprocess.CompletedProcess[str], words: str
) -> None:
    assert f"\n{words}" in demo.stdout


def test_the_files_lie_where_the_last_line_says(demo: subprocess.CompletedProcess[str]) -> None:
    (place,) = _kept(demo)
    reports = {path.parts[-4] for path in place.glob("reports/*/*/*/*.parquet")}
    assert {"partition_skew", "retention_risk", "lag_summary"} <= reports
    assert {path.name for path in place.glob("snapshots/*")} >= {"groups", "group_partitions"}


def test_a_metric_is_printed(demo: subprocess.CompletedProcess[str]) -> None:
    assert re.search(r"^  kafka_lag_group_\w+\{.*\} [\d.]+", demo.stdout, re.MULTILINE)
