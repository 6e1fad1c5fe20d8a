# SPDX-License-Identifier: Apache-2.0
"""What a configuration will cost a month, read and printed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from kafka_lag_cdk.bill.lines import bill_of
from kafka_lag_cdk.bill.options import JSON, UsageError, configuration, parsed, within
from kafka_lag_cdk.bill.prices import price_lists
from kafka_lag_cdk.bill.printing.document import document_of
from kafka_lag_cdk.bill.printing.tables import show
from kafka_lag_cdk.config.faults import ConfigurationError

_WIDTH = 100


def main(argv: Sequence[str] | None = None, folder: Path | None = None) -> int:
    """The exit code: 0, or 2 with sentences on stderr where nothing can be reckoned."""
    options = parsed(argv)
    try:
        deployment = configuration(options.config, folder or Path.cwd())
        deployment = within(deployment, options.region)
    except (ConfigurationError, UsageError) as error:
        print(error, file=sys.stderr)
        return 2
    bill = bill_of(deployment, price_lists())
    report = deployment.shared.report
    try:
        if options.output == JSON:
            print(json.dumps(document_of(bill, report), indent=2))
        else:
            # Without a terminal rich takes 80 columns, and with a wide one all of them.
            screen = Console()
            screen.width = min(screen.width, _WIDTH) if screen.is_terminal else _WIDTH
            show(bill, report, screen, every_line=options.lines)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read it has seen enough; what is left goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
