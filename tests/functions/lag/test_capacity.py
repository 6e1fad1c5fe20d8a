# SPDX-License-Identifier: Apache-2.0
"""The capacity of one member: learnt from minutes with a backlog, and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

from kafka_lag import contract
from kafka_lag.lag.group_settings import ByName, Rules, TaskSettings
from kafka_lag.lag.model import LagReport
from tests.functions.lag.builders import Runs, group, partition
from tests.functions.lag.strips import Strips, strip_of

# Records in the log at each run, and what a consumer of 10 a second reads of them in a minute.
END, A_MINUTE = 100_000, 600


def run_all(commits: Sequence[int], rules: Rules | None = None, **more: Any) -> LagReport:
    """The last report of runs that saw these commits, a minute apart."""
    runs = Runs(rules or Rules())
    *_, last = [runs.run(minute, commit, END, **more) for minute, commit in enumerate(commits)]
    return last


def at_full_speed(runs: int) -> list[int]:
    """Commits of a consumer that has a backlog all the time."""
    return [A_MINUTE * run for run in range(runs)]


def samples(report: LagReport) -> tuple[float, ...]:
    return group(report, "capacity_samples")[0] or ()


@pytest.mark.parametrize(("runs", "known"), [(4, None), (5, 10.0), (30, 10.0)])
def test_the_capacity_is_known_after_three_minutes_with_a_backlog(
    runs: int, known: float | None
) -> None:
    # Of the first two runs one sees no move, and the other one that may have begun at any time.
    report = run_all(at_full_speed(runs))
    assert group(report, "capacity", "capacity_low", "capacity_high") == (known,) * 3


def test_the_last_fifteen_samples_are_there() -> None:
    assert samples(run_all(at_full_speed(30))) == (10.0,) * 15


def test_a_capacity_that_is_configured_wins() -> None:
    rules = Rules(tasks=ByName.of([("g", TaskSettings(capacity=77.0))]))
    assert group(run_all(at_full_speed(9), rules), "capacity", "capacity_low") == (77.0, 10.0)


def test_a_group_without_known_members_has_none() -> None:
    assert samples(run_all(at_full_speed(9), members=0)) == ()


@pytest.mark.parametrize(("left", "found"), [(759, ()), (760, (10.0,))])
def test_a_quarter_more_must_lie_there_than_was_read(left: int, found: tuple[float, ...]) -> None:
    """And ten records."""
    runs = Runs()
    runs.run(0, 1_000, 1_100)
    runs.run(1, 1_600, 1_600 + left)
    assert samples(runs.run(2, 2_200, 90_000)) == found


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param({"state": "PreparingRebalance"}, id="a rebalance"),
        pytest.param({"members": 0}, id="no members"),
    ],
)
def test_a_minute_before_or_after_a_rebalance_says_nothing(seen: dict[str, Any]) -> None:
    runs = Runs()
    for minute, commit in enumerate(at_full_speed(5)):
        runs.run(minute, commit, END)
    found = [len(samples(runs.run(5, 3_000, END, **seen)))]
    found += [len(samples(runs.run(minute, A_MINUTE * minute, END))) for minute in (6, 7, 8)]
    assert found == [3, 3, 4, 5]


def test_a_rebalance_after_which_all_own_what_they_did_says_nothing_either() -> None:
    """While it lasts nobody reads."""
    runs = Runs()
    found = [
        len(samples(runs.run(minute, commit, END, epochs={"g0": 1 + (minute >= 5)})))
        for minute, commit in enumerate(at_full_speed(7))
    ]
    assert found == [0, 0, 1, 2, 3, 3, 4]


def test_another_owner_is_another_consumer() -> None:
    runs = Runs()
    for minute, commit in enumerate(at_full_speed(4)):
        runs.run(minute, commit, END)
    before = runs.run(4, 2_400, END)
    moved = runs.run(5, 3_000, END, owners={("g0", "t", 0): "n"})
    assert (len(samples(before)), samples(moved)) == (3, samples(before))
    stayed = runs.run(6, 3_600, END, owners={("g0", "t", 0): "n"})
    assert len(samples(stayed)) == 4


def test_what_was_not_read_leaves_the_samples_as_they_are() -> None:
    runs = Runs()
    for minute, commit in enumerate(at_full_speed(6)):
        report = runs.run(minute, commit, END)
    assert samples(runs.run(6, 3_600, contract.NO_LEADER)) == samples(report)


def test_a_commit_that_moves_every_three_minutes_counts_for_three() -> None:
    commits = [3 * A_MINUTE * (minute // 3) for minute in range(13)]
    assert samples(run_all(commits)) == (10.0,) * 9


@pytest.mark.parametrize(("left", "found"), [(1_509, ()), (1_510, (10.0, 10.0))])
def test_what_a_commit_of_two_minutes_left_lay_there_before_it(
    left: int, found: tuple[float, ...]
) -> None:
    runs = Runs()
    runs.run(0, 1_000, 1_100)
    runs.run(1, 1_600, 1_600 + left)
    runs.run(2, 1_600, 90_000)
    assert samples(runs.run(3, 2_800, 90_000)) == found


def test_a_consumer_that_reads_all_at_once_now_and_then_has_none() -> None:
    """Its backlog is what came since, however much that is."""
    runs = Runs()
    for minute in range(40):
        end = 600 * (minute + 1)
        report = runs.run(minute, end - end % 3_000, end)
    assert samples(report) == ()


def test_what_a_commit_skipped_nobody_has_read() -> None:
    runs = Runs()
    for minute, commit in enumerate(at_full_speed(15)):
        before = runs.run(minute, commit, 10**9, cleanup_policy="delete")
    jump = runs.run(15, 10**8, 10**9, cleanup_policy="delete")
    assert partition(jump, "skipped_to") == (10**8,)
    assert samples(jump) == samples(before)


@pytest.mark.parametrize("order", [1, -1])
def test_the_interval_holds_the_middle_of_the_samples(order: int) -> None:
    speeds = np.arange(500, 650, 10)[::order]
    found = run_all([0, 600, *(600 + speeds.cumsum()).tolist()])
    low, middle, high = group(found, "capacity_low", "capacity", "capacity_high")
    ranked = np.sort(speeds / 60)
    assert (low, middle, high) == pytest.approx((ranked[3], ranked[7], ranked[11]), abs=1e-3)


# Consumers of known speed, second by second.

Floats: TypeAlias = npt.NDArray[np.float64]
MINUTES = 80
SECOND = np.arange(MINUTES * 60)


@dataclass(frozen=True, slots=True)
class Consumers:
    """So many equal members on as many partitions.

    `written` and `speed` are records/s, of each partition and of each member. They commit what they
    have read `trails` seconds before, every `commits` seconds from second `phase` on.
    """

    written: Floats
    speed: Floats
    members: int = 1
    commits: int = 5
    phase: int = 0
    trails: int = 0

    def strip(self) -> str:
        """What a run a minute sees."""
        end, read, position = self.written.cumsum(), np.zeros(len(SECOND)), 0.0
        for at, (there, most) in enumerate(zip(end.tolist(), self.speed.tolist(), strict=True)):
            position = min(there, position + most)
            read[at] = position
        last = (SECOND - self.phase) // self.commits * self.commits + self.phase - self.trails
        committed = np.where(last >= 0, read[np.maximum(last, 0)], 0.0)
        lines: dict[str, list[object]] = {}
        for number in range(self.members):
            lines[f"end.{number}"] = end[59::60].astype(np.int64).tolist()
            lines[f"commit.{number}"] = committed[59::60].astype(np.int64).tolist()
            lines[f"owner.{number}"] = [f"m{number}"]
        return strip_of(**lines)


def steady(rate: float) -> Floats:
    return np.full(len(SECOND), rate)


def of_minutes(rates: Floats) -> Floats:
    found: Floats = np.maximum(rates, 0.0)[SECOND // 60]
    return found


RNG = np.random.default_rng(1)
WRITTEN = {
    "evenly": steady(100),
    "with noise": of_minutes(RNG.normal(100, 30, MINUTES)),
    "at random": RNG.poisson(100, len(SECOND)).astype(float),
    "one a minute": RNG.poisson(1 / 60, len(SECOND)).astype(float),
    "in bursts": np.where(SECOND % 180 < 20, 900.0, 0.0),
    "in waves": 100 * (1 + 0.9 * np.sin(2 * np.pi * SECOND / 3_600)),
    "now and then": np.where(SECOND % 1_800 < 900, 200.0, 0.0),
}
COMMITS = [(5, 0, 0), (30, 29, 0), (60, 58, 0), (60, 2, 10), (300, 7, 0)]
HEALTHY = {
    f"{name}, commits every {every} s from {phase} on, {trails} s late": Consumers(
        written, steady(400), 2, every, phase, trails
    )
    for name, written in WRITTEN.items()
    for every, phase, trails in COMMITS
}
# From minute 60 on these read half as fast.
BEHIND = {
    f"{members} members, commits every {every} s": Consumers(
        steady(150), np.where(SECOND < 3_600, 100.0, 50.0), members, every, phase=3
    )
    for members in (1, 8)
    for every in (5, 15, 30, 60, 300)
}
PLANTED = Strips(
    {name: consumers.strip() for name, consumers in (HEALTHY | BEHIND).items()},
    Rules(lookup_budget=0),
)


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_consumer_is_never_saturated(name: str) -> None:
    assert set(PLANTED.said(name, "group.capacity_samples")) == {None}


@pytest.mark.parametrize("name", BEHIND)
def test_a_speed_is_learnt_within_five_per_cent(name: str) -> None:
    """Half of it after ten minutes with a backlog; or after two whole moves, as the first one after
    the change saw both speeds.
    """
    found = PLANTED.said(name, "group.capacity")
    assert found[59] == pytest.approx(100, rel=0.05)
    assert found[76 if "300" in name else 70] == pytest.approx(50, rel=0.05)
