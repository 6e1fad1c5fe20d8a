# SPDX-License-Identifier: Apache-2.0
"""Whole objects as bytes, on S3 or a disk, for Python that runs where no JVM can be asked.

Spark's workers read and write the history by it; whatever the JVM can do is in `files`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import boto3
from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from kafka_lag_report.errors import StoreError

AT_ONCE = 32
_SCHEMES = ("s3://", "s3a://")
_FILE = "file:"
_CONNECT_SECONDS, _ATTEMPTS = 5, 8
_IN_THIS_THREAD = TransferConfig(use_threads=False, num_download_attempts=_ATTEMPTS)


class Objects(Protocol):
    """A store that is sent to Spark's workers; StoreError whenever it refuses."""

    def read(self, address: str) -> bytes:
        """All of an object."""

    def write(self, address: str, data: bytes) -> None:
        """Make an object, with the folders above it; over the one that is there."""


class Disk:
    """Files by path, or by address with `file:`."""

    def read(self, address: str) -> bytes:
        """All of a file."""
        with _refusals("read", address):
            return _path(address).read_bytes()

    def write(self, address: str, data: bytes) -> None:
        """Make a file, with the folders above it; over the one that is there."""
        path = _path(address)
        with _refusals("write", address):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


class S3:
    """Objects by address; each process makes its own client, of the credentials it finds."""

    def __init__(self) -> None:
        self._client: Any = None
        self._making = Lock()

    def __reduce__(self) -> tuple[type["S3"], tuple[()]]:
        """Sent to another process without the client, which holds connections."""
        return S3, ()

    def read(self, address: str) -> bytes:
        """All of an object."""
        data = BytesIO()
        with _refusals("read", address):
            # unlike get_object it begins again when a connection breaks within the object
            self._s3().download_fileobj(**_at(address), Fileobj=data, Config=_IN_THIS_THREAD)
        return data.getvalue()

    def write(self, address: str, data: bytes) -> None:
        """Make an object, over the one that is there."""
        with _refusals("write", address):
            self._s3().put_object(**_at(address), Body=data)

    def _s3(self) -> Any:
        # boto3 makes clients for one thread at a time
        with self._making:
            if self._client is None:
                self._client = s3_client()
        return self._client


class Anywhere:
    """S3 for its addresses, a disk for what has no scheme; StoreError for other file systems."""

    def __init__(self) -> None:
        self._s3, self._disk = S3(), Disk()

    def read(self, address: str) -> bytes:
        """All of an object."""
        return self._at(address).read(address)

    def write(self, address: str, data: bytes) -> None:
        """Make an object, with the folders above it; over the one that is there."""
        self._at(address).write(address, data)

    def _at(self, address: str) -> Objects:
        if s3_place(address):
            return self._s3
        if "://" in address and not address.startswith(_FILE):
            raise StoreError(
                f"no history of {address}: it can be made on s3:// and on a disk; or pass "
                "--no-history true"
            )
        return self._disk


def s3_place(address: str) -> tuple[str, str] | None:
    """Bucket and key (or prefix, without a slash at its end); null for any other file system."""
    for scheme in _SCHEMES:
        if address.startswith(scheme):
            bucket, _, key = address.removeprefix(scheme).partition("/")
            return bucket, key.strip("/")
    return None


def s3_client(at_once: int = AT_ONCE) -> Any:
    """A client with a connection for each of so many threads, which waits when S3 asks for it."""
    config = Config(
        max_pool_connections=at_once,
        connect_timeout=_CONNECT_SECONDS,
        retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
    )
    return boto3.client("s3", config=config)


def _path(address: str) -> Path:
    if address.startswith(_FILE):
        # as Hadoop takes it: what is escaped in it is a name as it stands
        return Path("/" + address.removeprefix(_FILE).lstrip("/"))
    return Path(address)


def _at(address: str) -> dict[str, str]:
    bucket, key = s3_place(address) or ("", "")
    return {"Bucket": bucket, "Key": key}


@contextmanager
def _refusals(what: str, address: str) -> Iterator[None]:
    try:
        yield
    except (Boto3Error, BotoCoreError, ClientError, OSError) as error:
        raise StoreError(f"cannot {what} {address}: {error}; check address and rights") from error
