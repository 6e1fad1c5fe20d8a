# SPDX-License-Identifier: Apache-2.0
"""What a configuration uses, computed by hand for an average month of 30.4 days."""

from __future__ import annotations

from typing import Any

import pytest

from tests.infra.configured import KEY, SECRET, cluster_json
from tests.infra.configured import SERVICE as SERVICE_KEYS
from tests.infra.cost.documents import all_lines, cost, units

SERVICE = {**SERVICE_KEYS, "max": 4, "tracking": {"lag_per_member": 9}}
DAYS = 30.4
HOURS = 24 * DAYS
DAILY = 1440
RUNS = DAILY * DAYS
MB = 1024**2
GB = 1024**3
TB = 1024**4
# One run of the default size: 600 topic-partitions, 600 group-partitions, 20 groups.
SNAPSHOT = (6_700 + 600 * 33) + (19_500 + 600 * 36) + (22_800 + 20 * 400)
HISTORY_A_DAY = 6_700 + 19_500 + 22_800 + DAILY * (600 * 18 + 600 * 39 + 20 * 48)
LOG = 20 * (225 + 4 * 60) + 60 * (265 + 2 * 60) + 870 + 800
PLAIN_LOG = 800
# Seconds of a daily job for a day of the default size: objects opened, rows read.
JOB_SECONDS = DAILY * 3 * 0.003 + DAILY * (600 + 600 + 20) / 100_000

VPC = cluster_json()["vpc"]
WITH_ENDPOINTS = VPC | {
    "cidr": "10.0.0.0/16",
    "endpoints": {"secrets_manager": True, "monitoring": True},
}
WITH_S3 = VPC | {"endpoints": {"s3": True}, "route_tables": ["rtb-0a1b2c3d"]}
OTLP = {"otlp": {"endpoint": "https://vendor.example/v1/metrics"}}
OTHER_SECRET = SECRET.replace("monitor", "other")
OTHER_KEY = KEY.replace("aaaa", "bbbb")
REPORT_OFF = {"report": {"enabled": False}}
# Written by put requests: 10 + 500 x 4 + 60 x 2 = 2,130 metrics, so three requests.
MANY_BY_PUT = {
    "sinks": ["cloudwatch"],
    "expected": {"groups": 500},
    "levels": {"max_metrics": 5_000},
}


