# SPDX-License-Identifier: Apache-2.0
"""Lists, reads, writes and deletes folders and objects on S3 or on a disk, through pyarrow.

An address is a folder's name, `file:/...` or `s3://bucket/key` (`s3a://` too). Each object is
written as a whole or not at all, and replaces an existing one. Everything here may be called from
several threads and sent to Spark's workers.
"""

import contextlib
import fcntl
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from kafka_lag_report.aws import naming_refusals
from kafka_lag_report.errors import StoreError

S = TypeVar("S")
T = TypeVar("T")

PARQUET = ".parquet"
# Requests to S3 take 0.1 s and no processor, so many at once cost nothing.
AT_ONCE = 64
# Ending of a file on a disk that is not completely written yet.
_UNFINISHED = ".tmp"
# A file whose folder another run deleted is written again, at most this many times.
_WRITES = 20

_S3 = ("s3://", "s3a://")
_FILE = "file:"
_CONNECT_SECONDS, _READ_SECONDS, _ATTEMPTS = 5, 60, 8
_DELETED_AT_ONCE = 1_000
# The footer of a snapshot has about 10 KB.
_TAIL_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Stored:
    """An object: its path below the folder that was listed, and its size in bytes."""

    name: str
    size: int


class Storage:
    """Accesses S3 and disks.

    Every method raises StoreError, with the address, if the store refuses.
    """

    def __init__(self) -> None:
        self._systems: dict[str, Any] = {}
        self._making = Lock()

    def __reduce__(self) -> tuple[type["Storage"], tuple[()]]:
        """Pickles the storage without its connections, to send it to another process."""
        return type(self), ()

    def folders(self, path: str) -> list[str]:
        """Returns the names of the folders in `path`, sorted; none if it is missing or a file."""
        with _refusals("list", path):
            found = self._listed(path, recursive=False)
            return sorted(info.base_name for info in found if info.type == fs.FileType.Directory)

    def objects(self, path: str, ending: str) -> list[Stored]:
        """Returns the objects below `path` at any depth, sorted by name; none if it is missing.

        Includes only names with this ending. Leaves out names that Spark and Athena treat as
        hidden.
        """
        with _refusals("list", path):
            root = len(_split_address(path)[1]) + 1
            found = [
                Stored(info.path[root:], info.size)
                for info in self._listed(path, recursive=True)
                if info.type == fs.FileType.File
            ]
        seen = (file for file in found if file.name.endswith(ending) and not _is_hidden(file.name))
        return sorted(seen, key=lambda file: file.name)

    def each(
        self, work: Callable[[str], T], paths: Sequence[str], at_once: int = AT_ONCE
    ) -> Iterator[T]:
        """Yields the results of `work` on each path, in order.

        On S3 `at_once` of them run at the same time. On a disk they run one by one, because threads
        wait longer for each other than for the disk.
        """
        if not any(map(s3_place, paths)):
            yield from map(work, paths)
            return
        with ThreadPoolExecutor(at_once) as pool:
            yield from pool.map(work, paths)

    def read(self, path: str) -> bytes:
        """Returns the content of an object."""
        with _refusals("read", path), self._open(path) as stream:
            data: bytes = stream.read()
            if len(data) != stream.size():
                raise OSError(f"the answer broke off after {len(data):,} bytes")
            return data

    def tail(self, path: str) -> bytes:
        """Returns the end of an object; for Parquet it includes the whole footer."""
        with _refusals("read", path), self._open(path) as stream:
            size = stream.size()
            end: bytes = stream.read_at(min(size, _TAIL_BYTES), max(0, size - _TAIL_BYTES))
            footer = int.from_bytes(end[-8:-4], "little") + 8
            if len(end) < footer <= size and end.endswith(b"PAR1"):
                end = stream.read_at(footer, size - footer)
            return end

    def write(self, path: str, data: bytes | pa.Buffer, content_type: str | None = None) -> None:
        """Writes an object, and the folders above it; replaces an existing object."""
        with _refusals("write to", path):
            scheme, place = _split_address(path)
            system = self._system(scheme, place)
            if scheme:
                # in one piece, so that nothing appears if sending it fails
                metadata = {"Content-Type": content_type} if content_type else None
                with system.open_output_stream(place, metadata=metadata) as stream:
                    stream.write(data)
                return
            for left in reversed(range(_WRITES)):
                try:
                    _write_on_disk(system, place, data)
                    return
                except FileNotFoundError:
                    # another run deleted the folder
                    if not left:
                        raise

    def write_table(self, path: str, table: pa.Table, **options: Any) -> None:
        """Writes the rows as a Parquet file; `options` are those of pyarrow."""
        file = pa.BufferOutputStream()
        pq.write_table(table, file, compression="zstd", **options)
        self.write(path, file.getvalue())

    def exists(self, path: str) -> bool:
        """Returns whether an object of this name exists."""
        with _refusals("read", path):
            scheme, place = _split_address(path)
            found = self._system(scheme, place).get_file_info(place)
        return bool(found.type == fs.FileType.File)

    def make_folder(self, path: str) -> None:
        """Makes the folder, so that a move into it needs no space; does nothing on S3."""
        with _refusals("write to", path):
            scheme, place = _split_address(path)
            if not scheme:
                self._system(scheme, place).create_dir(place, recursive=True)

    def move(self, targets: Mapping[str, str]) -> None:
        """Moves each object to its target, which it replaces.

        Both must be on a disk, or both on S3. On a disk the objects are renamed one after the
        other. On S3 they are copied, all at once, and the originals stay.
        """
        if any(s3_place(target) for target in targets.values()):
            run_at_once(lambda each: self._copy(*each), targets.items())
            return
        for source, target in targets.items():
            with _refusals("write to", target):
                place = _split_address(target)[1]
                self._system("", place).move(_split_address(source)[1], place)

    def _copy(self, source: str, target: str) -> None:
        with _refusals("write to", target):
            scheme, place = _split_address(target)
            self._system(scheme, place).copy_file(_split_address(source)[1], place)

    @contextmanager
    def alone_in(self, path: str) -> Iterator[bool]:
        """Waits on a disk until no other process uses the folder.

        Yields whether this process is alone. The system releases the lock when a process ends,
        however it ends. On S3, and on disks without locks, nobody waits and the result is false.
        """
        scheme, place = _split_address(path)
        if scheme:
            yield False
            return
        self.make_folder(path)
        with _refusals("write to", path):
            folder = os.open(place, os.O_RDONLY)
        try:
            yield _lock(folder)
        finally:
            os.close(folder)

    def delete(self, paths: Sequence[str]) -> None:
        """Deletes these objects; missing ones are ignored."""
        by_bucket: dict[str, list[str]] = {}
        for path in paths:
            scheme, place = _split_address(path)
            if scheme:
                bucket, _, key = place.partition("/")
                by_bucket.setdefault(bucket, []).append(key)
                continue
            with _refusals("delete", path), contextlib.suppress(FileNotFoundError):
                self._system(scheme, place).delete_file(place)
        for bucket, keys in by_bucket.items():
            self._delete_keys(bucket, keys)

    def delete_folder(self, path: str) -> None:
        """Deletes the folder with everything in it, also hidden files.

        A missing folder is ignored.
        """
        scheme, place = _split_address(path)
        with _refusals("delete", path):
            if not scheme:
                with contextlib.suppress(FileNotFoundError):
                    self._system(scheme, place).delete_dir(place)
                return
            bucket, _, key = place.partition("/")
            there = [info.path for info in self._listed(path, recursive=True)]
        keys = [each.partition("/")[2] for each in there]
        self._delete_keys(bucket, [*keys, *(f"{each}/" for each in keys), f"{key}/"])

    def keep_only(self, path: str, names: Collection[str]) -> None:
        """Deletes all objects directly in the folder, also hidden ones, except `names`."""
        with _refusals("list", path):
            found = self._listed(path, recursive=False)
        others = [info.base_name for info in found if info.type == fs.FileType.File]
        self.delete([f"{path}/{other}" for other in others if other not in names])

    def _delete_keys(self, bucket: str, keys: Sequence[str]) -> None:
        """Deletes keys with AWS's own client.

        Arrow's would write an empty object for their folder.
        """
        # imported here, because a folder on a disk needs no AWS
        import boto3  # noqa: PLC0415

        client: Any = boto3.client("s3")
        for start in range(0, len(keys), _DELETED_AT_ONCE):
            some = [{"Key": key} for key in keys[start : start + _DELETED_AT_ONCE]]
            with naming_refusals(f"cannot delete in bucket {bucket}", _CHECK, StoreError):
                done = client.delete_objects(Bucket=bucket, Delete={"Objects": some, "Quiet": True})
            for refused in done.get("Errors", ()):
                raise StoreError(
                    f"cannot delete s3://{bucket}/{refused['Key']}: {refused['Message']}; check "
                    "the job's right s3:DeleteObject"
                )

    def _listed(self, path: str, *, recursive: bool) -> list[Any]:
        scheme, place = _split_address(path)
        system = self._system(scheme, place)
        if not scheme and system.get_file_info(place).type != fs.FileType.Directory:
            return []
        selector = fs.FileSelector(place, allow_not_found=True, recursive=recursive)
        found: list[Any] = system.get_file_info(selector)
        return found

    def _open(self, path: str) -> Any:
        scheme, place = _split_address(path)
        return self._system(scheme, place).open_input_file(place)

    def _system(self, scheme: str, place: str) -> Any:
        """Returns the file system of the disk, or of the bucket's region; each is made once."""
        bucket = place.partition("/")[0] if scheme else ""
        with self._making:
            if bucket not in self._systems:
                self._systems[bucket] = _open_s3(bucket) if scheme else fs.LocalFileSystem()
            return self._systems[bucket]


