# SPDX-License-Identifier: Apache-2.0
"""Places that keep snapshots: an S3 bucket or a folder with the same keys."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from kafka_lag.errors import StoreError
from kafka_lag.refusal import code_of, put_on_condition
from kafka_lag.snapshots.errors import UnusableError

_ABSENT = "NoSuchKey"


class SnapshotStore(Protocol):
    """Objects by key, written once and never changed. All methods raise StoreError."""

    def keys(self, prefix: str, after: str = "") -> list[str]:
        """The keys that start with the prefix and come after another one, in order."""

    def read(self, key: str) -> bytes:
        """The object's bytes. Raises UnusableError when there is no such object."""

    def write_once(self, key: str, data: bytes) -> bool:
        """Writes the object unless it exists; whether it was written."""


class BrowsableStore(SnapshotStore, Protocol):
    """A store for those who do not know what is in it."""

    def folders(self, prefix: str) -> list[str]:
        """The names right below a prefix that ends with a slash, in order, without what is in
        them."""


class S3Store:
    """A bucket, with conditional puts so that a repeated run changes nothing."""

    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def keys(self, prefix: str, after: str = "") -> list[str]:
        """The keys that start with the prefix and come after another, in order, of all pages."""
        try:
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=prefix, StartAfter=after
            )
            return [item["Key"] for page in pages for item in page.get("Contents", [])]
        except (ClientError, BotoCoreError) as error:
            raise self._failed("list", prefix, error) from error

    def folders(self, prefix: str) -> list[str]:
        """The names right below the prefix, in order, whatever the number of pages."""
        try:
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=prefix, Delimiter="/"
            )
            found = [each["Prefix"] for page in pages for each in page.get("CommonPrefixes", [])]
        except (ClientError, BotoCoreError) as error:
            raise self._failed("list", prefix, error) from error
        return [name.removeprefix(prefix).rstrip("/") for name in found]

    def read(self, key: str) -> bytes:
        """The object's bytes."""
        try:
            body: bytes = self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        except (ClientError, BotoCoreError) as error:
            raise self._failed("read", key, error) from error
        return body

    def write_once(self, key: str, data: bytes) -> bool:
        """Writes the object unless it exists; whether it was written."""
        try:
            tag = put_on_condition(
                self._client, Bucket=self._bucket, Key=key, Body=data, IfNoneMatch="*"
            )
        except (ClientError, BotoCoreError) as error:
            raise self._failed("write", key, error) from error
        return tag is not None

    def _failed(self, verb: str, what: str, error: Exception) -> StoreError:
        code = code_of(error)
        if code == _ABSENT:
            return UnusableError(f"There is no {what} in bucket {self._bucket}.")
        return StoreError(
            f"Cannot {verb} {what} in bucket {self._bucket} ({code}). Check that the bucket "
            "exists, the role's rights, and the VPC's S3 endpoint."
        )


class FolderStore:
    """A folder on this machine; keys are paths below it.

    Paths of objects are strings: pathlib interns every part of every path it sees.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = os.fspath(folder)

    def keys(self, prefix: str, after: str = "") -> list[str]:
        """The keys that start with the prefix and come after another one, in order.

        A missing folder has none.
        """
        found = _files(self._folder, prefix.rpartition("/")[0])
        return sorted(
            key
            for key in found
            if key.startswith(prefix) and key > after and key.endswith(".parquet")
        )

    def folders(self, prefix: str) -> list[str]:
        """The names right below the prefix, in order; a missing folder has none."""
        try:
            entries = os.scandir(os.path.join(self._folder, prefix))
        except (FileNotFoundError, NotADirectoryError):
            return []
        with entries:
            return sorted(entry.name for entry in entries if entry.is_dir())

    def read(self, key: str) -> bytes:
        """The file's bytes."""
        path = os.path.join(self._folder, key)
        try:
            with open(path, "rb") as file:
                return file.read()
        except FileNotFoundError as error:
            raise UnusableError(f"There is no {path}.") from error
        except OSError as error:
            raise StoreError(f"Cannot read {path} ({error.strerror}).") from error

    def write_once(self, key: str, data: bytes) -> bool:
        """Writes the file, whole or not at all, unless it exists; whether it was written."""
        path = os.path.join(self._folder, key)
        folder = os.path.dirname(path)
        try:
            os.makedirs(folder, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=folder, suffix=".part") as part:
                part.write(data)
                part.flush()
                os.link(part.name, path)
        except FileExistsError:
            return False
        except OSError as error:
            raise StoreError(
                f"Cannot write {path} ({error.strerror}). Check the folder's rights and space."
            ) from error
        return True


def _files(folder: str, below: str) -> Iterator[str]:
    """The files below a folder by their paths, one by one: a folder may hold thousands."""
    try:
        entries = os.scandir(os.path.join(folder, below))
    except (FileNotFoundError, NotADirectoryError):
        return
    with entries:
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            if entry.is_dir():
                yield from _files(folder, path)
            else:
                yield path
