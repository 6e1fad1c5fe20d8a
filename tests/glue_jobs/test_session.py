# SPDX-License-Identifier: Apache-2.0
"""The session, and the job as a program."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.session import (
    EVERYWHERE,
    FEW_ROWS,
    SHUFFLES,
    new_session,
    open_session,
)

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]


def test_times_are_utc_wherever_the_session_comes_from(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")

    session = open_session({"PYSPARK_GATEWAY_PORT": "1"})

    assert {key: session.conf.get(key) for key in EVERYWHERE} == EVERYWHERE


@pytest.mark.parametrize("few_rows", [False, True])
def test_a_new_session_has_views_and_settings_of_its_own(
    spark: SparkSession, few_rows: bool
) -> None:
    before = {key: spark.conf.get(key) for key in FEW_ROWS}
    spark.range(1).createOrReplaceTempView("mine")

    session = new_session(spark, few_rows=few_rows)

    expected = {**EVERYWHERE, **(FEW_ROWS if few_rows else {SHUFFLES: before[SHUFFLES]})}
    assert {key: session.conf.get(key) for key in expected} == expected
    assert session.sparkContext is spark.sparkContext
    assert not session.catalog.tableExists("mine")
    assert {key: spark.conf.get(key) for key in FEW_ROWS} == before


def test_workers_are_of_the_python_that_runs_the_job(tmp_path: Path) -> None:
    other = tmp_path / "python3"
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o755)
    program = (
        "from kafka_lag_report.session import open_session\n"
        "print(open_session().createDataFrame([(41,)], 'n int').collect())"
    )
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("PYSPARK_PYTHON", None)
    command = [sys.executable, "-c", program]

    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert "Row(n=41)" in done.stdout, done.stderr


def test_a_failure_is_all_that_a_program_run_says(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kafka_lag_report.daily_report"]
    places = ["--input", str(tmp_path), "--output", str(tmp_path)]

    done = subprocess.run(
        [*command, *places], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )

    # Java 17 announces the vector module that Spark 4 asks for; nothing can silence it
    said = [line for line in done.stderr.splitlines() if "incubator modules" not in line]
    assert (done.returncode, done.stdout, len(said)) == (1, "", 1)
    assert said[0].startswith(f"daily_report: no snapshots under {tmp_path}/snapshots")
