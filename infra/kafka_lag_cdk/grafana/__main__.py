# SPDX-License-Identifier: Apache-2.0
"""`python -m kafka_lag_cdk.grafana --output DIR` writes the dashboards of docs/grafana.md."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from kafka_lag import contract
from kafka_lag_cdk.grafana.dashboards import files


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 0, or 1 with a sentence on stderr where the folder cannot be written."""
    options = _parser().parse_args(argv)
    try:
        options.output.mkdir(parents=True, exist_ok=True)
        for name, text in files(options.namespace).items():
            (options.output / name).write_text(text)
            print(options.output / name)
    except OSError as error:
        print(
            f"{options.output} cannot be written ({error.strerror}): name a folder that can.",
            file=sys.stderr,
        )
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m kafka_lag_cdk.grafana", description="Writes the Grafana dashboards as JSON."
    )
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--namespace",
        default=contract.NAMESPACE,
        help="of the metrics in CloudWatch, as the collector's namespace; default: %(default)s",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
