# SPDX-License-Identifier: Apache-2.0
"""The rules on a command line mean and reject what they do in a configuration document."""

from __future__ import annotations

import click
import pytest

from kafka_lag.lag.group_settings import ByName, Rules, Tolerance
from kafka_lag.settings import settings_of
from kafka_lag_cli.connecting.collect_options import CollectOptions, collect_options_of
from kafka_lag_cli.connecting.rule_options import rules_of
from kafka_lag_cli.show import show
from kafka_lag_cli.watch import watch
from tests.documents import document


def rules(*argv: str, interval: float = 60.0) -> Rules:
    with show.make_context("show", list(argv)) as ctx:
        return rules_of(ctx.params, interval)


def collected(*argv: str, **environ: str) -> CollectOptions:
    """The options of a watcher."""
    call = ["--bootstrap-servers", "b:9092", *argv]
    with watch.make_context("watch", call) as ctx:
        return collect_options_of(ctx.params, ctx.params["interval"], environ)


def test_without_options_the_rules_are_those_of_the_least_document() -> None:
    assert rules() == Rules()
    least = settings_of(document(topics={"deny": None})).rules
    assert rules() == least


def test_every_option_arrives() -> None:
    result = rules(
        *("--allowed-lag", "^a=b$=5", "--allowed-lag", "o=1", "--uncommitted-earliest", "late"),
        *("--uncommitted-earliest", "^new", "--owned-by", "g=pay ments", "--sla-seconds", "g=1.5"),
        *("--hold", "5", "--window", "2m", "--tolerance", "2.5", "--lookup-budget", "0"),
        *("--risk-horizon", "1.5", "--ignore-inactive"),
        interval=30,
    )
    assert result == Rules(
        interval_ms=30_000,
        window_ms=120_000,
        uncommitted=ByName.of([("late", "earliest"), ("^new", "earliest")]),
        allowed_lag=ByName.of([("^a=b$", 5), ("o", 1)]),
        owners=ByName.of([("g", "pay ments")]),
        sla_seconds=ByName.of([("g", 1.5)]),
        hold=5,
        tolerance=Tolerance(floor_ms=2500),
        lookup_budget=0,
        risk_horizon_ms=5_400_000,
        ignore_inactive=True,
    )


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (["--hold", "0"], "'--hold': '0': Input should be greater than or equal to 1"),
        (["--hold", "1.5"], "'--hold': '1.5' is not a whole number"),
        (["--tolerance", "soon"], "--tolerance': 'soon' is not a number"),
        (["--tolerance", "nan"], "--tolerance': 'nan': Input should be a finite number"),
        (["--tolerance", "0"], "--tolerance': '0': Input should be greater than or equal to 0.001"),
        (["--lookup-budget", "-1"], "--lookup-budget': '-1': Input should be greater than or"),
        (["--risk-horizon", "0"], "--risk-horizon': '0': Input should be greater than 0"),
        (["--allowed-lag", "orders"], "--allowed-lag': 'orders' must be RE=N"),
        (["--allowed-lag", "orders=-1"], "'orders=-1': Input should be greater than or equal to 0"),
        (["--allowed-lag", "(=1"], "--allowed-lag': '(=1': is not a regular expression"),
        (["--allowed-lag", "o=many"], "--allowed-lag': 'many' is not a whole number"),
        (["--sla-seconds", "g=0"], "--sla-seconds': 'g=0': Input should be greater than 0"),
        (["--owned-by", "g="], "--owned-by': 'g=': length must be between 1 and 256"),
        (["--uncommitted-earliest", "("], "--uncommitted-earliest': '(': is not a regular"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_value_is_rejected_in_one_sentence_that_names_it(
    call: list[str], expected: str
) -> None:
    with pytest.raises(click.BadParameter) as caught:
        rules(*call)
    (line,) = caught.value.format_message().splitlines()
    assert expected in line


def test_the_watcher_takes_them_with_its_own_filters_and_interval() -> None:
    call = ("--interval", "30", "--groups-allow", "g", "--allowed-lag", "o=1", "--window", "10m")
    result = collected(*call).settings.rules
    assert (result.interval_ms, result.window_ms) == (30_000, 600_000)
    assert result.groups.accepts("group")
    assert not result.groups.accepts("team")
    assert result.allowed_lag.get("orders") == 1
    assert result.topics == settings_of(document()).rules.topics


@pytest.mark.parametrize(
    ("interval", "window", "expected"),
    [
        ("60", "10", "is a time and no count of runs: 10 runs at 60 s are 10m, so write 10m"),
        ("15", "10", "is a time and no count of runs: 10 runs at 15 s are 150s, so write 150s"),
        ("60", "soon", "must be a time in seconds, minutes or hours, such as 90s, 10m or 1h"),
        ("60", "179s", "must be at least three intervals, and 179s is less than three of 60 s"),
        ("60", "25h", "must be at most 24h, and is 25h"),
    ],
)
def test_the_watcher_rejects_a_window_that_does_not_fit(
    interval: str, window: str, expected: str
) -> None:
    with pytest.raises(click.UsageError) as caught:
        collected("--interval", interval, "--window", window)
    assert caught.value.message.startswith(f"--window: {expected}")


@pytest.mark.parametrize(
    ("interval", "seconds"), [("15", 600), ("200", 600), ("201", 603), ("10000", 30_000)]
)
def test_without_a_window_it_is_ten_minutes_or_three_intervals(interval: str, seconds: int) -> None:
    assert collected("--interval", interval).settings.rules.window_ms == seconds * 1_000
