# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.kafka`: starts a cluster, prints its addresses, and ends it on Ctrl-C.

The PLAINTEXT listener takes any client and allows everything. No listener is open beyond 127.0.0.1.
"""

from __future__ import annotations

import signal
import sys
import threading
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from dev.kafka.cluster import KafkaCluster
from dev.kafka.node import PROTOCOLS, KafkaClusterError


def main(argv: Sequence[str] | None = None) -> int:
    """Runs until SIGINT or SIGTERM and returns 0, or 1 with one sentence if it cannot start."""
    parser = ArgumentParser(prog="python -m dev.kafka", description=__doc__)
    parser.add_argument("--brokers", type=int, default=3, metavar="N", help="how many (3)")
    parser.add_argument("--folder", type=Path, help="for data and logs, missing or empty")
    options = parser.parse_args(argv)
    try:
        with (
            suppress(KeyboardInterrupt),
            KafkaCluster(brokers=options.brokers, folder=options.folder) as cluster,
        ):
            hold(cluster)
    except KafkaClusterError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def hold(cluster: KafkaCluster) -> None:
    """Prints the addresses, and waits for SIGINT or SIGTERM, which is a KeyboardInterrupt."""
    # Set here, because a shell starts background jobs with SIGINT ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    for protocol in PROTOCOLS:
        print(f"{protocol:16}{cluster.bootstrap(protocol)}")
    print("Ctrl-C ends it.", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    sys.exit(main())
