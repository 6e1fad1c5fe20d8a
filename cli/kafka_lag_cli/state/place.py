# SPDX-License-Identifier: Apache-2.0
"""The place of snapshots, as the option `--state`: a folder, or the bucket of a deployment."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kafka_lag_cli.help_sections import add_options, is_from_variable, option
from kafka_lag_cli.state.folder import find_state, open_folder

if TYPE_CHECKING:
    from kafka_lag.snapshots.store import BrowsableStore
    from kafka_lag_cli.state.bucket import OwnBucket

S3 = "s3://"


@dataclass(frozen=True, slots=True)
class SnapshotPlace:
    """The place of snapshots: a bucket, a folder, or without both the folder of `watch`."""

    state: Path | None = None
    bucket: str | None = None
    profile: str | None = None

    def folder(self) -> Path:
        """Returns the folder. Raises ConfigError if there is none."""
        return find_state(self.state, os.environ)

    def open_bucket(self, connections: int) -> OwnBucket:
        """Returns the bucket, of which nothing is read yet. Raises ConfigError."""
        # Costs the start of those alone who use AWS.
        from kafka_lag_cli.state.bucket import open_bucket  # noqa: PLC0415

        return open_bucket(self.bucket or "", self.profile, connections)

    def open_store(self, connections: int) -> BrowsableStore:
        """Returns the bucket, or the folder. Raises ConfigError."""
        if self.bucket is None:
            return open_folder(self.folder())
        return self.open_bucket(connections)

    def describe(self) -> str:
        """Returns the place's name for errors. Raises ConfigError if there is no folder."""
        return str(self.folder()) if self.bucket is None else f"the bucket {self.bucket}"

    def check_folder(self) -> None:
        """Raises click.UsageError for a folder that does not exist."""
        if self.state is not None and not self.state.is_dir():
            raise click.UsageError(f"--state: there is no folder {self.state}.")


def _read_place(text: str) -> SnapshotPlace:
    if text.startswith(S3):
        return SnapshotPlace(bucket=text.removeprefix(S3).rstrip("/"))
    return SnapshotPlace(Path(text).expanduser())


STATE = option(
    "--state",
    type=_read_place,
    default=None,
    metavar="PLACE",
    help="folder or s3://BUCKET of snapshots (your cache folder)",
)
PROFILE = option("--profile", metavar="P", help="AWS profile")


def place_options(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """The options of a folder or a bucket, which the command gets as `place`."""

    @wraps(command)
    def with_place(
        *arguments: Any, state: SnapshotPlace | None, profile: str | None, **options: Any
    ) -> int | None:
        place = replace(state or SnapshotPlace(), profile=profile)
        place.check_folder()
        # One command reads the history of alarms, too, wherever snapshots are.
        reads_aws = place.bucket or options.get("compare_with_aws")
        if profile and not (reads_aws or is_from_variable("profile")):
            raise click.UsageError("--profile is for a bucket: leave it out.")
        return command(*arguments, place=place, **options)

    return add_options(STATE, PROFILE)(with_place)
