# SPDX-License-Identifier: Apache-2.0
"""A page on S3 opens in a browser."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from glue_jobs.errors import DataError
from glue_jobs.page.serving import serve_as_html

KEY = "reports/page/cluster=demo/dt=2026-01-31/report.html"


@pytest.fixture(name="client")
def _client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket="lag")
        yield client


def test_a_page_keeps_its_text_and_becomes_html(client: Any) -> None:
    client.put_object(Bucket="lag", Key=KEY, Body=b"<p>lag")

    serve_as_html([f"s3://lag/{KEY}"], client)

    found = client.get_object(Bucket="lag", Key=KEY)
    assert (found["ContentType"], found["Body"].read()) == ("text/html; charset=utf-8", b"<p>lag")


def test_a_file_on_a_disk_needs_nothing(client: Any) -> None:
    serve_as_html(["/lag/reports/page/report.html"], client)


def test_a_refusal_says_that_the_reports_stand(client: Any) -> None:
    with pytest.raises(DataError, match=f"reports are written, but s3://lag/{KEY} is not"):
        serve_as_html([f"s3://lag/{KEY}"], client)
