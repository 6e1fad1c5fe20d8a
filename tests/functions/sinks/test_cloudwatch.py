# SPDX-License-Identifier: Apache-2.0
"""PutMetricData within its limits: retried when it is throttled, reported when it is rejected."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ClientError, ConnectTimeoutError
from moto import mock_aws

from kafka_lag import contract
from kafka_lag.errors import SinkError
from kafka_lag.sinks.cloudwatch import CloudWatchSink
from kafka_lag.sinks.deadline import PublishDeadline, Timing
from kafka_lag.sinks.metric_sets import MetricSet
from tests.functions.sinks.times import Waited

CLUSTER, GROUP = contract.DIMENSION_CLUSTER, contract.DIMENSION_GROUP
AT = datetime.now(UTC).replace(second=0, microsecond=0)
TAKEN_AT = int(AT.timestamp() * 1000)


def a_set(group: str, **values: float) -> MetricSet:
    return MetricSet(((CLUSTER, "shop"), (GROUP, group)), tuple(values.items()))


def many(count: int) -> list[MetricSet]:
    return [a_set(f"g{number}", OffsetLag=number) for number in range(count)]


class FakeClient:
    """Keeps what it is given; raises what it was made with, in turn, None being nothing."""

    def __init__(self, *errors: Exception | None) -> None:
        self._errors = list(errors)
        self.requests: list[dict[str, Any]] = []

    def put_metric_data(self, **request: Any) -> None:
        self.requests.append(request)
        error = self._errors.pop(0) if self._errors else None
        if error:
            raise error


def client_error(code: str, status: int = 400) -> ClientError:
    result = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(result, "PutMetricData")  # type: ignore[arg-type]


@pytest.fixture(name="client")
def _client() -> Iterator[Any]:
    with mock_aws():
        yield boto3.client("cloudwatch", region_name="us-east-1")


def test_metrics_arrive_in_cloudwatch(client: Any) -> None:
    CloudWatchSink(client, "Own").publish(
        [a_set("billing", OffsetLag=7, EstimatedTimeLag=1.5)], TAKEN_AT
    )
    result = client.get_metric_statistics(
        Namespace="Own",
        MetricName="EstimatedTimeLag",
        Dimensions=[{"Name": CLUSTER, "Value": "shop"}, {"Name": GROUP, "Value": "billing"}],
        StartTime=AT - timedelta(minutes=1),
        EndTime=AT + timedelta(minutes=1),
        Period=60,
        Statistics=["Maximum"],
    )
    assert [(p["Maximum"], p["Timestamp"], p["Unit"]) for p in result["Datapoints"]] == [
        (1.5, AT, "Seconds")
    ]


def test_names_are_legal_dimension_values(client: Any) -> None:
    CloudWatchSink(client).publish([a_set(":a%ü", OffsetLag=1), a_set("", OffsetLag=1)], TAKEN_AT)
    result = client.list_metrics(Namespace=contract.NAMESPACE)["Metrics"]
    groups = {d["Value"] for one in result for d in one["Dimensions"] if d["Name"] == GROUP}
    assert groups == {"%3Aa%25%C3%BC", "%"}


def test_a_request_has_a_thousand_metrics_at_most() -> None:
    client = FakeClient()
    CloudWatchSink(client).publish(many(2_001), TAKEN_AT)
    assert [len(request["MetricData"]) for request in client.requests] == [1_000, 1_000, 1]


@pytest.mark.parametrize("name", ["a" * 1_000, "%" * 400], ids=["long", "escaped-twice"])
def test_a_request_is_within_a_megabyte_in_the_widest_protocol(name: str) -> None:
    client = FakeClient()
    sets = [a_set(f"{number}{name}", OffsetLag=number) for number in range(1_100)]
    CloudWatchSink(client).publish(sets, TAKEN_AT)
    assert sum(len(request["MetricData"]) for request in client.requests) == 1_100
    for request in client.requests:
        assert len(as_query(request)) < 1_000_000


def as_query(request: dict[str, Any]) -> str:
    """The request as the query protocol writes it out."""
    fields: dict[str, Any] = {"Action": "PutMetricData", "Version": "2010-08-01"}
    for number, datum in enumerate(request["MetricData"], 1):
        key = f"MetricData.member.{number}"
        fields |= {f"{key}.{name}": datum[name] for name in ("MetricName", "Value", "Unit")}
        fields[f"{key}.Timestamp"] = datum["Timestamp"].isoformat()
        for place, each in enumerate(datum["Dimensions"], 1):
            for part, text in each.items():
                fields[f"{key}.Dimensions.member.{place}.{part}"] = text
    return urlencode(fields)


def test_a_large_request_is_compressed(client: Any) -> None:
    sent: list[AWSPreparedRequest] = []

    def catch(request: AWSPreparedRequest, **_: Any) -> AWSResponse | None:
        sent.append(request)
        return None

    client.meta.events.register_first("before-send.cloudwatch.PutMetricData", catch)
    CloudWatchSink(client).publish(many(1_000), TAKEN_AT)
    encoding = sent[0].headers["Content-Encoding"]
    assert encoding in ("gzip", b"gzip")
    body = sent[0].body
    assert isinstance(body, bytes)
    assert len(gzip.decompress(body)) > 5 * len(body)


@pytest.mark.parametrize(
    "error",
    [
        client_error("Throttling"),
        client_error("ThrottlingException"),
        client_error("InternalServiceFault", 500),
        client_error("ServiceUnavailable", 503),
        client_error("TooMany", 429),
        ConnectTimeoutError(endpoint_url="https://monitoring"),
    ],
)
def test_what_passes_is_tried_again(error: Exception) -> None:
    client, waited = FakeClient(error, error), Waited()
    CloudWatchSink(client, timing=waited.timing()).publish(many(1), TAKEN_AT, 30.0)
    assert len(client.requests) == 3
    assert len(waited.pauses) == 2


def test_attempts_end_with_the_time_there_is() -> None:
    client, waited = FakeClient(*[client_error("Throttling")] * 20), Waited()
    with pytest.raises(SinkError, match=r"^1500 metrics .*did not take them in time \(Thrott"):
        CloudWatchSink(client, timing=waited.timing()).publish(many(1_500), TAKEN_AT, 1.0)
    assert waited.now < 1.0


def test_a_rejection_is_final_and_says_what_is_missing() -> None:
    client = FakeClient(client_error("AccessDenied", 403))
    with pytest.raises(SinkError, match=r"\(AccessDenied\).*needs cloudwatch:PutMetricData"):
        CloudWatchSink(client, timing=Waited().timing()).publish(many(1), TAKEN_AT)
    assert len(client.requests) == 1


def test_a_request_that_is_rejected_stops_no_other() -> None:
    client = FakeClient(client_error("InvalidParameterValue"))
    cause = r"^1000 metrics were not published.*refused them \(InvalidParameterValue\)\.$"
    with pytest.raises(SinkError, match=cause):
        CloudWatchSink(client, timing=Waited().timing()).publish(many(1_001), TAKEN_AT)
    assert [len(request["MetricData"]) for request in client.requests] == [1_000, 1]


# Attempts are few, further and further apart, and end with the time there is.


@pytest.mark.parametrize(
    ("seconds", "pauses"), [(60.0, [0.2, 0.4, 0.8, 1.6]), (1.0, [0.2, 0.4]), (0.1, [])]
)
def test_pauses_double_and_none_goes_past_the_end(seconds: float, pauses: list[float]) -> None:
    waited = Waited()
    assert list(PublishDeadline(seconds, waited.timing()).attempts()) == [*range(len(pauses) + 1)]
    assert waited.pauses == pytest.approx(pauses)


def test_chance_halves_a_pause_at_most() -> None:
    pauses: list[float] = []
    timing = Timing(lambda: 0.0, pauses.append, lambda: 0.0)
    list(PublishDeadline(60.0, timing).attempts())
    assert pauses == pytest.approx([0.1, 0.2, 0.4, 0.8])


def test_requests_share_their_time_and_no_wait_that_is_too_long_is_begun() -> None:
    waited = Waited()
    deadline = PublishDeadline(1.0, waited.timing())
    assert [deadline.wait(1.0), deadline.wait(0.9), deadline.wait(0.2)] == [False, True, False]
    waited.now = 1.5
    assert list(deadline.attempts()) == []
    assert deadline.left() == 0
