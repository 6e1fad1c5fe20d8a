# SPDX-License-Identifier: Apache-2.0
"""How runs of a group are joined to lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.snapshots.store import FolderStore
from kafka_lag.views.latest_run import LatestRun, Snapshots
from kafka_lag_cli.why.timeline import (
    COLUMNS,
    Minute,
    Timeline,
    fold,
    read_timeline,
)
from tests.builders import HOUR, MINUTE, NOON
from tests.cli.snapshots import a_group, a_snapshot_of

OK = {"status": contract.OK, "members": 2, "owners_changed": 0, "rebalances": 0}


def a_minute(number: int, row: dict[str, Any]) -> Minute:
    return Minute(NOON + number * MINUTE, {**dict.fromkeys(COLUMNS), **row})


def a_timeline(*minutes: Minute) -> Timeline:
    last = minutes[-1].taken_at
    return Timeline(last - 3 * HOUR, last, MINUTE, minutes, len(minutes), 0)


class ManyRuns(Snapshots):
    """A run of one group each minute; `most` is how many runs were read at once."""

    most = 0

    def runs(self, cluster: str, since: int, until: int | None = None) -> list[int]:
        assert until is not None
        return list(range(until, since - 1, -MINUTE))

    def frames(
        self, cluster: str, dataset: str, times: Sequence[int], columns: Sequence[str] | None = None
    ) -> dict[int, Frame]:
        self.most = max(self.most, len(times))
        return {at: a_snapshot_of(a_group("billing"), at=at).groups for at in times}


def test_a_long_period_is_read_part_by_part_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    snapshots = ManyRuns(FolderStore(tmp_path), lambda: NOON / 1000)
    groups = a_snapshot_of(a_group("billing")).groups
    run = LatestRun(
        cluster="shop",
        taken_at=NOON,
        age_seconds=0.0,
        interval_seconds=60.0,
        groups=groups,
        recent=(NOON,),
        unreadable=0,
    )
    timeline = read_timeline(snapshots, run, "billing", NOON - 400 * MINUTE)

    times = [each.taken_at for each in timeline.minutes]
    assert times == list(range(NOON - 400 * MINUTE, NOON + 1, MINUTE))
    assert (timeline.runs, timeline.unreadable) == (401, 0)
    assert snapshots.most <= 150
    assert "401/401" in click.unstyle(capsys.readouterr().err)


# What a letter says of a run; a hyphen is a run that is missing.
RUNS: dict[str, dict[str, Any]] = {
    "o": OK,
    "w": {**OK, "status": contract.WARN},
    "s": {**OK, "worst_status": contract.STALLED},
    "e": {**OK, "status": contract.ERR, "worst_status": contract.STALLED},
    "c": {**OK, "cause": contract.STOPPED},
    "3": {**OK, "members": 3},
    "?": {**OK, "members": None},
    "m": {**OK, "owners_changed": 2, "rebalances": 1},
    "r": {**OK, "rebalances": 1},
}


def of_runs(runs: str) -> Timeline:
    minutes = (a_minute(at, RUNS[each]) for at, each in enumerate(runs) if each != "-")
    return a_timeline(*minutes)


# Runs by minute, and how many are on each line.
@pytest.mark.parametrize(
    ("runs", "lines"),
    [
        ("oooooooooo", [10]),
        ("oooooooooowwwww", [10, 5]),
        ("oooooooooosssss", [10, 5]),
        ("ooooooooooccccc", [10, 5]),
        ("oooooooooo33333", [10, 5]),
        # A count that is not known is no change, nor is a rebalance.
        ("oo??oo", [6]),
        ("oorroo", [6]),
        # A run that is missing parts nothing, two do.
        ("oo-oo", [4]),
        ("oo--oo", [2, 2]),
        # Trouble that goes on is shown in parts, and what is well is not.
        ("o" * 120 + "e" * 60, [120, 15, 15, 15, 15]),
    ],
)
def test_runs_are_folded_to_lines(runs: str, lines: list[int]) -> None:
    stretches = fold(of_runs(runs))
    assert [len(each.minutes) for each in stretches] == lines
    assert sum(each.total("rebalances") for each in stretches) == runs.count("r")


def test_a_line_has_the_worst_status_the_mean_rate_and_the_bounds_of_members() -> None:
    rows = [{**OK, "members": 2 + number % 2, "produce_rate": float(number)} for number in range(9)]
    rows = [{**row, **({"status": contract.WARN} if n % 2 else {})} for n, row in enumerate(rows)]
    stretches = fold(a_timeline(*map(a_minute, range(180), rows * 20)))

    assert len(stretches) <= 20
    assert stretches[0].worst.row["status"] == contract.WARN
    assert stretches[0].bounds("members") == (2, 3)
    assert stretches[0].mean("produce_rate") == pytest.approx(4.0, abs=1.0)


@given(
    st.lists(
        st.tuples(
            st.integers(1, 4),
            st.sampled_from([contract.OK, contract.WARN, contract.ERR, None]),
            st.sampled_from([None, 0, 1, 2]),
            st.integers(0, 1),
        ),
        min_size=1,
        max_size=120,
    )
)
def test_lines_hold_each_run_once_in_order(runs: list[tuple[int, Any, Any, int]]) -> None:
    at, minutes = 0, []
    for pause, status, members, owners in runs:
        row = {"status": status, "members": members, "owners_changed": owners, "rebalances": 0}
        minutes.append(a_minute(at, row))
        at += pause
    timeline = a_timeline(*minutes)

    assert [each for stretch in fold(timeline) for each in stretch.minutes] == minutes
    assert all(stretch.seconds > 0 for stretch in fold(timeline))
