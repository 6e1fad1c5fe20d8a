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
        (["--hold", "0"], "'--hold': '0': must be greater than or equal to 1 and"),
        (["--hold", "1.5"], "'--hold': '1.5' is not a whole number"),
        (["--window", "1001"], "--window: is a time and no count of runs: 1001 runs at 60 s are 1001m"),
        (["--window", "soon"], "--window: must be a time in seconds, minutes or hours"),
        (["--window", "2m"], "--window: must be at least three intervals"),
        (["--tolerance", "soon"], "--tolerance': 'soon' is not a number"),
        (["--tolerance", "nan"], "--tolerance': 'nan': must be a number"),
        (["--tolerance", "0"], "--tolerance': '0': must be greater than or equal to 0.001"),
        (["--lookup-budget", "-1"], "--lookup-budget': '-1': must be greater than or equal to 0"),
        (["--risk-horizon", "0"], "--risk-horizon': '0': must be greater than 0 and"),
        (["--allowed-lag", "orders"], "--allowed-lag': 'orders' must be RE=N"),
        (["--allowed-lag", "orders=-1"], "'orders=-1': must be greater than or equal to 0"),
        (["--allowed-lag", "(=1"], "--allowed-lag': '(=1': is not a regular expression"),
        (["--allowed-lag", "o=many"], "--allowed-lag': 'many' is not a whole number"),
        (["--sla-seconds", "g=0"], "--sla-seconds': 'g=0': must be greater than 0 and"),
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


def test_the_watcher_rejects_a_window_longer_than_a_day() -> None:
    with pytest.raises(click.UsageError, match="--window: must be at most 24 hours of intervals"):
        collected("--interval", "10000")