def _lock(folder: int) -> bool:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
    except OSError:
        return False
    return True


def _write_on_disk(system: Any, place: str, data: bytes | pa.Buffer) -> None:
    """Writes a file and renames it to its place, so that it appears at once and as a whole.

    Two runs at the same time write two unfinished files.
    """
    folder, _, name = place.rpartition("/")
    if folder:
        system.create_dir(folder, recursive=True)
    unfinished = f"{folder}/" if folder else ""
    unfinished += f".{name}.{uuid4().hex}{_UNFINISHED}"
    try:
        with system.open_output_stream(unfinished) as stream:
            stream.write(data)
        system.move(unfinished, place)
    except OSError:
        with contextlib.suppress(OSError):
            system.delete_file(unfinished)
        raise


def run_at_once(work: Callable[[S], T], each: Iterable[S], at_once: int = AT_ONCE) -> list[T]:
    """Returns the results of `work`, done by threads.

    Raises the first failure after all have ended.
    """
    with ThreadPoolExecutor(at_once) as pool:
        return [done.result() for done in [pool.submit(work, one) for one in each]]


def s3_place(path: str) -> tuple[str, str] | None:
    """Returns bucket and key (or prefix, without a slash at its end).

    Null for a folder on a disk.
    """
    if not path.startswith(_S3):
        return None
    bucket, _, key = _split_address(path)[1].partition("/")
    return bucket, key


