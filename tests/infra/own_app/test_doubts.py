# SPDX-License-Identifier: Apache-2.0
"""What an app says and is unlikely to mean is warned of, as in a document, in an app's words."""

from __future__ import annotations

import pytest
from aws_cdk import Stack
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Annotations, Match

from kafka_lag_cdk import Alarms, Iam, KafkaCluster, LagCollector, LagReports, SharedSettings
from kafka_lag_cdk.config.document import LevelsSection
from kafka_lag_cdk.config.shared import Keep, Notify, OwnerReceivers, Report, StatusMessages
from tests.infra.code import SMALL_PACKAGE
from tests.infra.own_app.network import ARN, Theirs

NOBODY = (
    "settings.notify names nobody, so alarms of each cluster without a topic of its own, the daily "
    "report reach no one: set notify.email, https, slack or teams, or give LagReports a topic of "
    "yours."
)
WITHOUT_REPORT = Report(enabled=False)


def warnings(stack: Stack) -> list[str]:
    found = Annotations.from_stack(stack).find_warning("*", Match.any_value())
    return [str(each.entry.data).partition(" [ack:")[0] for each in found]


def test_alarms_that_nobody_gets_are_named() -> None:
    stack = Stack()
    LagReports(stack, "Lag", clusters=["orders"])
    assert warnings(stack) == [NOBODY]


def test_whoever_gives_a_topic_gets_them() -> None:
    stack = Stack()
    settings = SharedSettings(report=WITHOUT_REPORT)
    topic = sns.Topic(stack, "Pages")
    LagReports(stack, "Lag", clusters=["orders"], settings=settings, topic=topic)
    assert warnings(stack) == []


def test_days_to_keep_in_a_bucket_of_the_app_are_its_lifecycles() -> None:
    stack = Stack()
    LagReports(
        stack,
        "Lag",
        clusters=["orders"],
        settings=SharedSettings(
            keep=Keep(history_days=100), notify=Notify(email=("me@example.com",))
        ),
        existing_bucket=s3.Bucket(stack, "Ours"),
    )
    assert warnings(stack) == [
        "settings.keep.history_days deletes nothing, as existing_bucket is yours: add a rule to "
        "its lifecycle; here it only says how far back queries look."
    ]


@pytest.mark.parametrize(("report", "count"), [(WITHOUT_REPORT, 1), (Report(), 0)])
def test_what_is_unusual_is_not_watched_without_the_job_that_learns(
    report: Report, count: int
) -> None:
    theirs = Theirs()
    settings = SharedSettings(report=report, notify=Notify(email=("me@example.com",)))
    LagCollector(
        theirs,
        "Orders",
        cluster=KafkaCluster(
            name="orders",
            network=theirs.network,
            login=Iam(),
            msk=ARN,
            alarms=Alarms(any_unusual=True),
        ),
        reports=LagReports(theirs, "Lag", clusters=["orders"], settings=settings),
        package=SMALL_PACKAGE,
    )
    assert warnings(theirs) == count * [
        "orders: alarms.any_unusual of orders never goes off, as report.enabled is false: the "
        "daily job learns what is usual. Set it, or drop alarms.any_unusual."
    ]


def test_a_cluster_that_the_tables_do_not_know_is_named() -> None:
    theirs = Theirs()
    settings = SharedSettings(report=WITHOUT_REPORT)
    reports = LagReports(
        theirs, "Lag", clusters=["order"], settings=settings, topic=sns.Topic(theirs, "Pages")
    )
    orders = KafkaCluster(name="orders", network=theirs.network, login=Iam(), msk=ARN)
    LagCollector(theirs, "Orders", cluster=orders, reports=reports, package=SMALL_PACKAGE)
    assert warnings(theirs) == [
        "orders: LagReports has no orders among its clusters, so Athena finds nothing of it: add "
        "the name there."
    ]


@pytest.mark.parametrize(
    ("owner", "unknown"),
    [({"^pay": "team-money", ".*": "team-a"}, ["team-mony"]), ({}, ["team-mony", "team-a"])],
    ids=["some", "none"],
)
def test_an_owner_whom_no_cluster_names_is_named_once_all_clusters_are_there(
    owner: dict[str, str], unknown: list[str]
) -> None:
    theirs = Theirs()
    mail = OwnerReceivers(email=("money@example.com",))
    settings = SharedSettings(
        notify=Notify(email=("me@example.com",), owners={"team-mony": mail, "team-a": mail}),
        status_messages=StatusMessages(),
        report=WITHOUT_REPORT,
    )
    reports = LagReports(
        theirs, "Lag", clusters=["orders"], settings=settings, package=SMALL_PACKAGE
    )
    owned = KafkaCluster(name="orders", network=theirs.network, login=Iam(), msk=ARN, owner=owner)
    LagCollector(theirs, "Orders", cluster=owned, reports=reports, package=SMALL_PACKAGE)
    assert warnings(theirs) == [
        f"settings.notify.owners names {name}, whom no cluster's owner names: nobody of theirs "
        "is paged. Write the name as owner has it."
        for name in unknown
    ]


def test_more_named_groups_than_a_stack_holds_alarms_of_are_refused_with_what_to_do() -> None:
    theirs = Theirs()
    many = KafkaCluster(
        name="orders",
        network=theirs.network,
        login=Iam(),
        msk=ARN,
        alarms=Alarms(groups=tuple(f"group-{number:03}" for number in range(300))),
        levels=LevelsSection(max_metrics=10_000),
    )
    reports = LagReports(theirs, "Lag", clusters=["orders"], topic=sns.Topic(theirs, "Pages"))
    with pytest.raises(ValueError, match=r"300 groups .* more than one stack holds.*groups_apart"):
        LagCollector(theirs, "Orders", cluster=many, reports=reports, package=SMALL_PACKAGE)
