# SPDX-License-Identifier: Apache-2.0
"""Parses the command line, as a person types it and as Glue passes it."""

import argparse
import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, NoReturn

from kafka_lag_report.errors import UsageError

DESCRIPTION = """\
Read one UTC day of snapshots, or each day of a range, and write that day's reports:
  partition_skew     how unevenly lag and production fall on a topic's partitions, and why
  retention_risk     which partitions lost records, or came near it, and when
  lag_summary        lag, status, SLA and rates of each group and topic
  lag_hourly         each group's values by hour, used to find anomalies
  anomalies          hours unlike the same hour of that weekday in the 6 weeks before
  broker_hotspots    brokers with more than their share
  consumer_hotspots  members with more than their share
  tasks_needed       how many tasks each group needed, in the day and in each of its hours
  slo                minutes in which SLOs were kept, broken or unknown, and the budget left
  coverage           how much of the day was seen, and which objects were left out
Output: <output>/reports/<report>/cluster=<c>/dt=<date>/*.parquet, replaced as a whole by each run;
<output>/reports/page/cluster=<c>/dt=<date>/report.html, the same for people; and <output>/history/,
the rows of days that are over in a few sorted files.
"""
EPILOG = """\
examples:
  uv run python -m kafka_lag_report.daily_report --input ./state --output ./state --date 2026-01-31
  uv run python -m kafka_lag_report.daily_report --input ./state --output ./out --cluster orders

exit code: 0 written, 1 snapshots or output at fault, 2 wrong usage.
Unknown options are named on stderr and ignored, because Glue adds some of its own.
"""
MOST_DAYS = 366
LEAST_SNAPSHOT_DAYS = 8
LEAST_MINUTES = 5
FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one run over `dates`, which are ascending.

    Without `clusters` the run reports all clusters that have snapshots of a date. `today` is the
    UTC date at the start; a date equal to it is still in progress. `scheduled` means that nobody
    gave a date. A null `topic_arn` sends no summary, null `snapshot_days` deletes no snapshots, and
    a null `time_limit` (in minutes) sets no limit. `success_metric` is a region, and the deployment
    whose metric says whether a scheduled run succeeded. `ignored` are the names of unknown options.
    """

    input: str
    output: str
    dates: tuple[date, ...]
    today: date
    scheduled: bool
    clusters: tuple[str, ...]
    history: bool
    snapshot_days: int | None
    time_limit: int | None
    topic_arn: str | None
    always_summarise: bool
    success_metric: tuple[str, str] | None
    timings: bool
    ignored: tuple[str, ...]


class _Parser(argparse.ArgumentParser):
    """Raises UsageError instead of printing usage and exiting, so that all failures look alike."""

    def error(self, message: str) -> NoReturn:
        """Raises argparse's complaint as UsageError."""
        raise UsageError(f"{message}; see --help")


def utc_now() -> datetime:
    """Returns the current time in UTC."""
    return datetime.now(UTC)


def parse(argv: Sequence[str] | None, now: Callable[[], datetime]) -> Options:
    """Returns the options from the arguments (null: those of the process).

    Raises UsageError for the first wrong argument. Abbreviations are off, because Glue's own
    `--job-...` options must not be taken for options of this job.
    """
    given, others = _make_parser().parse_known_args(argv)
    today = now().astimezone(UTC).date()
    return Options(
        input=given.input.rstrip("/"),
        output=given.output.rstrip("/"),
        dates=_list_dates(given.date, given.until, today),
        today=today,
        scheduled=given.date is None,
        clusters=tuple(dict.fromkeys(name for names in given.cluster for name in names)),
        history=not given.no_history,
        snapshot_days=given.snapshot_days,
        time_limit=given.time_limit,
        topic_arn=given.topic_arn or None,
        always_summarise=given.summary == "always",
        success_metric=given.success_metric,
        timings=given.timings,
        # names only: a value passed by mistake may be a secret
        ignored=tuple(word.split("=")[0] for word in others if word.startswith("--")),
    )


