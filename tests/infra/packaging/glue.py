# SPDX-License-Identifier: Apache-2.0
"""A job started as Glue starts it: by spark-submit, with its script, a zip, and Glue's packages."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import venv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from kafka_lag_report.session import FEW_ROWS
from tests.conftest import QUICK_JAVA

# What Glue's Python has of all that this project works with.
_IN_GLUE = ("boto3", "numpy", "pyarrow", "pyspark")

# What Glue adds to a job's own arguments; JOB_NAME and the like hold what a run is called.
_ADDED = {
    "--JOB_NAME": "kafka-lag-report",
    "--JOB_ID": "j_0a1b2c3d4e5f60718",
    "--JOB_RUN_ID": "jr_0a1b2c3d4e5f60718",
    "--TempDir": "s3://aws-glue-assets/temporary/",
    "--enable-metrics": "true",
    "--enable-job-insights": "true",
    "--continuous-log-logGroup": "/aws-glue/jobs/logs-v2",
    "--continuous-log-logStreamPrefix": "jr_0a1b2c3d4e5f60718",
}
# Two cores, few words and no web page; the rest is as spark-submit has it.
_SPARK = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    # To plan again, to generate code, and to compile well what runs once, is most of a small day.
    **FEW_ROWS,
    "spark.driver.extraJavaOptions": QUICK_JAVA,
}


@dataclass(frozen=True, slots=True)
class Glue:
    """A virtual environment with nothing but what Glue has, in a folder of its own."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Glue:
        """Links to this interpreter's packages: Glue's, and what these need, and no other."""
        venv.create(folder, symlinks=True)
        (packages,) = folder.glob("lib/python*/site-packages")
        for path in _installed():
            (packages / path.name).symlink_to(path)
        return cls(folder)

    @property
    def python(self) -> Path:
        """The interpreter."""
        return self.folder / "bin" / "python"

    def has(self, name: str) -> bool:
        """Whether a module can be imported without the job's zip."""
        finding = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec({name!r}))"
        command = [str(self.python), "-I", "-c", finding]
        return subprocess.run(command, check=False).returncode == 0

    def run(
        self,
        script: Path,
        package: Path,
        arguments: Mapping[str, str],
        environment: Mapping[str, str],
    ) -> subprocess.CompletedProcess[str]:
        """Runs a copy of the script that lies alone, from a folder that holds nothing."""
        alone, elsewhere = self.folder / "script", self.folder / "elsewhere"
        alone.mkdir()
        elsewhere.mkdir()
        copy, modules = shutil.copy(script, alone), _zipped(package, self.folder / "modules.zip")
        (submit,) = self.folder.glob("lib/python*/site-packages/pyspark/bin/spark-submit")
        settings = [word for pair in _SPARK.items() for word in ("--conf", "=".join(pair))]
        given = [word for pair in {**arguments, **_ADDED}.items() for word in pair]
        return subprocess.run(
            [submit, "--master", "local[2]", *settings, "--py-files", modules, copy, *given],
            cwd=elsewhere,
            env={**self._environment(), **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def _environment(self) -> dict[str, str]:
        """Of this process only what finds Java."""
        kept = {name: os.environ[name] for name in ("PATH", "JAVA_HOME") if name in os.environ}
        return {**kept, "PYSPARK_PYTHON": str(self.python), "HOME": str(self.folder)}


def _zipped(folder: Path, archive: Path) -> Path:
    """As CDK zips a folder: files alone, without entries for the folders that they are in."""
    with ZipFile(archive, "w") as zipped:
        for path in folder.rglob("*"):
            if path.is_file():
                zipped.write(path, path.relative_to(folder))
    return archive


def _installed() -> Iterator[Path]:
    """The files and folders at the top of each package that Glue has."""
    found: dict[str, importlib.metadata.Distribution] = {}
    left = list(_IN_GLUE)
    while left:
        name = canonicalize_name(left.pop())
        if name not in found:
            found[name] = importlib.metadata.distribution(name)
            left += _needed(found[name])
    for package in found.values():
        roots = {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}
        yield from (Path(str(package.locate_file(root))) for root in sorted(roots))


def _needed(package: importlib.metadata.Distribution) -> Iterator[str]:
    for text in package.requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement.name
