# SPDX-License-Identifier: Apache-2.0
"""A terminal that is drawn again, run after run."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from kafka_lag.errors import SourceError
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import NameFilter, Rules
from kafka_lag.lag.model import LagReport, Snapshot
from kafka_lag_cli.schedule import Run
from kafka_lag_cli.terminal.group_rows import Selection
from kafka_lag_cli.watch import WatchView
from tests.builders import NOON
from tests.cli.snapshots import a_group, a_partition, a_snapshot_of
from tests.golden import Golden

NOW = NOON / 1000


def a_run(snapshot: Snapshot, seconds: float = 0.4) -> Run:
    nothing = Frame({}, 0)
    return Run(LagReport(snapshot, nothing, nothing, 0, 0, ()), None, seconds, round(NOW) + 60)


def a_view(*snapshots: Snapshot, **more: Any) -> WatchView:
    """Of these runs; the next is due in 42.5 seconds."""
    selection, rules = more.pop("selection", Selection()), more.pop("rules", Rules())
    view = WatchView(selection, rules, cluster="shop", due=NOW + 42.5, clock=lambda: NOW, **more)
    for snapshot in snapshots:
        view.add_run(a_run(snapshot))
    return view


def lines_of(view: WatchView, width: int = 120, height: int = 40) -> list[str]:
    out = StringIO()
    Console(file=out, width=width, height=height, force_terminal=True, color_system=None).print(
        view
    )
    return [line.rstrip() for line in out.getvalue().splitlines()]


def lags(*values: int | None) -> list[Snapshot]:
    return [a_snapshot_of(a_group("g", lag=value)) for value in values]


def test_a_terminal_shows_the_newest_run_and_how_it_came_so_far(golden: Golden) -> None:
    statuses = ["OK", "ERR", None, "OK", "WARN", "OK", None]
    groups = [a_group(f"g{n}", status=status, lag=n) for n, status in enumerate(statuses)]
    parts = tuple(a_partition("g1", "t", n, unread_reason=why) for n, why in enumerate("ab"))
    begun = WatchView(Selection(), Rules(), cluster="shop", clock=lambda: NOW)
    full = a_view(*lags(0, 1_400), a_snapshot_of(*groups, partitions=parts))
    for number in range(6):
        full.warning(f"warning {number}")
    detailed = a_view(a_snapshot_of(*groups, partitions=parts), selection=Selection(group="g1"))
    there, gone = a_snapshot_of(a_group("g\x1b")), a_snapshot_of(a_group("h"))
    missing = a_view(there, gone, selection=Selection(group="g\x1b"))
    deny = Rules(groups=NameFilter(deny=re.compile("^x")))
    golden.holds_cases(
        "watch.txt",
        {
            name: "\n".join(lines_of(view, 100, 20))
            for name, view in {
                "before the first run": begun,
                "groups, and the last warnings": full,
                "one group": detailed,
                "a group that vanished": missing,
                "no group": a_view(a_snapshot_of()),
                "no group by filters": a_view(a_snapshot_of(), rules=deny),
            }.items()
        },
    )


@pytest.mark.parametrize(
    ("due", "words"),
    [(60.0, "next run in 60 s"), (0.2, "next run in 1 s"), (0.0, "reading"), (-3.0, "reading")],
)
def test_the_next_run_is_counted_down_to(due: float, words: str) -> None:
    view = a_view(a_snapshot_of(a_group("g")))
    view.due = NOW + due
    assert words in view.heading().plain


@pytest.mark.parametrize(
    ("values", "trend"),
    [
        ((1_000, 500, 0), "lag 0 █▅▁"),
        ((0, 1_400), "lag 1,400 ▁█"),
        ((1, 2, 3, 4, 5, 6, 7), "lag 7 ▂▃▄▅▆▇█"),
        ((1, 1_000_000), "lag 1,000,000 ▁█"),
        ((7, None, 7), "lag 7 █ █"),
        ((7, None), "lag ? █"),
        ((0, 0), "next run in 43 s"),
        ((None, 0), "next run in 43 s"),
        (tuple(range(100)), f"lag 99 {'▆' * 8}{'▇' * 14}{'█' * 8}"),
    ],
    ids=str,
)
def test_the_trend_of_the_last_runs_has_a_gap_where_nothing_is_known(
    values: tuple[int | None, ...], trend: str
) -> None:
    assert a_view(*lags(*values)).heading().plain.rstrip().endswith(f" · {trend}")


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"lag": 6}, "lag 13 "),
        ({"group_type": "share", "lag": None, "partitions": 0}, "lag 7 "),
        ({"lag": None}, "lag ? "),
        ({"partitions_unknown": 1}, "lag ? "),
    ],
    ids=str,
)
def test_the_lag_of_a_run_is_the_sum_of_all_that_have_one_unless_it_lacks_a_part(
    other: dict[str, Any], expected: str
) -> None:
    now = a_snapshot_of(a_group("g", lag=7), a_group("h", **other))
    assert expected in a_view(lags(7)[0], now).heading().plain


def test_a_group_that_the_status_leaves_out_is_still_there() -> None:
    chosen = Selection(group="g", statuses=frozenset({"ERR"}))
    view = a_view(a_snapshot_of(a_group("g")), selection=chosen)
    assert not [line for line in lines_of(view) if "There is no group" in line]


def test_a_run_that_failed_leaves_what_was_seen_before() -> None:
    view = a_view(*lags(5))
    before = lines_of(view)
    view.add_run(Run(None, SourceError("gone"), 1.0, 0))
    assert lines_of(view) == before


@pytest.mark.parametrize("height", [10, 15, 24, 50])
@pytest.mark.parametrize("warnings", [0, 4])
@pytest.mark.parametrize("group", [None, "group-000"])
def test_it_is_no_higher_than_the_terminal_and_counts_what_has_no_room(
    height: int, warnings: int, group: str | None
) -> None:
    groups = (a_group(f"group-{n:03}", lag=n) for n in range(100))
    parts = tuple(a_partition("group-000", "orders", n, status="OK") for n in range(60))
    view = a_view(a_snapshot_of(*groups, partitions=parts), selection=Selection(group=group))
    for number in range(warnings):
        view.warning(f"a warning with a number, {number}")
    lines = lines_of(view, height=height)
    # One group is always shown, and all warnings.
    assert len(lines) <= max(height, 9 + warnings + 6 * bool(group))
    assert sum("a warning" in line for line in lines) == warnings
    shown = sum("group-" in line or "orders" in line for line in lines)
    total = 60 + 1 if group else 100
    assert any(f"and {total - shown} more" in line for line in lines)


@pytest.mark.parametrize(("top", "shown"), [(3, 3), (1_000, 4)])
def test_no_more_are_shown_than_wanted_nor_than_there_is_room_for(top: int, shown: int) -> None:
    groups = a_snapshot_of(*(a_group(f"group-{n}") for n in range(9)))
    lines = lines_of(a_view(groups, selection=Selection(top=top)), height=12)
    assert sum("group-" in line for line in lines) == shown


def test_a_group_that_vanished_may_come_back() -> None:
    there, gone = a_snapshot_of(a_group("g")), a_snapshot_of(a_group("h"))
    view = a_view(there, gone, selection=Selection(group="g"))
    view.add_run(a_run(there))
    assert not any("There is no group" in line for line in lines_of(view))


@pytest.mark.parametrize("name", ["a\x1b[2Jb", "a\nb", "[red]x[/]", "a\u202eb"])
def test_names_can_neither_break_a_line_nor_move_the_cursor(name: str) -> None:
    view = a_view(a_snapshot_of(a_group(name)))
    view.cluster = name
    view.warning(f"group {name!s} not read")
    lines = lines_of(view)
    assert not any(line and not line.isprintable() for line in lines)
    assert sum("not read" in line for line in lines) == 1
    if name.startswith("["):
        assert sum(name in line for line in lines) == 3


def test_a_long_warning_takes_one_line() -> None:
    view = a_view(a_snapshot_of(a_group("g")))
    before = len(lines_of(view, width=60))
    view.warning("long " * 100)
    assert len(lines_of(view, width=60)) == before + 1
