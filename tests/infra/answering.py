# SPDX-License-Identifier: Apache-2.0
"""Shared parts with views and messages of every kind, each in a stack, synthesised once."""

from __future__ import annotations

import functools
import tempfile
from functools import partial
from typing import Any

from aws_cdk import App, Environment, Stack, Validations
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk.cx_api import CloudAssembly
from cdk_nag import AwsSolutionsChecks

from kafka_lag_cdk.bucket import DataBucket
from kafka_lag_cdk.config.shared import Shared
from kafka_lag_cdk.lag_reports import LagReports
from kafka_lag_cdk.notifications import Topics
from kafka_lag_cdk.status_function import StatusNotifier
from kafka_lag_cdk.views_function import LagViews
from tests.infra.code import SMALL_PACKAGE
from tests.infra.configured import deployment
from tests.infra.notify.notified import NOTIFY
from tests.infra.resolve import ACCOUNT, REGION, of_type, resolve

THEIRS = "our-own-bucket"

_CHATS = {"slack": [NOTIFY.slack[0].model_dump()]}
_KINDS: dict[str, dict[str, Any]] = {
    "off": {"views": "off", "status_messages": "off"},
    "plain": {"views": {}, "status_messages": {}, "existing_buckets": {REGION: THEIRS}},
    "full": {
        "views": {"auth": "bearer", "memory_mb": 1024, "concurrency": 3, "log_days": 30},
        "status_messages": {"alone": True, "memory_mb": 256, "event_bus": "ours"},
        "notify": {"recovered": False, **_CHATS},
    },
    "bus": {"status_messages": {"topic": False}},
    "topic": {"status_messages": {"event_bus": None}},
}
_WHOLE = ("off", "full")


@functools.cache
def _assembly() -> CloudAssembly:
    """Synthesis fails where cdk-nag finds what is not explained."""
    app = App(outdir=tempfile.mkdtemp())
    for kind, shared in _KINDS.items():
        _stack(app, kind, deployment(shared=shared).shared)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    return app.synth()


def _stack(app: App, kind: str, shared: Shared) -> None:
    stack = Stack(app, kind, env=Environment(account=ACCOUNT, region=REGION))
    if kind in _WHOLE:
        LagReports(stack, "Reports", clusters=["orders"], settings=shared, package=SMALL_PACKAGE)
    else:
        _alone(stack, shared, watched=kind != "topic")


def _alone(stack: Stack, shared: Shared, watched: bool) -> None:
    """Without the catalog and the daily report, which take their time."""
    theirs = shared.existing_buckets.get(REGION)
    existing = s3.Bucket.from_bucket_name(stack, "Theirs", theirs.name) if theirs else None
    bucket = DataBucket(
        stack, "Data", keep=shared.keep, existing=existing, sends_events=True
    ).bucket
    code = partial(lambda_.Code.from_asset, str(SMALL_PACKAGE))
    if shared.views:
        LagViews(stack, "Views", views=shared.views, bucket=bucket, code=code())
    if shared.status_messages:
        StatusNotifier(
            stack,
            "StatusMessages",
            settings=shared.status_messages,
            bucket=bucket,
            topics=Topics(stack, "Alarms", name="kafka-lag", notify=shared.notify),
            code=code(),
            silence=watched,
        )


@functools.cache
def template(kind: str) -> dict[str, Any]:
    """As synthesised: references are what some tests follow."""
    found: dict[str, Any] = _assembly().get_stack_by_name(kind).template
    return found


@functools.cache
def resources(kind: str) -> dict[str, dict[str, Any]]:
    """By logical id, with every reference answered."""
    return resolve(template(kind))


def only(kind: str, type_name: str, having: str = "") -> dict[str, Any]:
    """The properties of the one resource of a type, whose logical id holds `having`."""
    found = of_type(resources(kind), f"AWS::{type_name}")
    (one,) = (each for name, each in found.items() if having in name)
    return one


def rights(kind: str, having: str) -> set[tuple[str, str]]:
    """Action and resource of all that the role of a construct may do; none has more policies."""
    statements = only(kind, "IAM::Policy", having)["PolicyDocument"]["Statement"]
    assert {each["Effect"] for each in statements} == {"Allow"}
    return {
        (action, resource)
        for statement in statements
        for action in _many(statement["Action"])
        for resource in _many(statement["Resource"])
    }


def _many(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]
