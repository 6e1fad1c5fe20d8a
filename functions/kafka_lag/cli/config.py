# SPDX-License-Identifier: Apache-2.0
"""A collector's document for one that runs without this project's deployment."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from kafka_lag_cdk.config.document import normalised
from kafka_lag_cdk.config.faults import ConfigurationError
from kafka_lag_cdk.config.source import load


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the normalised document to stdout; 2, and every fault on stderr, for a wrong one."""
    parser = argparse.ArgumentParser(
        prog="kafka-lag config",
        description="Checks a collector's document and writes it with all defaults, as the "
        "function reads it from the file in KAFKA_LAG_CONFIG.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="JSON or TOML (.toml), keys as in the docs"
    )
    path = parser.parse_args(argv).file
    try:
        document = normalised(load(path), str(path), path.parent)
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(document, indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
