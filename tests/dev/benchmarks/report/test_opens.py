# SPDX-License-Identifier: Apache-2.0
"""Openings of objects are slowed down, written down and counted."""

import subprocess
import time
from pathlib import Path

import pyspark
import pytest

from dev.benchmarks.report.opens import Shim, compiled, opens
from dev.benchmarks.report.slow_job import DELAY, LOG, SlowDisk

JARS = Path(pyspark.__file__).with_name("jars")
LINES = [
    "1000 /d/snapshots/groups/cluster=c/a.parquet\n",
    "1999 /d/snapshots/groups/cluster=c/b.parquet\n",
    "2500 /d/snapshots/group_partitions/cluster=c/a.parquet\n",
    "2600 /tmp/spark/other.parquet\n",
    "9000 /d/reports/lag_hourly/cluster=c/a.parquet\n",
]
OPENER = """
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.*;
public class Opener {
    public static void main(String[] words) throws Exception {
        Configuration settings = new Configuration();
        settings.set("fs.file.impl", "SlowLocalFileSystem");
        settings.set("bench.open.log", words[1]);
        settings.set("bench.open.delay.ms", "150");
        Path path = new Path(words[0]);
        FileSystem files = path.getFileSystem(settings);
        long began = System.nanoTime();
        files.open(path).close();
        files.openFile(path).build().get().close();
        System.out.println((System.nanoTime() - began) / 1000000);
    }
}
"""


def test_openings_are_counted_by_stage_and_dataset() -> None:
    assert opens(LINES, {"scan": 2.0, "reports": 3.0}) == {
        ("scan", "snapshots/groups"): 2,
        ("reports", "snapshots/group_partitions"): 1,
        ("end", "reports/lag_hourly"): 1,
    }


@pytest.fixture(name="shim", scope="module")
def _shim(tmp_path_factory: pytest.TempPathFactory) -> Shim:
    return compiled(tmp_path_factory.mktemp("shim"))


@pytest.mark.thorough
def test_each_way_to_open_a_file_waits_and_is_noted_once(shim: Shim, tmp_path: Path) -> None:
    opener, file = tmp_path / "Opener.java", tmp_path / "some.parquet"
    opener.write_text(OPENER)
    file.write_text("x")

    path = f"{shim.classes}:{JARS}/*"
    command = ["java", "-cp", path, str(opener), str(file), str(shim.log)]
    reported = subprocess.run(command, check=True, capture_output=True, text=True)

    noted = [line.split()[1] for line in shim.log.read_text().splitlines()]
    assert noted == [str(file)] * 2
    assert int(reported.stdout.split()[-1]) >= 300


def test_spark_is_told_where_class_delay_and_log_are(shim: Shim) -> None:
    assert shim.settings(0.1) == {
        "spark.driver.extraClassPath": str(shim.classes),
        "spark.hadoop.fs.file.impl": "SlowLocalFileSystem",
        "spark.hadoop.bench.open.delay.ms": "100",
        "spark.hadoop.bench.open.log": str(shim.log),
    }
    assert (shim.classes / "SlowLocalFileSystem.class").exists()


def test_what_pyarrow_reads_waits_and_is_noted_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, log = tmp_path / "some.parquet", tmp_path / "opens.log"
    file.write_bytes(b"rows")
    monkeypatch.setenv(DELAY, "0.15")
    monkeypatch.setenv(LOG, str(log))

    began = time.monotonic()
    read = [SlowDisk().read(str(file)), SlowDisk().tail(str(file))]

    assert read == [b"rows", b"rows"]
    assert time.monotonic() - began >= 0.3
    assert [line.split()[1] for line in log.read_text().splitlines()] == [str(file)] * 2


def test_the_job_is_told_of_delay_and_log(shim: Shim) -> None:
    assert shim.environment(0.25) == {DELAY: "0.25", LOG: str(shim.log)}
