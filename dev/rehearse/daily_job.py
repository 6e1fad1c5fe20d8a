# SPDX-License-Identifier: Apache-2.0
"""Runs the daily job as it is deployed, on a Spark of this machine.

Script and package come from the account's S3. Arguments and role are the deployed ones. Spark uses
Hadoop's own client for S3.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dev.kafka.jars import run_program
from dev.rehearse.account import SHARED_STACK
from dev.rehearse.emulator import REGION, Credentials, Emulator
from dev.rehearse.errors import RehearsalError
from dev.rehearse.functions import assume_service_role

_POM = Path(__file__).with_name("hadoop") / "pom.xml"
_CACHE = Path(__file__).parents[2] / ".local" / "hadoop"
_SESSION = "job"
_SECONDS = 600
# What Glue itself reads of a job's arguments.
_OF_GLUE = ("--extra-py-files", "--custom-logGroup-prefix", "--job-", "--enable-", "--TempDir")


@dataclass(frozen=True, slots=True)
class JobRun:
    """The exit code of a run, and what it printed."""

    status: int
    output: str


def run_job(emulator: Emulator, job_name: str, folder: Path, **options: str) -> JobRun:
    """Runs the job once, with these options besides its own.

    Raises RehearsalError if it does not end.
    """
    job = emulator.client("glue").get_job(JobName=job_name)["Job"]
    role = assume_service_role(emulator, SHARED_STACK, "glue", _SESSION)
    arguments: Mapping[str, str] = job["DefaultArguments"]
    script = _fetch(emulator, role, job["Command"]["ScriptLocation"], folder / "job.py")
    modules = _fetch(emulator, role, arguments["--extra-py-files"], folder / "job-modules.zip")
    words = [
        word
        for name, value in {**arguments, **options}.items()
        if not name.startswith(_OF_GLUE)
        for word in (name, value)
    ]
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
        **emulator.environment(role),
        "PYTHONPATH": str(modules),
        "PYSPARK_SUBMIT_ARGS": _spark_options(emulator.endpoint_url),
        "PYSPARK_PYTHON": sys.executable,
    }
    try:
        done = subprocess.run(
            [sys.executable, str(script), *words],
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise RehearsalError(f"The daily job did not end within {_SECONDS} s") from error
    (folder / "daily-job.log").write_text(done.stdout)
    return JobRun(done.returncode, done.stdout)


def _fetch(emulator: Emulator, role: Credentials, address: str, to: Path) -> Path:
    """Downloads an object of CDK's bucket with the job's role, as Glue does before a run."""
    bucket, _, key = address.removeprefix("s3://").partition("/")
    answer = emulator.client("s3", role).get_object(Bucket=bucket, Key=key)
    to.write_bytes(answer["Body"].read())
    return to


def _spark_options(endpoint_url: str) -> str:
    hadoop = {
        "fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        "fs.s3a.endpoint": endpoint_url,
        "fs.s3a.endpoint.region": REGION,
        "fs.s3a.path.style.access": "true",
        "fs.s3a.connection.ssl.enabled": "false",
        "fs.s3a.aws.credentials.provider": (
            "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider"
        ),
    }
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        **{f"spark.hadoop.{name}": value for name, value in hadoop.items()},
    }
    jars = ",".join(map(str, sorted(_jars().glob("*.jar"))))
    words = ["--master", "local[2]", "--driver-memory", "1g", "--jars", jars]
    words += [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    return " ".join([*words, "pyspark-shell"])


def _jars() -> Path:
    """Returns the folder with Hadoop's client of S3 and its libraries (16 MB).

    Maven fetches them once.
    """
    folder = _CACHE / hashlib.sha256(_POM.read_bytes()).hexdigest()[:16]
    if not folder.is_dir():
        _CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_CACHE) as scratch:
            made = Path(scratch, "jars")
            command = ["mvn", "-q", "-B", "-f", str(_POM), "dependency:copy-dependencies"]
            run_program([*command, f"-DoutputDirectory={made}"], what="fetch Hadoop's S3 client")
            # Another process may have been quicker, whose files serve.
            with suppress(OSError):
                made.rename(folder)
    return folder
