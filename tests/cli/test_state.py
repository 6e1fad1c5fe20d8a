# SPDX-License-Identifier: Apache-2.0
"""The folder of the command's state: its place, and the days that are removed from it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafka_lag_cli.state.folder import default_state, remove_old_days
from tests.builders import NOON

NOW = NOON / 1000  # 2026-01-31


def made(state: Path, *folders: str) -> None:
    for folder in folders:
        (state / folder / "hour=03").mkdir(parents=True)
        (state / folder / "hour=03" / "part.parquet").write_bytes(b"x")


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"XDG_CACHE_HOME": "/caches"}, Path("/caches/kafka-lag")),
        ({}, Path("/home/somebody/.cache/kafka-lag")),
        ({"XDG_CACHE_HOME": ""}, Path("/home/somebody/.cache/kafka-lag")),
    ],
)
def test_snapshots_go_to_the_users_cache(
    environ: dict[str, str], expected: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert default_state(environ) == expected


def test_only_days_that_are_over_for_so_long_are_removed(tmp_path: Path) -> None:
    days = [f"snapshots/groups/cluster=shop/dt=2026-01-{day}" for day in (21, 22, 23, 24, 31)]
    made(tmp_path, *days)
    removed = remove_old_days(tmp_path, 8, NOW)
    assert removed == [tmp_path / day for day in days[:2]]
    left = sorted(path.name for path in (tmp_path / "snapshots/groups/cluster=shop").iterdir())
    assert left == ["dt=2026-01-23", "dt=2026-01-24", "dt=2026-01-31"]
    assert remove_old_days(tmp_path, 8, NOW) == []


def test_days_of_every_dataset_and_cluster_are_removed(tmp_path: Path) -> None:
    old = [
        f"snapshots/{dataset}/cluster={cluster}/dt=2020-01-01"
        for dataset in ("groups", "group_partitions", "topic_partitions")
        for cluster in ("a", "b")
    ]
    made(tmp_path, *old)
    assert len(remove_old_days(tmp_path, 1, NOW)) == len(old)
    assert not list(tmp_path.glob("**/*.parquet"))


@pytest.mark.parametrize(
    "folder",
    [
        "reports/summary/cluster=shop/dt=2020-01-01",
        "history/groups/cluster=shop/dt=2020-01-01",
        "dt=2020-01-01",
        "snapshots/dt=2020-01-01",
        "snapshots/groups/dt=2020-01-01",
        "snapshots/groups/other/dt=2020-01-01",
        "snapshots/groups/cluster=shop/2020-01-01",
        "snapshots/groups/cluster=shop/dt=2020-01-01.kept",
        "snapshots/groups/cluster=shop/dt=yesterday",
        "snapshots/groups/cluster=shop/dt=2020-1-1",
        "photos/snapshots/groups/cluster=shop/dt=2020-01-01",
    ],
)
def test_nothing_else_is_removed(folder: str, tmp_path: Path) -> None:
    made(tmp_path, folder)
    assert remove_old_days(tmp_path, 1, NOW) == []
    assert (tmp_path / folder / "hour=03" / "part.parquet").is_file()


def test_a_folder_that_is_not_there_has_nothing_to_remove(tmp_path: Path) -> None:
    assert remove_old_days(tmp_path / "none", 1, NOW) == []


def test_what_a_link_leads_to_is_not_removed(tmp_path: Path) -> None:
    made(tmp_path, "elsewhere")
    place = tmp_path / "snapshots/groups/cluster=shop"
    place.mkdir(parents=True)
    os.symlink(tmp_path / "elsewhere", place / "dt=2020-01-01")
    remove_old_days(tmp_path, 1, NOW)
    assert (tmp_path / "elsewhere/hour=03/part.parquet").is_file()
