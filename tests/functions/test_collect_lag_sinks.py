# SPDX-License-Identifier: Apache-2.0
"""Sinks made from a configuration, and faults found before any connection."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.collect_lag import build_collector, build_sinks, scheduled_time
from kafka_lag.errors import ConfigError
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.settings import from_environment
from kafka_lag.sinks.cloudwatch import CloudWatchSink
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.otlp import (
    Authorization,
    OtlpSink,
    SecretHeaders,
    SigV4,
    cloudwatch_url,
    region_of,
)
from tests.builders import NOON
from tests.documents import document

URL = "https://collector:4318/v1/metrics"


@pytest.fixture(autouse=True)
def _nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No role, no region and no files of whoever runs the tests."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))


def environment(
    tmp_path: Path, *sinks: Any, region: str | None = "eu-west-1", **more: Any
) -> dict[str, str]:
    (tmp_path / "shop.json").write_text(json.dumps(document(sinks=list(sinks), **more)))
    result = {contract.ENV_CONFIG: str(tmp_path / "shop.json"), contract.ENV_BUCKET: "kept"}
    return result if region is None else {**result, contract.ENV_REGION: region}


def made(tmp_path: Path, *sinks: Any) -> list[Any]:
    settings = from_environment(environment(tmp_path, *sinks))
    return [each.sink for each in build_sinks(settings, pytest.fail)]


def test_a_sink_has_levels_of_its_own_or_the_clusters(tmp_path: Path) -> None:
    own = {"endpoint": f"{URL}/own", "levels": {"partitions": {}}}
    result = environment(tmp_path, "emf", {"otlp": {"endpoint": URL}}, {"otlp": own})
    sinks = build_sinks(from_environment(result), pytest.fail)
    assert [(type(each.sink), each.levels, each.key) for each in sinks] == [
        (EmfSink, Levels(topics=False), "levels"),
        (OtlpSink, Levels(topics=False), "levels"),
        (OtlpSink, Levels(topics=False, partition_groups=NameFilter()), "sinks.2.otlp.levels"),
    ]
    assert made(tmp_path) == []


def test_one_request_for_cloudwatch_in_its_region(tmp_path: Path) -> None:
    (sink,) = made(tmp_path, "cloudwatch")
    assert isinstance(sink, CloudWatchSink)
    assert sink._client.meta.region_name == "eu-west-1"
    assert sink._client.meta.config.retries["total_max_attempts"] == 1


def test_an_endpoint_is_sent_no_more_than_was_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    sinks = made(
        tmp_path,
        {"otlp": {"endpoint": URL}},
        {"otlp": {"endpoint": URL, "headers_secret": "s"}},
        {"otlp": {"sigv4": True}},
    )
    assert [type(sink._authorization) for sink in sinks] == [
        Authorization,
        SecretHeaders,
        SigV4,
    ]
    assert sinks[2]._url == "https://monitoring.eu-west-1.amazonaws.com/v1/metrics"


@pytest.mark.parametrize(
    ("endpoint", "region"),
    [("https://monitoring.us-west-2.amazonaws.com/v1/metrics", "us-west-2"), (URL, "eu-west-1")],
)
def test_a_signature_is_for_the_region_of_the_endpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: str, region: str
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    (sink,) = made(tmp_path, {"otlp": {"endpoint": endpoint, "sigv4": True}})
    assert sink._authorization._region == region


def test_without_a_role_nothing_is_signed_and_nobody_connects(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"otlp with sigv4 needs a function that runs as a role"):
        made(tmp_path, {"otlp": {"sigv4": True}})
    signing = environment(tmp_path, sasl_mechanism="OAUTHBEARER", secret_id=None)
    with pytest.raises(ConfigError, match=r"AWS_MSK_IAM needs those of a role, a profile or a us"):
        build_collector(signing, logging.getLogger(__name__))


@pytest.mark.parametrize("sink", ["cloudwatch", {"otlp": {"sigv4": True}}])
def test_what_is_signed_needs_a_region(tmp_path: Path, sink: Any) -> None:
    with pytest.raises(ConfigError, match=r"AWS_REGION is not set .* metrics are signed for it"):
        from_environment(environment(tmp_path, sink, region=None))


@pytest.mark.parametrize("sink", ["emf", {"otlp": {"endpoint": URL}}])
def test_what_is_not_signed_needs_none(tmp_path: Path, sink: Any) -> None:
    assert from_environment(environment(tmp_path, sink, region=None)).region is None


@pytest.mark.parametrize(
    ("region", "url"),
    [
        ("us-east-1", "https://monitoring.us-east-1.amazonaws.com/v1/metrics"),
        ("cn-north-1", "https://monitoring.cn-north-1.amazonaws.com.cn/v1/metrics"),
    ],
)
def test_cloudwatch_has_an_endpoint_in_each_region(region: str, url: str) -> None:
    assert cloudwatch_url(region) == url
    assert region_of(url) == region


@pytest.mark.parametrize("url", [URL, "https://monitoring.eu-west-1.example.com/v1/metrics"])
def test_another_endpoint_names_no_region(url: str) -> None:
    assert region_of(url) is None


# The event of a schedule: which minute, and whether it is meant for this function.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("2026-01-31T12:00:00Z", NOON, id="as-the-scheduler-sends-it"),
        pytest.param("2026-01-31T12:00:00+00:00", NOON, id="offset"),
        pytest.param("2026-01-31T14:00:00+02:00", NOON, id="another-zone"),
        pytest.param("2026-01-31T12:00:00.999Z", NOON, id="whole-seconds"),
        pytest.param("2026-01-31T12:00:07Z", NOON + 7_000, id="seconds-stay"),
    ],
)
def test_the_scheduled_time_is_ms_since_1970(text: str, expected: int) -> None:
    assert scheduled_time({"cluster": "shop", "scheduled_time": text}, "shop") == expected


@pytest.fixture(name="in_tokyo")
def _in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("in_tokyo")
def test_a_time_without_a_zone_is_utc_wherever_the_function_runs() -> None:
    event = {"cluster": "shop", "scheduled_time": "2026-01-31T12:00:00"}
    assert scheduled_time(event, "shop") == NOON


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        pytest.param([], "must be a JSON object", id="list"),
        pytest.param({"cluster": "shop"}, "needs two strings", id="no-time"),
        pytest.param({"cluster": 5, "scheduled_time": "x"}, "needs two strings", id="bad-cluster"),
        pytest.param(
            {"cluster": "shop", "scheduled_time": "<aws.scheduler.scheduled-time>"},
            "'<aws.scheduler.scheduled-time>' is not an ISO 8601 time",
            id="placeholder-not-filled-in",
        ),
        pytest.param(
            {"cluster": "other", "scheduled_time": "2026-01-31T12:00:00Z"},
            "names the cluster 'other', but this function is configured for 'shop'",
            id="another-cluster",
        ),
    ],
)
def test_an_event_of_another_form_is_rejected_with_what_it_should_be(
    event: Any, expected: str
) -> None:
    with pytest.raises(ConfigError, match=expected):
        scheduled_time(event, "shop")
