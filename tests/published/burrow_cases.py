# SPDX-License-Identifier: Apache-2.0
"""The cases with which Burrow tests its evaluator, and our result for each.

Numbers and statuses are those of github.com/linkedin/Burrow at commit
ced55ba90f6b833a45a124d411fd5eef63a70933: the table of `core/internal/evaluator/caching_test.go`
under its own row numbers, and the two groups of `core/internal/storage/fixtures.go`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kafka_lag.contract import OK, REWIND, STALL, STOP

# Time in ms, offset, and the lag at that moment, None where Burrow did not know it.
Commit: TypeAlias = tuple[int, int, int | None]


@dataclass(frozen=True, slots=True)
class Case:
    """Commits, then the log's last ends and the lag at `now` (ms), and the words for it.

    Burrow knows no members. `owned` is our status if a live member owns the partition,
    `unowned` if none does. `why` is given where one of them is not Burrow's.
    """

    commits: Sequence[Commit]
    ends: Sequence[int]
    lag: int
    now: int
    burrow: str
    owned: str | None
    unowned: str | None
    why: str = ""
    allowed: int = 0


# Brokers tell no commit times: commits that repeat an offset look like none.
_ALIVE = "a live member that does not move on has stalled, whether or not it still commits"
_NOBODY = "where no member is left that could be stuck, the consumer has stopped"
_OLD = "its oldest unread record is taken to be 450 s old, between two runs; the window is 400 s"
_UNPROVEN = "its commit stands since the run before, and its oldest unread record may be of any age"
_YOUNG = "all was read at the last commit, and nothing is proven unread for a window since then"


def _each(seconds: int, offsets: Sequence[int], lags: Sequence[int | None]) -> list[Commit]:
    """Commits at an even pace, the first after 100 seconds."""
    pairs = enumerate(zip(offsets, lags, strict=True))
    return [((100 + i * seconds) * 1_000, offset, lag) for i, (offset, lag) in pairs]


_RISING = (1_000, 2_000, 3_000, 4_000, 5_000)
_SAME = (1_000,) * 5
_FROM_0 = _each(100, _RISING, (0, 50, 100, 150, 200))
_FROM_50 = _each(100, _RISING, (50, 100, 150, 200, 250))
_STUCK = _each(100, _SAME, (100, 150, 200, 250, 300))
_BACK = _each(100, (1_000, 2_000, 3_000, 2_000, 4_000), (100, 150, 200, 1_250, 300))
# Published with a lag of 300 as in the row above it; its end, 4,300, makes that 1,800.
_LEFT_BACK = _each(100, (1_000, 2_000, 3_000, 2_000, 2_500), (100, 150, 200, 1_250, 1_800))
_HALVES = tuple(range(1_000, 6_000, 500))
_HALF_KNOWN = _each(50, _HALVES, (0, None, 50, None, 100, None, 150, None, 200, None))
# Fifteen commits, about a second apart, each at the end of the log.
_SECONDS = (
    *(618_356, 619_362, 620_366, 621_367, 622_370, 623_373, 624_378, 625_379),
    *(626_383, 627_383, 628_383, 629_388, 630_391, 631_394, 632_397),
)
_CAUGHT_UP = [(1_512_224_000_000 + ms, 792_748_079 + i, 0) for i, ms in enumerate(_SECONDS)]
_LATER = 1_512_224_650_000
_BURST = (792_749_024, 792_749_000, 792_748_800, 792_748_600, 792_748_500)
_ONE_RECORD = (792_748_094, 792_748_093, 792_748_093, 792_748_093)
# Two groups that lag by thousands: ten commits, and five of them with nothing after.
_TEN = _each(10, range(1_000, 2_000, 100), range(3_321, 2_421 - 1, -100))

CASES = {
    "0": Case(_FROM_0, [5_200], 200, 600_000, OK, OK, OK),
    "1": Case(_FROM_0, [5_200], 200, 900_000, OK, OK, OK),
    "2": Case(_FROM_0, [5_200], 200, 1_000_000, STOP, STALL, STOP, _ALIVE),
    "3": Case(_FROM_50, [5_250], 250, 1_000_000, STOP, STALL, STOP, _ALIVE),
    "4": Case(
        _each(100, _SAME, (0, 50, 100, 150, 200)), [1_200], 200, 600_000, OK, STALL, STOP, _OLD
    ),
    "5": Case(_STUCK, [1_300], 300, 600_000, STALL, STALL, STOP, _NOBODY),
    "6": Case(_each(100, _SAME, (100,) * 5), [1_100], 100, 600_000, STALL, STALL, STOP, _NOBODY),
    "7": Case(_BACK, [4_300], 300, 600_000, OK, OK, OK),
    "8": Case(_FROM_50, [5_250], 0, 1_000_000, OK, OK, OK),
    "9": Case(_CAUGHT_UP, _BURST, 931, _LATER, STOP, OK, OK, _YOUNG),
    "10": Case(_CAUGHT_UP, _ONE_RECORD, 1, _LATER, OK, OK, OK),
    "11": Case(_HALF_KNOWN, [5_700], 200, 600_000, OK, OK, OK),
    "12": Case(
        _each(100, (1_000, 2_000, 2_000), (2, 1, 1)), [2_001], 1, 550_000, OK, OK, OK, allowed=1
    ),
    "13": Case(_STUCK, [1_300], 300, 600_000, STALL, STALL, STOP, _NOBODY, allowed=99),
    "14": Case(_BACK, [4_300], 300, 600_000, OK, OK, OK, allowed=99),
    "15": Case(_LEFT_BACK, [4_300], 1_800, 600_000, REWIND, REWIND, REWIND),
    "testgroup": Case(_TEN, [4_321], 2_421, 200_000, OK, None, None, _UNPROVEN),
    "testgroup2": Case(_TEN[:5], [4_321], 2_921, 200_000, STOP, STALL, STOP, _ALIVE),
}