@pytest.mark.parametrize(
    ("changes", "shared", "line", "expected"),
    [
        pytest.param({}, {}, "Lambda: requests", RUNS, id="a run a minute"),
        pytest.param({}, {}, "Lambda: schedule", RUNS, id="and its schedule"),
        pytest.param(
            {"interval_seconds": 300}, {}, "Lambda: requests", RUNS / 5, id="a run in five minutes"
        ),
        pytest.param(
            {"expected": {"group_partitions": 60_000}},
            {},
            "Lambda: time",
            RUNS * ((0.03 + 0.31) / (512 / 1769) + 0.15) / 2,
            id="half a GB for a run on its share of a core",
        ),
        pytest.param(
            {"function": {"memory_mb": 3538}},
            {},
            "Lambda: time",
            RUNS * (0.03 + 600 * 0.31 / 60_000 + 0.15) * 3538 / 1024,
            id="no more than a whole core",
        ),
        pytest.param({}, {}, "CloudWatch metrics: by topic", 120, id="topics"),
        pytest.param(
            {"interval_seconds": 300}, {}, "CloudWatch metrics: by topic", 120, id="at any interval"
        ),
        pytest.param(
            MANY_BY_PUT, {}, "CloudWatch metrics: requests", RUNS * 3, id="thousand a put request"
        ),
        pytest.param({}, {}, "CloudWatch logs: ingestion", RUNS * LOG / GB, id="a line a set"),
        pytest.param(
            {"function": {"log_days": 7}},
            {},
            "CloudWatch logs: storage",
            7 * DAILY * LOG / GB,
            id="log kept for its days",
        ),
        pytest.param(
            MANY_BY_PUT,
            {},
            "CloudWatch logs: ingestion",
            RUNS * PLAIN_LOG / GB,
            id="no metrics in the log when put by request",
        ),
        pytest.param({}, {}, "S3: writes", 3 * RUNS + 6 * 12 * DAYS, id="three objects a run"),
        pytest.param(
            {}, {}, "S3: reads", 6 * 3 * RUNS + 35 * 12 * DAYS, id="six reads of each by the job"
        ),
        pytest.param({}, REPORT_OFF, "S3: reads", 35 * 12 * DAYS, id="no job, no reads of it"),
        pytest.param(
            {},
            {"keep": {"snapshot_days": 10}},
            "S3: snapshots",
            10 * DAILY * SNAPSHOT / GB,
            id="snapshots for their days",
        ),
        pytest.param(
            {},
            REPORT_OFF,
            "S3: snapshots",
            365 * DAILY * SNAPSHOT / GB,
            id="a year of snapshots that nothing compacts",
        ),
        pytest.param({}, {}, "S3: history", 400 * HISTORY_A_DAY / GB, id="one object a day"),
        pytest.param(
            {},
            {},
            "S3: reports",
            400 * (600 * 120 + 20 * 2_000 + 500_000) / GB,
            id="a row a partition, the hours of groups and a page",
        ),
        pytest.param({}, REPORT_OFF, "S3: history", None, id="no history without the report"),
        pytest.param({}, REPORT_OFF, "S3: reports", None, id="nor reports"),
        pytest.param(
            {"vpc": WITH_ENDPOINTS}, {}, "Network: secrets endpoint", 2 * HOURS, id="endpoint"
        ),
        pytest.param(
            {"vpc": WITH_ENDPOINTS}, {}, "Network: CloudWatch endpoint", 2 * HOURS, id="another"
        ),
        pytest.param(
            {"vpc": WITH_ENDPOINTS | {"endpoint_subnets": WITH_ENDPOINTS["subnets"][:1]}},
            {},
            "Network: secrets endpoint",
            HOURS,
            id="endpoint in one subnet",
        ),
        pytest.param({}, {}, "Network: secrets endpoint", None, id="no endpoint"),
        pytest.param(
            {},
            {},
            "Network: between zones",
            2 * RUNS * 1_200 * 60 * 2 / 3 / GB,
            id="two thirds between zones, paid twice",
        ),
        pytest.param(
            {"expected": {"nat_gateways": 2}}, {}, "Network: NAT gateways", 2 * HOURS, id="NAT"
        ),
        pytest.param(
            {"expected": {"nat_gateways": 2}},
            {},
            "Network: through NAT",
            DAYS * (3 * DAILY + 12 * 35) * SNAPSHOT / 3 / GB,
            id="snapshots through NAT",
        ),
        pytest.param({}, {}, "Network: through NAT", None, id="no NAT"),
        pytest.param(
            {"expected": {"nat_gateways": 1}, "vpc": WITH_S3},
            {},
            "Network: through NAT",
            None,
            id="nothing through NAT with an endpoint of S3",
        ),
        pytest.param(
            {"dashboard": False}, {}, "CloudWatch dashboard: of the cluster", None, id="none"
        ),
        pytest.param(
            {},
            {},
            "Glue: daily report",
            2 * (1.9 + JOB_SECONDS / 4 / 60) / 60 * DAYS,
            id="each object opened and each row read",
        ),
        pytest.param(
            {},
            {"report": {"workers": 3}},
            "Glue: daily report",
            3 * (1.9 + JOB_SECONDS / 8 / 60) / 60 * DAYS,
            id="more workers finish sooner",
        ),
        pytest.param(
            {"expected": {"group_partitions": 200_000}},
            {"report": {"time_limit_minutes": 5}},
            "Glue: daily report",
            2 * 5 / 60 * DAYS,
            id="not beyond the limit",
        ),
        pytest.param(
            {"paused": True},
            {},
            "Glue: daily report",
            2 * 1.9 / 60 * DAYS,
            id="nothing to do for a paused cluster",
        ),
        pytest.param(
            {},
            {},
            "Athena: queries",
            10 * DAYS * DAILY * (22_800 + 20 * 400) / TB,
            id="ten queries a day over a day of groups",
        ),
        pytest.param(
            {"interval_seconds": 3600},
            {},
            "Athena: queries",
            10 * DAYS * 10 * MB / TB,
            id="ten MB a query at least",
        ),
        pytest.param({}, {}, "S3: reads of queries", 10 * DAYS * DAILY, id="each object read"),
        pytest.param({}, {"athena": "off"}, "Athena: queries", None, id="no Athena"),
        pytest.param({}, {"athena": "off"}, "S3: reads of queries", None, id="no Athena's reads"),
        pytest.param({}, {"views": {"auth": "bearer"}}, "Secrets: token of views", 1, id="a token"),
        pytest.param({}, {"views": {"auth": "iam"}}, "Secrets: token of views", None, id="none"),
        pytest.param(
            {}, {"status_messages": {}}, "EventBridge: of the bucket", RUNS * 8, id="3 + 3 + 2"
        ),
        pytest.param(
            {},
            {"status_messages": {}} | REPORT_OFF,
            "EventBridge: of the bucket",
            RUNS * 5,
            id="none is deleted without the report",
        ),
        pytest.param(
            {"paused": True},
            {"status_messages": {}},
            "Lambda: messages: requests",
            None,
            id="a paused cluster sends none",
        ),
        pytest.param(
            {},
            {"status_messages": {"topic": True}, "notify": {"email": ["a@example.com"]}},
            "SNS: e-mail",
            100,
            id="receivers of the topic get status messages too",
        ),
        pytest.param(
            {},
            {"status_messages": {"topic": False}, "notify": {"email": ["a@example.com"]}},
            "SNS: e-mail",
            50,
            id="and not from elsewhere",
        ),
    ],
)
def test_a_line_counts_what_is_used(
    changes: dict[str, Any], shared: dict[str, Any], line: str, expected: float | None
) -> None:
    found = units(cluster_json(**changes), **shared).get(line)
    assert found == (expected if expected is None else pytest.approx(expected))


