# SPDX-License-Identifier: Apache-2.0
"""The command line, as a person types it and as Glue passes it."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import NoReturn

from glue_jobs.errors import UsageError

DESCRIPTION = """\
Read one UTC day of snapshots and write that day's reports:
  partition_skew   how unevenly lag and production fall on a topic's partitions
  retention_risk   which partitions lost records, or came near it, and when
Output: <output>/reports/<report>/cluster=<c>/dt=<date>/*.parquet, replaced as a whole by each run.
"""
EPILOG = """\
examples:
  uv run python -m glue_jobs.daily_report --input ./state --output ./state --date 2026-01-31
  uv run python -m glue_jobs.daily_report --input ./state --output ./out --cluster orders audit

exit code: 0 written, 1 snapshots or output at fault, 2 wrong usage.
Unknown options are named on stderr and ignored, because Glue adds some of its own.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """One run; no `clusters` means all that have snapshots of `date`, `show` 0 prints no rows."""

    input: str
    output: str
    date: date
    clusters: tuple[str, ...]
    show: int
    ignored: tuple[str, ...]


class _Parser(argparse.ArgumentParser):
    """Raises instead of printing usage and exiting, so that one place words all failures."""

    def error(self, message: str) -> NoReturn:
        """Turn argparse's own complaint into ours."""
        raise UsageError(f"{message}; see --help")


def parse(argv: Sequence[str] | None, now: Callable[[], datetime]) -> Options:
    """Read the arguments (null: the process's own); UsageError names the first wrong one.

    Abbreviations are off: Glue's own `--job-...` options must never be taken for ours.
    """
    given, others = _parser().parse_known_args(argv)
    yesterday = (now().astimezone(UTC) - timedelta(days=1)).date()
    return Options(
        input=given.input.rstrip("/"),
        output=given.output.rstrip("/"),
        date=given.date or yesterday,
        clusters=tuple(dict.fromkeys(given.cluster)),
        show=given.show,
        # names only: a value passed by mistake may be a secret
        ignored=tuple(word.split("=")[0] for word in others if word.startswith("--")),
    )


def _parser() -> _Parser:
    parser = _Parser(
        prog="daily_report",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    place = "folder (on Glue: s3a:// address)"
    add("--input", required=True, type=_place, metavar="DIR", help=f"{place} that holds snapshots/")
    add("--output", required=True, type=_place, metavar="DIR", help=f"{place} to hold reports/")
    add("--date", type=_day, metavar="YYYY-MM-DD", help="UTC day (default: yesterday)")
    add("--cluster", nargs="+", action="extend", default=[], metavar="NAME", help="default: all")
    add("--show", type=_rows, default=20, metavar="N", help="rows to print, worst first (20)")
    return parser


def _place(text: str) -> str:
    if not text.strip("/ "):
        raise argparse.ArgumentTypeError(f"{text!r} is no place to keep data")
    return text


def _day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    # fromisoformat also takes 20260131 and 2026-W05-6, which no folder is named after
    if day is None or day.isoformat() != text:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date written YYYY-MM-DD")
    return day


def _rows(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of rows, 0 or more")
    return int(text)
