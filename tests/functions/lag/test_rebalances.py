# SPDX-License-Identifier: Apache-2.0
"""How often a group rebalanced since the previous run: by its epoch, unknown without two."""

from __future__ import annotations

import numpy as np
import pytest

from kafka_lag import contract
from tests.builders import MINUTE, NOON, a_reading, a_report, table
from tests.functions.lag.strips import Strips, split_strips, strip_of

EPOCHS = split_strips(
    """
    rises
        epoch              7 7 8 10 10
        group.group_epoch  7 7 8 10 10
        group.rebalances   ? 0 1 2 0
    begins at 0
        epoch             0 2
        group.rebalances  ? 2
    rises by as much as it can
        epoch             7 2147483647
        group.rebalances  ? 2147483640
    is not read in two runs
        epoch              7 9 - - 9
        unread             -x2 timeoutx2 -
        group.group_epoch  7 9 9 9 9
        group.rebalances   ? 2 ? ? 0
    rises while it is not read
        epoch              7 - - 9
        unread             - timeoutx2 -
        group.group_epoch  7x3 9
        group.rebalances   ?x3 2
    is first not read
        epoch             - 9
        unread            timeout -
        group.rebalances  ?x2
    is not described in one run
        epoch              7 - 9
        group.group_epoch  7 7 9
        group.rebalances   ? ? 2
    goes down and on from there
        epoch             7 3 4
        group.rebalances  ? ? 1
    goes down while it is not read
        epoch             7 - 3
        unread            - timeout -
        group.rebalances  ?x3
    becomes classic and new again
        epoch              7 classic 9
        group.group_epoch  7 ? 9
        group.rebalances   ?x3
    has no members hash
        epoch               7
        hash                0
        group.members_hash  ?
    """
)
# A classic group's members and what they own, as a hash.
HASHES = split_strips(
    """
    stays
        hash              1 1 1
        group.rebalances  ? 0 0
    changes
        hash              1 -2 3
        group.rebalances  ? 1 1
    changes while it is not read
        hash              1 1 2
        unread            - timeout -
        group.rebalances  ? ? 1
    is not described in one run and changes
        hash              1 - 2
        group.rebalances  ? ? 1
    is under way in two runs and over
        hash              1 1 1 2 3
        state             Stable PreparingRebalancex2 Stable
        group.rebalances  ? 1 0 0 1
    """
)
# Whether most runs see it rebalanced.
ALWAYS = {
    "in each run": (range(12), True),
    "since twelve runs": ([*[0] * 30, *range(12)], True),
    "for five minutes, as a deploy does": ([*[0] * 30, *range(5)], False),
    "in each fifth run": ([number // 5 for number in range(45)], False),
    "until ten minutes ago": ([*range(30), *[29] * 10], False),
}
SHARES = {name: strip_of(hash=hashes) for name, (hashes, _) in ALWAYS.items()}
SHARES["never settles"] = "hash 1\nstate Stable PreparingRebalancex12"
SHARES["not read since"] = f"hash {' '.join(map(str, range(12)))}\nunread -x12 timeoutx9"
RUNS = Strips({**EPOCHS, **HASHES, **SHARES})


@pytest.mark.parametrize("name", [*EPOCHS, *HASHES])
def test_rebalances_are_what_the_epoch_rose_by_or_whether_the_members_changed(name: str) -> None:
    RUNS.check(name)


@pytest.mark.parametrize("name", SHARES)
def test_a_group_that_most_runs_see_rebalanced_does_so_all_the_time(name: str) -> None:
    _, always = ALWAYS.get(name, ((), True))
    share = RUNS.said(name, "group.rebalancing_share")[-1]
    assert (share >= contract.MOSTLY_REBALANCING) is always


def test_what_was_seen_before_or_after_an_hour_without_a_reading_hardly_counts() -> None:
    minutes = [*range(12), 72, 73]
    strips = Strips(
        {"one": strip_of(hash=[*[0] * 12, 1, 1]), "many": strip_of(hash=[*range(12), 11, 11])},
        minutes=minutes,
    )
    assert strips.said("one", "group.rebalances")[-2] == 1
    assert strips.said("one", "group.rebalancing_share")[-2] < 0.3
    assert strips.said("many", "group.rebalancing_share")[-1] < 0.01


@pytest.mark.parametrize("gone", [["g"], []], ids=["deleted", "not-listed"])
def test_a_group_that_was_away_has_no_epoch_to_count_from(gone: list[str]) -> None:
    before = None
    for minute, epoch in enumerate((7, None, 9)):
        at = NOON + minute * MINUTE
        groups = {} if epoch is None else {"g": {"orders": [5]}}
        reading = a_reading(
            groups,
            {"orders": [(0, 9)]},
            at=at,
            epochs={"g": epoch},
            gone_groups=[] if epoch else gone,
        )
        report = a_report(reading, before, at=at)
        before = report.snapshot
    assert table(report.snapshot.groups, "group_epoch", "rebalances") == [(9, None)]


def test_an_epoch_is_kept_for_a_day_in_which_the_group_is_not_read() -> None:
    days = Strips(
        split_strips(
            """
        g
            epoch   7 -
            unread  - timeoutx5
        """
        ),
        minutes=[6 * 60 * n for n in range(6)],
    )
    assert days.said("g", "group.group_epoch") == [*[7] * 5, None]


def whichever_runs_read(seed: int) -> tuple[str, int]:
    """A strip of runs that read the group, or do not, or not its epoch; and by how much it rose."""
    rng = np.random.default_rng(seed)
    epochs = 3 + rng.integers(0, 5, 14).cumsum()
    kinds = ["read", *rng.choice(["read", "unread", "undescribed"], 12), "read"]
    seen = ["-" if kind != "read" else epoch for kind, epoch in zip(kinds, epochs, strict=True)]
    unread = ["timeout" if kind == "unread" else "-" for kind in kinds]
    return strip_of(epoch=seen, unread=unread), int(epochs[-1] - epochs[0])


def test_no_rebalance_is_left_out_or_counted_twice_whichever_runs_read_the_group() -> None:
    made = {f"{seed}": whichever_runs_read(seed) for seed in range(30)}
    strips = Strips({name: text for name, (text, _) in made.items()})
    counted = {n: sum(r or 0 for r in strips.said(n, "group.rebalances")) for n in made}
    assert counted == {name: rose for name, (_, rose) in made.items()}
