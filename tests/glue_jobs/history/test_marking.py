# SPDX-License-Identifier: Apache-2.0
"""Which objects may expire: those whose rows were read into the history, and no others."""

from dataclasses import replace
from typing import Any

import pytest

from kafka_lag_report.history.marking import mark_compacted
from kafka_lag_report.schemas import SNAPSHOTS
from kafka_lag_report.storage.snapshots import Day, Run
from kafka_lag_report.storage.snapshots.day import FROM_HISTORY, FROM_SNAPSHOTS
from tests.glue_jobs.days import NOON

GOOD, BAD = "hour=12/20260131T120000Z-0of1.parquet", "hour=12/20260131T120100Z-0of1.parquet"


def a_day(root: str = "s3://lag/snapshots") -> Day:
    """A compacted day of one cluster, with a good object and a bad one of each dataset."""
    runs = {
        (dataset, "demo"): tuple(
            Run(f"{root}/{dataset}/cluster=demo/dt=2026-01-31/{name}", name, 1, NOON)
            for name in (GOOD, BAD)
        )
        for dataset in SNAPSHOTS
    }
    return Day(
        root=root,
        history="s3://lag/history",
        date=NOON.date(),
        in_progress=False,
        clusters={"demo": "cluster=demo"},
        absent={},
        sources={"demo": FROM_SNAPSHOTS},
        runs=runs,
        flaws={run.path: "damaged" for found in runs.values() for run in found if run.name == BAD},
        compacted=True,
    )


@pytest.fixture(name="client")
def _client(s3: Any) -> Any:
    """S3 with that day's objects."""
    for found in a_day().runs.values():
        for run in found:
            s3.put_object(Bucket="lag", Key=run.path.removeprefix("s3://lag/"))
    return s3


def tagged(client: Any) -> set[str]:
    keys = [each["Key"] for each in client.list_objects_v2(Bucket="lag")["Contents"]]
    return {k for k in keys if client.get_object_tagging(Bucket="lag", Key=k)["TagSet"]}


def test_what_was_read_into_the_history_is_tagged_and_what_was_left_out_is_not(
    client: Any,
) -> None:
    mark_compacted(a_day(), lambda: client)

    found = tagged(client)
    assert {key.rpartition("hour")[2] for key in found} == {GOOD.removeprefix("hour")}
    assert len(found) == len(SNAPSHOTS)


@pytest.mark.parametrize(
    "day",
    [
        replace(a_day(), compacted=False),
        replace(a_day(), sources={"demo": FROM_HISTORY}),
        a_day("/lag/snapshots"),
    ],
    ids=["not compacted", "read from its history alone", "on a disk"],
)
def test_nothing_else_is_tagged(day: Day, client: Any) -> None:
    mark_compacted(day, lambda: client)

    assert tagged(client) == set()
