# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag`: the command that people install, a subcommand for each thing it does."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module

_EPILOG = """\
subcommands:
  watch   the groups of any Kafka cluster, the worst first, each minute or once
  serve   a status page, Burrow's API and /metrics of the snapshots in a folder or a bucket

`kafka-lag SUBCOMMAND --help` says what each takes.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the subcommand and returns its exit code; 2 for one that there is not."""
    parser = argparse.ArgumentParser(
        prog="kafka-lag",
        description="How far behind the consumer groups of a Kafka cluster are.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("subcommand", choices=("watch", "serve"), metavar="SUBCOMMAND")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    # What the other subcommand needs need not be loaded.
    subcommand = import_module(f"kafka_lag.cli.{options.subcommand}")
    code: int = subcommand.main(options.arguments)
    return code
