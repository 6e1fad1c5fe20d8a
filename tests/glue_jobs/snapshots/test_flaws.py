# SPDX-License-Identifier: Apache-2.0
"""The verdict on one object, by its name and footer."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_lag import contract
from kafka_lag_report.errors import DataError
from kafka_lag_report.read_snapshots import MAJOR, Run, find_flaw
from kafka_lag_report.schemas import SNAPSHOTS
from kafka_lag_report.storage import VERSION_KEY, Footer
from tests.glue_jobs.days import NOON

RUN = Run("s3://b/snapshots/x.parquet", "hour=12/x.parquet", 9, NOON)
PARQUET = {
    "string": "string",
    "bigint": "int64",
    "int": "int32",
    "double": "double",
    "boolean": "bool",
    "timestamp": "timestamp[ms, tz=UTC]",
    "array<int>": "list<int32>",
    "array<double>": "list<double>",
}

# What each version that was released added to the one before, by dataset; of 1 all it had.
RELEASED = json.loads((Path(__file__).parent / "released_columns.json").read_text())


def number(version: str) -> tuple[int, int]:
    major, _, minor = version.partition(".")
    return int(major), int(minor or 0)


def since(dataset: str) -> dict[str, tuple[int, int]]:
    """The version that each released column came with."""
    return {name: number(v) for v, added in RELEASED.items() for name in added.get(dataset, ())}


def footer(
    dataset: str = "groups", version: str | None = contract.SCHEMA_VERSION, **types: str | None
) -> Footer:
    """A whole one, but for columns of other types; null takes a column away."""
    kinds = {field.name: PARQUET[field.dataType.simpleString()] for field in SNAPSHOTS[dataset]}
    columns = {name: kind for name, kind in {**kinds, **types}.items() if kind}
    return Footer(version, 1, columns)


def test_the_version_and_its_key_are_the_collectors() -> None:
    major = contract.SCHEMA_VERSION.partition(".")[0]
    assert (VERSION_KEY, str(MAJOR)) == (contract.SCHEMA_VERSION_KEY, major)


@pytest.mark.parametrize("dataset", contract.DATASETS)
def test_a_released_column_stays_and_a_new_one_has_a_new_version(dataset: str) -> None:
    released, columns = since(dataset), set(contract.COLUMNS[dataset])
    assert set(released) <= columns
    if columns - set(released):
        assert number(contract.SCHEMA_VERSION) > max(map(number, RELEASED))


@pytest.mark.parametrize("version", ["2.1", "2.2", "2.10", "2.999"])
def test_any_minor_version_is_read(version: str) -> None:
    assert find_flaw("groups", RUN, footer(version=version)) is None


@pytest.mark.parametrize("dataset", contract.DATASETS)
def test_a_file_of_an_older_version_may_lack_columns_and_one_of_this_version_none(
    dataset: str,
) -> None:
    newest = {n: None for n, v in since(dataset).items() if v > (2, 0)} or {"unread_reason": None}
    assert find_flaw(dataset, RUN, footer(dataset, "2.0", **newest)) is None
    assert "is missing" in (find_flaw(dataset, RUN, footer(dataset, **newest)) or "")


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (None, "not a Parquet file, or a damaged one"),
        (footer(version=None), "its metadata has no version number kafka_lag_schema_version"),
        (footer(version="new"), "its metadata has no version number"),
        (footer(version="0"), "its metadata has no version number"),
        (footer(version="2."), "its metadata has no version number"),
        (footer(version="2.1.1"), "its metadata has no version number"),
        (footer(status_since=None), "column status_since is missing"),
        (footer(version="1", consumer_group=None), "groups: column consumer_group is missing"),
        (footer("group_partitions"), "not a snapshot of groups: column owner is missing"),
        (footer(lag="string"), "column lag is string and should be bigint"),
        (footer(lag="int32"), "column lag is int32 and should be bigint"),
        (footer(taken_at="timestamp[ms]"), "column taken_at is timestamp[ms] and"),
        (footer(version="1", status_since="double"), "column status_since is double"),
    ],
)
def test_a_flaw_is_put_in_words(found: Footer | None, words: str) -> None:
    assert words in (find_flaw("groups", RUN, found) or "")


def test_a_name_of_no_run_is_a_flaw_whatever_is_inside() -> None:
    assert "its name" in (find_flaw("groups", replace(RUN, taken_at=None), footer()) or "")


def test_a_newer_version_asks_for_a_newer_job() -> None:
    sentence = "x.parquet is of schema version 3 and this job reads up to 2.x; deploy"

    with pytest.raises(DataError, match=sentence):
        find_flaw("groups", RUN, footer(version="3"))
