# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.kafka`: start a cluster, say how to connect to it, end it on Ctrl-C."""

import argparse
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from dev.kafka.cluster import KafkaCluster
from dev.kafka.errors import KafkaClusterError
from dev.kafka.handout import explain, write_client_files

EPILOG = """\
Users: admin (may do everything) and monitor (may describe the cluster, its topics, groups and
topic configurations, and nothing else). Both log in with SCRAM-SHA-512 or SCRAM-SHA-256; the
SSL listener wants a client certificate instead, the PLAINTEXT listener takes anybody and lets them
do everything. Nothing listens beyond 127.0.0.1."""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; --help and mistakes end the process as argparse does."""
    parser = argparse.ArgumentParser(
        prog="python -m dev.kafka",
        description="Start a real Kafka cluster on this machine and keep it until Ctrl-C.",
        epilog=EPILOG,
    )
    parser.add_argument(
        "--brokers", type=_positive, default=3, metavar="N", help="how many (default: 3)"
    )
    parser.add_argument(
        "--folder",
        type=Path,
        metavar="DIR",
        help="where data and logs go: missing or empty (default: a temporary folder)",
    )
    parser.add_argument(
        "--keep", action="store_true", help="leave the folder in place at the end, for a look"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until SIGINT or SIGTERM and return 0, or 1 with one sentence when it cannot start."""
    options = parse(arguments)
    # Said out loud, for a shell starts background jobs with SIGINT ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        _serve(options, Console())
    except KafkaClusterError as error:
        Console(stderr=True).print(str(error), style="red", markup=False, soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


def _serve(options: argparse.Namespace, console: Console) -> None:
    with ExitStack() as stack:
        with console.status(f"Starting {options.brokers} Kafka brokers"):
            cluster = stack.enter_context(
                KafkaCluster(brokers=options.brokers, folder=options.folder, keep=options.keep)
            )
        write_client_files(cluster)
        explain(cluster, console)
        threading.Event().wait()


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


if __name__ == "__main__":
    sys.exit(main())
