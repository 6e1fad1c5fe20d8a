# SPDX-License-Identifier: Apache-2.0
"""When the broker deletes an unread record, by age and by size, through whole runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pytest

from kafka_lag.contract import AT_RISK, NO_LOSS_SECONDS, SAFE
from kafka_lag.lag.group_settings import ByName, Rules
from tests.builders import MINUTE, NOON
from tests.functions.lag.strips import Strips, split_strips, strip_of
from tests.functions.lag.time_index_fake import Log

HOUR, DAY = 60, 24 * 60  # minutes
# A record a minute; a number in a name is how many minutes old the next one is at the first run.
STANDS = {
    "a day is kept, 60": ("1d", 82_800, "SAFE"),
    "a week is kept, 8639": ("7d", 86_460, "SAFE"),
    "a week is kept, 8641": ("7d", 86_340, "AT_RISK"),
    "an hour is kept, 29": ("1h", 1_860, "SAFE"),
    "an hour is kept, 31": ("1h", 1_740, "AT_RISK"),
    "an hour is kept, 61": ("1h", 0, "AT_RISK"),
    "nothing is kept, 60": ("0", 0, "AT_RISK"),
    "all is kept, 60": ("-1", NO_LOSS_SECONDS, "SAFE"),
    "more than 30 days are kept, 60": ("40d", NO_LOSS_SECONDS, "SAFE"),
}
KEEPS_ITS_DISTANCE = {
    "a day is kept, always 1439": ("1d", 60),
    "a day is kept, always 1320": ("1d", 2 * 3_600),
    "a day is kept, always 1260": ("1d", NO_LOSS_SECONDS),
    "a day is kept, always 1500": ("1d", 0),
    "an hour is kept, always 57": ("1h", 180),
    "an hour is kept, always 53": ("1h", NO_LOSS_SECONDS),
    "three days are kept, always 4200": ("3d", 2 * 3_600),
}
SETTINGS = """
    cleanup_policy   delete
    retention_ms     1d
    retention_bytes  -1