@pytest.mark.parametrize("more", [{}, {"expected": {"nat_gateways": 1}, "vpc": WITH_ENDPOINTS}])
def test_a_paused_cluster_keeps_what_stands_there(more: dict[str, Any]) -> None:
    (region,) = cost(cluster_json(paused=True, **more)).regions
    standing = {"of the reporter", "of the cluster"}
    if more:
        standing |= {"NAT gateways", "secrets endpoint", "CloudWatch endpoint"}
    assert {line.item for line in region.clusters[0].lines} == standing


@pytest.mark.parametrize("architecture", ["arm64", "x86_64"])
def test_time_has_the_price_of_its_architecture(architecture: str) -> None:
    found = cost(cluster_json(function={"architecture": architecture}))
    (line,) = [each for each in all_lines(found) if each.item == "time"]
    assert line.price == f"lambda_{architecture}"


@pytest.mark.parametrize(
    ("shared", "lever"),
    [({}, "shared.keep.snapshot_days"), (REPORT_OFF, "interval_seconds")],
    ids=["compacted", "not compacted"],
)
def test_days_to_keep_snapshots_are_a_lever_where_these_expire(
    shared: dict[str, Any], lever: str
) -> None:
    found = cost(cluster_json(), **shared)
    assert [each.lever for each in all_lines(found) if each.item == "snapshots"] == [lever]


def test_emf_is_the_sink_by_default() -> None:
    assert units(cluster_json(sinks=["emf"])) == units(cluster_json())


@pytest.mark.parametrize("sink", ["emf", "cloudwatch"])
@pytest.mark.parametrize(
    "levels",
    [
        {"partitions": {}, "max_metrics": 100_000, "members": True},
        {"topics": False, "max_metrics": 0},
    ],
    ids=["more", "less"],
)
def test_levels_of_an_otlp_endpoint_change_no_quantity(sink: str, levels: dict[str, Any]) -> None:
    own = {"otlp": {"sigv4": True, "levels": levels}}
    assert units(cluster_json(sinks=[sink, own])) == units(cluster_json(sinks=[sink]))


