# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag serve`: the views of a folder or a bucket in this machine's browser, until Ctrl-C."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import boto3
from botocore import exceptions as aws
from botocore.config import Config
from rich.console import Console

from kafka_lag import contract
from kafka_lag.aws import error_code
from kafka_lag.cli.local_server import LocalServer
from kafka_lag.cli.terminal import escape_markup
from kafka_lag.errors import ConfigError, ReporterError, StoreError, UnusableError
from kafka_lag.snapshots.store import BrowsableStore, FolderStore, S3Store
from kafka_lag.views.auth import Bearer, check_token
from kafka_lag.views.latest_run import Snapshots

_AWS = Config(connect_timeout=5, read_timeout=20, retries={"mode": "standard"})
_MAX_PORT = 65_535
_DESCRIPTION = """Burrow's API, /metrics and the status page on this machine, for this machine.

Reads the snapshots of a folder, or of a bucket with your own AWS credentials; nothing
here talks to Kafka. Answers only requests from this machine, until Ctrl-C.
"""
_EXAMPLES = """examples:
  uv run kafka-lag serve --state ~/kafka-lag --port 8000
  AWS_PROFILE=ops uv run kafka-lag serve --bucket kafka-lag-snapshots --region eu-west-1
"""
_NO_CREDENTIALS = "No AWS credentials here: set AWS_PROFILE, or run aws sso login."
_EXPIRED_CREDENTIALS = (
    *("ExpiredToken", "ExpiredTokenException", "InvalidAccessKeyId", "InvalidToken"),
    *("SSOTokenLoadError", "TokenRetrievalError", "UnauthorizedSSOTokenError"),
)


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Either `state` or `bucket` is set; port 0 takes any that is free."""

    state: Path | None
    bucket: str | None
    region: str | None
    port: int
    token_file: Path | None


def main(argv: Sequence[str] | None = None) -> int:
    """Serves until it is interrupted (0); 1 with a sentence when it cannot, 2 for usage."""
    stderr = Console(stderr=True)
    options = parse_options(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return _serve(options, Console(), stderr)
    except KeyboardInterrupt:
        return 0
    except ReporterError as error:
        stderr.print(f"[red]{escape_markup(str(error))}[/]", soft_wrap=True)
        return 1


def parse_options(argv: Sequence[str] | None) -> ServeOptions:
    """The options; ends the program with 2 and a sentence for wrong ones, with 0 for --help."""
    parser = argparse.ArgumentParser(
        prog="kafka-lag serve",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--state", type=_folder, metavar="DIR", help="snapshots of kafka-lag watch")
    source.add_argument("--bucket", metavar="NAME", help="snapshots in S3, with your credentials")
    parser.add_argument("--region", help="of the bucket (that of your AWS profile)")
    parser.add_argument("--port", type=_port, default=8000, help="0 for any free one (8000)")
    parser.add_argument(
        "--token-file",
        type=_file,
        metavar="F",
        help="answer only those who send the token in this file as Authorization: Bearer",
    )
    # A token comes by file, never as an argument, which others on the machine can read.
    parsed = parser.parse_args(argv)
    if parsed.region and not parsed.bucket:
        parser.error("--region belongs to --bucket; a folder has none")
    return ServeOptions(**vars(parsed))


def _folder(text: str) -> Path:
    path = Path(text).expanduser()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text!r}")
    if not os.access(path, os.R_OK | os.X_OK):
        raise argparse.ArgumentTypeError(f"the folder {text!r} cannot be read by you")
    return path


def _file(text: str) -> Path:
    path = Path(text).expanduser()
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"there is no file {text!r}")
    return path


def _port(text: str) -> int:
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(_MAX_PORT))
    if not digits or int(text) > _MAX_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} must be a port, 0 to {_MAX_PORT}")
    return int(text)


def _serve(options: ServeOptions, screen: Console, stderr: Console) -> int:
    snapshots = Snapshots(_open_store(options), time.time)
    bearer = _load_bearer(options.token_file) if options.token_file else None
    if not snapshots.clusters():
        stderr.print(f"[yellow]{escape_markup(_no_snapshots_yet(options))}[/]", soft_wrap=True)
    with _start_server(snapshots, options.port, bearer) as server:
        screen.print(f"{server.url}/  (Ctrl-C ends it)", highlight=False, soft_wrap=True)
        sys.stdout.flush()
        server.wait()
    return 0


def _start_server(snapshots: Snapshots, port: int, bearer: Bearer | None) -> LocalServer:
    try:
        return LocalServer(snapshots, time.time, port, bearer)
    except OSError as error:
        raise ConfigError(
            f"Port {port} cannot be used ({error.strerror}): name another by --port."
        ) from error


def _no_snapshots_yet(options: ServeOptions) -> str:
    if options.state is not None:
        where = f"under {options.state / contract.SNAPSHOT_PREFIX}/"
    else:
        where = f"under {contract.SNAPSHOT_PREFIX}/ in the bucket {options.bucket}"
    return f"There are no snapshots {where} yet; they are shown once they come."


def _load_bearer(token_file: Path) -> Bearer:
    bearer = Bearer(lambda: _read_token(token_file), time.monotonic)
    # A file that will not do fails now, and not at the first scrape.
    bearer.allows("")
    return bearer


def _read_token(token_file: Path) -> str:
    try:
        text = token_file.read_text("utf-8", "replace")
    except OSError as error:
        raise ConfigError(f"Cannot read the token in {token_file} ({error.strerror}).") from error
    if not text.strip():
        raise ConfigError(f"The file {token_file} is empty: it must hold the token.")
    return check_token(text, f"The file {token_file}")


def _open_store(options: ServeOptions) -> BrowsableStore:
    if options.state is not None:
        return open_folder(options.state)
    try:
        client = boto3.Session(region_name=options.region).client("s3", config=_AWS)
    except aws.BotoCoreError as error:
        raise ConfigError(f"AWS cannot be used as it is configured here: {error}") from error
    return OwnBucket(client, str(options.bucket))


def open_folder(folder: Path) -> FolderStore:
    """The folder that holds `snapshots/`, or will. Raises ConfigError for that one itself."""
    clusters = (folder / contract.GROUPS).glob("cluster=*")
    if not (folder / contract.SNAPSHOT_PREFIX).is_dir() and any(clusters):
        raise ConfigError(
            f"{folder} is inside the state: name the folder above, {folder.resolve().parent}."
        )
    return FolderStore(folder)


class OwnBucket(S3Store):
    """A bucket that somebody reads with their own rights: errors name no role and no VPC."""

    def keys(self, prefix: str, after: str = "") -> list[str]:
        with _map_errors(self._bucket, "s3:ListBucket"):
            return super().keys(prefix, after)

    def folders(self, prefix: str) -> list[str]:
        with _map_errors(self._bucket, "s3:ListBucket"):
            return super().folders(prefix)

    def read(self, key: str) -> bytes:
        with _map_errors(self._bucket, "s3:GetObject"):
            return super().read(key)


@contextmanager
def _map_errors(bucket: str, right: str) -> Iterator[None]:
    try:
        yield
    except UnusableError:
        raise
    except StoreError as error:
        cause = error.__cause__
        if not isinstance(cause, Exception):
            raise
        raise StoreError(_explain(cause, bucket, right)) from cause


def _explain(error: Exception, bucket: str, right: str) -> str:
    code = error_code(error)
    if isinstance(error, aws.NoCredentialsError | aws.PartialCredentialsError):
        return _NO_CREDENTIALS
    if code in _EXPIRED_CREDENTIALS:
        return f"AWS does not take your credentials ({code}): run aws sso login, or renew them."
    if isinstance(error, aws.ParamValidationError):
        return f"{bucket} cannot be the name of a bucket: check it (--bucket)."
    if isinstance(error, aws.ConnectionError | aws.HTTPClientError):
        return f"S3 cannot be reached ({code}). Check your network and the region (--region)."
    return (
        f"The bucket {bucket} cannot be read ({code}). "
        f"Check the name, the region (--region), and your right to {right}."
    )


if __name__ == "__main__":
    raise SystemExit(main())
