# SPDX-License-Identifier: Apache-2.0
"""What a terminal that is redrawn shows, run after run."""

from __future__ import annotations

import re
from collections import deque
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
from kafka_lag_cli.watch import WatchView, draw_trend
from tests.builders import NOON
from tests.cli.snapshots import a_group, a_partition, a_snapshot_of

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


def heading(*snapshots: Snapshot, **more: Any) -> str:
    return a_view(*snapshots, **more).heading().plain


def lags(*values: int | None) -> list[Snapshot]:
    return [a_snapshot_of(a_group("g", lag=value)) for value in values]


def test_before_the_first_run_it_says_that_it_reads() -> None:
    view = WatchView(Selection(), Rules(), cluster="shop", clock=lambda: NOW)
    assert view.heading().plain == "shop · reading"
    assert "reading the cluster" in lines_of(view)


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (NameFilter(), "the cluster lists no groups"),
        (NameFilter(deny=re.compile("^x")), "no consumer group that the filters allow"),
    ],
)
def test_no_groups_are_the_clusters_or_the_filters(groups: NameFilter, said: str) -> None:
    assert said in "".join(lines_of(a_view(a_snapshot_of(), rules=Rules(groups=groups))))


def test_the_heading_counts_groups_by_status() -> None:
    statuses = ["OK", "ERR", None, "OK", "WARN", "OK", None]
    groups = (a_group(f"g{n}", status=status) for n, status in enumerate(statuses))
    expected = "shop · 7 groups: 1 ERR 1 WARN 3 OK 2 ? · read in 0.4 s · next run in 43 s"
    assert heading(a_snapshot_of(*groups)) == expected


def test_a_status_that_no_group_has_is_not_counted() -> None:
    assert "· 1 group: 1 OK ·" in heading(a_snapshot_of(a_group("g")))
    assert "· 0 groups ·" in heading(a_snapshot_of())


@pytest.mark.parametrize(
    ("reasons", "words"),
    [((None, None), None), (("timeout", None), "1 partition unread"), (("a", "b"), "2 partitions")],
)
def test_the_heading_says_what_could_not_be_read(
    reasons: tuple[str | None, ...], words: str | None
) -> None:
    partitions = tuple(
        a_partition("g", "t", number, unread_reason=reason) for number, reason in enumerate(reasons)
    )
    found = heading(a_snapshot_of(a_group("g"), partitions=partitions))
    assert (" unread" in found) == (words is not None)
    assert (words or "") in found


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
        ((7, None, 7), "lag 7 █ █"),
        ((7, None), "lag ? █"),
    ],
)
def test_the_trend_has_a_gap_where_nothing_is_known(
    values: tuple[int | None, ...], trend: str
) -> None:
    assert heading(*lags(*values)).rstrip().endswith(f" · {trend}")


@pytest.mark.parametrize("values", [(0,), (0, 0), (None,), (None, 0)])
def test_where_there_was_never_a_lag_there_is_no_trend(values: tuple[int | None, ...]) -> None:
    assert "lag" not in heading(*lags(*values))


def test_the_trend_is_of_the_last_runs() -> None:
    view = a_view(*lags(*range(100)))
    trend = view.heading().plain.rpartition(" ")[2]
    assert len(trend) == 30
    assert trend[-1] == "█"


def test_the_lag_of_a_run_is_the_sum_of_all_that_have_one() -> None:
    share = {"group_type": "share", "lag": None}
    groups = a_group("a", lag=5), a_group("b", **share), a_group("c", lag=6)
    assert "lag 11 █" in heading(a_snapshot_of(*groups))


@pytest.mark.parametrize("columns", [{"lag": None}, {"partitions_unknown": 1}])
def test_the_lag_of_a_run_that_lacks_a_part_is_not_known(columns: dict[str, Any]) -> None:
    before, now = lags(7)[0], a_snapshot_of(a_group("g", lag=7), a_group("h", **columns))
    assert "lag ? █" in heading(before, now)


def test_a_group_that_the_status_leaves_out_is_still_there() -> None:
    chosen = Selection(group="g", statuses=frozenset({"ERR"}))
    view = a_view(a_snapshot_of(a_group("g")), selection=chosen)
    assert not [line for line in lines_of(view) if "There is no group" in line]


