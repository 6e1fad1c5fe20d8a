# SPDX-License-Identifier: Apache-2.0
"""What views and messages use: they are paid by requests and events, and rest otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lag_cdk.bill.usage import item, measured
from kafka_lag_cdk.bill.usage.item import Item
from kafka_lag_cdk.bill.usage.runs import runs_per_day
from kafka_lag_cdk.config.cluster import Cluster, Function
from kafka_lag_cdk.config.shared import Shared, StatusMessages, Views

_VIEWS, _MESSAGES = "shared.views", "shared.status_messages"
# Functions of both have it, as their package is that of a collector that is told nothing else.
_GB_SECOND = f"lambda_{Function().architecture}"


def answering(shared: Shared, clusters: tuple[Cluster, ...]) -> Iterator[Item]:
    """Nothing of what is off. Answers leave AWS at the user's price of traffic, not counted."""
    if shared.views:
        yield from _views(shared.views, len(clusters))
    if shared.status_messages:
        runs = sum(map(runs_per_day, clusters)) * measured.DAYS
        yield from _status_messages(shared.status_messages, runs, shared.report.enabled)


def _views(views: Views, clusters: int) -> Iterator[Item]:
    scrapes = measured.SCRAPES_PER_DAY * measured.DAYS
    lists = measured.LISTS_PER_SCRAPE + measured.LISTS_PER_CLUSTER * clusters
    seconds = measured.SCRAPE_SECONDS * clusters
    yield from _function("views", scrapes, seconds, views.memory_mb, _VIEWS)
    kinds = (
        (item.S3, "views: lists", "s3_write", scrapes * lists, f"{lists} a scrape"),
        (item.S3, "views: reads", "s3_read", scrapes * clusters, "1 a scrape and cluster"),
        (item.SECRETS, "token of views", "secret", float(views.auth == "bearer"), "a region"),
    )
    for service, what, price, quantity, basis in kinds:
        if quantity:
            yield Item(service, what, price, quantity=quantity, basis=basis, lever=_VIEWS)


def _status_messages(settings: StatusMessages, runs: float, compacted: bool) -> Iterator[Item]:
    """Runs a month of all clusters; `compacted` objects are deleted later."""
    objects, channels = measured.OBJECTS_PER_RUN, settings.topic + (settings.event_bus is not None)
    events = objects * (2 if compacted else 1) + channels
    yield from _function("messages", runs, measured.NOTIFY_SECONDS, settings.memory_mb, _MESSAGES)
    kinds = (
        (item.EVENTS, "of the bucket", "event", events, "whatever happens to an object"),
        (item.S3, "messages: writes", "s3_write", channels, "the cursors"),
        (item.S3, "messages: lists", "s3_write", channels, "the hour, of each channel"),
        (item.S3, "messages: reads", "s3_read", 1 + channels, "snapshot and cursors"),
    )
    for service, what, price, a_run, basis in kinds:
        yield Item(
            service,
            what,
            price,
            quantity=runs * a_run,
            basis=f"{a_run} a run: {basis}",
            lever=_MESSAGES,
        )
    yield Item(
        item.ALARMS, "of messages", "alarm_metric", quantity=2, basis="a region", lever=_MESSAGES
    )


def _function(what: str, calls: float, seconds: float, memory: int, lever: str) -> Iterator[Item]:
    written = calls * measured.RUN_LOG / measured.GB
    kinds = (
        (item.LAMBDA, "time", _GB_SECOND, calls * seconds * memory / 1024, f"{seconds:.2f} s each"),
        (item.LAMBDA, "requests", "lambda_request", calls, f"{memory:,} MB"),
        (item.LOGS, "ingestion", "log_ingestion", written, f"{measured.RUN_LOG} bytes each"),
    )
    for service, kind, price, quantity, basis in kinds:
        yield Item(service, f"{what}: {kind}", price, quantity=quantity, basis=basis, lever=lever)
