# SPDX-License-Identifier: Apache-2.0
"""Options of `kafka-lag serve`; a token comes by file, never as an argument."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_MOST_PORT = 65_535
_EXAMPLES = """examples:
  uv run kafka-lag serve --state ~/kafka-lag --port 8000
  AWS_PROFILE=ops uv run kafka-lag serve --bucket kafka-lag-snapshots --region eu-west-1
"""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Either `state` or `bucket` is told; port 0 takes any that is free."""

    state: Path | None
    bucket: str | None
    region: str | None
    port: int
    token_file: Path | None


def parse(argv: Sequence[str] | None) -> ServeOptions:
    """The options; ends the program with 2 and a sentence for wrong ones, with 0 for --help."""
    parser = argparse.ArgumentParser(
        prog="kafka-lag serve",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--state", type=_folder, metavar="DIR", help="snapshots of kafka-lag watch")
    where.add_argument("--bucket", metavar="NAME", help="snapshots in S3, with your credentials")
    parser.add_argument("--region", help="of the bucket (that of your AWS profile)")
    parser.add_argument("--port", type=_port, default=8000, help="0 for any free one (8000)")
    parser.add_argument(
        "--token-file",
        type=_file,
        metavar="F",
        help="answer only those who send the token in this file as Authorization: Bearer",
    )
    told = parser.parse_args(argv)
    if told.region and not told.bucket:
        parser.error("--region belongs to --bucket; a folder has none")
    return ServeOptions(told.state, told.bucket, told.region, told.port, told.token_file)


_DESCRIPTION = """Burrow's API, /metrics and the status page on this machine, for this machine.

Reads the snapshots of a folder, or of a bucket with your own AWS credentials; nothing
here talks to Kafka. Answers only requests from this machine, until Ctrl-C.
"""


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
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(_MOST_PORT))
    if not digits or int(text) > _MOST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} must be a port, 0 to {_MOST_PORT}")
    return int(text)
