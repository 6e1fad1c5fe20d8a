# SPDX-License-Identifier: Apache-2.0
"""Finding the objects of a date by folder name: one listing a dataset, cluster and date."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from urllib.parse import unquote

from kafka_lag_report.errors import DataError
from kafka_lag_report.schemas import SNAPSHOTS
from kafka_lag_report.storage.files import AT_ONCE, Files
from kafka_lag_report.storage.parquet import ENDING
from kafka_lag_report.storage.snapshots.day import FROM_HISTORY, FROM_SNAPSHOTS, Day, Run, run_time

_CLUSTER = "cluster="
_DATE = "dt="


def find_day(
    files: Files, source: str, output: str, day: date, wanted: Sequence[str], today: date
) -> Day:
    """What the wanted clusters (none: all there are) have of the date; `today` is in progress.

    Snapshots come from `source`. A cluster whose snapshots are gone, in whole or for one dataset,
    is taken from the history in `output`. DataError for a cluster that no folder is named after.
    """
    root, history = f"{source}/snapshots", f"{output}/history"
    known = _clusters(files, (root, history))
    if not known:
        raise DataError(f"no snapshots under {root}; --input must be the folder that holds them")
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        raise DataError(
            f"no cluster {', '.join(unknown)} under {root}; there are: {', '.join(sorted(known))}"
        )
    chosen = {name: known[name] for name in wanted or sorted(known)}
    runs = _listed(files, root, chosen, day)

    def source_of(name: str) -> str | None:
        return _source(files, history, chosen[name], day, runs[name])

    with ThreadPoolExecutor(AT_ONCE) as pool:
        sources = dict(zip(chosen, pool.map(source_of, chosen), strict=True))
    return Day(
        root=root,
        history=history,
        date=day,
        in_progress=day >= today,
        clusters={name: folder for name, folder in chosen.items() if sources[name]},
        absent={name: folder for name, folder in chosen.items() if not sources[name]},
        sources={name: source for name, source in sources.items() if source},
        runs={(d, name): found for name in chosen for d, found in runs[name].items()},
    )


def dates(files: Files, day: Day, folders: Iterable[str]) -> list[str]:
    """Every date that these clusters' folders have anything of, oldest first."""
    return sorted(
        {
            name.removeprefix(_DATE)
            for folder in folders
            for dataset in SNAPSHOTS
            for root in (day.root, day.history)
            for name in files.folders(f"{root}/{dataset}/{folder}")
            if name.startswith(_DATE)
        }
    )


def _listed(
    files: Files, root: str, clusters: Mapping[str, str], day: date
) -> dict[str, dict[str, tuple[Run, ...]]]:
    """Objects by cluster and dataset."""

    def runs(place: tuple[str, str]) -> tuple[Run, ...]:
        name, dataset = place
        folder = f"{root}/{dataset}/{clusters[name]}/{_DATE}{day}"
        return tuple(
            Run(f"{folder}/{file.name}", file.name, file.size, run_time(file.name, day))
            for file in files.objects(folder, ENDING)
        )

    places = [(name, dataset) for name in clusters for dataset in SNAPSHOTS]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = dict(zip(places, pool.map(runs, places), strict=True))
    return {name: {dataset: found[name, dataset] for dataset in SNAPSHOTS} for name in clusters}


def _source(
    files: Files, history: str, folder: str, day: date, runs: Mapping[str, Sequence[Run]]
) -> str | None:
    """Where a cluster's day is to be read from; null if it has none."""
    gone = [dataset for dataset, found in runs.items() if not found]
    if any(files.objects(f"{history}/{d}/{folder}/{_DATE}{day}", ENDING) for d in gone):
        return FROM_HISTORY
    return FROM_SNAPSHOTS if len(gone) < len(runs) else None


def _clusters(files: Files, roots: Sequence[str]) -> dict[str, str]:
    """Folder by cluster name, over all datasets."""
    return {
        unquote(folder.removeprefix(_CLUSTER)): folder
        for root in roots
        for dataset in SNAPSHOTS
        for folder in files.folders(f"{root}/{dataset}")
        if folder.startswith(_CLUSTER)
    }
