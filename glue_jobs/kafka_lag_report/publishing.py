# SPDX-License-Identifier: Apache-2.0
"""Replaces folders of a cluster's day together: its reports and page, or its history.

    <root>/_replacing/cluster=<c>/dt=<date>/<run>/<name>/<file>
    <root>/_replacing/cluster=<c>/dt=<date>/complete

`root` is the folder of all reports, or of the history; the names below it are those of reports, or
of datasets. All files are first written below `_replacing`, where no reader looks. Then `complete`
is written; it names the run, and from now on its files are the day's. They are moved to their
places, and `complete` is deleted. A run that ends before it writes `complete` replaces nothing. If
a run ends later, the next run of any day moves the remaining files; until then readers find files
of both runs.

On a disk a move is a rename, which needs no space, and runs that replace something of one cluster
wait for each other: they lock the cluster's folder below `_replacing`, which stays. S3 has no
rename and no locks: a move is a copy, and for the time of a few requests, less than a second for
reports, Athena may find files of both runs. What a killed run staged there is deleted a day later,
because another run may be writing.
"""

import contextlib
import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from uuid import uuid4

import pyarrow as pa

from kafka_lag.contract import COMPLETE_NAME, REPLACING_FOLDER
from kafka_lag_report.errors import DataError
from kafka_lag_report.options import utc_now
from kafka_lag_report.read_snapshots import Day
from kafka_lag_report.report_files import PAGE, PAGE_FILE, TABLE_FILE, reports_root
from kafka_lag_report.storage import PARQUET, Storage, run_at_once

_HTML = "text/html; charset=utf-8"
# Spark's names of files begin with these characters; the rest differs from run to run.
_PART = "part-00000"
# A run is named after its begin, so that names sort by time. None lasts so long: the longest time
# limit is ten hours.
_BEGIN = "%Y%m%dT%H%M%SZ"
_LONGEST = timedelta(days=1)


def publish(
    storage: Storage,
    output: str,
    day: Day,
    tables: Mapping[str, pa.Table],
    page: str,
) -> None:
    """Replaces all reports and the page of this day; other days stay as they are.

    Raises StoreError if the store refuses. If it refuses to write, nothing was replaced.
    """

    def write(folder: str) -> list[str]:
        def write_one(name: str) -> None:
            if name == PAGE:
                path = f"{folder}/{PAGE}/{PAGE_FILE}"
                storage.write(path, page.encode(), content_type=_HTML)
                return
            storage.write_table(f"{folder}/{name}/{TABLE_FILE}", tables[name])

        run_at_once(write_one, [*(name for name in tables if tables[name].num_rows), PAGE])
        return [*tables, PAGE]

    replace_together(storage, reports_root(output), day.place, write)


def replace_together(
    storage: Storage, root: str, place: str, write: Callable[[str], list[str]]
) -> None:
    """Replaces the folders `<root>/<name>/<place>` by what `write` writes: all of them, or none.

    `write` is called with a new folder and returns the names to replace, whose files it has written
    into folders of these names. A name without files is deleted. Raises what `write` raises.
    """
    replacing = f"{root}/{REPLACING_FOLDER}/{place}"
    run = f"{utc_now():{_BEGIN}}-{uuid4().hex}"
    folder, complete = f"{replacing}/{run}", f"{replacing}/{COMPLETE_NAME}"
    with _alone_with(storage, root, place) as alone:
        # finish the earlier run first, otherwise its files could replace those of this run later
        _finish(storage, root, place, alone=alone)
        try:
            names = write(folder)
            targets = dict[str, dict[str, str]]({name: {} for name in names})
            for file in storage.objects(folder, "") if names else ():
                name, _, base = file.name.partition("/")
                targets[name][base] = _choose_target(base)
            # with an existing folder a move needs no space
            filled = [name for name in names if targets[name]]
            run_at_once(storage.make_folder, [f"{root}/{name}/{place}" for name in filled])
            if names:
                storage.write(complete, json.dumps({"run": run, "targets": targets}).encode())
        except Exception:
            # free the disk again; a failure to do so must not hide the first error
            with contextlib.suppress(DataError):
                storage.delete([complete])
                storage.delete_folder(folder)
            raise
        _finish(storage, root, place, alone=alone)


def find_unfinished(storage: Storage, root: str) -> dict[str, Callable[[], None]]:
    """Returns functions that finish what killed runs began to replace, by cluster and date."""
    replacing = f"{root}/{REPLACING_FOLDER}"
    return {
        f"{cluster}/{date}": partial(_finish_alone, storage, root, f"{cluster}/{date}")
        for cluster in storage.folders(replacing)
        for date in storage.folders(f"{replacing}/{cluster}")
    }


def _choose_target(name: str) -> str:
    """Returns the name of a file at its place: the same in every run, so that runs on S3 agree."""
    return f"{name[: len(_PART)]}{PARQUET}" if name.startswith("part-") else name


def _alone_with(storage: Storage, root: str, place: str) -> contextlib.AbstractContextManager[bool]:
    return storage.alone_in(f"{root}/{REPLACING_FOLDER}/{place.partition('/')[0]}")


def _finish_alone(storage: Storage, root: str, place: str) -> None:
    with _alone_with(storage, root, place) as alone:
        _finish(storage, root, place, alone=alone)


def _finish(storage: Storage, root: str, place: str, *, alone: bool) -> None:
    """Moves a complete set of files to its place.

    Removes incomplete ones if no other run can use them. It may be repeated, and two runs may do it
    at the same time, with the same result. Raises DataError if `complete` cannot be parsed.
    """
    replacing = f"{root}/{REPLACING_FOLDER}/{place}"
    complete = f"{replacing}/{COMPLETE_NAME}"
    if storage.exists(complete):
        try:
            content = json.loads(storage.read(complete))
            run, targets = content["run"], content["targets"]
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{complete} names no run: delete it, and run the day again") from error

        left = {file.name for file in storage.objects(f"{replacing}/{run}", "")}
        storage.move(
            {
                f"{replacing}/{run}/{name}/{base}": f"{root}/{name}/{place}/{target}"
                for name, files in targets.items()
                for base, target in files.items()
                if f"{name}/{base}" in left
            }
        )

        def clear(name: str) -> None:
            folder, files = f"{root}/{name}/{place}", targets[name].values()
            if files:
                storage.keep_only(folder, files)
            else:
                storage.delete_folder(folder)

        run_at_once(clear, targets)
        storage.delete_folder(f"{replacing}/{run}")
        storage.delete([complete])
    if alone:
        storage.delete_folder(replacing)
        return
    for run in storage.folders(replacing):
        if run < f"{utc_now() - _LONGEST:{_BEGIN}}":
            storage.delete_folder(f"{replacing}/{run}")
