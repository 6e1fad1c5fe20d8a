# SPDX-License-Identifier: Apache-2.0
"""Folders and objects on S3 or on a disk, through pyarrow: listed, read, written and deleted.

An address is a folder's name, `file:/...` or `s3://bucket/key` (`s3a://` too). Each object is
written whole or not at all, over the one that is there. All of it may be called from several
threads, and sent to Spark's workers.
"""

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
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

from kafka_lag_report.errors import StoreError

T = TypeVar("T")

PARQUET = ".parquet"
# Requests to S3 take 0.1 s and no processor, so many at once cost nothing.
AT_ONCE = 64
# What a file that is being written on a disk is called until it is whole.
_UNFINISHED = ".tmp"
# So often at most is a file written again that another run swept away.
_WRITES = 20

_S3 = ("s3://", "s3a://")
_FILE = "file:"
_CONNECT_SECONDS, _READ_SECONDS, _ATTEMPTS = 5, 60, 8
_DELETED_AT_ONCE = 1_000
# The footer of a snapshot is some 10 KB.
_TAIL_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Stored:
    """One object: its path below the folder that was listed, and its size in bytes."""

    name: str
    size: int


class Storage:
    """Every operation raises StoreError, with the address, when the store refuses."""

    def __init__(self) -> None:
        self._systems: dict[str, Any] = {}
        self._making = Lock()

    def __reduce__(self) -> tuple[type["Storage"], tuple[()]]:
        """Sent to another process without its connections."""
        return type(self), ()

    def folders(self, path: str) -> list[str]:
        """Names of the folders in `path`, sorted; none if it is missing or a file."""
        with _refusals("list", path):
            found = self._listed(path, recursive=False)
            return sorted(info.base_name for info in found if info.type == fs.FileType.Directory)

    def objects(self, path: str, ending: str) -> list[Stored]:
        """The objects below `path`, however deep, by name; none if it is missing.

        Only those of this ending, and none that Spark and Athena take for hidden.
        """
        with _refusals("list", path):
            root = len(_place(path)[1]) + 1
            found = [
                Stored(info.path[root:], info.size)
                for info in self._listed(path, recursive=True)
                if info.type == fs.FileType.File
            ]
        seen = (file for file in found if file.name.endswith(ending) and not _hidden(file.name))
        return sorted(seen, key=lambda file: file.name)

    def each(
        self, work: Callable[[str], T], paths: Sequence[str], at_once: int = AT_ONCE
    ) -> Iterator[T]:
        """The work's results on each path, in order: of S3 so many at once.

        On a disk one by one, as threads wait for each other longer than for it.
        """
        if not any(map(s3_place, paths)):
            yield from map(work, paths)
            return
        with ThreadPoolExecutor(at_once) as pool:
            yield from pool.map(work, paths)

    def read(self, path: str) -> bytes:
        """All of an object."""
        with _refusals("read", path), self._open(path) as stream:
            data: bytes = stream.read()
            if len(data) != stream.size():
                raise OSError(f"the answer broke off after {len(data):,} bytes")
            return data

    def tail(self, path: str) -> bytes:
        """The end of an object, with the whole footer if it is Parquet."""
        with _refusals("read", path), self._open(path) as stream:
            size = stream.size()
            end: bytes = stream.read_at(min(size, _TAIL_BYTES), max(0, size - _TAIL_BYTES))
            footer = int.from_bytes(end[-8:-4], "little") + 8
            if len(end) < footer <= size and end.endswith(b"PAR1"):
                end = stream.read_at(footer, size - footer)
            return end

    def write(self, path: str, data: bytes | pa.Buffer, content_type: str | None = None) -> None:
        """Make an object, with the folders above it; over the one that is there."""
        with _refusals("write to", path):
            scheme, place = _place(path)
            system = self._system(scheme, place)
            if scheme:
                # in one piece, so that nothing of it appears if it cannot be sent
                metadata = {"Content-Type": content_type} if content_type else None
                with system.open_output_stream(place, metadata=metadata) as stream:
                    stream.write(data)
                return
            for left in reversed(range(_WRITES)):
                try:
                    _write_on_disk(system, place, data)
                    return
                except FileNotFoundError:
                    # another run swept the folder, or took it away
                    if not left:
                        raise

    def exists(self, path: str) -> bool:
        """Whether there is an object of this name."""
        with _refusals("read", path):
            scheme, place = _place(path)
            found = self._system(scheme, place).get_file_info(place)
        return bool(found.type == fs.FileType.File)

    def make_folder(self, path: str) -> None:
        """So that a move into it needs no space; on S3 there is nothing to make."""
        with _refusals("write to", path):
            scheme, place = _place(path)
            if not scheme:
                self._system(scheme, place).create_dir(place, recursive=True)

    def move(self, targets: Mapping[str, str]) -> None:
        """Move each object over the one that is there, within a disk or S3.

        On a disk one right after the other, each in one step. On S3 they are copied, all at once.
        """
        if any(s3_place(target) for target in targets.values()):
            with ThreadPoolExecutor(AT_ONCE) as pool:
                for done in [pool.submit(self._copy, *each) for each in targets.items()]:
                    done.result()
            return
        for source, target in targets.items():
            with _refusals("write to", target):
                place = _place(target)[1]
                self._system("", place).move(_place(source)[1], place)

    def _copy(self, source: str, target: str) -> None:
        with _refusals("write to", target):
            scheme, place = _place(target)
            self._system(scheme, place).copy_file(_place(source)[1], place)

    @contextmanager
    def alone_in(self, path: str) -> Iterator[bool]:
        """On a disk wait for others that are in the folder, of any process; whether one is alone.

        The system lets the next one in when a process ends, however it does. On S3, and on disks
        that know no locks, nobody waits.
        """
        scheme, place = _place(path)
        if scheme:
            yield False
            return
        self.make_folder(path)
        with _refusals("write to", path):
            folder = os.open(place, os.O_RDONLY)
        try:
            yield _locked(folder)
        finally:
            os.close(folder)

    def delete(self, paths: Sequence[str]) -> None:
        """Remove these objects; missing ones are fine."""
        by_bucket: dict[str, list[str]] = {}
        for path in paths:
            scheme, place = _place(path)
            if scheme:
                bucket, _, key = place.partition("/")
                by_bucket.setdefault(bucket, []).append(key)
                continue
            with _refusals("delete", path), contextlib.suppress(FileNotFoundError):
                self._system(scheme, place).delete_file(place)
        for bucket, keys in by_bucket.items():
            self._delete_keys(bucket, keys)

    def delete_folder(self, path: str) -> None:
        """Remove the folder and all in it, hidden files too; a missing one is fine."""
        scheme, place = _place(path)
        with _refusals("delete", path):
            if not scheme:
                with contextlib.suppress(FileNotFoundError):
                    self._system(scheme, place).delete_dir(place)
                return
            bucket, _, key = place.partition("/")
            there = [info.path for info in self._listed(path, recursive=True)]
        keys = [each.partition("/")[2] for each in there]
        self._delete_keys(bucket, [*keys, *(f"{each}/" for each in keys), f"{key}/"])

    def sweep(self, path: str) -> None:
        """Remove from the folder what a killed run left unfinished: on a disk only."""
        with _refusals("delete", path):
            scheme, place = _place(path)
            for info in () if scheme else self._listed(path, recursive=False):
                if info.base_name.startswith(".") and info.base_name.endswith(_UNFINISHED):
                    # its run may have ended it meanwhile
                    with contextlib.suppress(FileNotFoundError):
                        self._system(scheme, place).delete_file(info.path)

    def keep_only(self, path: str, name: str) -> None:
        """Remove all objects right in the folder but the one of this name; hidden ones too."""
        with _refusals("list", path):
            found = self._listed(path, recursive=False)
        others = [i.base_name for i in found if i.type == fs.FileType.File and i.base_name != name]
        self.delete([f"{path}/{other}" for other in others])

    def _delete_keys(self, bucket: str, keys: Sequence[str]) -> None:
        """By AWS's own client: Arrow's writes an empty object for the folder of what it deletes."""
        # only here, as a folder on a disk needs no AWS
        import boto3  # noqa: PLC0415
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

        client: Any = boto3.client("s3")
        for start in range(0, len(keys), _DELETED_AT_ONCE):
            some = [{"Key": key} for key in keys[start : start + _DELETED_AT_ONCE]]
            try:
                done = client.delete_objects(Bucket=bucket, Delete={"Objects": some, "Quiet": True})
            except (BotoCoreError, ClientError) as error:
                raise StoreError(f"cannot delete in bucket {bucket}: {error}; {_CHECK}") from error
            for refused in done.get("Errors", ()):
                raise StoreError(
                    f"cannot delete s3://{bucket}/{refused['Key']}: {refused['Message']}; check "
                    "the job's right s3:DeleteObject"
                )

    def _listed(self, path: str, *, recursive: bool) -> list[Any]:
        scheme, place = _place(path)
        system = self._system(scheme, place)
        if not scheme and system.get_file_info(place).type != fs.FileType.Directory:
            return []
        selector = fs.FileSelector(place, allow_not_found=True, recursive=recursive)
        found: list[Any] = system.get_file_info(selector)
        return found

    def _open(self, path: str) -> Any:
        scheme, place = _place(path)
        return self._system(scheme, place).open_input_file(place)

    def _system(self, scheme: str, place: str) -> Any:
        """The disk, or S3 in the bucket's region; each made once."""
        bucket = place.partition("/")[0] if scheme else ""
        with self._making:
            if bucket not in self._systems:
                self._systems[bucket] = _s3(bucket) if scheme else fs.LocalFileSystem()
            return self._systems[bucket]