def read_files(
    storage: Storage, paths: Sequence[str], *, whole: bool = False
) -> Iterator[tuple["Footer | None", pa.Table | None]]:
    """Yields each file's footer and, for files read as a `whole`, its rows; see `parse_file`.

    Raises StoreError if a file cannot be reached.
    """
    known = KnownColumns()
    for data in storage.each(storage.read if whole else storage.tail, paths):
        yield parse_file(data, known, whole=whole)


@dataclass(frozen=True, slots=True)
class Footer:
    """A file's schema version (null without one), number of rows, and Arrow types by column."""

    version: str | None
    rows: int
    columns: Mapping[str, str]


VERSION_KEY = "kafka_lag_schema_version"


class KnownColumns:
    """Remembers the columns of each schema; comparing schemas is faster than converting them."""

    def __init__(self) -> None:
        self._known: list[tuple[pq.ParquetSchema, bytes | None, Mapping[str, str]]] = []

    def of(self, metadata: pq.FileMetaData) -> Mapping[str, str]:
        """Returns the Arrow type of each column by name.

        Part of a type may be stored only in the writer's Arrow schema beside the Parquet schema.
        """
        schema, written = metadata.schema, (metadata.metadata or {}).get(b"ARROW:schema")
        for another, another_written, columns in self._known:
            if written == another_written and schema.equals(another):
                return columns
        columns = {field.name: _name_type(field.type) for field in schema.to_arrow_schema()}
        self._known.append((schema, written, columns))
        return columns


