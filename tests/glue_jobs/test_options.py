# SPDX-License-Identifier: Apache-2.0
"""The command line."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from glue_jobs.errors import UsageError
from glue_jobs.options import parse

PLACES = ["--input", "in", "--output", "out"]


def just_after_midnight() -> datetime:
    return datetime(2026, 3, 1, 0, 5, tzinfo=UTC)


def test_the_date_is_yesterday_by_default() -> None:
    assert parse(PLACES, just_after_midnight).date == date(2026, 2, 28)


def test_yesterday_is_yesterday_in_utc_wherever_the_clock_is() -> None:
    tokyo = timezone(timedelta(hours=9))
    morning = datetime(2026, 3, 1, 8, 0, tzinfo=tokyo)

    assert parse(PLACES, lambda: morning).date == date(2026, 2, 27)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], ()),
        (["--cluster", "a"], ("a",)),
        (["--cluster", "a", "b", "a"], ("a", "b")),
        (["--cluster", "a", "--cluster", "b"], ("a", "b")),
    ],
)
def test_clusters_may_be_listed_or_repeated(given: list[str], expected: tuple[str, ...]) -> None:
    assert parse([*PLACES, *given], just_after_midnight).clusters == expected


def test_options_that_glue_adds_are_named_and_ignored() -> None:
    options = parse([*PLACES, "--JOB_NAME", "daily", "--in", "x", "--k=v"], just_after_midnight)

    assert options.ignored == ("--JOB_NAME", "--in", "--k")
    assert options.input == "in"


def test_a_slash_at_the_end_of_an_address_changes_nothing() -> None:
    options = parse(["--input", "s3a://b/x/", "--output", "out/"], just_after_midnight)

    assert (options.input, options.output) == ("s3a://b/x", "out")


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (["--input", "in"], "--output"),
        ([*PLACES, "--date", "2026-02-30"], "'2026-02-30' is not a date"),
        ([*PLACES, "--date", "20260228"], "'20260228' is not a date"),
        ([*PLACES, "--date", "2026-W09-6"], "'2026-W09-6' is not a date"),
        ([*PLACES, "--show", "-1"], "--show"),
        ([*PLACES, "--show", "few"], "'few' is not a number"),
        ([*PLACES, "--cluster"], "--cluster"),
        (["--input", "", "--output", "out"], "'' is no place"),
    ],
)
def test_a_wrong_argument_is_named(given: list[str], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse(given, just_after_midnight)


def test_help_names_both_reports(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        parse(["--help"], just_after_midnight)

    said = capsys.readouterr().out
    assert end.value.code == 0
    assert "partition_skew" in said
    assert "retention_risk" in said
