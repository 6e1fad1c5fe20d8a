# SPDX-License-Identifier: Apache-2.0
"""Processes that are killed, two at once, or without room on their disk, as they replace reports.

Before it replaces anything a run computes all there is, so that only this moment can do harm.
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from kafka_lag_report.errors import StoreError
from kafka_lag_report.publishing import publish, unfinished
from kafka_lag_report.storage import Storage
from tests.glue_jobs.published_days import A_DAY, CLUSTERS, is_replaced, published, tables
from tests.glue_jobs.small_disks import leave, mounted

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]

ROWS = {"old": 700, "new": 40_000}
KILLS = 20
# Publishes one of the two days and the other in turn, for as long as it may.
PUBLISHER = """
import itertools, sys
from kafka_lag_report.publishing import publish
from kafka_lag_report.storage import Storage
from tests.glue_jobs.published_days import DAYS, tables
root, names, sizes = sys.argv[1], sys.argv[2].split(","), [int(n) for n in sys.argv[3].split(",")]
days = [(tables(n, s), (n + " ") * s) for n, s in zip(names, sizes)]
print("ready", flush=True)
for made, page in itertools.cycle(days):
    for day in DAYS:
        publish(Storage(), root, day, made, page)
    print("published", flush=True)
"""


def start(root: Path, **days: int) -> "subprocess.Popen[str]":
    """A publisher that has begun."""
    sizes = ",".join(map(str, days.values()))
    command = [sys.executable, "-c", PUBLISHER, str(root), ",".join(days), sizes]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


def end_all(root: Path) -> Counter[str]:
    """Whose each cluster's reports are, before and after the next run; those half replaced."""
    found = Counter[str]()
    before = {c: published(str(root), c) for c in CLUSTERS if not is_replaced(str(root), c)}
    found["half"] += len(CLUSTERS) - len(before)
    for finish in unfinished(Storage(), str(root)).values():
        finish()
    after = {cluster: published(str(root), cluster) for cluster in CLUSTERS}
    assert before.items() <= after.items()
    found.update(after.values())
    assert not list((root / "reports").rglob("*.tmp"))
    return found


def test_whoever_is_killed_leaves_reports_of_one_run(tmp_path: Path) -> None:
    random = Random(33)  # noqa: S311 - moments, not secrets
    found = Counter[str]()
    for _ in range(KILLS):
        with start(tmp_path, **ROWS) as process:
            assert process.stdout
            process.stdout.readline()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(random.uniform(0.0, 1.0))
            process.kill()
        found += end_all(tmp_path)
    assert {*ROWS} <= {*found} <= {*ROWS, "half"}


def test_of_two_at_once_all_reports_are_the_one_s_or_the_other_s(tmp_path: Path) -> None:
    for _ in range(3):
        with start(tmp_path, **ROWS) as one, start(tmp_path, **ROWS) as another:
            for process in (one, another):
                assert process.stdout
                for _ in range(4):
                    process.stdout.readline()
            one.kill()
            another.kill()
        end_all(tmp_path)


@pytest.fixture(name="small_disk")
def _small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path, 1) as disk:
        yield disk


def test_where_the_disk_gets_full_the_old_reports_stand(small_disk: Path) -> None:
    state, ended = str(small_disk / "state"), Counter[str]()
    new = tables("new", ROWS["new"])
    for blocks in range(0, 80, 4):
        publish(Storage(), state, A_DAY, tables("old", 700), "old")
        filled = leave(small_disk, blocks)
        try:
            publish(Storage(), state, A_DAY, new, "new " * ROWS["new"])
        except StoreError as error:
            ended["old" if "No space left on device" in str(error) else str(error)] += 1
            assert published(state, "a") == "old"
            assert not list((small_disk / "state").rglob("_replacing/**/*.*"))
        else:
            ended["new"] += 1
            assert published(state, "a") == "new"
        filled.unlink()
    assert {*ended} == {"old", "new"}
    assert min(ended.values()) > 2
