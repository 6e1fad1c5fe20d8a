# SPDX-License-Identifier: Apache-2.0
"""Builds the zip of the functions and prints what it weighs; ends with 1 when that is too much."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from kafka_lag_cdk.packaging.archive import Package
from kafka_lag_cdk.packaging.build import BUILT, FUNCTIONS, GLUE_JOBS, ROOT, build
from kafka_lag_cdk.packaging.cold_import import MODULE, cold_import
from kafka_lag_cdk.packaging.sizes import excesses, table
from kafka_lag_cdk.packaging.target import ARCHITECTURES, DEPLOYABLE, PackagingError, Target
from kafka_lag_cdk.packaging.wheels import requirements

_RUNS = 5


def main(argv: Sequence[str] | None = None) -> int:
    """Does what the command line asks for; 1 when it cannot, or when a limit is passed."""
    options = _parser().parse_args(argv)
    console = Console(highlight=False)
    try:
        if options.command == "lock":
            return _lock(console)
        if options.command == "import-time":
            return _import_time(options.output, console)
        return _build(Target(options.python, options.architecture), options.output, console)
    except PackagingError as error:
        print(error, file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m kafka_lag_cdk.packaging",
        description=__doc__,
        epilog=f"lock writes {requirements.NAME} of functions/ and of glue_jobs/ from uv.lock. "
        "import-time builds for this interpreter and times the first import in new processes.",
    )
    parser.add_argument(
        "command", nargs="?", choices=["build", "lock", "import-time"], default="build"
    )
    default = Target()
    parser.add_argument(
        "--python", choices=DEPLOYABLE, default=default.python, help="default: %(default)s"
    )
    parser.add_argument(
        "--architecture",
        choices=ARCHITECTURES,
        default=default.architecture,
        help="default: %(default)s",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=BUILT,
        metavar="DIR",
        help="default: .local/package in the project",
    )
    return parser


def _build(target: Target, folder: Path, console: Console) -> int:
    began = time.monotonic()
    package = build(target, folder)
    seconds = time.monotonic() - began
    console.print(table(package))
    console.print(f"\nPython {target.python}, {target.architecture}, in {seconds:.1f} s")
    return _told(package, console)


def _told(package: Package, console: Console) -> int:
    console.print(f"sha256 {package.sha256}", soft_wrap=True)
    console.print(str(package.path), soft_wrap=True, markup=False)
    over = excesses(package)
    for sentence in over:
        print(sentence, file=sys.stderr)
    return 1 if over else 0


def _lock(console: Console) -> int:
    texts = {
        folder / requirements.NAME: requirements.exported(ROOT, shipped)
        for folder, shipped in (
            (FUNCTIONS, requirements.OF_FUNCTIONS),
            (GLUE_JOBS, requirements.OF_GLUE_JOB),
        )
    }
    for path, text in texts.items():
        path.write_text(text)
        console.print(f"{path} is written.", soft_wrap=True, markup=False)
    return 0


def _import_time(folder: Path, console: Console) -> int:
    times = cold_import(build(Target.here(), folder), _RUNS)
    console.print(
        f"{MODULE}, medians of {_RUNS} new processes: {times.without_bytecode:.2f} s as in Lambda, "
        f"which cannot write bytecode; {times.with_bytecode:.2f} s with bytecode.",
        soft_wrap=True,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