def parse_file(
    data: bytes, known: KnownColumns | None = None, *, whole: bool = False
) -> tuple[Footer | None, pa.Table | None]:
    """Returns the footer of a Parquet file, and its rows if `data` is the `whole` file.

    The footer is null if the file is damaged or not Parquet, the rows if they cannot be decoded.
    """
    footer = None
    # a damaged file may have text that is not UTF-8, or a thrift structure without an end
    with contextlib.suppress(pa.ArrowException, ValueError, OSError):
        file = pq.ParquetFile(pa.BufferReader(data))
        version = (file.metadata.metadata or {}).get(VERSION_KEY.encode())
        footer = Footer(
            version=None if version is None else version.decode(),
            rows=file.metadata.num_rows,
            columns=(known or KnownColumns()).of(file.metadata),
        )
        if whole:
            # threads for columns take longer than the few rows of a run
            rows = file.read(use_threads=False)
            rows.validate(full=True)
            return footer, rows
    return footer, None


def _name_type(kind: pa.DataType) -> str:
    """Returns the name of an Arrow type, without its layout in memory."""
    if pa.types.is_dictionary(kind):
        return str(kind.value_type)
    return f"list<{kind.value_type}>" if pa.types.is_list(kind) else str(kind)


_CHECK = "address and rights"


def _split_address(path: str) -> tuple[str, str]:
    """Returns `s3` and bucket with key, or an empty text and a path.

    Raises StoreError for other file systems.
    """
    for scheme in _S3:
        if path.startswith(scheme):
            return "s3", path.removeprefix(scheme).strip("/")
    if path.startswith(_FILE):
        # escaped characters stay part of the name, as in Hadoop
        return "", "/" + path.removeprefix(_FILE).strip("/")
    if "://" in path or path.startswith("s3a:"):
        raise StoreError(f"cannot list {path}: only s3:// and folders on a disk are known")
    return "", path.rstrip("/") or path


def _open_s3(bucket: str) -> fs.S3FileSystem:
    """Returns the file system of a bucket, with the credentials of the process.

    AWS_ENDPOINT_URL replaces the address of S3, as in AWS's tools.
    """
    environ = os.environ
    retries = fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS)
    limits = {
        "connect_timeout": _CONNECT_SECONDS,
        "request_timeout": _READ_SECONDS,
        # otherwise a large file is copied into memory as a whole
        "background_writes": False,
    }
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")
    if address := environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL"):
        at = urlsplit(address)
        return fs.S3FileSystem(
            endpoint_override=at.netloc,
            scheme=at.scheme,
            region=region or "us-east-1",
            retry_strategy=retries,
            **limits,
        )
    region = region or fs.resolve_s3_region(bucket)
    return fs.S3FileSystem(region=region, retry_strategy=retries, **limits)


def _is_hidden(name: str) -> bool:
    return any(part.startswith(("_", ".")) for part in name.split("/"))


@contextmanager
def _refusals(what: str, path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        said = " ".join(str(error).split())
        raise StoreError(f"cannot {what} {path}: {said}; check {_CHECK}") from error
