# SPDX-License-Identifier: Apache-2.0
"""The views of a folder or a bucket in this machine's browser, until Ctrl-C."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError
from rich.console import Console

from kafka_lag import contract
from kafka_lag.cli.tables.names import shown
from kafka_lag.cli.views import LocalServer
from kafka_lag.cli.views.options import ServeOptions, parse
from kafka_lag.cli.views.stores import OwnBucket, own_folder
from kafka_lag.errors import ConfigError, ReporterError
from kafka_lag.snapshots.store import BrowsableStore
from kafka_lag.views.bearer import Bearer, one_token
from kafka_lag.views.snapshots import Snapshots

_AWS = Config(connect_timeout=5, read_timeout=20, retries={"mode": "standard"})


def main(argv: Sequence[str] | None = None) -> int:
    """Serves until it is interrupted (0); 1 with a sentence when it cannot, 2 for usage."""
    complaints = Console(stderr=True)
    options = parse(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return _serve(options, Console(), complaints)
    except KeyboardInterrupt:
        return 0
    except ReporterError as error:
        complaints.print(f"[red]{shown(str(error))}[/]", soft_wrap=True)
        return 1


def _serve(options: ServeOptions, screen: Console, complaints: Console) -> int:
    snapshots = Snapshots(_store(options), time.time)
    bearer = _bearer(options.token_file) if options.token_file else None
    if not snapshots.clusters():
        complaints.print(f"[yellow]{shown(_nothing_yet(options))}[/]", soft_wrap=True)
    with _server(snapshots, options.port, bearer) as server:
        screen.print(f"{server.url}/  (Ctrl-C ends it)", highlight=False, soft_wrap=True)
        sys.stdout.flush()
        server.wait()
    return 0


def _server(snapshots: Snapshots, port: int, bearer: Bearer | None) -> LocalServer:
    try:
        return LocalServer(snapshots, time.time, port, bearer)
    except OSError as error:
        raise ConfigError(
            f"Port {port} cannot be used ({error.strerror}): name another by --port."
        ) from error


def _nothing_yet(options: ServeOptions) -> str:
    if options.state is not None:
        where = f"under {options.state / contract.SNAPSHOT_PREFIX}/"
    else:
        where = f"under {contract.SNAPSHOT_PREFIX}/ in the bucket {options.bucket}"
    return f"There are no snapshots {where} yet; they are shown once they come."


def _store(options: ServeOptions) -> BrowsableStore:
    if options.state is not None:
        return own_folder(options.state)
    try:
        client = boto3.Session(region_name=options.region).client("s3", config=_AWS)
    except BotoCoreError as error:
        raise ConfigError(f"AWS cannot be used as it is configured here: {error}") from error
    return OwnBucket(client, str(options.bucket))


def _bearer(token_file: Path) -> Bearer:
    bearer = Bearer(lambda: _token(token_file), time.monotonic)
    # A file that will not do is told now, and not by the first scrape.
    bearer.allows("")
    return bearer


def _token(token_file: Path) -> str:
    try:
        text = token_file.read_text("utf-8", "replace")
    except OSError as error:
        raise ConfigError(f"Cannot read the token in {token_file} ({error.strerror}).") from error
    if not text.strip():
        raise ConfigError(f"The file {token_file} is empty: it must hold the token.")
    return one_token(text, f"The file {token_file}")


if __name__ == "__main__":
    raise SystemExit(main())
