# SPDX-License-Identifier: Apache-2.0
"""The place that snapshots are read from, as options: a folder, or a deployment's bucket."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kafka_lag.snapshots.store import BrowsableStore
from kafka_lag_cli.help_sections import add_options, is_from_variable, option
from kafka_lag_cli.state.stores import find_state, open_folder

if TYPE_CHECKING:
    from kafka_lag_cli.state.bucket import OwnBucket

_OPTIONS = (
    option(
        "--state",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="The folder that holds snapshots/ (default: your cache folder, as for watch).",
    ),
    option("--bucket", metavar="NAME", help="A deployment's bucket, with your AWS credentials."),
    option("--region", help="Of the bucket (default: that of your AWS profile)."),
    option("--profile", metavar="P", help="AWS profile (default: as the AWS command line)."),
)


@dataclass(frozen=True, slots=True)
class SnapshotPlace:
    """The place of snapshots; with a null `bucket` the folder `state`, or the one that `watch`
    uses."""

    state: Path | None = None
    bucket: str | None = None
    region: str | None = None
    profile: str | None = None

    def folder(self) -> Path:
        """The folder. Raises ConfigError where there is none."""
        return find_state(self.state, os.environ)

    def open_bucket(self, connections: int) -> OwnBucket:
        """The bucket, of which nothing is read yet. Raises ConfigError."""
        # Costs the start of those alone who use AWS.
        from kafka_lag_cli.state.bucket import open_bucket  # noqa: PLC0415

        return open_bucket(self.bucket or "", self.region, self.profile, connections)

    def open_store(self, connections: int) -> BrowsableStore:
        """The bucket, or the folder. Raises ConfigError."""
        if self.bucket is None:
            return open_folder(self.folder())
        return self.open_bucket(connections)

    def describe(self) -> str:
        """Return the place's name for errors. Raises ConfigError if there is no folder."""
        return str(self.folder()) if self.bucket is None else f"the bucket {self.bucket}"


def place_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of a folder or a bucket, which the command gets as `place`."""

    @wraps(command)
    def with_place(
        *arguments: Any,
        state: Path | None,
        bucket: str | None,
        region: str | None,
        profile: str | None,
        **options: Any,
    ) -> None:
        if state and bucket:
            raise click.UsageError("--state and --bucket cannot go together.")
        if region and not bucket:
            raise click.UsageError("--region belongs to --bucket; a folder has none.")
        # One command reads the history of alarms, too, wherever snapshots are.
        reads_aws = bucket or options.get("compare_with_aws")
        if profile and not (reads_aws or is_from_variable("profile")):
            raise click.UsageError("--profile belongs to --bucket; a folder is read without AWS.")
        command(*arguments, place=SnapshotPlace(state, bucket, region, profile), **options)

    return add_options(*_OPTIONS)(with_place)
