# SPDX-License-Identifier: Apache-2.0
"""The days that a run is asked for: which of them can be reported, and what else to say."""

from collections.abc import Callable, Iterator

from kafka_lag_report.errors import NoSnapshotsError, NothingYetError
from kafka_lag_report.options import Options
from kafka_lag_report.storage.files import Files
from kafka_lag_report.storage.snapshots.day import Day
from kafka_lag_report.storage.snapshots.find import dates, find_day


def asked_days(files: Files, options: Options, say: Callable[[str], object]) -> Iterator[Day]:
    """Each date that has snapshots, in order and found only when its turn comes.

    Of several dates, one without snapshots and a named cluster that lacks one are told to `say`
    and passed over. NoSnapshotsError if the only date lacks them or no date has any;
    NothingYetError if a scheduled run came before the first whole day.
    """
    done = 0
    for date in options.dates:
        day = find_day(files, options.input, options.output, date, options.clusters, options.today)
        # a cluster that nobody named may have come later, or gone
        if day.absent and (options.clusters or not day.clusters):
            sentence, too_early = _absence(files, day, options)
            if too_early and not day.clusters:
                raise NothingYetError(sentence)
            if len(options.dates) == 1 and not too_early:
                raise NoSnapshotsError(sentence)
            say(sentence)
        if day.clusters:
            done += 1
            yield day
    if not done:
        first, last = options.dates[0], options.dates[-1]
        raise NoSnapshotsError(f"no day from {first} to {last} has snapshots in {options.input}")


def _absence(files: Files, day: Day, options: Options) -> tuple[str, bool]:
    """What to say of the absent clusters, and whether the schedule was merely early for them."""
    there = dates(files, day, day.absent.values())
    nothing = f"no snapshots of {', '.join(day.absent)} for {day.date} under {day.root}"
    if options.scheduled and there and there[0] >= options.today.isoformat():
        return f"{nothing} yet: the first day is {there[0]}, which a later run reports", True
    newest = f"the newest day there is {there[-1]}" if there else "there are none of any day"
    return f"{nothing}; {newest}", False