def _locked(folder: int) -> bool:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
    except OSError:
        return False
    return True


def _write_on_disk(system: Any, place: str, data: bytes | pa.Buffer) -> None:
    """Over the file that is there, in one step; two runs at once write two files."""
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


def s3_place(path: str) -> tuple[str, str] | None:
    """Bucket and key (or prefix, without a slash at its end); null for a folder on a disk."""
    if not path.startswith(_S3):
        return None
    bucket, _, key = _place(path)[1].partition("/")
    return bucket, key


def footers(storage: Storage, paths: Sequence[str]) -> list["Footer | None"]:
    """Each file's footer, null where it is damaged; StoreError if a file cannot be reached."""
    known = KnownColumns()
    return [footer_of(end, known) for end in storage.each(storage.tail, paths)]


@dataclass(frozen=True, slots=True)
class Footer:
    """A file's schema version (null: it names none), its rows, and its columns' Arrow types."""

    version: str | None
    rows: int
    columns: Mapping[str, str]


VERSION_KEY = "kafka_lag_schema_version"


class KnownColumns:
    """Columns of files that were looked at: a day's are alike, and to compare them is quick."""

    def __init__(self) -> None:
        self._known: list[tuple[pq.ParquetSchema, bytes | None, Mapping[str, str]]] = []

    def of(self, metadata: pq.FileMetaData) -> Mapping[str, str]:
        """Arrow type by name, of which the file's writer may have left a part beside its schema."""
        schema, written = metadata.schema, (metadata.metadata or {}).get(b"ARROW:schema")
        for another, another_written, columns in self._known:
            if written == another_written and schema.equals(another):
                return columns
        columns = {field.name: _type(field.type) for field in schema.to_arrow_schema()}
        self._known.append((schema, written, columns))
        return columns


