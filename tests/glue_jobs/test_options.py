# SPDX-License-Identifier: Apache-2.0
"""The command line."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from kafka_lag_report.errors import UsageError
from kafka_lag_report.options import parse
from kafka_lag_report.schemas import REPORTS

PLACES = ["--input", "in", "--output", "out"]


def just_after_midnight() -> datetime:
    return datetime(2026, 3, 1, 0, 5, tzinfo=UTC)


# What is given; what is meant by it.
GIVEN: list[tuple[str, dict[str, Any]]] = [
    ("", {"dates": (date(2026, 2, 28),), "scheduled": True, "clusters": (), "history": True}),
    ("", {"topic_arn": None, "always_summarise": False, "timings": False, "snapshot_days": None}),
    ("--date 2026-03-01", {"dates": (date(2026, 3, 1),), "scheduled": False}),
    (
        "--date 2026-02-27 --until 2026-03-01",
        {"dates": (date(2026, 2, 27), date(2026, 2, 28), date(2026, 3, 1))},
    ),
    ("--cluster a b a", {"clusters": ("a", "b")}),
    ("--cluster a --cluster b,c d", {"clusters": ("a", "b", "c", "d")}),
    ("--no-history", {"history": False}),
    ("--no-history False", {"history": True}),
    ("--no-history=yes --timings 1", {"history": False, "timings": True}),
    ("--topic-arn= --summary changes", {"topic_arn": None}),
    ("--topic-arn arn:aws-cn:sns:cn:1:lag", {"topic_arn": "arn:aws-cn:sns:cn:1:lag"}),
    ("--summary always", {"always_summarise": True}),
    ("--snapshot-days 8", {"snapshot_days": 8}),
]


@pytest.mark.parametrize(("given", "meant"), GIVEN)
def test_what_is_given_is_meant(given: str, meant: dict[str, Any]) -> None:
    options = parse([*PLACES, *given.split()], just_after_midnight)

    assert {name: getattr(options, name) for name in meant} == meant


def test_a_range_may_be_a_leap_year() -> None:
    given = [*PLACES, "--date", "2024-01-01", "--until", "2024-12-31"]

    assert len(parse(given, just_after_midnight).dates) == 366


def test_yesterday_is_yesterday_in_utc_wherever_the_clock_is() -> None:
    tokyo = timezone(timedelta(hours=9))
    morning = datetime(2026, 3, 1, 8, 0, tzinfo=tokyo)

    assert parse(PLACES, lambda: morning).dates == (date(2026, 2, 27),)


def test_options_that_glue_adds_are_named_and_ignored() -> None:
    options = parse([*PLACES, "--JOB_NAME", "daily", "--in", "x", "--k=v"], just_after_midnight)

    assert options.ignored == ("--JOB_NAME", "--in", "--k")
    assert options.input == "in"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("s3://b/x/", "s3://b/x"),
        ("s3://b//x/./y/../z", "s3://b/x/z"),
        ("s3://b/", "s3://b"),
        ("file:///a//b", "file:///a/b"),
        ("out/", "out"),
    ],
)
def test_an_address_may_be_written_loosely(written: str, meant: str) -> None:
    options = parse(["--input", written, "--output", written], just_after_midnight)

    assert (options.input, options.output) == (meant, meant)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (["--input", "in"], "--output"),
        ([*PLACES, "--date", "2026-02-30"], "'2026-02-30' is not a date"),
        ([*PLACES, "--date", "20260228"], "'20260228' is not a date"),
        ([*PLACES, "--date", "2026-W09-6"], "'2026-W09-6' is not a date"),
        ([*PLACES, "--cluster"], "--cluster"),
        ([*PLACES, "--cluster", "a,"], "'a,' contains an empty name"),
        ([*PLACES, "--date", "2026-03-02"], "2026-03-02 is in the future: today is 2026-03-01"),
        ([*PLACES, "--until", "2026-02-01"], "--until needs --date"),
        (
            [*PLACES, "--date", "2026-02-02", "--until", "2026-02-01"],
            "--until 2026-02-01 lies before --date 2026-02-02",
        ),
        (
            [*PLACES, "--date", "2026-02-02", "--until", "2026-03-02"],
            "2026-03-02 is in the future",
        ),
        ([*PLACES, "--date", "2025-01-01", "--until", "2026-01-02"], "are 367 days; ask for 366"),
        ([*PLACES, "--no-history", "maybe"], "'maybe' is neither true nor false"),
        ([*PLACES, "--topic-arn", "lag"], "'lag' is not the ARN of an SNS topic"),
        ([*PLACES, "--summary", "never"], "--summary"),
        (["--input", "", "--output", "out"], "'' is not a folder"),
    ],
)
def test_a_wrong_argument_is_named(given: list[str], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse(given, just_after_midnight)


def test_help_names_every_report(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        parse(["--help"], just_after_midnight)

    said = capsys.readouterr().out
    assert end.value.code == 0
    assert [name for name in REPORTS if name not in said] == []
    assert "s3://" in said


@pytest.mark.parametrize("days", ["7", "0", "-1", "few", ""])
def test_days_that_collectors_look_back_cannot_be_deleted(days: str) -> None:
    with pytest.raises(UsageError, match=r"--snapshot-days: .* is not a number of days, 8 or more"):
        parse([*PLACES, f"--snapshot-days={days}"], just_after_midnight)
