# SPDX-License-Identifier: Apache-2.0
"""Folders on whatever Hadoop reaches (local disk, s3a, EMRFS), with failures as DataError.

Through the JVM, because Spark has no public Python way to list, rename or delete, and a second
client would need its own credentials and endpoint.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from glue_jobs.errors import DataError

# Which of the two comes depends on the call and on the Spark version.
JVM_FAILURES = (Py4JJavaError, PySparkException)
_IO_CAUSE = re.compile(
    r"(?:java\.(?:io|net|nio\.file)|java\.lang\.(?=ClassNotFound)|org\.apache\.hadoop|software\.amazon)"
    r"[\w.$]*?(\w+): ([^\n]+)"
)


class Files:
    """One session's view of folders; a path is a folder name or an address with a scheme."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark.sparkContext._jvm
        self._settings: Any = spark.sparkContext._jsc.hadoopConfiguration()

    def folders(self, path: str) -> list[str]:
        """Names of the folders in `path`, sorted; none if it is missing or a file."""
        with naming(f"cannot list {path}"):
            system, place = self._open(path)
            found = system.listStatus(place) if system.exists(place) else ()
            return sorted(status.getPath().getName() for status in found if status.isDirectory())

    def holds(self, path: str, ending: str) -> bool:
        """Whether any file below `path`, however deep, has this ending; stops at the first."""
        with naming(f"cannot list {path}"):
            system, place = self._open(path)
            below = system.listFiles(place, True) if system.exists(place) else None
            while below is not None and below.hasNext():
                if below.next().getPath().getName().endswith(ending):
                    return True
            return False

    def make(self, path: str) -> None:
        """Create the folder and those above it."""
        with naming(f"cannot write to {path}"):
            system, place = self._open(path)
            _insist(system.mkdirs(place), f"cannot write to {path}: the folder cannot be made")

    def replace(self, staged: str | None, target: str) -> None:
        """Put the folder `staged` where `target` was; null leaves nothing there."""
        with naming(f"cannot replace {target}"):
            system, place = self._open(target)
            system.delete(place, True)
            if staged is not None:
                system.mkdirs(place.getParent())
                moved = system.rename(self._open(staged)[1], place)
                _insist(moved, f"cannot replace {target}: the new files cannot be moved there")

    def delete(self, path: str) -> None:
        """Remove the folder and all in it; a missing one is fine."""
        with naming(f"cannot delete {path}"):
            system, place = self._open(path)
            system.delete(place, True)

    def _open(self, path: str) -> tuple[Any, Any]:
        place = self._jvm.org.apache.hadoop.fs.Path(path)
        return place.getFileSystem(self._settings), place


@contextmanager
def naming(failed: str) -> Iterator[None]:
    """Turn an input or output failure of the JVM into DataError; let every other one pass."""
    try:
        yield
    except JVM_FAILURES as error:
        causes = _IO_CAUSE.findall(str(error))
        if not causes:
            raise
        kind, text = causes[-1]
        raise DataError(f"{failed}: {text.strip()} ({kind}); check address and rights") from error


def _insist(done: bool, otherwise: str) -> None:
    """Raise for the refusals that Hadoop reports as False."""
    if not done:
        raise DataError(f"{otherwise}; check address and rights")
