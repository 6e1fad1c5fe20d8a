# SPDX-License-Identifier: Apache-2.0
"""Two mornings of two clusters, run by run, and stored by the collector itself.

On Saturday 2026-01-31 the reporter runs from 10:00 to 10:59, on Sunday from 09:30 to 10:05. Each
partition of each topic that grows gets 60 records a minute. The docstrings below tell what happens
to the group `billing` and others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kafka_lag import contract
from kafka_lag.brokers.access import Access
from kafka_lag.collector import Collector
from kafka_lag.errors import SourceError
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.group_settings import ByName, Rules
from kafka_lag.lag.model import ClusterReading
from kafka_lag.settings import Settings
from kafka_lag.sinks.metric_sets import ConfiguredSink
from kafka_lag.snapshots.store import FolderStore
from tests.builders import HOUR, MINUTE, NOON, Commits, Log, a_reading
from tests.fakes import FakeSource, RecordingLogger, RecordingSink
from tests.infra.storage.stack import CLUSTERS

OTHER, SHOP = CLUSTERS
NOW = datetime(2026, 2, 1, 10, 10, tzinfo=UTC)
BEGIN = NOON - 2 * HOUR
STOPPED, MOVED, LOST_AT = 20, 30, 50
SATURDAY = [m for m in range(60) if not 40 <= m < 45]
MIDNIGHT = 14 * 60
SUNDAY = [*range(1410, 1446)]
TIMED_OUT, HALF_SEEN = range(35, 39), 46
EARLIER = 11 * 24 * 60  # minutes from a run of Tuesday 2026-01-20 to BEGIN

RETENTION = {"brief": 30 * HOUR}
RULES = Rules(
    sla_seconds=ByName.of([("^billing$", 330.0), ("^slow$", 700.0)]),
    owners=ByName.of([("^billing$", "payments")]),
)


def tell(folder: Path) -> None:
    """Writes snapshots of both clusters and, of two days, their compacted groups."""
    store = FolderStore(folder)
    early = [-EARLIER + n for n in range(10)]
    _run(store, SHOP, {m: _unknown_at_first(m, early) for m in early})
    _run(store, SHOP, {m: _shop(m) for m in (*SATURDAY, *SUNDAY)})
    _run(store, OTHER, {m: _quiet_cluster(m) for m in (0, 1441)})
    for day in ("2026-01-20", "2026-01-31"):
        compact(folder, SHOP, day)


def tell_one_run(folder: Path, minute: int) -> None:
    """Writes a single run of the other cluster, whose `billing` is 5 records behind."""
    _run(FolderStore(folder), OTHER, {minute: _quiet_cluster(minute)})


def tell_one_trouble(folder: Path, minute: int) -> None:
    """Writes two runs of the other cluster, the second at `minute`.

    In the first the group `troubled` has lost records on `logs`, has never committed on `empty`,
    and has read `orders` to its end; in the second, half of `orders` and all of `late` time out.
    """
    topics = {
        "orders": [(0, end(minute))] * 2,
        "logs": [(600, end(minute))],
        "late": [(600, end(minute))],
        "empty": [(0, 7)],
    }
    now = end(minute)
    before: Commits = {"orders": [now, now], "logs": [100], "late": [100], "empty": [None]}
    after: Commits = {
        "orders": [now, "timeout"],
        "logs": [100],
        "late": ["timeout"],
        "empty": [None],
    }
    readings = {
        when: a_reading(
            {"troubled": commits},
            topics,
            at=BEGIN + when * MINUTE,
            owners={("troubled", "logs", 0): "m-1"},
        )
        for when, commits in ((minute - 1, before), (minute, after))
    }
    _run(FolderStore(folder), OTHER, readings)


def tell_a_long_loss(folder: Path, last: int, runs: int = 4) -> None:
    """Writes so many runs of the other cluster, in which `reset` loses records of `logs`.

    First 500 that came after its commit, and in the next two minutes 600 each, while it commits 10
    records in between; in the last minute it goes on beyond, and loses 300 there.
    """
    moves = {last - 3: (100, 600), last - 2: (110, 1_200), last - 1: (110, 1_800)}
    readings = {
        minute: a_reading(
            {"reset": {"logs": [commit]}},
            {"logs": [(start, end(minute))]},
            at=BEGIN + minute * MINUTE,
        )
        for minute, (commit, start) in [*moves.items(), (last, (2_000, 2_300))][:runs]
    }
    _run(FolderStore(folder), OTHER, readings)


def tell_one_risk(folder: Path, last: int) -> None:
    """Writes six runs of the other cluster: `near` is OK, five minutes behind on `fleeting`.

    That topic keeps records for nine minutes, so that what is read next may be gone before.
    """
    readings = {
        minute: a_reading(
            {"near": {"fleeting": [end(minute - 5)]}},
            {"fleeting": [(0, end(minute))]},
            at=BEGIN + minute * MINUTE,
        )
        for minute in range(last - 5, last + 1)
    }
    kept = {"fleeting": 9 * MINUTE}
    _run(FolderStore(folder), OTHER, {m: _limited(r, kept) for m, r in readings.items()})


def tell_a_rebalance(folder: Path) -> None:
    """Writes a few runs of the shop's cluster, and what they compact to."""
    _run(FolderStore(folder), SHOP, {m: _shop(m) for m in range(MOVED - 2, MOVED + 1)})
    compact(folder, SHOP, "2026-01-31")


