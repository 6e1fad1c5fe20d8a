# SPDX-License-Identifier: Apache-2.0
"""Rules on the command line mean and reject the same values as in a configuration."""

from __future__ import annotations

import re

import pytest

from kafka_lag.lag.group_settings import ByName, NameFilter, Rules, Tolerance
from kafka_lag.settings import INTERNAL_TOPICS, settings_of
from kafka_lag_cli.connecting.collect_options import CollectOptions, collect_options_of
from kafka_lag_cli.connecting.rule_options import rules_of
from kafka_lag_cli.show import show
from kafka_lag_cli.watch import watch
from tests.documents import document


def _set(*texts: str) -> list[str]:
    return [part for text in texts for part in ("--set", text)]


def rules(*argv: str, interval: float = 60.0) -> Rules:
    with show.make_context("show", list(argv)) as ctx:
        return rules_of(ctx.params, interval)


def collected(*argv: str, **environ: str) -> CollectOptions:
    """The options of a watcher."""
    call = ["--bootstrap-servers", "b:9092", *argv]
    with watch.make_context("watch", call) as ctx:
        return collect_options_of(ctx.params, ctx.params["interval"], environ)


def test_without_options_the_rules_are_those_of_the_least_document() -> None:
    assert rules() == settings_of(document()).rules


def test_every_option_arrives() -> None:
    result = rules(
        *_set("allowed_lag.^a=b$=5", "allowed_lag.o=1", "uncommitted.late=earliest"),
        *_set("uncommitted.^n.w=apart", "owner.g=12", "sla_seconds.g=1.5", "hold=5", "window=2m"),
        *_set("tolerance.seconds=2.5", "lookup_budget=0", "risk_horizon_hours=1.5"),
        *_set(
            "ignore_inactive=true",
            "delay_seconds.^retry=300",
            "runbook_url.g=https://wiki.example.com/g",
        ),
        interval=30,
    )
    assert result == Rules(
        interval_ms=30_000,
        window_ms=120_000,
        uncommitted=ByName.of([("late", "earliest"), ("^n.w", "apart")]),
        allowed_lag=ByName.of([("^a=b$", 5), ("o", 1)]),
        owners=ByName.of([("g", "12")]),
        runbooks=ByName.of([("g", "https://wiki.example.com/g")]),
        sla_seconds=ByName.of([("g", 1.5)]),
        delay_seconds=ByName.of([("^retry", 300)]),
        hold=5,
        tolerance=Tolerance(floor_ms=2500),
        lookup_budget=0,
        risk_horizon_ms=5_400_000,
        ignore_inactive=True,
        topics=NameFilter(None, re.compile(INTERNAL_TOPICS)),
    )


def test_the_watcher_takes_them_with_its_own_filters_and_interval() -> None:
    call = ("--interval", "30", "--set", "groups.allow=g", *_set("allowed_lag.o=1", "window=10m"))
    result = collected(*call).settings.rules
    assert (result.interval_ms, result.window_ms) == (30_000, 600_000)
    assert result.groups.accepts("group")
    assert not result.groups.accepts("team")
    assert result.allowed_lag.get("orders") == 1
    assert result.topics == settings_of(document()).rules.topics
    assert rules("--set", "topics.allow=^a=b$").topics.accepts("a=b")


@pytest.mark.parametrize(
    ("interval", "seconds"), [("15", 600), ("200", 600), ("201", 603), ("10000", 30_000)]
)
def test_without_a_window_it_is_ten_minutes_or_three_intervals(interval: str, seconds: int) -> None:
    assert collected("--interval", interval).settings.rules.window_ms == seconds * 1_000
