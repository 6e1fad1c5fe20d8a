# SPDX-License-Identifier: Apache-2.0
"""Folders on whatever Hadoop reaches (local disk, s3a, EMRFS), with failures as DataError.

Through the JVM, because Spark has no public Python way to list, rename or delete. All of it may be
called from several threads.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kafka_lag_report.errors import DataError

# Which of the two comes depends on the call and on the Spark version.
JVM_FAILURES = (Py4JJavaError, PySparkException)
# Requests to S3 take 0.1 s and no processor, so many at once cost nothing.
AT_ONCE = 64
_IO_CAUSE = re.compile(
    r"(?:java\.(?:io|net|nio\.file)|java\.lang\.(?=ClassNotFound)|org\.apache\.hadoop|software\.amazon)"
    r"[\w.$]*?(\w+): ([^\n]+)"
)
# A Java error or one of its causes, not a line of a trace, where the store failed and not the file.
_UNREACHABLE = re.compile(
    r": (?:java\.net|java\.nio\.file|javax\.net|org\.apache\.hadoop\.(?:fs|net)"
    r"|java\.io\.(?:FileNotFound|InterruptedIO)|org\.apache\.spark\.SparkFileNotFound"
    r"|org\.apache\.http|software\.amazon|com\.amazon)"
)


@dataclass(frozen=True, slots=True)
class Stored:
    """One file: its path below the folder that was listed, and its size in bytes."""

    name: str
    size: int


class Files:
    """One session's view of folders; a path is a folder name or an address with a scheme."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark.sparkContext._jvm
        self._gateway: Any = spark.sparkContext._gateway
        self._settings: Any = spark.sparkContext._jsc.hadoopConfiguration()

    def folders(self, path: str) -> list[str]:
        """Names of the folders in `path`, sorted; none if it is missing or a file."""
        with naming(f"cannot list {path}"):
            system, place = self._open(path)
            found = system.listStatus(place) if system.exists(place) else ()
            return sorted(status.getPath().getName() for status in found if status.isDirectory())

    def objects(self, path: str, ending: str) -> list[Stored]:
        """The files below `path`, however deep, by name; none if it is missing.

        Only those of this ending, and none that Spark takes for hidden.
        """
        with naming(f"cannot list {path}"):
            system, place = self._open(path)
            found: list[Stored] = []
            folders = [place] if system.exists(place) else []
            root = len(system.makeQualified(place).toString().rstrip("/")) + 1
            while folders:
                # not listFiles: on a local disk it starts a process for every file
                listed = system.listStatus(self._paths(folders))
                folders = []
                for status in listed:
                    below = status.getPath()
                    if status.isDirectory():
                        folders.append(below)
                    elif (name := below.toString()[root:]).endswith(ending):
                        found.append(Stored(name, status.getLen()))
        return sorted((file for file in found if not _hidden(file.name)), key=lambda f: f.name)

    def make(self, path: str) -> None:
        """Create the folder and those above it."""
        with naming(f"cannot write to {path}"):
            system, place = self._open(path)
            _insist(system.mkdirs(place), f"cannot write to {path}: the folder cannot be made")

    def write_text(self, path: str, text: str) -> None:
        """Write a file as UTF-8, over the one that is there; its folders are made."""
        with naming(f"cannot write to {path}"):
            system, place = self._open(path)
            stream = system.create(place, True)
            try:
                stream.write(bytearray(text, "utf-8"))
            finally:
                # an object on S3 appears with this call only
                stream.close()

    def swap(self, staged: str | None, target: str, aside: str) -> None:
        """Put the folder `staged` where `target` was; null leaves nothing there.

        The old folder waits in `aside`, which must not exist, and is deleted only once the new one
        is in place; if that fails it is put back. A killed run leaves it in `aside`.
        """
        with naming(f"cannot replace {target}"):
            system, place = self._open(target)
            old = system.exists(place)
            if old:
                self._move(target, aside)
            try:
                if staged is not None:
                    self._move(staged, target)
            except (DataError, *JVM_FAILURES):
                if old:
                    system.delete(place, True)
                    self._move(aside, target)
                raise
            if old:
                self.delete(aside)

    def delete(self, path: str) -> None:
        """Remove the folder and all in it; a missing one is fine."""
        with naming(f"cannot delete {path}"):
            system, place = self._open(path)
            system.delete(place, True)

    def _move(self, source: str, target: str) -> None:
        system, place = self._open(target)
        system.mkdirs(place.getParent())
        moved = system.rename(self._open(source)[1], place)
        _insist(moved, f"cannot replace {target}: files of {source} cannot be moved there")

    def _open(self, path: str) -> tuple[Any, Any]:
        place = self._jvm.org.apache.hadoop.fs.Path(path)
        return place.getFileSystem(self._settings), place

    def _paths(self, places: list[Any]) -> Any:
        """The same as a Java array, which one call lists as a whole."""
        array = self._gateway.new_array(self._jvm.org.apache.hadoop.fs.Path, len(places))
        for number, place in enumerate(places):
            array[number] = place
        return array


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


def unreachable(said: str) -> bool:
    """Whether a Java failure, by its text, came from the store: absent, denied, timed out."""
    return _UNREACHABLE.search(said) is not None


def _hidden(name: str) -> bool:
    return any(part.startswith(("_", ".")) for part in name.split("/"))


def _insist(done: bool, otherwise: str) -> None:
    """Raise for the refusals that Hadoop reports as False."""
    if not done:
        raise DataError(f"{otherwise}; check address and rights")