def compact(folder: Path, cluster: str, day: str) -> None:
    """A day of `groups` as one file of history."""
    place = f"{contract.GROUPS}/cluster={cluster}/dt={day}"
    files = sorted((folder / contract.SNAPSHOT_PREFIX / place).rglob("*.parquet"))
    rows = pa.concat_tables([pq.ParquetFile(file).read() for file in files])
    target = folder / contract.HISTORY_PREFIX / place / "day.parquet"
    target.parent.mkdir(parents=True)
    pq.write_table(rows, target)


def lay_unreadable(folder: Path, tables: Iterable[str]) -> None:
    """A file that breaks whoever opens it, in a partition of months ago of each prefix."""
    for table in tables:
        place = folder / table / f"cluster={SHOP}" / "dt=2025-11-01"
        place = place / "hour=03" if table.startswith(contract.SNAPSHOT_PREFIX) else place
        place.mkdir(parents=True)
        (place / "unreadable.parquet").write_bytes(b"no Parquet")


def end(minute: int) -> int:
    """The log's end, 60 records a minute on."""
    return 2_000_000 + 60 * minute


def _run(store: FolderStore, cluster: str, readings: Mapping[int, ClusterReading]) -> None:
    settings = Settings(cluster=cluster, access=Access(("b:9096",)), rules=RULES)
    source = FakeSource(*readings.values())
    outlets = [ConfiguredSink(RecordingSink(), settings.levels)]
    collector = Collector(settings, source, store, outlets, RecordingLogger())
    for minute in readings:
        # A run that reads no group fails once its snapshot is kept.
        with suppress(SourceError):
            collector.run(BEGIN + minute * MINUTE)


def _shop(minute: int) -> ClusterReading:
    topics: dict[str, list[Log]] = {
        "orders": [(0, end(minute))] * 2,
        "clicks": [(0, end(minute))] * 3,
        "brief": [(0, end(minute))],
        "logs": [(600 if minute >= LOST_AT else 0, end(minute))],
        "stopped": [(0, end(min(minute, 10)))],
        "still": [(0, 7)],
    }
    gone = {SUNDAY[0]: ["leaver"], SUNDAY[-1]: ["goner"]}
    return _limited(
        a_reading(
            _groups(minute),
            topics,
            at=BEGIN + minute * MINUTE,
            owners=_owners(minute),
            state="PreparingRebalance" if minute == MOVED - 1 else "Stable",
            gone_groups=gone.get(minute, []),
        )
    )


def _groups(minute: int) -> dict[str, Commits]:
    """Whoever is named here is on the shop's cluster in this minute.

    billing  stops at 10:20 on Saturday, and has caught up by Sunday
    audit    never lags; its partitions change hands at 10:30, nothing of it can be read from
             10:35 to 10:38, and one of its partitions not at 10:46
    slow     stays 900 records behind on the partition of broker 1, 50 on the two others; for the
             first 15 minutes it is only known that it is at least as late as it was watched
    sleeper  stops at 10:20 for good, on a topic that keeps records for 30 hours
    loser    loses 500 records at 10:50
    leaver   is found deleted in Sunday's first run, goner in its last; newcomer comes at 09:40
    """
    now = end(minute)
    saturday = minute < SUNDAY[0]
    found: dict[str, Commits] = {
        "billing": {"orders": [end(min(minute, STOPPED)) if saturday else now] * 2},
        "audit": {"orders": [now, "timeout" if minute == HALF_SEEN else now]},
        "slow": {"clicks": [now - 50, now - 900, now - 50]},
        "sleeper": {"brief": [end(min(minute, STOPPED))]},
        "loser": {"logs": [100]},
    }
    if minute in TIMED_OUT:
        found["audit"] = "timeout"
    if minute != SUNDAY[-1]:
        found["goner"] = {"orders": [now, now]}
    if saturday:
        found["leaver"] = {"orders": [now, now]}
    elif minute >= SUNDAY[10]:
        found["newcomer"] = {"orders": [now, now]}
    return found


def _owners(minute: int) -> dict[tuple[str, str, int], str | None]:
    audit = "m-a" if minute < MOVED else "m-b"
    return {
        **{("audit", "orders", n): audit for n in range(2)},
        **{("slow", "clicks", n): "m-2" if n == 1 else "m-1" for n in range(3)},
    }


def _unknown_at_first(minute: int, minutes: list[int]) -> ClusterReading:
    silent = minute in minutes[:3]
    commits: Commits = "timeout" if silent else {"orders": [end(minute)]}
    return a_reading(
        {"billing": commits}, {"orders": [(0, end(minute))]}, at=BEGIN + minute * MINUTE
    )


def _quiet_cluster(minute: int) -> ClusterReading:
    return a_reading(
        {"billing": {"orders": [end(minute) - 5]}},
        {"orders": [(0, end(minute))]},
        at=BEGIN + minute * MINUTE,
        owners={("billing", "orders", 0): "m-9"},
    )


def _limited(reading: ClusterReading, retention: Mapping[str, int] = RETENTION) -> ClusterReading:
    """With retention by time alone, in ms by topic; a week where none is named."""
    rows = reading.topic_partitions
    kept = [retention.get(t or "", 7 * 24 * HOUR) for t in rows.strings("topic").to_list()]
    limited = rows.with_columns(
        cleanup_policy=Strings.constant("delete", len(rows)),
        retention_ms=Column.of(np.array(kept, np.int64)),
        retention_bytes=Column.of(np.full(len(rows), -1, np.int64)),
    )
    return replace(reading, topic_partitions=limited)
