# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag`: the command that people install, a subcommand for each thing it does."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

_SUBCOMMANDS = "watch", "serve", "config", "cost"
_EPILOG = """\
subcommands:
  watch   the groups of any Kafka cluster, the worst first, each minute or once
  serve   a status page, Burrow's API and /metrics of the snapshots in a folder or a bucket
  config  a collector's document, checked and written as the deployed function reads it
  cost    what a configuration will cost a month, line by line, before it is deployed

`kafka-lag SUBCOMMAND --help` says what each takes.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the subcommand and returns its exit code; 2 for one that there is not."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(
        prog="kafka-lag",
        usage=f"%(prog)s [-h] {{{','.join(_SUBCOMMANDS)}}} ...",
        description="How far behind the consumer groups of a Kafka cluster are.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # Usage and the text below say what there is.
    parser.add_argument(
        "subcommand",
        nargs="?",
        choices=_SUBCOMMANDS,
        metavar="SUBCOMMAND",
        help=argparse.SUPPRESS,
    )
    # What follows the first word is for the subcommand's own parser, --help included.
    name = parser.parse_args(arguments[:1]).subcommand
    if name is None:
        parser.error(f"name a subcommand: {' or '.join(_SUBCOMMANDS)}")
    # What the other subcommand needs need not be loaded.
    code: int = import_module(f"kafka_lag.cli.{name}").main(arguments[1:])
    return code