def _make_parser() -> _Parser:
    parser = _Parser(
        prog="daily_report",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    place = "folder (on Glue: s3:// address)"
    add(
        "--input",
        required=True,
        type=_parse_place,
        metavar="DIR",
        help=f"{place} that holds snapshots/",
    )
    add(
        "--output",
        required=True,
        type=_parse_place,
        metavar="DIR",
        help=f"{place} to hold reports/",
    )
    add("--date", type=_parse_day, metavar="YYYY-MM-DD", help="UTC day (default: yesterday)")
    add(
        "--until",
        type=_parse_day,
        metavar="YYYY-MM-DD",
        help="with --date: each day up to this one",
    )
    many = "default: all; several by spaces or commas"
    names: Any = {"nargs": "+", "action": "extend", "type": _parse_clusters, "default": []}
    add("--cluster", **names, metavar="NAME", help=many)
    add(
        "--topic-arn",
        type=_parse_topic,
        metavar="ARN",
        help="SNS topic for a summary (default: none)",
    )
    add("--summary", choices=("changes", "always"), default="changes", help="when (changes)")
    good = "publish a metric: whether a scheduled run succeeded (default: none)"
    add("--success-metric", type=_parse_metric, metavar="REGION/DEPLOYMENT", help=good)
    # Glue has no bare options: each comes with a value
    flag: Any = {
        "nargs": "?",
        "const": True,
        "default": False,
        "type": _parse_flag,
        "metavar": "true",
    }
    add("--no-history", **flag, help="report from the snapshots, compact nothing")
    gone = "delete raw snapshots older than N days, once the history has them (default: none)"
    add("--snapshot-days", type=_parse_days, metavar="N", help=gone)
    stop = "begin no cluster, and end the one at work, shortly before N minutes (default: none)"
    add("--time-limit", type=_parse_minutes, metavar="N", help=stop)
    add("--timings", **flag, help="print the seconds of each stage")
    return parser


def _list_dates(first: date | None, last: date | None, today: date) -> tuple[date, ...]:
    """Returns every date from first to last, or yesterday.

    Raises UsageError for an impossible range.
    """
    if first is None:
        if last is not None:
            raise UsageError("--until needs --date, the first day of the range; see --help")
        return (today - timedelta(days=1),)
    last = last or first
    if last < first:
        raise UsageError(f"--until {last} lies before --date {first}; swap them")
    if last > today:
        raise UsageError(f"{last} is in the future: today is {today} in UTC; ask for a day so far")
    days = (last - first).days + 1
    if days > MOST_DAYS:
        raise UsageError(f"{first} to {last} are {days} days; ask for {MOST_DAYS} at most")
    return tuple(first + timedelta(days=number) for number in range(days))


def _parse_metric(text: str) -> tuple[str, str]:
    region, _, deployment = text.partition("/")
    if not region or not deployment:
        raise argparse.ArgumentTypeError(f"{text!r} is not REGION/DEPLOYMENT")
    return region, deployment


def _parse_place(text: str) -> str:
    if not text.strip("/ "):
        raise argparse.ArgumentTypeError(f"{text!r} is not a folder or an address")
    scheme, there, path = text.partition("://")
    # as Hadoop reads it; for S3 itself a//b and a/../b are other objects than a/b and b
    return f"{scheme}://{posixpath.normpath(path)}" if there and path.strip("/") else text


def _parse_day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    # fromisoformat also takes 20260131 and 2026-W05-6, which no folder is named after
    if day is None or day.isoformat() != text:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date written YYYY-MM-DD")
    return day


def _parse_clusters(text: str) -> list[str]:
    """Returns the names in a list with commas, because Glue passes one value for each option."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(
            f"{text!r} contains an empty name; leave the option out for all"
        )
    return names


def _parse_days(text: str) -> int:
    if not text.isdecimal() or int(text) < LEAST_SNAPSHOT_DAYS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of days, {LEAST_SNAPSHOT_DAYS} or more, as collectors look "
            "back 7"
        )
    return int(text)


def _parse_minutes(text: str) -> int:
    if not text.isdecimal() or int(text) < LEAST_MINUTES:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of minutes, {LEAST_MINUTES} or more, two of which are left "
            "for the message"
        )
    return int(text)


def _parse_topic(text: str) -> str:
    if text and not (text.startswith("arn:") and ":sns:" in text):
        raise argparse.ArgumentTypeError(f"{text!r} is not the ARN of an SNS topic")
    return text


def _parse_flag(text: str) -> bool:
    value = FLAGS.get(text.lower())
    if value is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return value
