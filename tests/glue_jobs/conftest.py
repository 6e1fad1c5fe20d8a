# SPDX-License-Identifier: Apache-2.0
"""What tests of the job's files share."""

from collections.abc import Iterator
from typing import Any

import pytest
from moto import mock_aws

from kafka_lag_report.storage.objects import s3_client


@pytest.fixture(name="s3")
def _s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The job's client of an S3 that moto plays, with one empty bucket: `lag`."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        client = s3_client(at_once=8)
        client.create_bucket(Bucket="lag")
        yield client
