# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.compare.probe ORDERS`: runs one commit over the input, steps on stdout.

Started by `dev.compare` with the checkout's source roots first on the path and site-packages
without what is installed in them as editable; nobody else needs it.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from dev.compare.orders import (
    EMF,
    HTTP,
    MESSAGES,
    PARQUET,
    REPORTS,
    TEMPLATES,
    Orders,
    Step,
    inputs,
    write,
)
from dev.compare.probe import aws


def main(argv: list[str]) -> int:
    """Everything that was ordered, in one order; fails with what the commit's code raises."""
    orders = Orders.from_json(json.loads(Path(argv[0]).read_text()))
    # What the commit prints must not mix with the steps.
    with os.fdopen(os.dup(1), "wb", buffering=1 << 20) as stream:
        os.dup2(2, 1)
        logging.disable(logging.CRITICAL)
        if TEMPLATES in orders.kinds:
            # Loading the CDK takes seconds, and starts Node.
            from dev.compare.probe.templates import templates  # noqa: PLC0415

            _write(stream, templates(orders))
        if {EMF, PARQUET, HTTP, MESSAGES, REPORTS} & set(orders.kinds):
            clock = aws.Clock()
            clock.install()
            with aws.stand_in() as (sent, topic):
                _run(orders, clock, sent, topic, stream)
    return 0


def _run(orders: Orders, clock: aws.Clock, sent: aws.Sent, topic: str, stream: BinaryIO) -> None:
    # Only now, as the commit's modules may keep the clock that they see when they are imported.
    from dev.compare.probe.runs import steps  # noqa: PLC0415

    folder, kinds = Path(orders.folder), frozenset(orders.kinds)
    for source in inputs(orders):
        _write(stream, steps(source, folder, kinds, clock, sent, topic))
    if REPORTS in kinds:
        from dev.compare.probe.runs import reports  # noqa: PLC0415

        _write(stream, reports(orders, folder, sent, topic))


def _write(stream: BinaryIO, steps: Iterable[Step]) -> None:
    for step in steps:
        write(stream, step)
    stream.flush()


if __name__ == "__main__":
    code = main(sys.argv[1:])
    # Threads of Spark and Node must not keep the process.
    os._exit(code)
