# SPDX-License-Identifier: Apache-2.0
"""Runs of the history, whose groups lie in several files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafka_lag.snapshots.store import FolderStore
from kafka_lag_cli.state.groups_over_time import GroupsOverTime, Period, read_period
from tests.builders import HOUR, MINUTE, NOON


def write_file(state: Path, group: str, lags: dict[int, int]) -> None:
    """A file of the history with one group: its lag by minute."""
    folder = state / "history" / "groups" / "cluster=shop" / "dt=2026-01-31"
    folder.mkdir(parents=True, exist_ok=True)
    taken = pa.array([NOON + minute * MINUTE for minute in lags], pa.timestamp("ms", tz="UTC"))
    columns = {"taken_at": taken, "consumer_group": [group] * len(lags), "lag": [*lags.values()]}
    pq.write_table(pa.table(columns), folder / f"part-{len([*folder.iterdir()])}.parquet")


def five_minutes_each(state: Path, groups: tuple[str, ...] | None) -> GroupsOverTime:
    """The hour from noon on, the first run of every five minutes."""
    period = Period(NOON, NOON + HOUR, 5 * MINUTE)
    store = FolderStore(state)
    return read_period(store, "shop", period, groups, ("lag",), lambda _: lambda _: None)


@pytest.mark.parametrize("groups", [("billing", "mailer"), None], ids=["named", "all"])
def test_a_run_has_the_groups_of_all_files(tmp_path: Path, groups: tuple[str, ...] | None) -> None:
    write_file(tmp_path, "billing", {0: 10, 1: 11, 5: 15})
    write_file(tmp_path, "mailer", {0: 20, 1: 21, 5: 25})

    found = five_minutes_each(tmp_path, groups)

    assert found.groups == ("billing", "mailer")
    assert found.numbers("lag")[:2].tolist() == [[10, 20], [15, 25]]


def test_the_first_run_counts_in_whatever_file_it_is(tmp_path: Path) -> None:
    write_file(tmp_path, "billing", {1: 11, 5: 15})
    write_file(tmp_path, "mailer", {0: 20, 1: 21, 6: 26})

    found = five_minutes_each(tmp_path, ("billing", "mailer"))

    assert found.times[:2].tolist() == [NOON, NOON + 5 * MINUTE]
    assert found.of_group("billing").numbers("lag").known[:2].tolist() == [False, True]
    assert found.of_group("mailer").numbers("lag").known[:2].tolist() == [True, False]
