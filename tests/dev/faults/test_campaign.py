# SPDX-License-Identifier: Apache-2.0
"""A campaign is good only if it judged something: runs that published, with faults and without."""

from typing import Any

import pytest

from dev.faults.campaign import Result
from dev.faults.run import Run, Verdict


def run(**changes: Any) -> Run:
    """A run that published numbers, in calm."""
    right: dict[str, Any] = {
        "number": 1,
        "taken_at": 1_000,
        "began": 1_000,
        "ended": 1_100,
        "seconds": 0.1,
        "limit": 5.0,
        "window_ms": 10_000,
        "frames": {"groups": [{}]},
        "calm": True,
    }
    return Run(**right | changes)


def result(*runs: Run, checked: int = 1, faults: int = 1) -> Result:
    """What a campaign of these runs found, so many numbers in each."""
    found = Result(seed=1)
    found.faults["kill"] += faults
    for each in runs:
        verdict = Verdict()
        verdict.checked["lag"] += checked
        found.add(each, verdict, "nothing")
    return found


def test_a_campaign_with_faults_calm_runs_and_numbers_is_good() -> None:
    assert result(run(), run(calm=False)).good


@pytest.mark.parametrize(
    "poor",
    [
        result(),
        result(run(frames={}, error="no broker answers"), checked=0),
        result(run(calm=False)),
        result(run(), checked=0),
        result(run(), faults=0),
        result(run(), run(frames={}), run(frames={})),
    ],
)
def test_a_campaign_that_shows_nothing_is_not_good(poor: Result) -> None:
    assert not poor.good
    assert poor.missing_checks


def test_a_campaign_that_is_broken_is_not_good() -> None:
    found = result(run())
    found.errors.append("faults did not end: kill")
    assert not found.good
