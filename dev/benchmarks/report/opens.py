# SPDX-License-Identifier: Apache-2.0
"""Counting, and slowing down, each opening of an object by the measured job."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyspark

from dev.benchmarks.report import slow_job

SOURCE = Path(__file__).with_name("SlowLocalFileSystem.java")
_JARS = Path(pyspark.__file__).with_name("jars")
_DATASET = re.compile(r"/((?:snapshots|history|reports)/[^/]+)/")


@dataclass(frozen=True, slots=True)
class Shim:
    """A compiled file system, and the log that it writes to."""

    classes: Path
    log: Path

    def settings(self, delay_seconds: float) -> dict[str, str]:
        """Spark's settings by which each opening of a file takes so much longer."""
        return {
            "spark.driver.extraClassPath": str(self.classes),
            "spark.hadoop.fs.file.impl": SOURCE.stem,
            "spark.hadoop.bench.open.delay.ms": str(round(delay_seconds * 1_000)),
            "spark.hadoop.bench.open.log": str(self.log),
        }

    def environment(self, delay_seconds: float) -> dict[str, str]:
        """The same for `slow_job`."""
        return {slow_job.DELAY: str(delay_seconds), slow_job.LOG: str(self.log)}


def compiled(folder: Path) -> Shim:
    """The file system, compiled into `folder` with the JDK's javac, and an empty log there.

    Raises SystemExit when there is no javac or it refuses.
    """
    classes, log = folder / "classes", folder / "opens.log"
    command = ["javac", "-cp", f"{_JARS}/*", "-d", str(classes), str(SOURCE)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise SystemExit("no javac: install a JDK, version 17 or later") from error
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"javac fails on {SOURCE.name}: {error.stderr.strip()}") from error
    log.write_text("")
    return Shim(classes, log)


def opens(lines: Iterable[str], ended: Mapping[str, float]) -> dict[tuple[str, str], int]:
    """How often each stage opened objects of each dataset, from the log's lines.

    `ended` has each stage's end, seconds since the epoch, the first to end first. What is no
    object of the project's is left out; after the last stage the stage is called `end`.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for line in lines:
        at, _, path = line.strip().partition(" ")
        found = _DATASET.search(path)
        if found:
            running = (stage for stage, end in ended.items() if int(at) / 1_000 <= end)
            counts[next(running, "end"), found[1]] += 1
    return dict(counts)
