# SPDX-License-Identifier: Apache-2.0
"""Quantities that the clusters of a region share, reckoned by hand."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.bill.usage.shared import shared_usage
from tests.infra.configured import KEY, SECRET, cluster_json, deployment

DAYS = 30.4
MB = 1024**2
OWN = KEY.replace("aaaa", "bbbb")
OTHER = SECRET.replace("monitor", "other")


def quantities(*clusters: dict[str, Any], **shared: Any) -> dict[tuple[str, str], float]:
    found = deployment(*clusters, shared=shared)
    keys = found.kms_keys("111122223333", "eu-west-1")
    items = shared_usage(found.shared, found.clusters, keys)
    return {(item.service, item.what): item.quantity for item in items}


def login(secret: str, key: str | None = None) -> dict[str, Any]:
    return {"type": "scram", "secret_arn": secret} | ({"kms_key_arn": key} if key else {})


def test_a_daily_report_opens_each_object_and_reads_each_row() -> None:
    opening, reading = 1440 * 3 * 0.003, 1440 * (600 + 600 + 20) / 100_000
    minutes = 1.9 + (opening + reading) / 4 / 60
    assert round(minutes) == 2
    assert quantities()["Glue", "daily report"] == pytest.approx(2 * minutes / 60 * DAYS)


def test_without_athena_there_are_no_queries_to_pay() -> None:
    assert ("Athena", "queries") in quantities()
    assert not {("Athena", "queries"), ("S3", "reads of queries")} & set(quantities(athena="off"))


def test_more_workers_finish_sooner() -> None:
    seconds = 1440 * 3 * 0.003 + 1440 * 1_220 / 100_000
    minutes = 1.9 + seconds / 8 / 60
    found = quantities(report={"workers": 3})
    assert found["Glue", "daily report"] == pytest.approx(3 * minutes / 60 * DAYS)


def test_a_daily_report_is_not_paid_beyond_its_limit() -> None:
    sized = cluster_json(expected={"group_partitions": 200_000})
    found = quantities(sized, report={"time_limit_minutes": 5})
    assert found["Glue", "daily report"] == pytest.approx(2 * 5 / 60 * DAYS)


def test_a_paused_cluster_gives_the_daily_report_nothing_to_do() -> None:
    found = quantities(cluster_json(paused=True))
    assert found["Glue", "daily report"] == pytest.approx(2 * 1.9 / 60 * DAYS)


def test_no_daily_report_costs_nothing() -> None:
    found = quantities(report={"enabled": False})
    assert not {("Glue", "daily report"), INGESTION, STORAGE} & set(found)


INGESTION = ("CloudWatch logs", "daily report: ingestion")
STORAGE = ("CloudWatch logs", "daily report: storage")


def test_glue_logs_five_megabytes_of_each_cluster_a_day_and_keeps_them_for_ever() -> None:
    found = quantities(cluster_json(name="a"), cluster_json(name="b"))
    assert found[INGESTION] == pytest.approx(DAYS * 2 * 5 / 1024)
    assert found[STORAGE] == pytest.approx(365 * 2 * 5 / 1024)


def test_ten_queries_a_day_read_a_day_of_groups() -> None:
    found = quantities()
    scanned = 304 * 1440 * (12_500 + 20 * 45)
    assert found["Athena", "queries"] == pytest.approx(scanned / 1024**4)
    assert found["S3", "reads of queries"] == pytest.approx(304 * 1440)


def test_a_query_is_charged_for_ten_megabytes_at_least() -> None:
    found = quantities(cluster_json(interval_seconds=3600))
    assert found["Athena", "queries"] == pytest.approx(304 * 10 * MB / 1024**4)


@pytest.mark.parametrize(
    ("logins", "secrets", "keys"),
    [
        pytest.param([login(SECRET, KEY)], 1, 1, id="one"),
        pytest.param([login(SECRET, KEY), login(SECRET, KEY)], 1, 1, id="the-same"),
        pytest.param([login(SECRET, KEY), login(OTHER, KEY)], 2, 1, id="one-key"),
        pytest.param([login(SECRET) | {"type": "tls"}], 1, None, id="no-key"),
        pytest.param([{"type": "iam"}], None, None, id="iam"),
    ],
)
def test_secrets_and_keys_are_counted_once(
    logins: list[dict[str, Any]], secrets: int | None, keys: int | None
) -> None:
    clusters = [cluster_json(name=f"c{n}", auth=auth) for n, auth in enumerate(logins)]
    found = quantities(*clusters)
    assert found.get(("Secrets", "logins")) == secrets
    assert found.get(("Secrets", "keys of logins")) == keys
    assert found["Secrets", "key of the topics"] == 1


def test_the_first_two_rotations_of_the_topics_key_are_paid() -> None:
    assert quantities()["Secrets", "rotations of that key"] == 2


@pytest.mark.parametrize(
    ("shared", "others", "made"),
    [
        ({"kms_keys": {"eu-west-1": {"bucket": OWN, "logs": OWN}}}, 1, 1),
        ({"kms_keys": {"eu-west-1": {"bucket": OWN, "topic": OWN}}}, 1, None),
        ({"kms_keys": {"eu-west-1": {"logs": KEY}}}, None, 1),
        ({"notify": {"encrypted": False}}, None, None),
    ],
    ids=["data and logs", "the topic too", "that of a login", "no encryption"],
)
def test_keys_of_data_are_counted_beside_those_of_logins(
    shared: dict[str, Any], others: int | None, made: int | None
) -> None:
    found = quantities(**shared)
    assert found["Secrets", "keys of logins"] == 1
    assert found.get(("Secrets", "keys of data and logs")) == others
    assert found.get(("Secrets", "key of the topics")) == made


def test_every_receiver_hears_every_message() -> None:
    notify = {"email": ["a@example.com", "b@example.com"], "https": ["https://example.com"]}
    found = quantities(cluster_json(name="a"), cluster_json(name="b"), notify=notify)
    assert found["SNS", "e-mail"] == 50 * 2 * 2
    assert found["SNS", "https"] == 50 * 2
