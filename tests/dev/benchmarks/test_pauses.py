# SPDX-License-Identifier: Apache-2.0
"""A small slice of what `make bench-pauses` looks at."""

from __future__ import annotations

import numpy as np
import pytest

from dev.benchmarks.pauses.__main__ import main
from dev.benchmarks.pauses.rule_alone import calm, cases, is_held_out, judged, track_of, unreported
from dev.benchmarks.pauses.tracks import BATCHES, HOUR, Track
from dev.benchmarks.pauses.whole_runs import Pattern, verdict

# By name, those that show within days.
QUICK = [batch for batch in BATCHES if batch.period <= 6 * HOUR + 20 and batch.most is None]


@pytest.mark.parametrize("held_out", [False, True])
def test_no_outage_before_delays_a_report(held_out: bool) -> None:
    some = cases(9_000, 150, held_out=held_out, longest=6 * HOUR, history=8 * HOUR)
    late = judged(some)
    assert np.isfinite(late.runs).all()
    assert int(late.late.sum()) == 0


def test_jobs_that_pause_are_quiet_once_known() -> None:
    tracks = [(batch, track_of(batch, 9_000, days=3)) for batch in QUICK]
    assert calm(tracks) == [0] * len(QUICK)


@pytest.mark.thorough
@pytest.mark.parametrize(("outages", "periods"), [(False, 2.0), (True, 2.5)])
def test_a_dead_job_is_reported_within_so_many_periods(outages: bool, periods: float) -> None:
    hourly = [batch for batch in QUICK if batch.period <= 2 * HOUR]
    late = unreported([(batch, 9_000) for batch in hourly], 16, outages=outages)
    assert late.max() <= periods


def test_every_third_seed_and_pattern_is_held_out() -> None:
    assert [number for number in range(9) if is_held_out(number)] == [2, 5, 8]


def test_a_pattern_that_changes_too_often_is_missed() -> None:
    nothing = Track(*(np.zeros(2, np.int64),) * 2, np.zeros(2, bool))
    held, status = np.zeros(2_880, np.int8), np.zeros(2_880, np.int8)
    held[1_500:1_600] = 1
    calm_one = Pattern("quiet", nothing, 60, 0.0)
    stuck = Pattern("stuck", nothing, 60, 0.0, trouble=1_500, soon=13)
    assert verdict(calm_one, held, status, held_out=False).missed
    assert verdict(stuck, held, status, held_out=False).missed
    status[1_511:] = 3
    assert not verdict(stuck, held, status, held_out=False).missed


def test_the_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert "held out" in capsys.readouterr().out