"""
# What of it is known: the reader is at record 0, and stands.
KNOWN = {
    "on a compacted topic, 60": ("cleanup_policy compact", "2592000", "SAFE"),
    "compacted and deleted, 60": ("cleanup_policy compact,delete", "82800", "SAFE"),
    "the policy is unknown, 60": ("cleanup_policy ?", "?", "?"),
    "the time is unknown, 60": ("retention_ms ?", "?", "?"),
    "the size is unknown, 60": ("retention_bytes ?", "?", "?"),
    "the age is unknown": ("commit 0", "?", "?"),
    "the age is unknown, and all is kept": ("retention_ms -1", "2592000", "SAFE"),
    "nothing is unread, and settings are unknown": (
        "cleanup_policy ?\ncommit 300",
        "2592000",
        "SAFE",
    ),
    "allowed, 1430": ("retention_ms 1h", "2592000", "SAFE"),
    "some is lost, 60": ("start 5", "?", "LOST"),
    "all is lost": ("start 300", "2592000", "LOST"),
}


def records(behind: int, until: int = 60) -> Log:
    """One a minute, the first so many minutes before noon."""
    return Log([NOON - (behind - number) * MINUTE for number in range(behind + until)])


def stands(kept: str, behind: int) -> str:
    return f"runs 3\nend {behind} +1\ncommit 0\n{SETTINGS.replace('1d', kept)}"


def keeps(kept: str, behind: int) -> str:
    return f"runs 12\nend {behind} +1\ncommit 0 +1\n{SETTINGS.replace('1d', kept)}"


def with_other(text: str, line: str) -> str:
    """The strip with other lines in place of those of that name."""
    names = [each.split()[0] for each in line.splitlines()]
    kept = [each for each in text.splitlines() if each.split()[:1] not in [[n] for n in names]]
    return "\n".join([*kept, line])


def behind_of(name: str) -> int:
    number = name.rsplit(maxsplit=1)[-1]
    return int(number) if number.isdigit() else 300


# The next record is young when the runs begin, and ten minutes are kept.
STOPS = split_strips(
    """
    moves in each run
        end             100 +100x15
        commit          100 100 +100
        retention_ms    10m
        retention_risk  ... SAFE
    stops
        end             100 +100x8
        commit          100 100
        retention_ms    10m
        retention_risk  SAFEx6 AT_RISKx3
    commits every three minutes
        end             100 +100x20
        commit          100x3 (+300 +0 +0)x6
        retention_ms    10m
        retention_risk  ... SAFEx9
    commits every three minutes, then stops
        end             100 +100x20
        commit          100x3 (+300 +0 +0)x4 +0x6
        retention_ms    10m
        retention_risk  ... AT_RISKx2
    """
)
STOPS = {name: f"{text}\ncleanup_policy delete\nretention_bytes -1" for name, text in STOPS.items()}

# It is read at noon, an hour before its first record is deleted; and not any more.
NOT_READ = {
    "is at risk as it was, 1380": f"""
            end  1380 timeoutx12
            commit  0
            {SETTINGS}
            group.seconds_until_loss  3600x1 3540 3480 3420 3360 3300 3240 3180 3120 3060 3000 ?x2
        """,
    "comes to be at risk meanwhile, 1385": f"""
            end  1385 timeoutx9
            commit  0
            {SETTINGS.replace("1d", "2780m")}
            group.seconds_until_loss  2592000x5 . 83340 83280 83220 83160
        """,
    "is read no more, as its group, 1380": f"""
            end  1380
            commit  0
            unread  - timeoutx12
            {SETTINGS}
            group.seconds_until_loss  3600 3540 ... ?x2
        """,
}


@dataclass(frozen=True, slots=True)
class Sized:
    """A group alone on a log that keeps the last `hours`, and up to one of its `segments` more.

    The group reads all there is `every` so many minutes, or stays `ahead` minutes of the log start,
    and from `stops` on nothing.
    """

    hours: float
    every: int = 1
    ahead: float | None = None
    stops: int = 10**9
    segments: int = 100_000
    speed: float = 600.0
    noise: bool = False

    def end(self, minute: float) -> int:
        """The log's end; with noise each minute has from none to twice as many records."""
        whole = (minute + 400 * HOUR) * self.speed
        swing = np.sin(minute * 12.9898) * 43_758.5453
        return int(whole + (swing % 1 - 0.5) * self.speed * self.noise)

    def start(self, minute: float) -> int:
        """The log's start: whole segments are deleted."""
        kept = int(self.hours * HOUR * self.speed)
        segment = max(1, kept // self.segments)
        return max(0, self.end(minute) - kept) // segment * segment

    def committed(self, minute: int) -> int:
        """What the group has committed by then."""
        minute = min(minute, self.stops)
        if self.ahead is not None:
            return self.start(minute) + int(self.ahead * self.speed)
        return self.end(minute - minute % self.every)

    def seconds_left(self, minute: int) -> float:
        """Until a group that stands still has lost a record, by the producers' speed."""
        return 60 * (self.committed(minute) - self.start(minute)) / self.speed

    def strip(self, runs: int, read: int = 10**9) -> str:
        """What so many runs see; only the first `read` get an answer."""
        minutes = range(runs)
        return strip_of(
            end=[self.end(minute) if minute < read else "timeout" for minute in minutes],
            start=[self.start(minute) for minute in minutes],
            commit=[self.committed(minute) for minute in minutes],
            cleanup_policy=["delete"],
            retention_ms=[-1],
            retention_bytes=[10**9],
        )


HEALTHY = {
    f"{every} min on {hours} h, {segments} segments, {noise=}": Sized(
        hours, every, segments=segments, noise=noise
    )
    for every in (2, 10, 19, 39)
    for hours in (1, 2, 3, 48)
    for segments, noise in ((100_000, False), (5, True))
    if every < hours * HOUR / 3
}
NEAR = {
    f"{ahead:.1f} min ahead on {hours} h": Sized(hours, ahead=ahead)
    for ahead in (0.1, 1, 5)
    for hours in (1, 10, 100)
}
LIMITS = {
    # Standing groups: the horizon, or half of what the log holds.
    "stands, more than half of the log": (Sized(10, ahead=315, stops=0), SAFE),
    "stands, less than half of the log": (Sized(10, ahead=285, stops=0), AT_RISK),
    "stands, outside the horizon": (Sized(100, ahead=25 * HOUR, stops=0), SAFE),
    "stands, within the horizon": (Sized(100, ahead=23 * HOUR, stops=0), AT_RISK),
    # Groups that keep their distance: a tenth of that.
    "more than a tenth of the log": (Sized(10, ahead=61), SAFE),
    "less than a tenth of the log": (Sized(10, ahead=59), AT_RISK),
    "more than a tenth of the horizon": (Sized(100, ahead=2.5 * HOUR), SAFE),
    "less than a tenth of the horizon": (Sized(100, ahead=2.3 * HOUR), AT_RISK),
    "nothing was deleted so far": (Sized(1_000, ahead=1, stops=0), SAFE),
}
# A log that holds 100,000 s of 100 records a second.
LOG = Sized(hours=100_000 / 3_600, speed=6_000)
BY_SIZE: Mapping[str, tuple[Sized, float]] = {
    "stands for 19 minutes": (replace(LOG, ahead=10_000 / 60, stops=20), 10_000 - 19 * 60),
    "keeps pace": (replace(LOG, ahead=20_000 / 60), NO_LOSS_SECONDS),
    "keeps pace near the start": (replace(LOG, ahead=8_000 / 60), 8_000),
    "has no lag": (LOG, NO_LOSS_SECONDS),
}
STOPPED = Sized(100, stops=30)
# It is a risk from half of the log on, an hour.
FAR_AND_NEAR = {"far": Sized(2, ahead=80, stops=0), "near": Sized(2, ahead=68, stops=0)}
BY_TIME = {
    **{name: stands(kept, behind_of(name)) for name, (kept, *_) in STANDS.items()},
    **{name: keeps(kept, behind_of(name)) for name, (kept, _) in KEEPS_ITS_DISTANCE.items()},
    **{name: with_other(stands("1d", behind_of(name)), line) for name, (line, *_) in KNOWN.items()},
    **NOT_READ,
}
RUNS = Strips(
    {
        **BY_TIME,
        **STOPS,
        **{name: case.strip(85) for name, case in HEALTHY.items()},
        **{name: case.strip(20) for name, case in NEAR.items()},
        **{name: case.strip(20) for name, (case, _) in LIMITS.items()},
        **{name: case.strip(40) for name, (case, _) in BY_SIZE.items()},
        **{name: case.strip(12, read=5) for name, case in FAR_AND_NEAR.items()},
        "stopped": STOPPED.strip(60),
    },
    Rules(allowed_lag=ByName.of([("^allowed", 9_999)])),
    logs={name: records(behind_of(name)) for name in BY_TIME if name[-1].isdigit()},
)


def last(name: str, column: str) -> object:
    return RUNS.said(name, column)[-1]


@pytest.mark.parametrize("name", STANDS)
def test_a_group_that_stands_is_at_risk_within_the_horizon_or_half_of_what_is_kept(
    name: str,
) -> None:
    _, seconds, risk = STANDS[name]
    assert RUNS.said(name, "seconds_until_loss")[0] == pytest.approx(seconds, abs=1)
    assert RUNS.said(name, "retention_risk")[0] == risk


@pytest.mark.parametrize("name", KEEPS_ITS_DISTANCE)
def test_a_group_that_keeps_its_distance_is_at_risk_in_the_last_tenth(name: str) -> None:
    _, seconds = KEEPS_ITS_DISTANCE[name]
    for column in ("seconds_until_loss", "group.seconds_until_loss"):
        assert last(name, column) == pytest.approx(seconds, abs=2)
    assert last(name, "retention_risk") == (SAFE if seconds == NO_LOSS_SECONDS else AT_RISK)


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_not_known_is_unknown_and_what_cannot_be_lost_is_safe(name: str) -> None:
    _, seconds, risk = KNOWN[name]
    found = RUNS.said(name, "seconds_until_loss")[0], RUNS.said(name, "retention_risk")[0]
    expected = None if seconds == "?" else pytest.approx(float(seconds), abs=1)
    assert found == (expected, None if risk == "?" else risk)


@pytest.mark.parametrize("name", [*STOPS, *NOT_READ])
def test_a_loss_that_comes_when_commits_or_readings_stop(name: str) -> None:
    RUNS.check(name)


def test_a_group_that_reads_everything_in_time_is_never_at_risk_by_size() -> None:
    for name in HEALTHY:
        assert set(RUNS.said(name, "retention_risk")[3:]) == {SAFE}, name
        assert set(RUNS.said(name, "group.seconds_until_loss")[3:]) == {NO_LOSS_SECONDS}, name


@pytest.mark.parametrize("name", NEAR)
def test_a_group_that_stays_just_ahead_of_the_log_start_is_at_risk(name: str) -> None:
    expected = pytest.approx(NEAR[name].seconds_left(0), rel=0.1)
    # The first run has no rate.
    assert RUNS.said(name, "retention_risk")[1:] == [AT_RISK] * 19
    assert RUNS.said(name, "group.seconds_until_loss")[1:] == [expected] * 19


@pytest.mark.parametrize("name", LIMITS)
def test_a_risk_by_size_has_a_limit(name: str) -> None:
    assert set(RUNS.said(name, "retention_risk")[10:14]) == {LIMITS[name][1]}


def test_a_group_that_stops_has_its_time_to_loss_after_one_window() -> None:
    expected = [pytest.approx(STOPPED.seconds_left(run), rel=0.01) for run in range(41, 60)]
    assert RUNS.said("stopped", "seconds_until_loss")[41:] == expected


def test_a_log_that_is_not_read_may_come_to_be_at_risk_by_size_meanwhile() -> None:
    far, near = (RUNS.said(name, "group.seconds_until_loss") for name in FAR_AND_NEAR)
    assert far == [NO_LOSS_SECONDS] * 12
    assert [left < NO_LOSS_SECONDS for left in near] == [False] * 9 + [True] * 3


@pytest.mark.parametrize("name", BY_SIZE)
def test_a_log_of_known_rates_has_the_seconds_that_they_give(name: str) -> None:
    assert last(name, "seconds_until_loss") == pytest.approx(BY_SIZE[name][1], rel=0.02)
