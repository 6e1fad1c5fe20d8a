# SPDX-License-Identifier: Apache-2.0
"""Replaces the reports and the page of a cluster's day together: all of them, or none.

    <output>/reports/_replacing/cluster=<c>/dt=<date>/<run>/<report>/report.parquet
    <output>/reports/_replacing/cluster=<c>/dt=<date>/<run>/page/report.html
    <output>/reports/_replacing/cluster=<c>/dt=<date>/complete

All files are first written below `_replacing`, where no reader looks. Then `complete` is written;
it names the run, and from now on its files are the day's reports. They are moved to their places,
and `complete` is deleted. A run that ends before it writes `complete` replaces nothing. If a run
ends later, the next run of any day moves the remaining files; until then readers find them through
`complete`.

On a disk a move is a rename, which needs no space, and runs that publish wait for each other. S3
has no rename and no locks: a move is a copy, and for the time of a few requests, less than a
second, Athena may find reports of both runs.
"""

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import BytesIO
from typing import TypeVar
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from kafka_lag.contract import COMPLETE_NAME, REPLACING_FOLDER
from kafka_lag_report.errors import DataError, StoreError
from kafka_lag_report.read_snapshots import Day
from kafka_lag_report.report_files import PAGE, PAGE_FILE, TABLE_FILE, reports_root
from kafka_lag_report.storage import AT_ONCE, Storage

T = TypeVar("T")

_HTML = "text/html; charset=utf-8"
# Earlier releases put reports into folders of this name until all were computed.
_STAGING = "_staging"


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
    root, place = reports_root(output), f"{day.folder}/dt={day.date}"
    replacing, run = f"{root}/{REPLACING_FOLDER}/{place}", uuid4().hex
    complete = f"{replacing}/{COMPLETE_NAME}"
    with storage.alone_in(root) as alone:
        # finish the earlier run first, otherwise its files could replace those of this run later
        _finish(storage, root, place, alone=alone)
        try:
            files = _write(storage, root, place, f"{replacing}/{run}", tables, page)
            empty = [name for name in tables if not tables[name].num_rows]
            content = json.dumps({"run": run, "files": files, "empty": empty})
            storage.write(complete, content.encode())
        except StoreError:
            # free the disk again; a failure to do so must not hide the first error
            with contextlib.suppress(StoreError):
                storage.delete([complete])
                storage.delete_folder(f"{replacing}/{run}")
            raise
        _finish(storage, root, place, alone=alone)


def find_unfinished(storage: Storage, output: str) -> dict[str, Callable[[], None]]:
    """Returns functions that finish what killed runs began to replace, by cluster and date."""
    root = reports_root(output)
    replacing = f"{root}/{REPLACING_FOLDER}"
    return {
        f"{cluster}/{date}": partial(_finish_alone, storage, root, f"{cluster}/{date}")
        for cluster in storage.folders(replacing)
        for date in storage.folders(f"{replacing}/{cluster}")
    }


def remove_staging(storage: Storage, output: str) -> None:
    """Removes the folders that killed runs of earlier releases left beside the reports."""
    root = reports_root(output)
    for name in storage.folders(root):
        if name.startswith(_STAGING):
            storage.delete_folder(f"{root}/{name}")


def _write(
    storage: Storage,
    root: str,
    place: str,
    folder: str,
    tables: Mapping[str, pa.Table],
    page: str,
) -> list[str]:
    """Writes the tables that have rows and the page, and makes their target folders.

    Returns the paths of the files below `folder`.
    """

    def write(name: str) -> str:
        # with an existing folder a move needs no space
        storage.make_folder(f"{root}/{name}/{place}")
        if name == PAGE:
            storage.write(f"{folder}/{PAGE}/{PAGE_FILE}", page.encode(), content_type=_HTML)
            return f"{PAGE}/{PAGE_FILE}"
        file = BytesIO()
        pq.write_table(tables[name], file, compression="zstd")
        storage.write(f"{folder}/{name}/{TABLE_FILE}", file.getvalue())
        return f"{name}/{TABLE_FILE}"

    return _run_at_once(write, [*(name for name in tables if tables[name].num_rows), PAGE])


def _finish_alone(storage: Storage, root: str, place: str) -> None:
    with storage.alone_in(root) as alone:
        _finish(storage, root, place, alone=alone)


def _finish(storage: Storage, root: str, place: str, *, alone: bool) -> None:
    """Moves a complete set of reports to its place.

    Removes an incomplete one if no other run can use it. It may be repeated, and two runs may do it
    at the same time, with the same result. Raises DataError if `complete` cannot be parsed.
    """
    replacing = f"{root}/{REPLACING_FOLDER}/{place}"
    complete = f"{replacing}/{COMPLETE_NAME}"
    if storage.exists(complete):
        try:
            content = json.loads(storage.read(complete))
            run, files, empty = content["run"], content["files"], content["empty"]
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{complete} names no run: delete it, and report the day again"
            ) from error

        left = {file.name for file in storage.objects(f"{replacing}/{run}", "")}
        places = {
            file: (f"{root}/{name}/{place}", base)
            for file in files
            for name, _, base in [file.partition("/")]
        }
        storage.move(
            {f"{replacing}/{run}/{file}": "/".join(places[file]) for file in files if file in left}
        )
        _run_at_once(lambda file: storage.keep_only(*places[file]), files)
        _run_at_once(storage.delete_folder, [f"{root}/{name}/{place}" for name in empty])
        storage.delete_folder(f"{replacing}/{run}")
        storage.delete([complete])
    if alone:
        storage.delete_folder(replacing)
        all_days = f"{root}/{REPLACING_FOLDER}"
        for folder in (f"{all_days}/{place.partition('/')[0]}", all_days):
            if not storage.folders(folder):
                storage.delete_folder(folder)


def _run_at_once(work: Callable[[str], T], names: Iterable[str]) -> list[T]:
    """Returns the results of `work`, done by threads.

    Raises the first failure after all have ended.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [done.result() for done in [pool.submit(work, name) for name in names]]