@pytest.mark.parametrize("sinks", [[], [OTLP]])
def test_without_metrics_in_cloudwatch_there_are_none_to_pay_or_to_watch(sinks: list[Any]) -> None:
    found = units(cluster_json(sinks=sinks), **REPORT_OFF)
    assert [key for key in found if key.startswith("CloudWatch metrics")] == []
    assert "CloudWatch alarms: any group" not in found
    assert found["CloudWatch alarms: of the reporter"] == 2
    assert found["CloudWatch logs: ingestion"] == pytest.approx(RUNS * PLAIN_LOG / GB)


def test_without_a_daily_report_nothing_of_it_is_used() -> None:
    less = set(units()) - set(units(**REPORT_OFF))
    assert less == {
        "CloudWatch metrics: of the report",
        "CloudWatch alarms: of the report",
        "CloudWatch logs: daily report: ingestion",
        "CloudWatch logs: daily report: storage",
        "Glue: daily report",
        "S3: history",
        "S3: reports",
    }


def test_glue_logs_five_megabytes_of_each_cluster_a_day_and_keeps_them_as_long_as_said() -> None:
    two = [cluster_json(name="a"), cluster_json(name="b")]
    found = units(*two, report={"log_days": 90})
    assert found["CloudWatch logs: daily report: ingestion"] == pytest.approx(DAYS * 2 * 5 / 1024)
    assert found["CloudWatch logs: daily report: storage"] == pytest.approx(90 * 2 * 5 / 1024)


def test_a_report_of_paused_clusters_has_no_alarm() -> None:
    assert units()["CloudWatch alarms: of the report"] == 1
    assert "CloudWatch alarms: of the report" not in units(cluster_json(paused=True))


def test_a_pager_gets_no_messages_on_statuses() -> None:
    notify = {"email": ["a@example.com"], "https": ["https://example.com"]}
    found = units(status_messages={}, notify=notify)
    assert found["SNS: e-mail"] == 2 * found["SNS: https"]


def test_queries_are_over_an_average_cluster() -> None:
    two = units(cluster_json(name="a"), cluster_json(name="b", interval_seconds=120))
    assert two["Athena: queries"] == pytest.approx(0.75 * units()["Athena: queries"])
    assert two["S3: reads of queries"] == pytest.approx(10 * DAYS * DAILY * 0.75)


def login(secret: str, key: str | None = None) -> dict[str, Any]:
    return {"type": "scram", "secret_arn": secret} | ({"kms_key_arn": key} if key else {})


@pytest.mark.parametrize(
    ("logins", "secrets", "keys"),
    [
        pytest.param([login(SECRET, KEY)], 1, 1, id="one"),
        pytest.param([login(SECRET, KEY), login(SECRET, KEY)], 1, 1, id="the-same"),
        pytest.param([login(SECRET, KEY), login(OTHER_SECRET, KEY)], 2, 1, id="one-key"),
        pytest.param([login(SECRET) | {"type": "tls"}], 1, None, id="no-key"),
        pytest.param([{"type": "iam"}], None, None, id="iam"),
    ],
)
def test_secrets_and_keys_of_logins_are_counted_once(
    logins: list[dict[str, Any]], secrets: int | None, keys: int | None
) -> None:
    found = units(*(cluster_json(name=f"c{n}", auth=auth) for n, auth in enumerate(logins)))
    assert found.get("Secrets: logins") == secrets
    assert found.get("Secrets: keys of logins") == keys
    assert found["Secrets: key of the topics"] == 1


