# SPDX-License-Identifier: Apache-2.0
"""Objects where a collector would put them, of the version asked for, whole or in parts."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dev.days import Written, write_day
from dev.days.describe import Span
from dev.days.scenarios import calm, odd_cluster, older_version
from dev.days.write import write_in_parts
from kafka_lag import contract
from kafka_lag.snapshots.parquet import from_parquet
from kafka_lag_report.read_snapshots import ADDED
from tests.dev.days.conftest import DATE

HALF_HOUR = timedelta(minutes=30)


def files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*.parquet"))


def test_a_run_is_three_objects_named_after_its_time(tmp_path: Path) -> None:
    written = write_day(tmp_path, calm(), date=DATE, every=HALF_HOUR, hours=Span(9, 9.5))

    place = "cluster=calm/dt=2026-01-31/hour=09/20260131T090000Z-0of1.parquet"
    assert files(tmp_path) == sorted(f"snapshots/{name}/{place}" for name in contract.DATASETS)
    assert written == Written(runs=1, objects=3, rows=3)


def test_an_odd_cluster_name_is_percent_encoded_in_its_folder(tmp_path: Path) -> None:
    write_day(tmp_path, odd_cluster(), date=DATE, every=HALF_HOUR, hours=Span(0, 0.5))

    assert [path.name for path in (tmp_path / "snapshots" / "groups").iterdir()] == [
        "cluster=bl%C3%A5%20%26%201%2F2"
    ]


def test_an_older_version_names_itself_and_lacks_what_came_later(tmp_path: Path) -> None:
    write_day(tmp_path, older_version(), date=DATE, every=HALF_HOUR, hours=Span(0, 0.5))

    (path,) = (tmp_path / "snapshots" / "groups").rglob("*.parquet")
    schema = pq.read_schema(path)
    assert schema.metadata[contract.SCHEMA_VERSION_KEY.encode()] == b"1"
    assert "status_since" not in schema.names
    assert len(from_parquet(path.read_bytes(), contract.GROUPS)) == 1


@pytest.mark.parametrize("dataset", contract.DATASETS)
@pytest.mark.parametrize("version", ["1", "2.1"])
def test_an_older_version_lacks_what_the_job_knows_to_be_newer(
    version: str, dataset: str, tmp_path: Path
) -> None:
    day = replace(older_version(), schema_version=version)
    write_day(tmp_path, day, date=DATE, every=HALF_HOUR, hours=Span(0, 0.5), datasets=[dataset])

    (path,) = (tmp_path / "snapshots" / dataset).rglob("*.parquet")
    known = tuple(map(int, (version + ".0").split(".")[:2]))
    lacking = {name for name, since in ADDED.get(dataset, {}).items() if since > known}
    assert set(contract.COLUMNS[dataset]) - set(pq.read_schema(path).names) == lacking


def test_parts_make_the_offsets_of_the_whole(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    reported: list[Written] = []
    write_day(whole, calm(), date=DATE, every=HALF_HOUR, hours=Span(0, 4))
    written = write_in_parts(
        parts, calm(), date=DATE, every=HALF_HOUR, processes=2, hours=4.0, progress=reported.append
    )

    assert files(parts) == files(whole)
    assert sum(reported, Written()) == written == Written(runs=8, objects=24, rows=24)
    for name in files(whole):
        if "group_partitions" in name:
            columns = ["topic", "partition_id", "committed_offset", "end_offset", "lag"]
            one, other = (pq.read_table(root / name, columns=columns) for root in (whole, parts))
            assert one.equals(other)
