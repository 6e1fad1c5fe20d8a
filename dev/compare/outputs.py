# SPDX-License-Identifier: Apache-2.0
"""Writes the output of one commit for a fixed input, as text: `outputs.py FOLDER [reports]`.

Each commit runs its own copy of this file, because names differ between commits. The input is a day
with every fault that a report knows, and logs whose records are looked up by time. A file has a
line for each row or request, and below it a line for each value.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow.parquet as pq

from dev.sim.cases.days import make_everything
from dev.sim.cases.logs import CASES
from dev.sim.reading import FIRST, MINUTE_MS, read_sight
from dev.sim.run import Simulated, Warnings, run_report
from dev.sim.scorers.ages import Planted
from dev.sim.world import Staged
from kafka_lag import contract
from kafka_lag.collector import Collector
from kafka_lag.lag.columns import Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import ClusterReading, Problem, Throttled
from kafka_lag.lag.time_index import LookUp, LookupResults, no_look_up
from kafka_lag.settings import settings_of
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metric_sets import ConfiguredSink
from kafka_lag.snapshots.store import FolderStore
from kafka_lag.views.app import answer
from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import Snapshots
from kafka_lag_config.document import normalised

METRICS, SNAPSHOTS, VIEWS, REPORTS = "metrics", "snapshots", "views", "reports"
_DAY_EVERY, _LOG_RUNS = 5, 3
_LOGIN = {"bootstrap_servers": ["nowhere:9096"], "secret_id": "AmazonMSK_compared"}
_KEYS = frozenset(
    {
        *("cluster", "dataset", "consumer_group", "topic", "partition_id", "leader", "hour"),
        *("measure", "member_id", "client_id", "client_host", "kind", "since", "taken_at"),
    }
)


class Replay:
    """A source that returns the readings of a simulated cluster, which never hangs or throttles."""

    def __init__(self, look_up: LookUp) -> None:
        self.next: ClusterReading
        self._look_up = look_up

    def read(self, _request: Any, _deadline: float) -> ClusterReading:
        """Returns the next reading."""
        return self.next

    def look_up(self, partitions: Frame, times: Rows, _deadline: float) -> LookupResults:
        """Returns the answers of the time index."""
        return self._look_up(partitions, times)

    def not_responding(self) -> tuple[Problem, ...]:
        """Returns nothing."""
        return ()

    def throttled(self) -> Throttled | None:
        """Returns None."""
        return None


def write(folder: Path, kind: str, name: str, where: str, value: Any) -> None:
    """Writes a value, which may hold others, below the line of its place."""
    path = folder / kind / f"{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write("\n".join([where, *(f"  {line}" for line in flatten(value)), ""]))


def flatten(value: Any, name: str = "") -> Iterator[str]:
    """Yields a line for each value in a tree; texts that are JSON are trees as well."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        with suppress(ValueError):
            value = json.loads(value)
    if isinstance(value, Mapping):
        for key in sorted(value, key=str):
            yield from flatten(value[key], f"{name}.{key}")
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value):
            yield from flatten(each, f"{name}.{number}")
    elif isinstance(value, str) and "\n" in value:
        yield from (f"{name} {line}" for line in value.splitlines())
    else:
        yield f"{name} {value!r}"


