# SPDX-License-Identifier: Apache-2.0
"""The capacity of one member: it is learnt only from minutes with a backlog."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

from kafka_lag.lag.group_settings import ByName, Rules, TaskSettings
from tests.functions.lag.strips import Strips, strip_of

# A consumer of 10 records/s that has a backlog, and how many samples the last runs hold. Of its
# first two runs one sees no move, and the other one that may have begun at any time.
SAMPLES: dict[str, tuple[str, list[int]]] = {
    "full speed": ("runs 30\ncommit 0 +600", [15]),
    "configured": ("runs 9\ncommit 0 +600", [7]),
    # Three read 30 records/s together, then six read 60.
    "a share group": (
        "runs 9\ncommit 0 +1800\nshared 100_000 +-1800\nowner shared\nmembers 3",
        [7],
    ),
    "members join a share group": (
        "runs 7\ncommit 0 1800 3600 5400 7200 10800 14400\nowner shared\nmembers 3x5 6"
        "\nshared 100_000 98_200 96_400 94_600 92_800 89_200 85_600",
        [3, 3, 4],
    ),
    "no members": ("runs 9\ncommit 0 +600\nowner -", [0]),
    # A quarter more must lie there than was read, and ten records.
    "hardly more lay there": ("commit 1000 1600 2200\nend 1100 2359 90000", [0]),
    "enough lay there": ("commit 1000 1600 2200\nend 1100 2360 90000", [1]),
    # A minute before or after a rebalance says nothing: while it lasts nobody reads.
    "a rebalance": (
        "runs 9\ncommit 0 +600\nstate Stablex5 PreparingRebalance Stable",
        [3, 3, 4, 5],
    ),
    "no members for a run": ("runs 9\ncommit 0 +600\nowner mx5 - m", [3, 3, 4, 5]),
    "a rebalance after which all own what they did": (
        "runs 7\ncommit 0 +600\nepoch 1x5 2",
        [0, 0, 1, 2, 3, 3, 4],
    ),
    # A member that reads far less than one that keeps up is slow, and no measure of the others.
    "another reads more than twice as much": (
        "runs 9\ncommit.0 0 +600\nowner.0 m\ncommit.1 0 +1260\nend.1 0 +1260\nowner.1 n",
        [0],
    ),
    "another reads nearly twice as much": (
        "runs 9\ncommit.0 0 +600\nowner.0 m\ncommit.1 0 +1140\nend.1 0 +1140\nowner.1 n",
        [7],
    ),
    # Its records take longer, and the member reads as much of its other partition as is written.
    "one partition has slow records": (
        "runs 9\ncommit.0 0 +300\nowner.0 m\ncommit.1 0 +310\nend.1 0 +310\nowner.1 m",
        [0],
    ),
    "one partition gets most records": (
        "runs 9\ncommit.0 0 +310\nowner.0 m\ncommit.1 0 +290\nend.1 0 +290\nowner.1 m",
        [7],
    ),
    "another owner is another consumer": ("runs 7\ncommit 0 +600\nowner mx5 n", [3, 3, 4]),
    # Who keeps its partition waits for them, too.
    "two others swap their partitions": (
        "runs 7\nend.0 100_000\nend.1 100_000\nend.2 100_000\ncommit.0 0 +600\ncommit.1 0 +600"
        "\ncommit.2 0 +600\nowner.0 m\nowner.1 nx5 k\nowner.2 kx5 n",
        [3, 3, 4],
    ),
    "not read in the last run": ("commit 0 +600\nend 100000x6 no_leader", [4, 4]),
    "a commit that moves every three minutes counts for three": (
        "commit 0x3 1800x3 3600x3 5400x3 7200",
        [9],
    ),
    # What a commit of two minutes left lay there before it.
    "hardly more lay there for two minutes": (
        "commit 1000 1600x2 2800\nend 1100 3109 90000x2",
        [0],
    ),
    "enough lay there for two minutes": ("commit 1000 1600x2 2800\nend 1100 3110 90000x2", [2]),
    # Its backlog is what came since, however much that is.
    "all is read at once now and then": ("runs 40\nend 600 +600\ncommit 0x4 (+3000 +0x4)x8", [0]),
    "what a commit skipped nobody has read": (
        "commit 0 +600x14 100_000_000\nend 1_000_000_000\ncleanup_policy delete"
        "\nskipped_to ?x15 100_000_000",
        [13, 13],
    ),
}
SPEEDS = np.arange(500, 650, 10)
ORDERED = {
    f"in order {order}": f"commit 0 600 {' '.join(map(str, 600 + SPEEDS[::order].cumsum()))}"
    for order in (1, -1)
}
SEEN = Strips(
    {
        name: text if "end" in text.replace("end.1", "") else f"end.0 100_000\n{text}"
        for name, text in [*((n, text) for n, (text, _) in SAMPLES.items()), *ORDERED.items()]
    },
    Rules(tasks=ByName.of([("^configured$", TaskSettings(capacity=77.0))])),
)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_a_minute_with_a_backlog_and_nothing_else(name: str) -> None:
    SEEN.check(name)
    _, numbers = SAMPLES[name]
    found = SEEN.said(name, "group.capacity_samples")[-len(numbers) :]
    assert [each or () for each in found] == [(10.0,) * number for number in numbers]


def test_the_capacity_is_known_after_three_minutes_with_a_backlog() -> None:
    for name in ("capacity", "capacity_low", "capacity_high"):
        assert SEEN.said("full speed", f"group.{name}") == [*[None] * 4, *[10.0] * 26]


def test_a_capacity_that_is_configured_wins() -> None:
    found = (SEEN.said("configured", f"group.{name}")[-1] for name in ("capacity", "capacity_low"))
    assert tuple(found) == (77.0, 10.0)


@pytest.mark.parametrize("name", ORDERED)
def test_the_interval_holds_the_middle_of_the_samples(name: str) -> None:
    names = ("capacity_low", "capacity", "capacity_high")
    found = [SEEN.said(name, f"group.{each}")[-1] for each in names]
    assert found == pytest.approx(list(SPEEDS[[3, 7, 11]] / 60), abs=1e-3)


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
COMMITS = [(5, 0, 0), (60, 2, 10), (300, 7, 0)]
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
    for members, every in ((1, 5), (8, 30), (1, 60), (4, 300))
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


# Where more members read no more in all: known from too few of them, and held.

# Commits and members minute by minute: `+600` is 10 records/s of each member, as their partitions
# are one here. The first two minutes of three members are no samples; their total is 30/s.
THREE = "600 +600x3"
AT_THREE = f"{THREE} +300x4"
# What is held at the end: the fewest members, and the records/s of all of them.
CASES: dict[str, tuple[str, str, float | None, float | None]] = {
    "twice as many read as much": (f"{THREE} +300x5", "3x4 6", 3, 30.0),
    "and less": (f"{THREE} +240x5", "3x4 6", 3, 30.0),
    "a quarter of what they should": (f"{THREE} +372x5", "3x4 6", 4, 37.2),
    "more than that": (f"{THREE} +378x5", "3x4 6", None, None),
    "twice as much": (f"{THREE} +600x5", "3x4 6", None, None),
    "seen in two minutes only": (f"{THREE} +300x2", "3x4 6", None, None),
    "one more": (f"{THREE} +450x5", "3x4 4", 3, 30.0),
    "eight times as many": (f"{THREE} +75x5", "3x4 24", 3, 30.0),
    "fewer": (f"{THREE} +900x5", "3x4 2", None, None),
    "a fifth more are too few to compare": ("600 +600x4 +498x9", "10x5 12", None, None),
    "more than a fifth": ("600 +600x4 +420x9", "10x5 13", 10, 100.0),
    # Two read 20/s, six 24/s: as much as three do.
    "those that would have read as much": ("600 +600x4 +240x9", "2x5 6", 3, 24.0),
    "stand still for a minute": (f"{THREE} +30 +600x5", "3x4 6", None, None),
    # The mean of three at 10/s and one at 6/s.
    "one that is slow still reads more": (f"{THREE} +540x9", "3x4 4", None, None),
    # Those that are held are held to what they read.
    "held, as much": (f"{AT_THREE} +600x5", "3x4 6x4 3", 3, 30.0),
    "held, nearly": (f"{AT_THREE} +486x5", "3x4 6x4 3", 3, 30.0),
    "held, less, so that more were needed": (f"{AT_THREE} +474x5", "3x4 6x4 3", None, None),
    "held, a little more": (f"{AT_THREE} +684x5", "3x4 6x4 3", 3, 30.0),
    "held, more, as there is room again": (f"{AT_THREE} +696x5", "3x4 6x4 3", 6, 34.8),
    "held, and not read": (f"{AT_THREE} +0", "3x4 6x4 3", 3, 30.0),
    # Fewer records a second of each may be another version by then.
    "a backlog that is over says nothing of the next": (
        "600 +600x8 +300x9",
        "3x9 6",
        None,
        None,
    ),
}
# Of a log that always has more, unless it is said.
ENDS = {
    "held, and not read": "999_999x8 no_leader",
    "a backlog that is over says nothing of the next": "999_999x5 3600 4200 4800 999_999",
}


def strip(commits: str, members: str, end: str = "999_999") -> str:
    return f"end {end}\ncommit {commits}\nmembers {members}"


RUNS = Strips(
    {n: strip(*case[:2], *([ENDS[n]] if n in ENDS else [])) for n, case in CASES.items()},
    Rules(lookup_budget=0),
)


def held(runs: Strips, name: str) -> list[tuple[float | None, float | None]]:
    columns = ("shared_limit_members", "shared_limit_rate")
    return list(zip(*(runs.said(name, f"group.{each}") for each in columns), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_members_that_read_no_more_in_all_are_not_needed(name: str) -> None:
    _, _, members, rate = CASES[name]
    assert list(held(RUNS, name)[-1]) == [members, pytest.approx(rate)]


def test_the_run_that_found_it_is_named() -> None:
    assert RUNS.said("held, as much", "group.shared_limit_since")[8] == 6


def test_it_is_held_without_a_backlog_too_and_tried_anew_after_a_day() -> None:
    """It was found in minute 6, the third with six members."""
    ends = "999_999x8 4200 4800 999_999"
    text = strip(f"{AT_THREE} +600x4", "3x4 6x4 3", ends)
    runs = Strips({"g": text}, RUNS.rules, minutes=[*range(10), 6 + 1_439, 6 + 1_440])
    assert held(runs, "g")[-2:] == [(3, 30.0), (None, None)]