@pytest.mark.parametrize(
    ("shared", "others", "made"),
    [
        ({"kms_keys": {"eu-west-1": {"bucket": OTHER_KEY, "logs": OTHER_KEY}}}, 1, 1),
        ({"kms_keys": {"eu-west-1": {"bucket": OTHER_KEY, "topic": OTHER_KEY}}}, 1, None),
        ({"kms_keys": {"eu-west-1": {"logs": KEY}}}, None, 1),
        ({"notify": {"encrypted": False}}, None, None),
    ],
    ids=["data and logs", "the topic too", "that of a login", "no encryption"],
)
def test_keys_of_data_are_counted_beside_those_of_logins(
    shared: dict[str, Any], others: int | None, made: int | None
) -> None:
    found = units(**shared)
    assert found["Secrets: keys of logins"] == 1
    assert found.get("Secrets: keys of data and logs") == others
    assert found.get("Secrets: key of the topics") == made
    assert found.get("Secrets: rotations of that key") == (made and 2)


def test_every_receiver_gets_the_messages_of_every_cluster() -> None:
    notify = {"email": ["a@example.com", "b@example.com"], "https": ["https://example.com"]}
    found = units(cluster_json(name="a"), cluster_json(name="b"), notify=notify)
    assert found["SNS: e-mail"] == 50 * 2 * 2
    assert found["SNS: https"] == 50 * 2


def test_what_is_off_costs_nothing() -> None:
    assert units(views="off", status_messages="off") == units()


def added(*clusters: dict[str, Any], **shared: Any) -> dict[str, float]:
    """What comes on top of the same without these keys of `shared`."""
    before, after = units(*clusters), units(*clusters, **shared)
    return {line: count - before.get(line, 0.0) for line, count in after.items()}


def test_a_scrape_a_minute_is_answered_from_every_cluster() -> None:
    two = cluster_json(name="a"), cluster_json(name="b")
    found = added(*two, views={"memory_mb": 1024})
    assert found["Lambda: views: requests"] == pytest.approx(RUNS)
    assert found["Lambda: views: time"] == pytest.approx(RUNS * 2 * 0.3)
    assert found["CloudWatch logs: views: ingestion"] == pytest.approx(RUNS * PLAIN_LOG / GB)
    assert found["S3: views: lists"] == pytest.approx(RUNS * (1 + 3 * 2))
    assert found["S3: views: reads"] == pytest.approx(RUNS * 2)


def test_every_run_of_every_cluster_is_compared_for_status_messages() -> None:
    slow = cluster_json(name="slow", interval_seconds=300)
    found = added(cluster_json(), slow, status_messages={})
    runs = RUNS * 1.2
    assert found["Lambda: messages: requests"] == pytest.approx(runs)
    assert found["Lambda: messages: time"] == pytest.approx(runs * 0.4 / 2)
    assert found["S3: messages: writes"] == pytest.approx(runs * 2)
    assert found["S3: messages: reads"] == pytest.approx(runs * 3)
    assert found["CloudWatch alarms: of messages"] == 2


@pytest.mark.parametrize("one", [{"topic": False}, {"event_bus": None}])
def test_a_channel_less_is_a_cursor_less(one: dict[str, Any]) -> None:
    found = units(status_messages=one)
    assert found["S3: messages: writes"] == found["S3: messages: lists"] == pytest.approx(RUNS)
    assert found["S3: messages: reads"] == pytest.approx(RUNS * 2)


@pytest.mark.parametrize("sla_seconds", [{}, {"^a$": 60}, {"x": 60}], ids=["none", "one", "all"])
@pytest.mark.parametrize("scaled", [[], ["a", "b"]], ids=["not scaled", "two scaled"])
def test_what_metrics_are_counted_by_adds_up(
    sla_seconds: dict[str, float], scaled: list[str]
) -> None:
    one = cluster_json(
        sla_seconds=sla_seconds,
        scaling=[SERVICE | {"group": name, "service": name} for name in scaled],
        expected={"groups": 1_200},
        levels={"max_metrics": 100_000, "partitions": {}},
    )
    lines = {line.item: line for line in all_lines(cost(one)) if " x " in line.basis}
    assert lines.keys() >= {"by group", "by topic", "by partition"}
    for line in lines.values():
        products = [part.replace(",", "").split(" x ") for part in line.basis.split(" + ")]
        assert sum(int(of) * int(each) for of, each in products) == line.quantity