def footer_of(end: bytes, known: KnownColumns | None = None) -> Footer | None:
    """What the end of a Parquet file says of it; null if it is none, or damaged."""
    try:
        metadata = pq.read_metadata(pa.BufferReader(end))
        version = (metadata.metadata or {}).get(VERSION_KEY.encode())
        return Footer(
            version=None if version is None else version.decode(),
            rows=metadata.num_rows,
            columns=(known or KnownColumns()).of(metadata),
        )
    # damage may also be text that is no UTF-8, or a thrift structure that ends nowhere
    except (pa.ArrowException, ValueError, OSError):
        return None


def _type(kind: pa.DataType) -> str:
    """As Arrow spells it, but for how values lie in memory."""
    if pa.types.is_dictionary(kind):
        return str(kind.value_type)
    return f"list<{kind.value_type}>" if pa.types.is_list(kind) else str(kind)


_CHECK = "check address and rights"


def _place(path: str) -> tuple[str, str]:
    """`s3` and bucket with key, or nothing and a path; StoreError for other file systems."""
    for scheme in _S3:
        if path.startswith(scheme):
            return "s3", path.removeprefix(scheme).strip("/")
    if path.startswith(_FILE):
        # what is escaped in it is a name as it stands, as for Hadoop
        return "", "/" + path.removeprefix(_FILE).strip("/")
    if "://" in path or path.startswith("s3a:"):
        raise StoreError(f"cannot list {path}: only s3:// and folders on a disk are known")
    return "", path.rstrip("/") or path


def _s3(bucket: str) -> fs.S3FileSystem:
    """By the credentials that the process finds; AWS_ENDPOINT_URL counts, as for AWS's tools."""
    environ = os.environ
    retries = fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS)
    limits = {
        "connect_timeout": _CONNECT_SECONDS,
        "request_timeout": _READ_SECONDS,
        # else all of a large file is copied into memory on its way
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


def _hidden(name: str) -> bool:
    return any(part.startswith(("_", ".")) for part in name.split("/"))


@contextmanager
def _refusals(what: str, path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        said = " ".join(str(error).split())
        raise StoreError(f"cannot {what} {path}: {said}; {_CHECK}") from error