def replay(
    folder: Path,
    root: Path,
    document: Mapping[str, Any],
    look_up: LookUp,
    cluster: Simulated,
    times: range,
    every: int = 1,
) -> None:
    """Collects a cluster's runs into `root`, each so many minutes; writes metrics and answers."""
    settings = settings_of(normalised({**_LOGIN, **document}))
    store, source, stream, taken_at = FolderStore(root), Replay(look_up), io.StringIO(), 0
    sink = ConfiguredSink(EmfSink(stream), settings.levels)
    # The clock stands still, so that the time of a run is never a difference.
    collector = Collector(settings, source, store, [sink], Warnings(), lambda: 0.0)
    layout = cluster.layout()
    for minute, at in enumerate(times):
        cluster.live_a_minute()
        if at >= FIRST and minute % every == 0 and (sight := cluster.sight()):
            taken_at, source.next = at, read_sight(layout, sight, at)
            collector.run(taken_at)
            for line in stream.getvalue().splitlines():
                write(folder, METRICS, settings.cluster, f"{settings.cluster} {taken_at}", line)
            stream.seek(stream.truncate(0))
    snapshots = Snapshots(store, lambda: taken_at / 1_000)
    for path in _list_paths(snapshots, settings.cluster, taken_at):
        request = Request.of("GET", *path.partition("?")[::2], {"host": "compared"})
        found = answer(request, snapshots, taken_at)
        body = found.body.decode(errors="backslashreplace")
        value = {"status": found.status, "headers": dict(found.headers), "body": body}
        write(folder, VIEWS, settings.cluster, path, value)


def _list_paths(snapshots: Snapshots, cluster: str, taken_at: int) -> Iterator[str]:
    """Yields requests about the cluster, and about each group and topic."""
    v3, page = f"/v3/kafka/{cluster}", f"/cluster/{cluster}"
    yield from ("/", page, f"{page}?status=ERR", "/metrics", "/metrics?level=partition", v3)
    groups = snapshots.frame(cluster, contract.GROUPS, taken_at).strings("consumer_group")
    topics = snapshots.frame(cluster, contract.TOPIC_PARTITIONS, taken_at).strings("topic")
    for name in (quote(each, safe="") for each in groups.categories):
        yield from (f"{v3}/consumer/{name}/lag", f"{page}/group/{name}")
    for name in (quote(each, safe="") for each in topics.categories):
        yield from (f"{v3}/topic/{name}", f"{page}/topic/{name}")


def write_files(folder: Path, root: Path) -> None:
    """Writes rows of snapshots and of a report's tables, and its pages."""
    for path in sorted(path for path in root.rglob("[!._]*") if path.is_file()):
        place = path.relative_to(root)
        kind = SNAPSHOTS if place.parts[0] == SNAPSHOTS else REPORTS
        if path.suffix != ".parquet":
            write(folder, kind, place.parts[1], str(place), path.read_text("utf-8"))
            continue
        # Spark names its files by chance.
        where, table = str(place.parent), pq.ParquetFile(path).read()
        write(folder, kind, place.parts[1], where, {"types": table.schema.names})
        names = [n for n in table.schema.names if n in _KEYS]
        rows = [(" ".join(str(row[n]) for n in names), row) for row in table.to_pylist()]
        for key, row in sorted(rows, key=lambda each: each[0]):
            write(folder, kind, place.parts[1], f"{where} {path.stem[:13]} {key}", row)


def _list_times(begin: int, minutes: int) -> range:
    return range(begin, begin + minutes * MINUTE_MS, MINUTE_MS)


def main(folder: Path, *kinds: str) -> None:
    """Writes the outputs of the code that is imported here; reports only if they are a kind."""
    root, day = folder.with_name(f"{folder.name}-store"), make_everything()
    slas = {f"^{name}$": each.sla_seconds for name, each in day.groups.items()}
    document: dict[str, Any] = {
        "cluster": day.name,
        "interval_seconds": _DAY_EVERY * 60,
        "owner": {"^sla-stalled$": "payments team"},
        "sla_seconds": {pattern: seconds for pattern, seconds in slas.items() if seconds},
        "levels": {"drain_time": True, "members": True, "rebalancing": True},
    }
    times = _list_times(FIRST - round(day.warm_up) * 1_000, day.runs)
    replay(folder, root, document, no_look_up, Staged(day).world, times, _DAY_EVERY)
    for case in CASES:
        logs = Planted(case, 0, 0, moves=False, looks=True)
        times = _list_times(FIRST, _LOG_RUNS)
        replay(folder, root, {"cluster": case.name}, logs.index, logs, times)
    if REPORTS in kinds:
        run_report(root, datetime.fromtimestamp(FIRST / 1_000, UTC).date())
    write_files(folder, root)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
