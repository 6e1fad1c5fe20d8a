# SPDX-License-Identifier: Apache-2.0
"""Runs that are killed, or two at once, while they replace a day's reports: each file is whole.

Before it replaces anything a run computes all there is, so that only this moment can do harm.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]

GROUPS = {"old": 700, "new": 40_000}
KILLS = 20
# Publishes one of the two days and the other in turn, for as long as it may.
PUBLISHER = """
import itertools, sys
from datetime import date
import pyarrow as pa
from kafka_lag_report.read_snapshots import Day
from kafka_lag_report.report_files import publish
from kafka_lag_report.schemas import TABLES, report_schema
from kafka_lag_report.storage import Storage
root, names, sizes = sys.argv[1], sys.argv[2].split(","), [int(n) for n in sys.argv[3].split(",")]
folders = {"a": "cluster=a", "b": "cluster=b"}
day = Day(root="", history="", date=date(2026, 1, 31), in_progress=False, clusters=folders,
          absent={}, sources={}, runs={})
def tables(name, size):
    made = {}
    for table in TABLES:
        schema = report_schema(table)
        texts = [n for n in schema.names if pa.types.is_string(schema.field(n).type)]
        row = dict.fromkeys(texts, name)
        made[table] = pa.Table.from_pylist([row] * size, schema)
    return made
days = [(tables(n, s), (n + " ") * s) for n, s in zip(names, sizes)]
print("ready", flush=True)
for made, page in itertools.cycle(days):
    for cluster in folders:
        publish(Storage(), root, day, cluster, made, page)
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


def whose(root: Path) -> Iterator[str]:
    """Of which day each file is; it fails on one that is not whole."""
    files = [p for p in (root / "reports").rglob("*") if p.is_file() and not p.name.startswith(".")]
    for file in files:
        if file.suffix == ".html":
            words = file.read_text().split()
            (name,) = set(words)
            assert len(words) == GROUPS[name]
            yield name
            continue
        table = pq.ParquetFile(file).read()
        text = next(c for c in table.columns if c.null_count == 0)
        (name,) = set(text.to_pylist())
        assert table.num_rows == GROUPS[name]
        yield name


@pytest.fixture(name="published")
def _published(tmp_path: Path) -> int:
    """How many files a day of two clusters has."""
    process = start(tmp_path, old=GROUPS["old"])
    with process:
        assert process.stdout
        process.stdout.readline()
        process.kill()
    return len(list(whose(tmp_path)))


def test_whoever_is_killed_leaves_whole_reports(tmp_path: Path, published: int) -> None:
    random = Random(33)  # noqa: S311 - moments, not secrets
    seen = set()
    for _ in range(KILLS):
        with start(tmp_path, **GROUPS) as process:
            assert process.stdout
            process.stdout.readline()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(random.uniform(0.0, 1.0))
            process.kill()
        found = list(whose(tmp_path))
        assert len(found) == published
        seen |= set(found)
    assert seen == set(GROUPS)


def test_of_two_at_once_each_file_is_the_one_s_or_the_other_s(
    tmp_path: Path, published: int
) -> None:
    for _ in range(3):
        with start(tmp_path, **GROUPS) as one, start(tmp_path, **GROUPS) as another:
            for process in (one, another):
                assert process.stdout
                for _ in range(4):
                    process.stdout.readline()
            one.kill()
            another.kill()
        assert len(list(whose(tmp_path))) == published
