# SPDX-License-Identifier: Apache-2.0
"""All constructs of storage in one stack, synthesised once for all tests."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aws_cdk import App, Stack

from kafka_lag_cdk.athena import make_athena
from kafka_lag_cdk.bucket import DataBucket
from kafka_lag_cdk.notifications import Topics
from kafka_lag_cdk.packaging import glue_package
from kafka_lag_cdk.report_job import DailyReport
from kafka_lag_config.shared import Athena, Keep, Notify, Report
from tests.infra.resolve import of_type, resolve

# Names that a projection must take as they are: a dot, capitals, an underscore.
CLUSTERS = ("orders", "Shop.EU_west-1")
KEEP = Keep(snapshot_days=20, history_days=300, report_days=100)
SCAN_LIMIT_GB = 10


def synthesised(build: Callable[[Stack], object]) -> dict[str, Any]:
    """The template of a stack that holds what `build` puts into it."""
    app = App()
    stack = Stack(app, "Storage")
    build(stack)
    template: dict[str, Any] = app.synth().get_stack_by_name("Storage").template
    return template


def report(stack: Stack, data: DataBucket, **changes: Any) -> DailyReport:
    topics = Topics(stack, "Alarms", name="kafka-lag", notify=Notify())
    with tempfile.TemporaryDirectory() as folder:
        return DailyReport(
            stack,
            "DailyReport",
            bucket=data.bucket,
            report=Report(**changes),
            keep=Keep(),
            package=glue_package(Path(folder)),
            topics=topics,
            name="kafka-lag",
        )


def _everything(stack: Stack) -> None:
    data = DataBucket(stack, "Data", keep=KEEP)
    make_athena(
        stack,
        bucket=data.bucket,
        clusters=CLUSTERS,
        keep=KEEP,
        settings=Athena(scan_limit_gb=SCAN_LIMIT_GB),
        name="kafka-lag",
    )
    report(stack, data)


@functools.cache
def template() -> dict[str, Any]:
    return synthesised(_everything)


@functools.cache
def resources() -> dict[str, dict[str, Any]]:
    """By logical id, with every reference answered."""
    return resolve(template())


def only(kind: str) -> dict[str, Any]:
    """The properties of the only resource of a type."""
    (found,) = of_type(resources(), kind).values()
    return found


def tables() -> dict[str, dict[str, Any]]:
    """What Glue gets of each table, by name."""
    inputs = (table["TableInput"] for table in of_type(resources(), "AWS::Glue::Table").values())
    return {table["Name"]: table for table in inputs}