def test_a_run_that_failed_leaves_what_was_seen_before() -> None:
    view = a_view(*lags(5))
    before = lines_of(view)
    view.add_run(Run(None, SourceError("gone"), 1.0, 0))
    assert lines_of(view) == before


@pytest.mark.parametrize(
    ("values", "bars"),
    [
        ([], ""),
        ([0, 0], "▁▁"),
        ([None, None], "  "),
        ([None, 0, 1], " ▁█"),
        ([1, 2, 3, 4, 5, 6, 7], "▂▃▄▅▆▇█"),
        ([1, 1_000_000], "▁█"),
    ],
    ids=str,
)
def test_bars_go_from_zero_to_the_highest(values: list[int | None], bars: str) -> None:
    assert draw_trend(deque(values)) == bars


@pytest.mark.parametrize("height", [10, 15, 24, 50])
@pytest.mark.parametrize("warnings", [0, 1, 4, 9])
def test_it_is_no_higher_than_the_terminal_and_counts_what_has_no_room(
    height: int, warnings: int
) -> None:
    view = a_view(a_snapshot_of(*(a_group(f"group-{n:03}", lag=n) for n in range(100))))
    for number in range(warnings):
        view.warning(f"a warning with a number, {number}")
    lines = lines_of(view, height=height)
    shown = sum("group-" in line for line in lines)
    # One group is always shown, and all warnings.
    assert len(lines) <= max(height, 9 + min(warnings, 4))
    assert shown >= 1
    assert any(f"and {100 - shown} more" in line for line in lines)


def test_a_terminal_with_room_for_all_counts_nothing() -> None:
    lines = lines_of(a_view(a_snapshot_of(*(a_group(f"g{n}") for n in range(5)))), height=24)
    assert not any(" more" in line for line in lines)


@pytest.mark.parametrize(("top", "shown"), [(3, 3), (1_000, 4)])
def test_no_more_are_shown_than_wanted_nor_than_there_is_room_for(top: int, shown: int) -> None:
    groups = a_snapshot_of(*(a_group(f"group-{n}") for n in range(9)))
    lines = lines_of(a_view(groups, selection=Selection(top=top)), height=12)
    assert sum("group-" in line for line in lines) == shown


def test_a_group_that_was_named_is_shown_in_detail() -> None:
    snapshot = a_snapshot_of(a_group("g"), a_group("h"), partitions=(a_partition("g", "t", 3),))
    text = "\n".join(lines_of(a_view(snapshot, selection=Selection(group="g"))))
    assert "Partitions" in text
    assert "Consumer groups at" not in text


def test_a_group_that_vanished_is_said_to_be_gone_and_may_come_back() -> None:
    there, gone = a_snapshot_of(a_group("g\x1b")), a_snapshot_of(a_group("h"))
    view = a_view(there, gone, selection=Selection(group="g\x1b"))
    assert "There is no group g\\x1b in this run." in lines_of(view)
    view.add_run(a_run(there))
    assert not any("There is no group" in line for line in lines_of(view))


def test_the_last_warnings_are_shown_with_their_time() -> None:
    view = a_view(a_snapshot_of(a_group("g")))
    for number in range(6):
        view.warning(f"warning {number}")
    shown = [line for line in lines_of(view) if "warning" in line]
    assert shown == [f"12:00:00 warning {number}" for number in (2, 3, 4, 5)]


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


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("group", [None, "g00"])
def test_what_is_drawn_fits_the_terminal_and_says_how_much_does_not(
    width: int, group: str | None
) -> None:
    groups = [a_group(f"g{n:02}") for n in range(40)]
    parts = tuple(a_partition("g00", "orders", n, status="OK") for n in range(60))
    view = a_view(a_snapshot_of(*groups, partitions=parts), selection=Selection(group=group))
    view.warning("the newest warning")
    lines = lines_of(view, width, 24)
    assert len(lines) <= 24
    assert any(line.strip().startswith("and ") and "more" in line for line in lines)
    assert any("the newest warning" in line for line in lines)
